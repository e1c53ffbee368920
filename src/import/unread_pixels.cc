// SPDX-License-Identifier: Apache-2.0
#include "import/unread_pixels.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <string>

#include "import/error.h"

namespace sluice::import {
namespace {

// How an operator reads rows and columns of its input 0, or of all operands.
enum class Reads : uint8_t {
  kNothing,  // whole, or by rows and columns that this file does not follow
  kFilter,   // a window as large as the weight, input 1
  kPool,     // a window that the attributes give
  kSame,     // output pixel p, q reads pixel p, q of every operand
};

struct ReadsRow {
  uint16_t op;
  Reads reads;
};
constexpr ReadsRow kRows[] = {
    {0, Reads::kNothing},
    {SLUICE_OP_CONV, Reads::kFilter},
    {SLUICE_OP_DEPTHWISE_CONV, Reads::kFilter},
    {SLUICE_OP_TRANSPOSED_CONV, Reads::kNothing},
    {SLUICE_OP_FULLY_CONNECTED, Reads::kNothing},
    {SLUICE_OP_BATCH_MATMUL, Reads::kNothing},
    {SLUICE_OP_MAX_POOL, Reads::kPool},
    {SLUICE_OP_AVERAGE_POOL, Reads::kPool},
    {SLUICE_OP_ADD, Reads::kSame},
    {SLUICE_OP_SUB, Reads::kSame},
    {SLUICE_OP_MUL, Reads::kSame},
    {SLUICE_OP_MINIMUM, Reads::kSame},
    {SLUICE_OP_MAXIMUM, Reads::kSame},
    {SLUICE_OP_REQUANTIZE, Reads::kSame},
    {SLUICE_OP_LOOKUP, Reads::kSame},
    {SLUICE_OP_SOFTMAX, Reads::kNothing},
    {SLUICE_OP_LAYER_NORM, Reads::kNothing},
    {SLUICE_OP_RMS_NORM, Reads::kNothing},
    {SLUICE_OP_REDUCE, Reads::kNothing},
    {SLUICE_OP_ARGMAX, Reads::kNothing},
    {SLUICE_OP_CONCAT, Reads::kNothing},
    {SLUICE_OP_SLICE, Reads::kNothing},
    {SLUICE_OP_PAD, Reads::kNothing},
    {SLUICE_OP_RESHAPE, Reads::kNothing},
    {SLUICE_OP_TRANSPOSE, Reads::kNothing},
    {SLUICE_OP_GATHER, Reads::kNothing},
    {SLUICE_OP_RESIZE_BILINEAR, Reads::kNothing},
    {SLUICE_OP_RESIZE_NEAREST, Reads::kNothing},
    {SLUICE_OP_STATE_APPEND, Reads::kNothing},
    {SLUICE_OP_OPAQUE, Reads::kNothing},
    {SLUICE_OP_WEIGHT_GRADIENT, Reads::kNothing},
    {SLUICE_OP_RELU_GRADIENT, Reads::kNothing},
    {SLUICE_OP_MAX_POOL_GRADIENT, Reads::kNothing},
    {SLUICE_OP_HARD_SWISH, Reads::kSame},
    {SLUICE_OP_PRELU, Reads::kSame},
};

constexpr bool RowsStandAtTheirCodes() {
  for (size_t i = 0; i < std::size(kRows); ++i) {
    if (kRows[i].op != i) return false;
  }
  return true;
}
static_assert(std::size(kRows) == SLUICE_OP_COUNT,
              "each operator of ops.h has one row");
static_assert(RowsStandAtTheirCodes(), "rows stand in the order of codes");

Reads ReadsOf(uint16_t op) {
  if (op == 0 || op >= SLUICE_OP_COUNT) {
    throw Error(Fault::kBadInput, "there is no operator " + std::to_string(op));
  }
  return kRows[op].reads;
}

constexpr char kUnread[] = "rows and columns that no layer reads are not computed";

const char* NameOf(uint16_t op) {
#define SLUICE_OP_NAME(constant, code, name) \
  if (op == code) return name;
  SLUICE_OPS(SLUICE_OP_NAME)
#undef SLUICE_OP_NAME
  return "";
}

bool IsWindow(Reads reads) { return reads == Reads::kFilter || reads == Reads::kPool; }

// Every so many rows and columns.
using Steps = std::array<int32_t, 2>;
constexpr Steps kAll = {1, 1};
// The largest stride that the graph's reader takes.
constexpr int32_t kLargestStride = 65535;

bool IsEightBit(const TensorRow& row) {
  return row.dtype == SLUICE_DTYPE_INT8 || row.dtype == SLUICE_DTYPE_UINT8;
}

int32_t OneIfZero(int32_t value) { return value == 0 ? 1 : value; }
int32_t At(const LayerRow& layer, size_t attribute) {
  return attribute < layer.attributes.size() ? layer.attributes[attribute] : 0;
}
// Where the stride along H lies among the attributes; that along W lies behind it.
size_t StrideOf(const LayerRow& layer) {
  if (ReadsOf(layer.op) == Reads::kPool) return SLUICE_POOL_STRIDE_H;
  return SLUICE_CONV_STRIDE_H;
}

class Skipper {
 public:
  explicit Skipper(GraphWriter* graph)
      : graph_(*graph),
        readers_(graph->tensors().size()),
        kept_(graph->tensors().size(), kAll),
        saves_(graph->layers().size()) {
    std::vector<size_t> maker(readers_.size(), graph->layers().size());
    for (size_t l = 0; l < graph_.layers().size(); ++l) {
      const LayerRow& layer = graph_.layers()[l];
      for (uint32_t input : layer.inputs) {
        if (input != kNoTensor) readers_[input].push_back(l);
      }
      for (uint32_t output : layer.outputs) maker[output] = l;
    }
    for (size_t l = 0; l < saves_.size(); ++l) saves_[l] = Saves(l, maker);
    for (size_t l = saves_.size(); l-- > 0;) Decide(l);
  }

