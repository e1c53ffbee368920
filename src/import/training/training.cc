// SPDX-License-Identifier: Apache-2.0
#include "import/training/training.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "import/error.h"
#include "import/graph_writer.h"
#include "import/quantisation.h"

namespace sluice::import {
namespace {

constexpr uint8_t kInt8 = SLUICE_DTYPE_INT8;
constexpr double kSpread = 32;        // of errors and activations, in steps
constexpr double kWeightSpread = 74;  // of uniform int8 numbers
constexpr Range kErrorRange = {-128, 127};

int64_t Elements(const Extents& e) { return int64_t{e[0]} * e[1] * e[2] * e[3]; }
Dims ToDims(const Extents& e) { return Dims(e.begin(), e.end()); }

class Training {
 public:
  Training(const Bytes& inference, uint64_t max_constant_bytes) : graph_(inference) {
    graph_.LimitConstants(max_constant_bytes);
  }

  Bytes Make() {
    const size_t layers = graph_.layers().size();
    FindTrained();
    errors_.resize(graph_.tensors().size());
    for (uint32_t t = 0, n = static_cast<uint32_t>(errors_.size()); t < n; ++t) {
      if (graph_.tensors()[t].kind == Kind::kOutput && trained_[t]) AddLoss(t);
    }
    if (gradients_ == 0 && losses_ == 0) {
      throw Error(Fault::kBadInput,
                  "no 8-bit output depends on a weight: nothing to train");
    }
    for (size_t l = layers; l-- > 0;) Backwards(graph_.layers()[l]);
    return graph_.Finish();
  }

 private:
  const TensorRow& tensor(uint32_t t) const { return graph_.tensors()[t]; }
  Extents Shape(uint32_t t) const { return Normalised(tensor(t).dims); }
  bool IsEightBit(uint32_t t) const {
    return tensor(t).dtype == kInt8 || tensor(t).dtype == SLUICE_DTYPE_UINT8;
  }
  static int32_t At(const LayerRow& l, size_t i) {
    return i < l.attributes.size() ? l.attributes[i] : 0;
  }
  static bool HasWeights(const LayerRow& l) {
    return l.op == SLUICE_OP_CONV || l.op == SLUICE_OP_DEPTHWISE_CONV ||
           l.op == SLUICE_OP_FULLY_CONNECTED;
  }

  // A tensor is trained when a weight decides about it.
  void FindTrained() {
    trained_.assign(graph_.tensors().size(), false);
    for (const LayerRow& l : graph_.layers()) {
      bool any = HasWeights(l);
      for (const uint32_t t : l.inputs) any = any || (t != kNoTensor && trained_[t]);
      const bool passes = l.op != SLUICE_OP_ARGMAX && l.op != SLUICE_OP_STATE_APPEND;
      for (const uint32_t t : l.outputs) {
        trained_[t] = trained_[t] || (any && passes && IsEightBit(t));
      }
    }
  }
  bool Trained(uint32_t t) const {
    return t != kNoTensor && t < trained_.size() && trained_[t];
  }

  uint32_t Add(const std::string& name, uint16_t op, std::vector<uint32_t> inputs,
               std::vector<int32_t> attributes, Dims dims) {
    const uint32_t out =
        graph_.AddTensor(name, kInt8, Kind::kIntermediate, std::move(dims));
    graph_.AddLayer(name, op, std::move(inputs), {out}, std::move(attributes));
    return out;
  }
  uint32_t Reshaped(uint32_t t, const Extents& shape) {
    if (Shape(t) == shape) return t;
    return Add(graph_.name(tensor(t).name) + ".shaped", SLUICE_OP_RESHAPE, {t}, {},
               ToDims(shape));
  }

  // Where output - target is the error: of a softmax (with the cross entropy as loss) at
  // what goes into it.
  uint32_t LossAt(uint32_t t) const {
    for (size_t l = graph_.layers().size(); l-- > 0;) {
      const LayerRow& layer = graph_.layers()[l];
      if (layer.outputs[0] != t) continue;
      if (layer.op == SLUICE_OP_SOFTMAX) return layer.inputs[0];
      return layer.op == SLUICE_OP_RESHAPE && LossAt(layer.inputs[0]) != layer.inputs[0]
                 ? LossAt(layer.inputs[0])
                 : t;
    }
    return t;
  }

