// SPDX-License-Identifier: Apache-2.0
#include "import/graph_writer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "import/error.h"
#include "sluice/ops.h"

namespace sluice::import {
namespace {

uint64_t ElementBytes(uint8_t dtype) {
  static const uint8_t kBytes[] = {0,
#define SLUICE_IMPORT_BYTES(constant, code, bytes, name) bytes,
                                   SLUICE_DTYPES(SLUICE_IMPORT_BYTES)
#undef SLUICE_IMPORT_BYTES
  };
  return kBytes[dtype];
}

// Whether the tensor's elements are some of other tensors'.
bool IsView(const GraphWriter& graph, uint32_t tensor) {
  static const uint16_t kViews[] = {SLUICE_OP_SLICE, SLUICE_OP_CONCAT};
  for (size_t l = graph.layers().size(); l-- > 0;) {
    const LayerRow& layer = graph.layers()[l];
    if (layer.outputs[0] != tensor) continue;
    if (std::find(std::begin(kViews), std::end(kViews), layer.op) != std::end(kViews))
      return true;
    if (layer.op != SLUICE_OP_RESHAPE) return false;
    tensor = layer.inputs[0];
  }
  return false;
}

constexpr int64_t kMostIndices = 1 << 24;

// A host step that writes the elements anew, in their order.
uint32_t CopyOf(GraphWriter* graph, uint32_t tensor) {
  const TensorRow from = graph->tensors()[tensor];
  int64_t wide = 1;
  for (const int32_t extent : from.dims)
    wide = std::min(wide * extent, kMostIndices + 1);
  if (wide > kMostIndices)
    throw Error(Fault::kTooLarge, "a gather by too many indices");
  const int32_t elements = static_cast<int32_t>(wide);
  std::vector<int32_t> places;
  for (int32_t i = 0; i < elements; ++i) places.push_back(i);
  places.push_back(0);
  const std::string name = graph->name(from.name) + "/copy";
  const uint32_t copy =
      graph->AddTensor(name, from.dtype, Kind::kIntermediate, from.dims);
  const uint32_t options =
      graph->AddConstant(name + "/places", SLUICE_DTYPE_INT32, {elements + 1},
                         places.data(), places.size() * 4);
  graph->AddLayer(name, SLUICE_OP_OPAQUE, {tensor, options}, {copy},
                  {elements, 0, static_cast<int32_t>(graph->AddName("onnx.Pick"))});
  return copy;
}

}  // namespace

Extents Normalised(const Dims& dims) {
  Extents extents = {1, 1, 1, 1};
  for (size_t i = 0; i < dims.size(); ++i) extents[4 - dims.size() + i] = dims[i];
  return extents;
}

GraphWriter::GraphWriter(const Bytes& graph) : GraphWriter(ReadRows(graph)) {}

GraphWriter::GraphWriter(GraphRows rows) : rows_(std::move(rows)) {
  for (uint32_t i = 0; i < rows_.names.size(); ++i)
    name_index_.emplace(rows_.names[i], i);
}

bool GraphWriter::HasOpaque(size_t first) const {
  return std::any_of(rows_.layers.begin() + static_cast<std::ptrdiff_t>(first),
                     rows_.layers.end(),
                     [](const LayerRow& l) { return l.op == SLUICE_OP_OPAQUE; });
}

uint32_t GraphWriter::AddName(const std::string& text) {
  if (text.empty()) return kNoTensor;
  const auto [entry, added] =
      name_index_.emplace(text, static_cast<uint32_t>(rows_.names.size()));
  if (added) rows_.names.push_back(text);
  return entry->second;
}

uint32_t GraphWriter::AddTensor(const std::string& name, uint8_t dtype, Kind kind,
                                Dims dims, int32_t zero_point, float scale) {
  rows_.tensors.push_back({AddName(name), dtype, kind, std::move(dims), zero_point,
                           scale, 0, 0, kNoTensor});
  return static_cast<uint32_t>(rows_.tensors.size() - 1);
}

void GraphWriter::NeedRoom(uint64_t bytes) const {
  if (rows_.constants.size() <= most_constant_bytes_ &&
      bytes <= most_constant_bytes_ - rows_.constants.size()) {
    return;
  }
  throw Error(Fault::kTooLarge, "a constant of " + std::to_string(bytes) +
                                    " bytes behind " +
                                    std::to_string(rows_.constants.size()) +
                                    " others exceeds the limit of " +
                                    std::to_string(most_constant_bytes_));
}

uint32_t GraphWriter::NextConstant(const std::string& name, uint8_t dtype, Dims dims,
                                   size_t size) {
  NeedRoom(size);
  rows_.constants.Align(kConstantAlignment);
  const uint32_t tensor = AddTensor(name, dtype, Kind::kConstant, std::move(dims));
  rows_.tensors[tensor].source = 1;
  rows_.tensors[tensor].source_offset = rows_.constants.size();
  return tensor;
}

uint32_t GraphWriter::AddConstant(const std::string& name, uint8_t dtype, Dims dims,
                                  const void* bytes, size_t size) {
  const uint32_t tensor = NextConstant(name, dtype, std::move(dims), size);
  rows_.constants.Copy(static_cast<const uint8_t*>(bytes), size);
  return tensor;
}

uint32_t GraphWriter::ReferToConstant(const std::string& name, uint8_t dtype, Dims dims,
                                      const void* bytes, size_t size) {
  const uint32_t tensor = NextConstant(name, dtype, std::move(dims), size);
  rows_.constants.Refer(static_cast<const uint8_t*>(bytes), size);
  return tensor;
}

uint32_t GraphWriter::ComputeConstant(const std::string& name, uint8_t dtype, Dims dims,
                                      const OtherBytes& source,
                                      ConstantBytes::Make make) {
  uint64_t size = ElementBytes(dtype);
  for (const int32_t extent : dims) size *= static_cast<uint64_t>(extent);
  const uint32_t tensor = NextConstant(name, dtype, std::move(dims), size);
  rows_.constants.Compute(size, source.data, source.size, std::move(make));
  return tensor;
}

uint32_t GraphWriter::AddState(const std::string& name, uint8_t dtype, Dims dims,
                               const std::vector<uint8_t>& first) {
  const bool zeros =
      std::all_of(first.begin(), first.end(), [](uint8_t b) { return b == 0; });
  if (zeros) return AddTensor(name, dtype, Kind::kState, std::move(dims));
  const uint32_t tensor =
      AddConstant(name, dtype, std::move(dims), first.data(), first.size());
  rows_.tensors[tensor].kind = Kind::kState;
  return tensor;
}

uint32_t GraphWriter::AddSeeded(const std::string& name, uint8_t dtype, Dims dims,
                                uint64_t seed) {
  const uint32_t tensor = AddTensor(name, dtype, Kind::kConstant, std::move(dims));
  rows_.tensors[tensor].source = 3;
  rows_.tensors[tensor].source_offset = seed;
  return tensor;
}

uint32_t GraphWriter::AddExternal(const std::string& name, uint8_t dtype, Dims dims,
                                  const std::string& file, uint64_t offset) {
  const uint32_t tensor = AddTensor(name, dtype, Kind::kConstant, std::move(dims));
  rows_.tensors[tensor].source = 2;
  rows_.tensors[tensor].source_offset = offset;
  rows_.tensors[tensor].source_file = AddName(file);
  return tensor;
}

uint32_t GraphWriter::AddParameter(const std::string& name, int32_t min, int32_t max) {
  rows_.parameters.push_back({AddName(name), min, max});
  return static_cast<uint32_t>(rows_.parameters.size() - 1);
}

void GraphWriter::AddLayer(const std::string& name, uint16_t op,
                           std::vector<uint32_t> inputs, std::vector<uint32_t> outputs,
                           std::vector<int32_t> attributes) {
  if (op == SLUICE_OP_GATHER && IsView(*this, inputs[1]))
    inputs[1] = CopyOf(this, inputs[1]);
  rows_.layers.push_back({AddName(name), op, std::move(inputs), std::move(outputs),
                          std::move(attributes)});
}

void GraphWriter::Rewind(const Mark& mark) {
  rows_.tensors.resize(mark.tensors);
  rows_.layers.resize(mark.layers);
  rows_.constants.Truncate(mark.data);
}

}  // namespace sluice::import
