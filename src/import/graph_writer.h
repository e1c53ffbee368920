// SPDX-License-Identifier: Apache-2.0
// Collects tensors and layers, and numbers them.
//
// Input    shapes outermost first, rank 0..4; attributes in the order of ops.h;
//          layers in topological order
// Output   indices of tensors; at the end the finished buffer
// Errors   Error(kTooLarge): constants beyond the limit; those of WriteRows
#ifndef SLUICE_IMPORT_GRAPH_WRITER_H_
#define SLUICE_IMPORT_GRAPH_WRITER_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "import/graph_rows.h"

namespace sluice::import {

// Ones in front, as ops.h reads lower ranks.
Extents Normalised(const Dims& dims);

// Bytes that a constant is made of, element for element.
struct OtherBytes {
  const uint8_t* data;
  size_t size;
};

class GraphWriter {
 public:
  explicit GraphWriter(std::string name) { rows_.name = std::move(name); }
  // Limits the bytes of inline constants; beyond the limit, Error(kTooLarge) is thrown.
  void LimitConstants(uint64_t bytes) { most_constant_bytes_ = bytes; }
  // Throws when `bytes` more would exceed the limit. Must be called before a constant
  // is allocated whose size is not bounded by the size of the model file.
  void NeedRoom(uint64_t bytes) const;
  // NeedRoom for int32 [channels, 3]: a row of parameters for every channel.
  void NeedRows(uint64_t channels) const { NeedRoom(channels * 12); }
  // Starts from a graph that the library has accepted and that has no external
  // constants.
  explicit GraphWriter(const Bytes& graph);
  explicit GraphWriter(GraphRows rows);

  uint32_t AddName(const std::string& text);
  uint32_t AddTensor(const std::string& name, uint8_t dtype, Kind kind, Dims dims,
                     int32_t zero_point = 0, float scale = 0);
  uint32_t AddConstant(const std::string& name, uint8_t dtype, Dims dims,
                       const void* bytes, size_t size);
  // The same without a copy: the bytes must outlive the writer and its rows.
  uint32_t ReferToConstant(const std::string& name, uint8_t dtype, Dims dims,
                           const void* bytes, size_t size);
  // The same of bytes that `make` writes; see ConstantBytes::Compute.
  uint32_t ComputeConstant(const std::string& name, uint8_t dtype, Dims dims,
                           const OtherBytes& source, ConstantBytes::Make make);
  // A state tensor, which holds these bytes before the first run.
  uint32_t AddState(const std::string& name, uint8_t dtype, Dims dims,
                    const std::vector<uint8_t>& first);
  uint32_t AddSeeded(const std::string& name, uint8_t dtype, Dims dims, uint64_t seed);
  // A constant whose bytes lie in another file, from `offset` on.
  uint32_t AddExternal(const std::string& name, uint8_t dtype, Dims dims,
                       const std::string& file, uint64_t offset);
  // A value known at run time only, in [min, max]; returns its index.
  uint32_t AddParameter(const std::string& name, int32_t min, int32_t max);
  // The index of a GATHER that is a view of other tensors, which a graph cannot have, is
  // copied by the host first.
  void AddLayer(const std::string& name, uint16_t op, std::vector<uint32_t> inputs,
                std::vector<uint32_t> outputs, std::vector<int32_t> attributes = {});

  const std::vector<TensorRow>& tensors() const { return rows_.tensors; }
  const std::vector<LayerRow>& layers() const { return rows_.layers; }
  // Whether any layer from number `first` on is OPAQUE, that is, executed by the host.
  bool HasOpaque(size_t first) const;
  // Empty for kNoTensor.
  std::string name(uint32_t index) const {
    return index < rows_.names.size() ? rows_.names[index] : std::string();
  }
  const ConstantBytes& constants() const { return rows_.constants; }
  void SetAffine(uint32_t tensor, int32_t zero_point, float scale) {
    rows_.tensors[tensor].zero_point = zero_point;
    rows_.tensors[tensor].scale = scale;
  }
  void SetEncoded(uint32_t tensor, uint64_t bytes) {
    rows_.tensors[tensor].encoded_bytes = bytes;
  }
  void SetDtype(uint32_t tensor, uint8_t dtype) { rows_.tensors[tensor].dtype = dtype; }
  void SetKind(uint32_t tensor, Kind kind) { rows_.tensors[tensor].kind = kind; }
  void OrderOutputs(const std::vector<uint32_t>& outputs) {
    import::OrderOutputs(outputs, &rows_);
  }
  void SetName(uint32_t tensor, const std::string& name) {
    rows_.tensors[tensor].name = AddName(name);
  }
  std::vector<int32_t>& attributes(size_t layer) {
    return rows_.layers[layer].attributes;
  }
  void SetDims(uint32_t tensor, Dims dims) {
    rows_.tensors[tensor].dims = std::move(dims);
  }
  void SetLayers(std::vector<LayerRow> layers) { rows_.layers = std::move(layers); }
  uint64_t constant_bytes() const { return rows_.constants.size(); }

  // Rewinding removes tensors, layers and constants added after the Mark; names stay.
  struct Mark {
    size_t tensors, layers, data;
  };
  Mark Now() const {
    return {rows_.tensors.size(), rows_.layers.size(), rows_.constants.size()};
  }
  void Rewind(const Mark& mark);

  Bytes Finish() const { return WriteRows(rows_); }
  // Gives up what was collected, to be written later.
  GraphRows Take() { return std::move(rows_); }

 private:
  uint32_t NextConstant(const std::string& name, uint8_t dtype, Dims dims, size_t size);

  GraphRows rows_;
  std::unordered_map<std::string, uint32_t> name_index_;
  uint64_t most_constant_bytes_ = UINT64_MAX;
};

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_GRAPH_WRITER_H_