  void AddLoss(uint32_t t) {
    const TensorRow row = tensor(t);
    const std::string name = graph_.name(row.name);
    const uint32_t target = graph_.AddTensor(name + ".target", row.dtype, Kind::kInput,
                                             row.dims, row.zero_point);
    const Affine in = {1, row.zero_point};
    Pass(LossAt(t), Add(name + ".loss", SLUICE_OP_SUB, {t, target},
                        SumAttributes(in, in, {2, 0}, kErrorRange), ToDims(Shape(t))));
    ++losses_;
  }

  // Of an error's numbers, the root mean square to expect.
  double SpreadOf(uint32_t error) const {
    const auto known = spread_.find(error);
    return known == spread_.end() ? kSpread : known->second;
  }

  // `error` is one consumer's share of the error of t.
  void Pass(uint32_t t, uint32_t error) {
    const Extents want = Shape(t);
    const double spread = SpreadOf(error);
    const uint32_t shaped = Reshaped(error, want);
    spread_[shaped] = spread;
    errors_[t].push_back(shaped);
  }

  // The whole error of a layer's output, behind its ReLU; kNoTensor without one.
  uint32_t ErrorOf(const LayerRow& l, int32_t zero, int32_t least) {
    const uint32_t t = l.outputs[0];
    const std::string name = graph_.name(l.name) + ".error";
    if (errors_[t].empty()) return kNoTensor;
    uint32_t error = errors_[t][0];
    for (size_t i = 1; i < errors_[t].size(); ++i) {
      const double a = SpreadOf(error), b = SpreadOf(errors_[t][i]);
      error = Add(name + std::to_string(i), SLUICE_OP_ADD, {error, errors_[t][i]},
                  SumAttributes({1, 0}, {1, 0}, {1.4142135f, 0}, kErrorRange),
                  ToDims(Shape(t)));
      spread_[error] = std::sqrt((a * a + b * b) / 2);
    }
    if (zero != least) return error;
    std::vector<int32_t> a(SLUICE_BINARY_ATTRIBUTES);
    const Factor same = QuantiseFactor(1);
    a[SLUICE_BINARY_ZERO1] = zero;
    a[SLUICE_BINARY_OUT_MULTIPLIER] = same.multiplier;
    a[SLUICE_BINARY_OUT_SHIFT] = same.shift;
    a[SLUICE_BINARY_ACT_MIN] = kErrorRange.min;
    a[SLUICE_BINARY_ACT_MAX] = kErrorRange.max;
    const uint32_t passed =
        Add(name, SLUICE_OP_RELU_GRADIENT, {error, t}, a, ToDims(Shape(t)));
    spread_[passed] = SpreadOf(error) / std::sqrt(2.0);  // half of them
    return passed;
  }
  uint32_t PlainError(const LayerRow& l) { return ErrorOf(l, 0, 1); }

  void Backwards(const LayerRow layer) {  // a copy: the list of layers grows
    if (layer.outputs.size() != 1 || !Trained(layer.outputs[0])) return;
    switch (layer.op) {
      case SLUICE_OP_CONV:
      case SLUICE_OP_DEPTHWISE_CONV:
        return Convolution(layer);
      case SLUICE_OP_FULLY_CONNECTED:
        return FullyConnected(layer);
      case SLUICE_OP_BATCH_MATMUL:
        return Matmul(layer);
      case SLUICE_OP_MAX_POOL:
        return MaxPool(layer);
      case SLUICE_OP_AVERAGE_POOL:
        return AveragePool(layer);
      case SLUICE_OP_ADD:
      case SLUICE_OP_MUL:
        return Binary(layer);
      case SLUICE_OP_REQUANTIZE:
        return Share(layer, ErrorOf(layer, At(layer, SLUICE_REQUANTIZE_OUTPUT_ZERO),
                                    At(layer, SLUICE_REQUANTIZE_ACT_MIN)));
      case SLUICE_OP_RESHAPE:
        return Share(layer, PlainError(layer));
      case SLUICE_OP_LOOKUP:
        return Lookup(layer);
      case SLUICE_OP_CONCAT:
        return Concat(layer);
      case SLUICE_OP_SLICE:
      case SLUICE_OP_PAD:
        return Window(layer);
      case SLUICE_OP_TRANSPOSE:
        return Transpose(layer);
      default:
        return OnHost(layer, PlainError(layer));
    }
  }

