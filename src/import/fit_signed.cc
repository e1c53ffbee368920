// SPDX-License-Identifier: Apache-2.0
// uint8 activations that a machine does not multiply become int8 ones: each number is 128 less,
// and so are zero points and bounds. Operators to which this makes no difference take the int8
// tensor; in front of and behind the others, and at the graph's border, a REQUANTIZE moves
// numbers by 128.
#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

#include "import/machine_fit.h"

namespace sluice::import {
namespace {

// Operands and outputs of an operator, as far as uint8 may become int8 in them.
enum class Form : uint8_t {
  kStays,  // they stay: numbers round otherwise below zero, or nobody knows the operator
  kOwn,    // each by itself
  kInputs,  // both inputs together, the output by itself
  kAlike,   // all together
};
constexpr int8_t kNo = -1;
struct OpForm {
  uint16_t op;
  Form form;
  int8_t zeros[3];  // attributes: zero points of inputs 0 and 1 and of the output
  int8_t bounds;    // and the first of two bounds of the output
  uint8_t inputs;   // so many of the inputs are meant
};
constexpr uint8_t kAll = 255;
constexpr OpForm kForms[] = {
    {SLUICE_OP_CONV, Form::kOwn, {9, kNo, 11}, 12, 1},
    {SLUICE_OP_DEPTHWISE_CONV, Form::kOwn, {9, kNo, 11}, 12, 1},
    {SLUICE_OP_TRANSPOSED_CONV, Form::kOwn, {9, kNo, 11}, 12, 1},
    {SLUICE_OP_FULLY_CONNECTED, Form::kOwn, {9, kNo, 11}, 12, 1},
    {SLUICE_OP_BATCH_MATMUL, Form::kOwn, {1, 2, 3}, 6, 2},
    {SLUICE_OP_MAX_POOL, Form::kAlike, {kNo, kNo, kNo}, 8, 1},
    {SLUICE_OP_ADD, Form::kInputs, {1, 4, 7}, 10, 2},
    {SLUICE_OP_SUB, Form::kInputs, {1, 4, 7}, 10, 2},
    {SLUICE_OP_MUL, Form::kInputs, {1, 4, 7}, 10, 2},
    {SLUICE_OP_MINIMUM, Form::kAlike, {kNo, kNo, kNo}, kNo, 2},
    {SLUICE_OP_MAXIMUM, Form::kAlike, {kNo, kNo, kNo}, kNo, 2},
    {SLUICE_OP_REQUANTIZE, Form::kOwn, {0, kNo, 3}, 4, 1},
    {SLUICE_OP_PRELU, Form::kOwn, {0, 1, 2}, 7, 2},
    {SLUICE_OP_SOFTMAX, Form::kAlike, {kNo, kNo, kNo}, kNo, 1},
    {SLUICE_OP_LAYER_NORM, Form::kOwn, {kNo, kNo, 2}, 3, 1},
    {SLUICE_OP_RMS_NORM, Form::kOwn, {0, kNo, 2}, 3, 1},
    {SLUICE_OP_ARGMAX, Form::kOwn, {kNo, kNo, kNo}, kNo, 1},
    {SLUICE_OP_CONCAT, Form::kAlike, {kNo, kNo, kNo}, kNo, kAll},
    {SLUICE_OP_SLICE, Form::kAlike, {kNo, kNo, kNo}, kNo, 1},
    {SLUICE_OP_PAD, Form::kAlike, {4, kNo, kNo}, kNo, 1},
    {SLUICE_OP_RESHAPE, Form::kAlike, {kNo, kNo, kNo}, kNo, 1},
    {SLUICE_OP_TRANSPOSE, Form::kAlike, {kNo, kNo, kNo}, kNo, 1},
    {SLUICE_OP_GATHER, Form::kAlike, {kNo, kNo, kNo}, kNo, 1},
    {SLUICE_OP_RESIZE_NEAREST, Form::kAlike, {kNo, kNo, kNo}, kNo, 1}};

OpForm FormOf(const LayerRow& layer) {
  const OpForm stays = {layer.op, Form::kStays, {kNo, kNo, kNo}, kNo, 0};
  if (layer.op == SLUICE_OP_REDUCE) {
    const size_t kind = SLUICE_REDUCE_KIND;
    const bool sum = layer.attributes.size() <= kind ||
                     layer.attributes[kind] == SLUICE_REDUCE_KIND_SUM;
    return sum ? OpForm{layer.op, Form::kOwn, {2, kNo, 3}, 6, 1}
               : OpForm{layer.op, Form::kAlike, {kNo, kNo, kNo}, kNo, 1};
  }
  if (layer.op == SLUICE_OP_TRANSPOSED_CONV &&
      layer.attributes.size() > SLUICE_CONV_WEIGHT_LAYOUT &&
      layer.attributes[SLUICE_CONV_WEIGHT_LAYOUT] != SLUICE_WEIGHT_LAYOUT_OWN)
    return stays;
  const auto* form = std::find_if(std::begin(kForms), std::end(kForms),
                                  [&](const OpForm& f) { return f.op == layer.op; });
  return form == std::end(kForms) ? stays : *form;
}

class Signing {
 public:
  Signing(const Units& units, GraphWriter* graph)
      : units_(units), graph_(*graph), group_(graph->tensors().size()) {
    std::iota(group_.begin(), group_.end(), 0u);
    wanted_.resize(group_.size());
    barred_.resize(group_.size());
  }

