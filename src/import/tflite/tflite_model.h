// SPDX-License-Identifier: Apache-2.0
// A TensorFlow Lite file, checked and taken apart into plain structs.
//
// Input    untrusted bytes, 8-byte aligned, that outlive the model
// Output   tensors and operators of the one subgraph; every index is in range,
//          constants that are not sparse have the size their shape says, quantisation is
//          finite and complete
// Errors   Error(kBadInput) with what is wrong and where
// Cost     linear in the file
#ifndef SLUICE_IMPORT_TFLITE_TFLITE_MODEL_H_
#define SLUICE_IMPORT_TFLITE_TFLITE_MODEL_H_

#include <cstdint>
#include <list>
#include <string>
#include <vector>

namespace sluice::tflite {
struct Operator;
struct Sparsity;
}  // namespace sluice::tflite

namespace sluice::import {

struct TfliteTensor {
  std::string name;
  int type;                    // tflite::TensorType
  std::vector<int32_t> shape;  // extents may be < 1 when the model is dynamic
  const uint8_t* data;         // constants; nullptr otherwise
  size_t data_bytes;
  bool is_variable;
  // Where the elements of `data` lie, if it holds some of them only; else nullptr.
  // sparse_constants.h makes such a constant whole.
  const tflite::Sparsity* sparsity;
  std::vector<float> scales;  // empty, one, or one per slice
  std::vector<int64_t> zero_points;
  int32_t quantised_axis;
  // Of a weight: floats that are the stored numbers, less the zero point, times the scale. Else
  // the activations that it is multiplied by are quantised too, in each run.
  bool means_floats = false;
  // For a constant, if not empty: the graph refers to this file instead of holding the
  // bytes, because a runtime has them in memory already. `data` points at the bytes in
  // either case.
  std::string file;
  uint64_t file_offset = 0;
};

struct TfliteOperator {
  int code;                     // tflite::BuiltinOperator
  std::string name;             // "CONV_2D", "CUSTOM:Foo"
  std::vector<int32_t> inputs;  // -1 = absent
  std::vector<int32_t> outputs;
  const tflite::Operator* wire;  // for its options
};

// A tensor that persists over runs: `first` is its value before the first run, `next`
// the tensor whose value it takes after each run (-1: it keeps its value).
struct TfliteState {
  int32_t tensor, next;
  std::vector<uint8_t> first;
};

struct TfliteModel {
  std::vector<TfliteTensor> tensors;
  std::vector<TfliteOperator> operators;  // in execution order
  std::vector<int32_t> inputs, outputs;
  std::vector<TfliteState> states;  // of resource variables (variables.h)
  // Bytes of constants computed at import; `data` of their tensors points here.
  std::list<std::vector<uint8_t>> made;
  // Whether float activations are multiplied by integers that the file stores.
  bool has_stored_weights = false;
};

TfliteModel ReadTfliteModel(const uint8_t* bytes, size_t size);
// Reads another subgraph of a file that ReadTfliteModel has accepted. The subgraph may
// have no outputs.
TfliteModel ReadTfliteSubgraph(const uint8_t* bytes, size_t size, int64_t index);

// Bytes of one element; 0 for types without a fixed size.
size_t TfliteTypeBytes(int type);
std::string TfliteTypeName(int type);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_TFLITE_TFLITE_MODEL_H_