  void Share(const LayerRow& l, uint32_t error) {
    if (error != kNoTensor && Trained(l.inputs[0])) Pass(l.inputs[0], error);
  }

  // int32 [channels, 3] for sums of `terms` products of an error and a weight.
  uint32_t Parameters(int32_t channels, double terms, double weight_spread,
                      uint32_t error) {
    const Factor f =
        QuantiseFactor(kSpread / (std::sqrt(terms) * weight_spread * SpreadOf(error)));
    const auto key = std::make_pair(channels, std::make_pair(f.multiplier, f.shift));
    const auto known = parameters_.find(key);
    if (known != parameters_.end()) return known->second;
    graph_.NeedRows(static_cast<uint64_t>(channels));
    std::vector<int32_t> rows;
    for (int32_t k = 0; k < channels; ++k) {
      rows.insert(rows.end(), {0, f.multiplier, f.shift});
    }
    const uint32_t t = graph_.AddConstant(
        "error parameters." + std::to_string(parameters_.size()), SLUICE_DTYPE_INT32,
        {channels, 3}, rows.data(), rows.size() * sizeof(int32_t));
    parameters_.emplace(key, t);
    return t;
  }

  std::vector<int32_t> GradientAttributes(const LayerRow& l, double terms,
                                          uint32_t error) {
    const Factor f = QuantiseFactor(1 / (std::sqrt(terms) * SpreadOf(error)));
    std::vector<int32_t> a(SLUICE_WEIGHT_GRADIENT_ATTRIBUTES);
    a[SLUICE_CONV_INPUT_ZERO] = At(l, SLUICE_CONV_INPUT_ZERO);
    a[SLUICE_CONV_ACT_MIN] = kErrorRange.min;
    a[SLUICE_CONV_ACT_MAX] = kErrorRange.max;
    a[SLUICE_WEIGHT_GRADIENT_MULTIPLIER] = f.multiplier;
    a[SLUICE_WEIGHT_GRADIENT_SHIFT] = f.shift;
    return a;
  }
  void AddGradient(const LayerRow& l, uint32_t x, uint32_t e, std::vector<int32_t> a,
                   Dims dims) {
    const std::string name = graph_.name(tensor(l.inputs[1]).name) + ".gradient";
    const uint32_t t = Add(name, SLUICE_OP_WEIGHT_GRADIENT, {x, e}, std::move(a), dims);
    graph_.SetKind(t, Kind::kOutput);
    ++gradients_;
  }