  std::vector<UnsupportedOperator> Rewrite() {
    std::vector<UnsupportedOperator> skipped;
    std::vector<LayerRow> layers;
    const std::vector<Extents> whole = AllExtents();
    for (size_t t = 0; t < kept_.size(); ++t)
      Shrink(static_cast<uint32_t>(t), kept_[t]);
    for (LayerRow layer : graph_.layers()) {
      const Reads reads = ReadsOf(layer.op);
      if (IsWindow(reads)) SetStrides(&layer);
      if (reads == Reads::kSame) PickOperands(&layer, whole, &layers);
      if (!layer.outputs.empty() && kept_[layer.outputs[0]] != kAll) {
        CountOperator(&skipped, NameOf(layer.op), kUnread);
      }
      layers.push_back(std::move(layer));
    }
    graph_.SetLayers(std::move(layers));
    return skipped;
  }

 private:
  std::vector<Extents> AllExtents() const {
    std::vector<Extents> all;
    for (const TensorRow& tensor : graph_.tensors())
      all.push_back(Normalised(tensor.dims));
    return all;
  }

  // Whether fewer pixels of this layer are less work for it, or for a layer that makes an
  // operand for it alone.
  bool Saves(size_t l, const std::vector<size_t>& maker) const {
    const LayerRow& layer = graph_.layers()[l];
    const Reads reads = ReadsOf(layer.op);
    if (reads != Reads::kSame) return IsWindow(reads);
    return std::any_of(layer.inputs.begin(), layer.inputs.end(), [&](uint32_t input) {
      return input != kNoTensor && maker[input] < l && saves_[maker[input]] &&
             readers_[input].size() == 1 && MayShrink(input);
    });
  }

  bool MayShrink(uint32_t tensor) const {
    const TensorRow& row = graph_.tensors()[tensor];
    return row.kind == Kind::kIntermediate && row.dims.size() == 4 && IsEightBit(row);
  }
  // Whether the layer reads single pixels on this side (0: H, 1: W). Pads are smaller than
  // windows, so there are none then.
  bool ReadsPoints(const LayerRow& layer, size_t side) const {
    if (ReadsOf(layer.op) == Reads::kPool)
      return At(layer, SLUICE_POOL_WINDOW_H + side) == 1;
    return Normalised(graph_.tensors()[layer.inputs[1]].dims)[1 + side] == 1;
  }

  // Which rows and columns of its input a reader takes, given which of its output are kept. (A
  // tensor that is the filter of a window of one pixel has one pixel itself.)
  Steps Asked(size_t reader) const {
    const LayerRow& layer = graph_.layers()[reader];
    const Reads reads = ReadsOf(layer.op);
    if (reads == Reads::kNothing) return kAll;
    const Steps kept = kept_[layer.outputs[0]];
    if (reads == Reads::kSame) return kept;
    Steps asked = kAll;
    for (size_t side = 0; side < 2; ++side) {
      if (ReadsPoints(layer, side)) {
        asked[side] = OneIfZero(At(layer, StrideOf(layer) + side)) * kept[side];
      }
    }
    return asked;
  }

  // An operand that a layer reads pixel by pixel can be had with fewer of them: by itself, or
  // through a pool.
  bool CanPick(uint32_t operand) const {
    if (operand == kNoTensor) return false;
    const TensorRow& row = graph_.tensors()[operand];
    const Extents extents = Normalised(row.dims);
    if (extents[1] == 1 && extents[2] == 1) return true;
    return row.kind != Kind::kConstant && row.dims.size() == 4 && IsEightBit(row);
  }