  void Run() {
    for (const LayerRow& layer : graph_.layers()) Look(layer);
    const size_t count = group_.size();
    for (uint32_t t = 0; t < count; ++t) {
      if (IsUnsigned(t) && IsBarred(t)) barred_[Find(t)] = true;
    }
    for (uint32_t t = 0; t < count; ++t) {
      const uint32_t root = Find(t);
      changes_.push_back(IsUnsigned(t) && wanted_[root] && !barred_[root]);
    }
    if (std::find(changes_.begin(), changes_.end(), true) == changes_.end()) return;
    pairs_.resize(count);
    const std::vector<LayerRow> layers = graph_.layers();
    for (const LayerRow& layer : layers) Rewrite(layer);
    graph_.SetLayers(std::move(made_));
  }

 private:
  // The same numbers as int8 and as uint8; kNoTensor: not made yet.
  struct Pair {
    uint32_t as_signed = kNoTensor, as_unsigned = kNoTensor;
  };

  bool IsUnsigned(uint32_t t) const {
    return t != kNoTensor && graph_.tensors()[t].dtype == SLUICE_DTYPE_UINT8;
  }
  // A constant whose bytes are elsewhere; a state, which is written in place.
  bool IsBarred(uint32_t t) const {
    const TensorRow& row = graph_.tensors()[t];
    return row.kind == Kind::kState || (row.kind == Kind::kConstant && row.source != 1);
  }
  uint32_t Find(uint32_t t) const {
    while (group_[t] != t) t = group_[t];
    return t;
  }
  void Join(uint32_t a, uint32_t b) {
    const uint32_t from = Find(a), to = Find(b);
    group_[from] = to;
    wanted_[to] = wanted_[to] || wanted_[from];
  }
  bool Changes(uint32_t t) const { return t != kNoTensor && changes_[t]; }

  void Look(const LayerRow& layer) {
    const OpForm form = FormOf(layer);
    if (form.form == Form::kStays) return;
    std::vector<uint32_t> seen;
    for (size_t i = 0; i < layer.inputs.size() && i < form.inputs; ++i) {
      if (IsUnsigned(layer.inputs[i])) seen.push_back(layer.inputs[i]);
    }
    if (form.form != Form::kInputs && IsUnsigned(layer.outputs[0]))
      seen.push_back(layer.outputs[0]);
    if (form.form != Form::kOwn) {
      for (const uint32_t t : seen) Join(t, seen[0]);
    }
    if (!IsToFit(units_, graph_, layer)) return;
    for (const uint32_t t : seen) wanted_[Find(t)] = true;
  }

  uint32_t Twin(uint32_t t, bool as_signed) {
    const TensorRow row = graph_.tensors()[t];
    return graph_.AddTensor(
        graph_.name(row.name) + (as_signed ? "/signed" : "/unsigned"),
        as_signed ? SLUICE_DTYPE_INT8 : SLUICE_DTYPE_UINT8, Kind::kIntermediate,
        row.dims, row.zero_point - (as_signed ? 128 : 0), row.scale);
  }

  // Numbers as a layer writes them.
  uint32_t Written(uint32_t t, bool as_signed) {
    Pair& pair = pairs_[t];
    if (!as_signed) return pair.as_unsigned = t;
    const TensorRow row = graph_.tensors()[t];
    if (row.kind == Kind::kOutput) return pair.as_signed = Twin(t, true);
    graph_.SetDtype(t, SLUICE_DTYPE_INT8);
    graph_.SetAffine(t, row.zero_point - 128, row.scale);
    return pair.as_signed = t;
  }