  void Convolution(const LayerRow& l) {
    const uint32_t e =
        ErrorOf(l, At(l, SLUICE_CONV_OUTPUT_ZERO), At(l, SLUICE_CONV_ACT_MIN));
    if (e == kNoTensor) return;
    const uint32_t x = l.inputs[0], weight = l.inputs[1];
    const Extents in = Shape(x), filter = Shape(weight), out = Shape(e);
    const bool depthwise = l.op == SLUICE_OP_DEPTHWISE_CONV;
    const int32_t groups = depthwise ? in[3] : std::max(1, At(l, SLUICE_CONV_GROUPS));
    std::vector<int32_t> a = GradientAttributes(l, double(out[0]) * out[1] * out[2], e);
    for (size_t i = 0; i <= SLUICE_CONV_PAD_RIGHT; ++i) a[i] = At(l, i);
    a[SLUICE_CONV_GROUPS] = groups == 1 ? 0 : groups;
    if (tensor(weight).kind == Kind::kConstant) {
      AddGradient(l, x, e, a, {out[3], filter[1], filter[2], in[3] / groups});
    }
    if (!Trained(x)) return;
    const bool dilated =
        At(l, SLUICE_CONV_DILATION_H) > 1 || At(l, SLUICE_CONV_DILATION_W) > 1;
    if (dilated || (depthwise ? in[3] != out[3] : groups > 1)) return OnHost(l, e);
    a.assign(SLUICE_TRANSPOSED_CONV_ATTRIBUTES, 0);
    for (size_t i = 0; i <= SLUICE_CONV_PAD_RIGHT; ++i) a[i] = At(l, i);
    a[SLUICE_CONV_WEIGHT_ZERO] = At(l, SLUICE_CONV_WEIGHT_ZERO);
    a[SLUICE_CONV_ACT_MIN] = kErrorRange.min;
    a[SLUICE_CONV_ACT_MAX] = kErrorRange.max;
    a[SLUICE_CONV_WEIGHT_LAYOUT] =
        depthwise ? SLUICE_WEIGHT_LAYOUT_DEPTHWISE : SLUICE_WEIGHT_LAYOUT_CONV;
    const double strides = std::max(1, At(l, SLUICE_CONV_STRIDE_H)) *
                           std::max(1, At(l, SLUICE_CONV_STRIDE_W));
    const double taps = std::max(1.0, filter[1] * filter[2] / strides);
    const uint32_t parameters =
        Parameters(in[3], depthwise ? taps : taps * out[3], kWeightSpread, e);
    Pass(x, Add(graph_.name(l.name) + ".back", SLUICE_OP_TRANSPOSED_CONV,
                {e, weight, parameters}, a, ToDims(in)));
  }

  void FullyConnected(const LayerRow& l) {
    uint32_t e = ErrorOf(l, At(l, SLUICE_CONV_OUTPUT_ZERO), At(l, SLUICE_CONV_ACT_MIN));
    if (e == kNoTensor) return;
    const uint32_t x = l.inputs[0], weight = l.inputs[1];
    const Extents in = Shape(x), filter = Shape(weight);
    const int32_t k = filter[2], c = filter[3];
    const int32_t rows = in[0] * in[1] * in[2];
    if (tensor(weight).kind == Kind::kConstant) {
      AddGradient(l, Reshaped(x, {rows, 1, 1, c}), Reshaped(e, {rows, 1, 1, k}),
                  GradientAttributes(l, rows, e), {k, 1, 1, c});
    }
    if (!Trained(x)) return;
    const double spread = SpreadOf(e);
    e = Reshaped(e, {1, 1, rows, k});
    Pass(x, Product(graph_.name(l.name) + ".back", e, weight, false, 0,
                    At(l, SLUICE_CONV_WEIGHT_ZERO),
                    kSpread / (std::sqrt(1.0 * k) * kWeightSpread * spread),
                    {1, 1, rows, c}));
  }

  uint32_t Product(const std::string& name, uint32_t a, uint32_t b, bool transposed,
                   int32_t a_zero, int32_t b_zero, double factor, const Extents& out) {
    const Factor f = QuantiseFactor(factor);
    return Add(name, SLUICE_OP_BATCH_MATMUL, {a, b},
               {transposed ? 1 : 0, a_zero, b_zero, 0, f.multiplier, f.shift,
                kErrorRange.min, kErrorRange.max},
               ToDims(out));
  }
  // Rows and columns change places.
  uint32_t Turned(uint32_t t) {
    const Extents s = Shape(t);
    const uint32_t out =
        graph_.AddTensor(graph_.name(tensor(t).name) + ".turned", tensor(t).dtype,
                         Kind::kIntermediate, {s[0], s[1], s[3], s[2]});
    graph_.AddLayer(graph_.name(tensor(out).name), SLUICE_OP_TRANSPOSE, {t}, {out},
                    {0, 1, 3, 2});
    return out;
  }

