// SPDX-License-Identifier: Apache-2.0
// Collects tensors and layers and writes them as graph.fbs bytes.
//
// Input    shapes outermost first, rank 0..4; attributes in the order of ops.h;
//          layers in topological order
// Output   indices of tensors; at the end the finished buffer
// Errors   Error(kBadInput) when the graph does not fit the format
// Cost     keeps inline constants in memory twice while finishing
#ifndef SLUICE_IMPORT_GRAPH_WRITER_H_
#define SLUICE_IMPORT_GRAPH_WRITER_H_

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "import/bytes.h"
#include "sluice/ops.h"

namespace sluice::import {

constexpr uint32_t kNoTensor = 0xffffffffu;

using Dims = std::vector<int32_t>;
using Extents = std::array<int32_t, 4>;  // N H W C

// Ones in front, as ops.h reads lower ranks.
Extents Normalised(const Dims& dims);

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

class GraphWriter {
 public:
  explicit GraphWriter(std::string name) : name_(std::move(name)) {}
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

  uint32_t AddName(const std::string& text);
  uint32_t AddTensor(const std::string& name, uint8_t dtype, Kind kind, Dims dims,
                     int32_t zero_point = 0, float scale = 0);
  uint32_t AddConstant(const std::string& name, uint8_t dtype, Dims dims,
                       const void* bytes, size_t size);
  // A state tensor, which holds these bytes before the first run.
  uint32_t AddState(const std::string& name, uint8_t dtype, Dims dims,
                    const std::vector<uint8_t>& first);
  uint32_t AddSeeded(const std::string& name, uint8_t dtype, Dims dims, uint64_t seed);
  // A constant whose bytes lie in another file, from `offset` on.
  uint32_t AddExternal(const std::string& name, uint8_t dtype, Dims dims,
                       const std::string& file, uint64_t offset);
  // A value known at run time only, in [min, max]; returns its index.
  uint32_t AddParameter(const std::string& name, int32_t min, int32_t max);
  void AddLayer(const std::string& name, uint16_t op, std::vector<uint32_t> inputs,
                std::vector<uint32_t> outputs, std::vector<int32_t> attributes = {});

  const std::vector<TensorRow>& tensors() const { return tensors_; }
  const std::vector<LayerRow>& layers() const { return layers_; }
  // Whether any layer from number `first` on is OPAQUE, that is, executed by the host.
  bool HasOpaque(size_t first) const;
  // Empty for kNoTensor.
  std::string name(uint32_t index) const {
    return index < names_.size() ? names_[index] : std::string();
  }
  const Bytes& constants() const { return data_; }
  void SetAffine(uint32_t tensor, int32_t zero_point, float scale) {
    tensors_[tensor].zero_point = zero_point;
    tensors_[tensor].scale = scale;
  }
  void SetEncoded(uint32_t tensor, uint64_t bytes) {
    tensors_[tensor].encoded_bytes = bytes;
  }
  void SetKind(uint32_t tensor, Kind kind) { tensors_[tensor].kind = kind; }
  // A graph's outputs are counted in the order of its tensors. Lets these tensors, all
  // different, trade places so that they are in the order of the list; numbers that were
  // returned before then mean other tensors.
  void OrderOutputs(const std::vector<uint32_t>& outputs);
  void SetName(uint32_t tensor, const std::string& name) {
    tensors_[tensor].name = AddName(name);
  }
  std::vector<int32_t>& attributes(size_t layer) { return layers_[layer].attributes; }
  void SetDims(uint32_t tensor, Dims dims) { tensors_[tensor].dims = std::move(dims); }
  void SetLayers(std::vector<LayerRow> layers) { layers_ = std::move(layers); }
  uint64_t constant_bytes() const { return data_.size(); }

  // Rewinding removes tensors, layers and constants added after the Mark; names stay.
  struct Mark {
    size_t tensors, layers, data;
  };
  Mark Now() const { return {tensors_.size(), layers_.size(), data_.size()}; }
  void Rewind(const Mark& mark);

  Bytes Finish() const;

 private:
  std::string name_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, uint32_t> name_index_;
  std::vector<TensorRow> tensors_;
  std::vector<LayerRow> layers_;
  std::vector<ParameterRow> parameters_;
  Bytes data_;
  uint64_t most_constant_bytes_ = UINT64_MAX;
};

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_GRAPH_WRITER_H_
