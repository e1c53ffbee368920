// SPDX-License-Identifier: Apache-2.0
// An ONNX file, checked and taken apart into plain structs.
//
// Input    untrusted bytes; values for dynamic dimensions; the caller's functions that
//          read constants in other files
// Output   values with shapes (ONNX's own shape inference), nodes in a topological
//          order, constants with their bytes; integers that shape arithmetic computes
// Errors   Error(kBadInput): no ONNX, a cycle, a value nobody writes, two writers, an
//          element type or shape that is missing or unknown, external data that are
//          absent or too short; each names the node or tensor. Error(kBadArgument): a
//          dimension that nobody asked for
// Cost     linear in the file. Constants of more than a few bytes stay in the file, which
//          must outlive the model
#ifndef SLUICE_IMPORT_ONNX_ONNX_MODEL_H_
#define SLUICE_IMPORT_ONNX_ONNX_MODEL_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "import/bytes.h"
#include "import/float_ranges.h"
#include "import/onnx/onnx_data.h"
#include "import/state_names.h"
#include "sluice/import.h"

namespace sluice::import {

// The element types that matter here, with ONNX's numbers.
enum OnnxType {
  kOnnxFloat = 1,
  kOnnxUint8 = 2,
  kOnnxInt8 = 3,
  kOnnxUint16 = 4,
  kOnnxInt16 = 5,
  kOnnxInt32 = 6,
  kOnnxInt64 = 7,
  kOnnxBool = 9,
  kOnnxFloat16 = 10,
  kOnnxDouble = 11,
  kOnnxUint32 = 12,
  kOnnxUint64 = 13,
  kOnnxBfloat16 = 16,
  kOnnxUint4 = 21,
  kOnnxInt4 = 22,
  kOnnxUint2 = 25,
};

struct OnnxValue {
  std::string name;
  int type = 0;  // OnnxType; 0 = unknown
  bool has_shape = false;
  std::vector<int64_t> dims;  // all known where has_shape
  bool constant = false;      // computed from constants alone
  bool has_data = false;      // stored in the file
  OnnxData data;              // little-endian elements
  bool has_integers = false;
  std::vector<int64_t> integers;  // of small constants, also computed
  bool guessed = false;           // computed as lists, before extents were known
  int producer = -1;              // node
  std::vector<int> readers;       // nodes, once each
  bool is_output = false;
};

struct OnnxAttribute {
  int64_t i = 0;
  float f = 0;
  std::string s;
  std::vector<int64_t> ints;
  std::vector<float> floats;
  std::vector<std::string> texts;
};

struct OnnxNode {
  std::string name;          // or "node 7" when it has none
  std::string op;            // "Conv", "com.microsoft.QLinearAdd"
  std::vector<int> inputs;   // values; -1 = absent
  std::vector<int> outputs;  // likewise
  std::map<std::string, OnnxAttribute> attributes;

  bool Has(const std::string& attribute) const {
    return attributes.count(attribute) != 0;
  }
  int64_t Int(const std::string& attribute, int64_t otherwise) const;
  float Float(const std::string& attribute, float otherwise) const;
  std::string Text(const std::string& attribute, const std::string& otherwise) const;
  std::vector<int64_t> Ints(const std::string& attribute,
                            std::vector<int64_t> otherwise) const;
  std::vector<std::string> Texts(const std::string& attribute) const;
};

struct OnnxModel {
  int64_t opset = 0;  // of the default domain
  std::vector<OnnxValue> values;
  std::vector<OnnxNode> nodes;
  std::vector<int> inputs, outputs;  // values; constants are no inputs
  // Inputs that are no longer such: in each run they hold what the output of the pair, which is
  // no longer one either, was in the run before; zeros in the first.
  std::vector<std::pair<int, int>> states;
  uint64_t external_bytes = 0;  // of constants that were read from other files

  // Input i of a node; nullptr where it is absent.
  const OnnxValue* In(const OnnxNode& node, size_t i) const {
    if (i >= node.inputs.size() || node.inputs[i] < 0) return nullptr;
    return &values[static_cast<size_t>(node.inputs[i])];
  }
};

using OnnxDims = std::map<std::string, int64_t>;  // "batch" or "input:0" -> extent

// `whole`: weights are read also where the model computes in floats alone.
OnnxModel ReadOnnxModel(const uint8_t* bytes, size_t size, const OnnxDims& dims,
                        const sluice_external_files_t* external, bool whole = false);

// Turns pairs of inputs and outputs into states. Unsupported: types or extents differ.
void JoinOnnxStates(const StateNames& names, OnnxModel* model);
// A model of floats alone -> one with QuantizeLinear and DequantizeLinear around its operators,
// as onnxruntime's static quantisation makes them (int8; weights symmetric for each channel).
// Errors as in float_ranges.h.
void QuantiseOnnxFloats(const FloatRanges& ranges, OnnxModel* model);

// Activations of uint8 that no border of the model sees become int8, with other zero points.
void UseSignedNumbers(OnnxModel* model);

// Bytes of one element; 0 for types this importer does not hold.
size_t OnnxTypeBytes(int type);
std::string OnnxTypeName(int type);
// Elements of a shape; 1 for a scalar.
int64_t ElementsOf(const std::vector<int64_t>& dims);

// Computes what follows from constants and known shapes alone: `integers`, `data` of floats, of
// 8-bit numbers and of conditions. A constant whose elements are moved behind DequantizeLinear
// is moved in front of it, so that it stays as small as it is stored.
void FoldConstants(OnnxModel* model);
void SpreadConstants(OnnxModel* model);
// Whether the model is quantised, so that the numbers of a run count and not its shapes alone.
bool ComputesFloats(const OnnxModel& model);
// Its parts: integers of stored constants; those of the node's output.
void TakeIntegers(OnnxModel* model);
void FoldIntegers(const OnnxNode& node, OnnxModel* model);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_ONNX_ONNX_MODEL_H_