  void Matmul(const LayerRow& l) {
    const uint32_t e =
        ErrorOf(l, At(l, SLUICE_MATMUL_OUTPUT_ZERO), At(l, SLUICE_MATMUL_ACT_MIN));
    if (e == kNoTensor) return;
    const uint32_t a = l.inputs[0], b = l.inputs[1];
    const bool transposed = At(l, SLUICE_MATMUL_TRANSPOSE_B) != 0;
    const int32_t a_zero = At(l, SLUICE_MATMUL_A_ZERO);
    const int32_t b_zero = At(l, SLUICE_MATMUL_B_ZERO);
    const std::string name = graph_.name(l.name);
    const Extents out = Shape(e);
    if (Trained(a)) {
      Pass(a, Product(name + ".back_a", e, b, !transposed, 0, b_zero,
                      1 / (std::sqrt(1.0 * out[3]) * kSpread), Shape(a)));
    }
    if (!Trained(b)) return;
    const double factor = 1 / (std::sqrt(1.0 * out[2]) * kSpread);
    Pass(b, transposed ? Product(name + ".back_b", Turned(e), a, false, 0, a_zero,
                                 factor, Shape(b))
                       : Product(name + ".back_b", Turned(a), e, false, a_zero, 0,
                                 factor, Shape(b)));
  }

  void MaxPool(const LayerRow& l) {
    const uint32_t x = l.inputs[0], e = PlainError(l);
    if (e == kNoTensor || !Trained(x)) return;
    std::vector<int32_t> a(SLUICE_MAX_POOL_GRADIENT_ATTRIBUTES);
    for (size_t i = 0; i <= SLUICE_POOL_PAD_RIGHT; ++i) a[i] = At(l, i);
    a[SLUICE_POOL_ACT_MIN] = kErrorRange.min;
    a[SLUICE_POOL_ACT_MAX] = kErrorRange.max;
    const uint32_t back = Add(graph_.name(l.name) + ".back",
                              SLUICE_OP_MAX_POOL_GRADIENT, {e, x}, a, ToDims(Shape(x)));
    spread_[back] =
        SpreadOf(e) * std::sqrt(1.0 * Elements(Shape(e)) / Elements(Shape(x)));
    Pass(x, back);
  }

  // Every element of a window gets an equal share; how large a share of 1 is, is left
  // to the scale of the errors.
  void AveragePool(const LayerRow& l) {
    const uint32_t x = l.inputs[0], e = PlainError(l);
    if (e == kNoTensor || !Trained(x)) return;
    const Extents in = Shape(x), out = Shape(e);
    const std::string name = graph_.name(l.name) + ".back";
    if (out[1] == 1 && out[2] == 1) {
      return Pass(x, Add(name, SLUICE_OP_RESIZE_NEAREST, {e}, {0, 0}, ToDims(in)));
    }
    const int32_t h = At(l, SLUICE_POOL_WINDOW_H), w = At(l, SLUICE_POOL_WINDOW_W);
    const uint64_t count = static_cast<uint64_t>(h) * static_cast<uint64_t>(w) *
                           static_cast<uint64_t>(in[3]);
    graph_.NeedRoom(count);
    const std::vector<int8_t> ones(static_cast<size_t>(count), 1);
    const uint32_t weight = graph_.AddConstant(name + ".ones", kInt8, {1, h, w, in[3]},
                                               ones.data(), ones.size());
    std::vector<int32_t> a(SLUICE_TRANSPOSED_CONV_ATTRIBUTES);
    a[SLUICE_CONV_STRIDE_H] = At(l, SLUICE_POOL_STRIDE_H);
    a[SLUICE_CONV_STRIDE_W] = At(l, SLUICE_POOL_STRIDE_W);
    for (size_t i = 0; i < 4; ++i) {
      a[SLUICE_CONV_PAD_TOP + i] = At(l, SLUICE_POOL_PAD_TOP + i);
    }
    a[SLUICE_CONV_ACT_MIN] = kErrorRange.min;
    a[SLUICE_CONV_ACT_MAX] = kErrorRange.max;
    a[SLUICE_CONV_WEIGHT_LAYOUT] = SLUICE_WEIGHT_LAYOUT_DEPTHWISE;
    Pass(x, Add(name, SLUICE_OP_TRANSPOSED_CONV,
                {e, weight, Parameters(in[3], double(h) * w, 1, e)}, a, ToDims(in)));
  }

