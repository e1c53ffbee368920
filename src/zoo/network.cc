// SPDX-License-Identifier: Apache-2.0
#include "zoo/network.h"

#include <algorithm>
#include <cmath>

#include "import/quantisation.h"

namespace sluice::zoo {
namespace {

constexpr uint8_t kInt8 = SLUICE_DTYPE_INT8;

uint64_t SeedOf(const std::string& name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  return hash;
}

// A pseudo-random number in [-1, 1), equal for equal `number`.
double Jitter(uint32_t number) {
  const uint32_t hashed = (number * 2654435761u) >> 8;
  return static_cast<double>(hashed) / (1 << 23) - 1;
}

int32_t CeilDivide(int32_t a, int32_t b) { return (a + b - 1) / b; }

// One axis of a window: outputs, pads before and after.
struct Axis {
  int32_t out, before, after;
};
Axis AxisOf(int32_t in, int32_t size, const Window& w) {
  if (w.padding == Padding::kValid) return {(in - size) / w.stride + 1, 0, 0};
  const int32_t out = CeilDivide(in, w.stride);
  const int32_t total = std::max(0, (out - 1) * w.stride + size - in);
  return {out, total / 2, total - total / 2};
}

// A ReLU cuts off the negative half, which halves the mean square.
double AfterRelu(double rms, bool relu) { return relu ? rms / std::sqrt(2.0) : rms; }

}  // namespace

Fmap Network::Input(const std::string& name, Dims dims) {
  const uint32_t tensor = writer_.AddTensor(name, kInt8, Kind::kInput, dims);
  return {tensor, std::move(dims), kWeightSpread};
}

uint32_t Network::Weight(const std::string& name, Dims dims) {
  return writer_.AddSeeded(name, kInt8, std::move(dims), SeedOf(name));
}

Fmap Network::Layer(const std::string& name, uint16_t op, std::vector<uint32_t> inputs,
                    std::vector<int32_t> attributes, Dims dims, double rms) {
  const uint32_t out = writer_.AddTensor(name, kInt8, Kind::kIntermediate, dims);
  writer_.AddLayer(name, op, std::move(inputs), {out}, std::move(attributes));
  return {out, std::move(dims), rms};
}

// int32 [channels, 3] = (bias, multiplier, shift).
uint32_t Network::Parameters(int32_t channels, double factor, double bias_spread,
                             double gain_spread) {
  std::vector<int32_t> rows;
  for (int32_t k = 0; k < channels; ++k) {
    const uint32_t number = static_cast<uint32_t>(k);
    const Factor f =
        QuantiseFactor(factor * (1 + gain_spread * Jitter(2 * number + 1)));
    rows.push_back(static_cast<int32_t>(std::lround(bias_spread * Jitter(2 * number))));
    rows.push_back(f.multiplier);
    rows.push_back(f.shift);
  }
  const auto key = std::make_pair(rows, channels);
  const auto known = parameters_.find(key);
  if (known != parameters_.end()) return known->second;
  const uint32_t tensor = writer_.AddConstant(
      "parameters." + std::to_string(parameters_.size()), SLUICE_DTYPE_INT32,
      {channels, 3}, rows.data(), rows.size() * sizeof(int32_t));
  parameters_.emplace(key, tensor);
  return tensor;
}

Bytes Network::Finish(const Fmap& output) {
  writer_.SetKind(output.tensor, Kind::kOutput);
  return writer_.Finish();
}

namespace {

struct Filter {
  Window window;
  uint32_t weight;
  int32_t channels;   // of the output
  double sum_spread;  // expected root mean square of the sums
};

Fmap Windowed(Network* net, const std::string& name, uint16_t op, const Fmap& in,
              const Filter& filter, bool relu) {
  const Window& w = filter.window;
  const auto [h, top, bottom] = AxisOf(in.dims[1], w.size, w);
  const auto [q, left, right] = AxisOf(in.dims[2], w.width, w);
  std::vector<int32_t> a(SLUICE_CONV_ATTRIBUTES);
  a[SLUICE_CONV_STRIDE_H] = a[SLUICE_CONV_STRIDE_W] = w.stride;
  a[SLUICE_CONV_PAD_TOP] = top;
  a[SLUICE_CONV_PAD_LEFT] = left;
  a[SLUICE_CONV_PAD_BOTTOM] = bottom;
  a[SLUICE_CONV_PAD_RIGHT] = right;
  a[SLUICE_CONV_ACT_MIN] = relu ? 0 : -128;
  a[SLUICE_CONV_ACT_MAX] = 127;
  const double spread = filter.sum_spread;
  const uint32_t parameters =
      net->Parameters(filter.channels, Network::kSpread / spread, spread / 4, 0);
  return net->Layer(name, op, {in.tensor, filter.weight, parameters}, a,
                    {in.dims[0], h, q, filter.channels},
                    AfterRelu(Network::kSpread, relu));
}

}  // namespace

Fmap Convolution(Network* net, const std::string& name, const Fmap& in,
                 int32_t channels, Window w, bool relu) {
  const int32_t c = in.dims[3];
  const uint32_t weight = net->Weight(name + ".weight", {channels, w.size, w.width, c});
  const double spread =
      std::sqrt(1.0 * w.size * w.width * c) * Network::kWeightSpread * in.rms;
  return Windowed(net, name, SLUICE_OP_CONV, in, {w, weight, channels, spread}, relu);
}

Fmap Depthwise(Network* net, const std::string& name, const Fmap& in, Window w,
               bool relu) {
  const int32_t c = in.dims[3];
  const uint32_t weight = net->Weight(name + ".weight", {1, w.size, w.width, c});
  const double spread =
      std::sqrt(1.0 * w.size * w.width) * Network::kWeightSpread * in.rms;
  return Windowed(net, name, SLUICE_OP_DEPTHWISE_CONV, in, {w, weight, c, spread},
                  relu);
}

Fmap FullyConnected(Network* net, const std::string& name, const Fmap& in,
                    int32_t channels, bool relu) {
  const uint32_t weight = net->Weight(name + ".weight", {channels, in.dims.back()});
  return FullyConnectedBy(net, name, in, channels, weight, relu);
}

Fmap FullyConnectedBy(Network* net, const std::string& name, const Fmap& in,
                      int32_t channels, uint32_t weight, bool relu) {
  std::vector<int32_t> a(SLUICE_CONV_ATTRIBUTES);
  a[SLUICE_CONV_ACT_MIN] = relu ? 0 : -128;
  a[SLUICE_CONV_ACT_MAX] = 127;
  const double spread =
      std::sqrt(1.0 * in.dims.back()) * Network::kWeightSpread * in.rms;
  const uint32_t parameters =
      net->Parameters(channels, Network::kSpread / spread, spread / 4, 0);
  Dims dims = in.dims;
  dims.back() = channels;
  return net->Layer(name, SLUICE_OP_FULLY_CONNECTED, {in.tensor, weight, parameters}, a,
                    dims, AfterRelu(Network::kSpread, relu));
}

Fmap PaddedMaxPool(Network* net, const std::string& name, const Fmap& in, Window w) {
  const auto [h, top, bottom] = AxisOf(in.dims[1], w.size, w);
  const auto [q, left, right] = AxisOf(in.dims[2], w.width, w);
  return net->Layer(
      name, SLUICE_OP_MAX_POOL, {in.tensor},
      {w.size, w.width, w.stride, w.stride, top, left, bottom, right, -128, 127},
      {in.dims[0], h, q, in.dims[3]}, 1.4 * in.rms);
}

Fmap GlobalAveragePool(Network* net, const std::string& name, const Fmap& in) {
  const int32_t h = in.dims[1], w = in.dims[2];
  return net->Layer(name, SLUICE_OP_AVERAGE_POOL, {in.tensor},
                    {h, w, h, w, 0, 0, 0, 0, -128, 127}, {in.dims[0], 1, 1, in.dims[3]},
                    0.9 * in.rms);
}

Fmap Add(Network* net, const std::string& name, const Fmap& a, const Fmap& b,
         double share, bool relu) {
  constexpr int kLeftShift = 20;
  const double by_a = std::sqrt(share) * Network::kSpread / a.rms;
  const double by_b = std::sqrt(1 - share) * Network::kSpread / b.rms;
  const double widest = 2 * std::max(by_a, by_b);
  const Factor fa = QuantiseFactor(by_a / widest), fb = QuantiseFactor(by_b / widest);
  const Factor out = QuantiseFactor(widest / (1 << kLeftShift));
  Dims dims = Dims(4);
  const Extents ea = Normalised(a.dims), eb = Normalised(b.dims);
  for (size_t i = 0; i < 4; ++i) dims[i] = std::max(ea[i], eb[i]);
  Fmap sum = net->Layer(name, SLUICE_OP_ADD, {a.tensor, b.tensor},
                        {kLeftShift, 0, fa.multiplier, fa.shift, 0, fb.multiplier,
                         fb.shift, 0, out.multiplier, out.shift, relu ? 0 : -128, 127},
                        dims, AfterRelu(Network::kSpread, relu));
  // If operand a is never negative (a chain of shortcuts), the ReLU cuts off little:
  // the RMS of half such a value plus half a centred one settles at 0.93 of the spread.
  if (relu && a.positive) sum.rms = 0.93 * Network::kSpread;
  sum.positive = relu;
  return sum;
}

Fmap Concat(Network* net, const std::string& name, const std::vector<Fmap>& parts) {
  std::vector<uint32_t> tensors;
  Dims dims = parts[0].dims;
  dims[3] = 0;
  double squares = 0;
  for (const Fmap& part : parts) {
    tensors.push_back(part.tensor);
    dims[3] += part.dims[3];
    squares += part.rms * part.rms * part.dims[3];
  }
  return net->Layer(name, SLUICE_OP_CONCAT, tensors, {3}, dims,
                    std::sqrt(squares / dims[3]));
}

Fmap Matmul(Network* net, const std::string& name, const Product& product, Dims dims,
            double rms) {
  const Factor f = QuantiseFactor(product.factor);
  return net->Layer(name, SLUICE_OP_BATCH_MATMUL, {product.a.tensor, product.b.tensor},
                    {product.transpose_b ? 1 : 0, product.a_zero, 0, 0, f.multiplier,
                     f.shift, -128, 127},
                    std::move(dims), rms);
}

Fmap LayerNorm(Network* net, const std::string& name, const Fmap& in) {
  // From a normalised value with 20 fraction bits to 1/256 of an output step.
  const double factor = Network::kSpread * 256 / (1 << 20);
  const uint32_t parameters =
      net->Parameters(in.dims.back(), factor, Network::kSpread * 256 / 8, 0.25);
  return net->Layer(name, SLUICE_OP_LAYER_NORM, {in.tensor, parameters},
                    {0, 0, 0, -128, 127}, in.dims, Network::kSpread);
}

Fmap Reshape(Network* net, const std::string& name, const Fmap& in, Dims dims) {
  return net->Layer(name, SLUICE_OP_RESHAPE, {in.tensor}, {}, std::move(dims), in.rms);
}

}  // namespace sluice::zoo
