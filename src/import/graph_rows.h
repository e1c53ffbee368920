// SPDX-License-Identifier: Apache-2.0
// A graph as rows: one struct for each tensor, layer and parameter. graph.fbs stores the
// same data by column.
//
// Input    bytes of a graph that the library has accepted; or rows
// Output   its rows; or bytes, the same for equal rows in every version
// Errors   Error(kBadArgument): external constants; Error(kBadInput): the rows do not fit
//          the format
// Cost     rows keep constants that are not copied where they are (constant_bytes.h)
#ifndef SLUICE_IMPORT_GRAPH_ROWS_H_
#define SLUICE_IMPORT_GRAPH_ROWS_H_

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "import/bytes.h"
#include "import/constant_bytes.h"
#include "sluice/ops.h"

namespace sluice::import {

constexpr uint32_t kNoTensor = 0xffffffffu;

using Dims = std::vector<int32_t>;
using Extents = std::array<int32_t, 4>;  // N H W C

enum class Kind : uint8_t {
  kIntermediate = 0,
  kInput = 1,
  kOutput = 2,
  kConstant = 3,
  kState = 4,
};

struct TensorRow {
  uint32_t name;
  uint8_t dtype;  // SLUICE_DTYPE_
  Kind kind;
  Dims dims;
  int32_t zero_point;
  float scale;  // 0 = not quantised per tensor
  uint8_t source;
  uint64_t source_offset;
  uint32_t source_file = kNoTensor;  // name of the file, of external constants
  uint64_t encoded_bytes = 0;        // off chip; 0: as many as the tensor has
};

struct LayerRow {
  uint32_t name;
  uint16_t op;  // SLUICE_OP_
  std::vector<uint32_t> inputs, outputs;
  std::vector<int32_t> attributes;
};

struct ParameterRow {
  uint32_t name;
  int32_t min, max;
};

struct GraphRows {
  std::string name;
  std::vector<std::string>
      names;  // of tensors, layers, parameters and files, each once
  std::vector<TensorRow> tensors;
  std::vector<LayerRow> layers;
  std::vector<ParameterRow> parameters;
  ConstantBytes constants;  // inline ones
};

constexpr size_t kConstantAlignment = 16;

// The graph must have no external constants.
GraphRows ReadRows(const Bytes& graph);
Bytes WriteRows(const GraphRows& rows);
// The same into memory of the caller, which is asked for once; gives up the constants while
// they are copied there. Returns the number of bytes.
size_t MoveRows(GraphRows* rows, const std::function<uint8_t*(size_t)>& allocate,
                const ConstantBytes::Done& done = nullptr);

// A graph's outputs are counted in the order of its tensors. Lets these tensors, all
// different, trade places so that they are in the order of the list; numbers that were
// returned before then mean other tensors.
void OrderOutputs(const std::vector<uint32_t>& outputs, GraphRows* graph);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_GRAPH_ROWS_H_