  // What an operand that broadcast gets of an error: the sum over those axes.
  void PassNarrowed(const std::string& name, uint32_t t, uint32_t error) {
    const Extents want = Shape(t), have = Shape(error);
    int32_t axes = 0;
    for (size_t i = 0; i < 4; ++i) axes |= want[i] != have[i] ? 1 << i : 0;
    if (axes != 0) {
      const Factor f =
          QuantiseFactor(1 / std::sqrt(1.0 * Elements(have) / Elements(want)));
      error = Add(name + ".sum", SLUICE_OP_REDUCE, {error},
                  {axes, SLUICE_REDUCE_KIND_SUM, 0, 0, f.multiplier, f.shift,
                   kErrorRange.min, kErrorRange.max},
                  ToDims(want));
    }
    Pass(t, error);
  }

  void Binary(const LayerRow& l) {
    const uint32_t e =
        ErrorOf(l, At(l, SLUICE_BINARY_OUTPUT_ZERO), At(l, SLUICE_BINARY_ACT_MIN));
    if (e == kNoTensor) return;
    for (size_t i = 0; i < 2; ++i) {
      const uint32_t t = l.inputs[i], other = l.inputs[1 - i];
      if (!Trained(t)) continue;
      const std::string name = graph_.name(l.name) + (i == 0 ? ".back_a" : ".back_b");
      uint32_t share = e;
      if (l.op == SLUICE_OP_MUL) {
        const int32_t zero = At(l, i == 0 ? SLUICE_BINARY_ZERO1 : SLUICE_BINARY_ZERO0);
        share = Add(name, SLUICE_OP_MUL, {e, other},
                    ProductAttributes({1, 0}, {1, zero},
                                      {static_cast<float>(kSpread), 0}, kErrorRange),
                    ToDims(Shape(e)));
      }
      PassNarrowed(name, t, share);
    }
  }

  // e times the slope of the table, which neighbours in it tell.
  void Lookup(const LayerRow& l) {
    const uint32_t x = l.inputs[0], e = PlainError(l);
    if (e == kNoTensor || !Trained(x)) return;
    const TensorRow& row = tensor(l.inputs[1]);
    if (row.source != 1) return OnHost(l, e);
    const uint8_t* table = graph_.constants().data() + row.source_offset;
    const bool in_signed = tensor(x).dtype == kInt8;
    const bool out_signed = tensor(l.outputs[0]).dtype == kInt8;
    const auto at = [&](int value) {
      const int first = in_signed ? -128 : 0;
      value = std::clamp(value, first, first + 255);
      const uint8_t bits = table[static_cast<uint8_t>(value)];
      return out_signed ? static_cast<int>(static_cast<int8_t>(bits)) : int{bits};
    };
    constexpr int kUnit = 32;  // a slope of 1
    std::vector<uint8_t> slopes(256);
    for (int i = 0; i < 256; ++i) {
      const int value = in_signed && i > 127 ? i - 256 : i;
      const int slope = (at(value + 1) - at(value - 1)) * kUnit / 2;
      slopes[static_cast<size_t>(i)] =
          static_cast<uint8_t>(std::clamp(slope, -128, 127));
    }
    const std::string name = graph_.name(l.name);
    const uint32_t constant = graph_.AddConstant(name + ".slopes", kInt8, {256},
                                                 slopes.data(), slopes.size());
    const uint32_t slope =
        Add(name + ".slope", SLUICE_OP_LOOKUP, {x, constant}, {}, ToDims(Shape(x)));
    Pass(x, Add(name + ".back", SLUICE_OP_MUL, {e, slope},
                ProductAttributes({1, 0}, {1, 0}, {kUnit, 0}, kErrorRange),
                ToDims(Shape(x))));
  }