  // Numbers as a layer reads them.
  uint32_t Read(uint32_t t, bool as_signed) {
    Pair& pair = pairs_[t];
    const bool has_none = pair.as_signed == kNoTensor && pair.as_unsigned == kNoTensor;
    if (has_none) pair.as_unsigned = t;  // an input or a constant
    uint32_t& place = as_signed ? pair.as_signed : pair.as_unsigned;
    if (place != kNoTensor) return place;
    if (graph_.tensors()[t].kind == Kind::kConstant) return place = SignedConstant(t);
    const uint32_t from = as_signed ? pair.as_unsigned : pair.as_signed;
    const uint32_t to = graph_.tensors()[t].kind == Kind::kOutput && !as_signed
                            ? t
                            : Twin(t, as_signed);
    Move(from, to, as_signed);
    return place = to;
  }

  void Move(uint32_t from, uint32_t to, bool to_signed) {
    std::vector<int32_t> attributes(SLUICE_REQUANTIZE_ATTRIBUTES);
    attributes[SLUICE_REQUANTIZE_INPUT_ZERO] = to_signed ? 128 : 0;
    attributes[SLUICE_REQUANTIZE_MULTIPLIER] = 1 << 30;
    attributes[SLUICE_REQUANTIZE_SHIFT] = 1;
    attributes[SLUICE_REQUANTIZE_OUTPUT_ZERO] = to_signed ? 0 : 128;
    attributes[SLUICE_REQUANTIZE_ACT_MIN] = to_signed ? -128 : 0;
    attributes[SLUICE_REQUANTIZE_ACT_MAX] = to_signed ? 127 : 255;
    made_.push_back({graph_.tensors()[to].name,
                     SLUICE_OP_REQUANTIZE,
                     {from},
                     {to},
                     std::move(attributes)});
  }

  uint32_t SignedConstant(uint32_t t) {
    const TensorRow row = graph_.tensors()[t];
    size_t size = 1;
    for (const int32_t extent : row.dims) size *= static_cast<size_t>(extent);
    Bytes bytes = graph_.constants().Whole(row.source_offset, size);
    for (uint8_t& byte : bytes) byte ^= 0x80;
    const uint32_t made =
        graph_.AddConstant(graph_.name(row.name) + "/signed", SLUICE_DTYPE_INT8,
                           row.dims, bytes.data(), bytes.size());
    graph_.SetAffine(made, row.zero_point - 128, row.scale);
    return made;
  }

  static void Less(LayerRow* layer, int8_t attribute, size_t count = 1) {
    if (attribute == kNo) return;
    const size_t first = static_cast<size_t>(attribute);
    if (layer->attributes.size() < first + count)
      layer->attributes.resize(first + count);
    for (size_t i = first; i < first + count; ++i) {
      int32_t& value = layer->attributes[i];
      value = std::max(value, INT32_MIN + 128) - 128;
    }
  }

  void Rewrite(LayerRow layer) {
    const OpForm form = FormOf(layer);
    for (size_t i = 0; i < layer.inputs.size(); ++i) {
      const uint32_t t = layer.inputs[i];
      if (!Changes(t)) continue;
      const bool as_signed = form.form != Form::kStays && i < form.inputs;
      layer.inputs[i] = Read(t, as_signed);
      if (as_signed && i < 2) Less(&layer, form.zeros[i]);
    }
    std::vector<uint32_t> finished;
    for (uint32_t& t : layer.outputs) {
      if (!Changes(t)) continue;
      const bool as_signed = form.form != Form::kStays;
      if (graph_.tensors()[t].kind == Kind::kOutput && as_signed) finished.push_back(t);
      t = Written(t, as_signed);
      if (!as_signed) continue;
      Less(&layer, form.zeros[2]);
      Less(&layer, form.bounds, 2);
    }
    made_.push_back(std::move(layer));
    for (const uint32_t t : finished) Read(t, false);
  }

  const Units& units_;
  GraphWriter& graph_;
  std::vector<uint32_t> group_;        // of each tensor
  std::vector<bool> wanted_, barred_;  // of each group, by its root
  std::vector<bool> changes_;          // of each tensor
  std::vector<Pair> pairs_;            // of each tensor that changes
  std::vector<LayerRow> made_;
};

}  // namespace

void SignActivations(const Units& units, GraphWriter* graph) {
  Signing(units, graph).Run();
}

}  // namespace sluice::import