  // Which pixels of the layer's output are kept. All its readers have been decided.
  void Decide(size_t l) {
    const LayerRow& layer = graph_.layers()[l];
    if (!saves_[l] || layer.outputs.size() != 1 || !MayShrink(layer.outputs[0])) return;
    const uint32_t output = layer.outputs[0];
    const Extents extents = Normalised(graph_.tensors()[output].dims);
    Steps asked = {0, 0};
    for (size_t reader : readers_[output]) {
      const Steps steps = Asked(reader);
      for (size_t side = 0; side < 2; ++side) {
        asked[side] = std::gcd(asked[side], steps[side]);
      }
    }
    for (size_t side = 0; side < 2; ++side) {
      if (asked[side] == 0 || extents[1 + side] == 1) asked[side] = 1;
    }
    if (ReadsOf(layer.op) == Reads::kSame) {
      for (uint32_t operand : layer.inputs) {
        if (!CanPick(operand)) return;
      }
    } else {
      for (size_t side = 0; side < 2; ++side) {
        const int64_t stride = OneIfZero(At(layer, StrideOf(layer) + side));
        if (stride * asked[side] > kLargestStride) asked[side] = 1;
      }
    }
    kept_[output] = asked;
  }

  // Leaves every steps-th row and column of a tensor.
  void Shrink(uint32_t tensor, const Steps& steps) {
    if (steps == kAll) return;
    Dims dims = graph_.tensors()[tensor].dims;
    for (size_t side = 0; side < 2; ++side) {
      dims[1 + side] = (dims[1 + side] - 1) / steps[side] + 1;
    }
    graph_.SetDims(tensor, std::move(dims));
  }

  void SetStrides(LayerRow* layer) const {
    const Steps in = kept_[layer->inputs[0]], out = kept_[layer->outputs[0]];
    if (in == kAll && out == kAll) return;
    const size_t stride = StrideOf(*layer);
    layer->attributes.resize(std::max(layer->attributes.size(), stride + 2));
    for (size_t side = 0; side < 2; ++side) {
      int32_t& value = layer->attributes[stride + side];
      value = OneIfZero(value) * out[side] / in[side];
    }
  }

  // Lets an elementwise layer read the pixels that it still makes.
  void PickOperands(LayerRow* layer, const std::vector<Extents>& whole,
                    std::vector<LayerRow>* layers) {
    const Steps out = kept_[layer->outputs[0]];
    for (uint32_t& operand : layer->inputs) {
      if (operand == kNoTensor) continue;
      Steps left = kAll;
      for (size_t side = 0; side < 2; ++side) {
        if (whole[operand][1 + side] > 1) left[side] = out[side] / kept_[operand][side];
      }
      if (left != kAll) operand = Pooled(operand, left, layers);
    }
  }

  // The tensor's every steps-th row and column, made by a 1x1 pool in front of its first reader.
  uint32_t Pooled(uint32_t tensor, const Steps& steps, std::vector<LayerRow>* layers) {
    const auto [entry, added] =
        pooled_.emplace(std::make_pair(tensor, steps), kNoTensor);
    if (!added) return entry->second;
    const TensorRow row = graph_.tensors()[tensor];
    const std::string name = graph_.name(row.name) + " (every " +
                             std::to_string(steps[0]) + " x " +
                             std::to_string(steps[1]) + ")";
    const uint32_t made = graph_.AddTensor(name, row.dtype, Kind::kIntermediate,
                                           row.dims, row.zero_point, row.scale);
    Shrink(made, steps);
    std::vector<int32_t> attributes(SLUICE_POOL_ATTRIBUTES);
    for (size_t side = 0; side < 2; ++side) {
      attributes[SLUICE_POOL_WINDOW_H + side] = 1;
      attributes[SLUICE_POOL_STRIDE_H + side] = steps[side];
    }
    const bool is_signed = row.dtype == SLUICE_DTYPE_INT8;
    attributes[SLUICE_POOL_ACT_MIN] = is_signed ? -128 : 0;
    attributes[SLUICE_POOL_ACT_MAX] = is_signed ? 127 : 255;
    layers->push_back({graph_.AddName(name),
                       SLUICE_OP_MAX_POOL,
                       {tensor},
                       {made},
                       std::move(attributes)});
    entry->second = made;
    return made;
  }

  GraphWriter& graph_;
  std::vector<std::vector<size_t>>
      readers_;              // of each tensor: layers, once per operand
  std::vector<Steps> kept_;  // pixels of each tensor that are kept
  std::vector<bool> saves_;  // of each layer
  std::map<std::pair<uint32_t, Steps>, uint32_t> pooled_;
};

}  // namespace

std::vector<UnsupportedOperator> SkipUnreadPixels(GraphWriter* graph) {
  return Skipper(graph).Rewrite();
}

}  // namespace sluice::import