  void Concat(const LayerRow& l) {
    const uint32_t e = PlainError(l);
    if (e == kNoTensor) return;
    const size_t axis = static_cast<size_t>(At(l, SLUICE_CONCAT_AXIS));
    std::vector<int32_t> begin(SLUICE_SLICE_ATTRIBUTES);
    for (size_t i = 0; i < l.inputs.size(); ++i) {
      const Extents part = Shape(l.inputs[i]);
      if (Trained(l.inputs[i])) {
        Pass(l.inputs[i], Add(graph_.name(l.name) + ".back" + std::to_string(i),
                              SLUICE_OP_SLICE, {e}, begin, ToDims(part)));
      }
      begin[axis] += part[axis];
    }
  }

  // Of a slice a PAD, of a PAD a slice.
  void Window(const LayerRow& l) {
    const uint32_t x = l.inputs[0], e = PlainError(l);
    if (e == kNoTensor || !Trained(x)) return;
    const bool slice = l.op == SLUICE_OP_SLICE;
    std::vector<int32_t> a(
        l.attributes.begin(),
        l.attributes.begin() +
            std::min<long>(4, static_cast<long>(l.attributes.size())));
    a.resize(slice ? size_t{SLUICE_PAD_ATTRIBUTES} : size_t{SLUICE_SLICE_ATTRIBUTES});
    Pass(x, Add(graph_.name(l.name) + ".back", slice ? SLUICE_OP_PAD : SLUICE_OP_SLICE,
                {e}, a, ToDims(Shape(x))));
  }

  void Transpose(const LayerRow& l) {
    const uint32_t x = l.inputs[0], e = PlainError(l);
    if (e == kNoTensor || !Trained(x)) return;
    std::vector<int32_t> inverse(4);
    for (int32_t i = 0; i < 4; ++i) {
      inverse[static_cast<size_t>(At(l, static_cast<size_t>(i)))] = i;
    }
    Pass(x, Add(graph_.name(l.name) + ".back", SLUICE_OP_TRANSPOSE, {e}, inverse,
                ToDims(Shape(x))));
  }

  void OnHost(const LayerRow& l, uint32_t e) {
    if (e == kNoTensor) return;
    std::vector<uint32_t> inputs = {e, l.outputs[0]}, outputs;
    int64_t cycles = 0;
    for (const uint32_t t : l.inputs) {
      if (t == kNoTensor) continue;
      const bool seen = std::count(inputs.begin(), inputs.end(), t) != 0;
      if (!seen) inputs.push_back(t);
      if (!Trained(t) || seen) continue;
      const Extents shape = Shape(t);
      outputs.push_back(graph_.AddTensor(graph_.name(l.name) + ".back", kInt8,
                                         Kind::kIntermediate, ToDims(shape)));
      cycles += Elements(shape);
    }
    if (outputs.empty()) return;
    const std::string name = graph_.name(l.name) + ".back";
    graph_.AddLayer(
        name, SLUICE_OP_OPAQUE, inputs, outputs,
        {static_cast<int32_t>(cycles & 0xffffffff), static_cast<int32_t>(cycles >> 32),
         static_cast<int32_t>(graph_.AddName("gradient"))});
    size_t next = 0;
    std::vector<uint32_t> passed;
    for (const uint32_t t : l.inputs) {
      if (!Trained(t) || std::count(passed.begin(), passed.end(), t) != 0) continue;
      passed.push_back(t);
      if (next < outputs.size()) Pass(t, outputs[next++]);
    }
  }

  GraphWriter graph_;
  std::vector<bool> trained_;                  // by tensor of the inference graph
  std::vector<std::vector<uint32_t>> errors_;  // likewise: shares of its error
  std::map<std::pair<int32_t, std::pair<int32_t, int32_t>>, uint32_t> parameters_;
  std::map<uint32_t, double> spread_;  // of errors, where it is not kSpread
  int losses_ = 0, gradients_ = 0;
};

}  // namespace

Bytes MakeTrainingGraph(const Bytes& inference, uint64_t max_constant_bytes) {
  return Training(inference, max_constant_bytes).Make();
}

}  // namespace sluice::import
