// SPDX-License-Identifier: Apache-2.0
#include "zoo/torch_layers.h"

#include <algorithm>
#include <cmath>

#include "import/quantisation.h"

namespace sluice::zoo {
namespace {

constexpr uint8_t kInt8 = SLUICE_DTYPE_INT8;
constexpr double kHalf = 1 << 30;  // of a multiplier: scale() with shift 1 is 1

int32_t OutputExtent(int32_t in, int32_t window, int32_t stride, int32_t pad,
                     int32_t dilation) {
  return (in + 2 * pad - (window - 1) * dilation - 1) / stride + 1;
}

Dims OutputDims(const Fmap& in, const Kernel& k, int32_t channels) {
  return {in.dims[0], OutputExtent(in.dims[1], k.h, k.stride_h, k.pad_h, k.dilation),
          OutputExtent(in.dims[2], k.w, k.stride_w, k.pad_w, k.dilation), channels};
}

struct Filter {
  Kernel kernel;
  uint32_t weight;
  int32_t channels;  // of the output
  int32_t terms;     // products per output element
};

Fmap Windowed(Network* net, const std::string& name, uint16_t op, const Fmap& in,
              const Filter& filter, bool relu) {
  const Kernel& k = filter.kernel;
  std::vector<int32_t> a(SLUICE_CONV_ATTRIBUTES);
  a[SLUICE_CONV_STRIDE_H] = k.stride_h;
  a[SLUICE_CONV_STRIDE_W] = k.stride_w;
  a[SLUICE_CONV_DILATION_H] = a[SLUICE_CONV_DILATION_W] = k.dilation;
  a[SLUICE_CONV_PAD_TOP] = k.pad_h;
  a[SLUICE_CONV_PAD_LEFT] = k.pad_w;
  a[SLUICE_CONV_PAD_BOTTOM] = k.pad_h;
  a[SLUICE_CONV_PAD_RIGHT] = k.pad_w;
  a[SLUICE_CONV_GROUPS] = op == SLUICE_OP_CONV ? k.groups : 0;
  a[SLUICE_CONV_ACT_MIN] = relu ? 0 : -128;
  a[SLUICE_CONV_ACT_MAX] = 127;
  const double spread = std::sqrt(1.0 * filter.terms) * Network::kWeightSpread * in.rms;
  const uint32_t parameters =
      net->Parameters(filter.channels, Network::kSpread / spread, spread / 4, 0);
  return net->Layer(name, op, {in.tensor, filter.weight, parameters}, a,
                    OutputDims(in, k, filter.channels),
                    relu ? Network::kSpread / std::sqrt(2.0) : Network::kSpread);
}

Fmap Pool(Network* net, const std::string& name, uint16_t op, const Fmap& in,
          const Kernel& k, double widening) {
  return net->Layer(
      name, op, {in.tensor},
      {k.h, k.w, k.stride_h, k.stride_w, k.pad_h, k.pad_w, k.pad_h, k.pad_w, -128, 127},
      OutputDims(in, k, in.dims[3]), std::min(widening * in.rms, 60.0));
}

}  // namespace

Kernel Square(int32_t size, int32_t stride, int32_t dilation) {
  const int32_t pad = (size - 1) * dilation / 2;
  return {size, size, stride, stride, pad, pad, dilation, 1};
}

Kernel Grouped(Kernel kernel, int32_t groups) {
  kernel.groups = groups;
  return kernel;
}

Fmap Conv(Network* net, const std::string& name, const Fmap& in, int32_t channels,
          const Kernel& k, bool relu) {
  const int32_t per_group = in.dims[3] / k.groups;
  const uint32_t weight =
      net->Weight(name + ".weight", {channels, k.h, k.w, per_group});
  return Windowed(net, name, SLUICE_OP_CONV, in,
                  {k, weight, channels, k.h * k.w * per_group}, relu);
}

Fmap DepthwiseConv(Network* net, const std::string& name, const Fmap& in,
                   const Kernel& k, bool relu) {
  const uint32_t weight = net->Weight(name + ".weight", {1, k.h, k.w, in.dims[3]});
  return Windowed(net, name, SLUICE_OP_DEPTHWISE_CONV, in,
                  {k, weight, in.dims[3], k.h * k.w}, relu);
}

Fmap MaxPool(Network* net, const std::string& name, const Fmap& in,
             const Kernel& kernel) {
  return Pool(net, name, SLUICE_OP_MAX_POOL, in, kernel, 1.4);
}

Fmap AveragePool(Network* net, const std::string& name, const Fmap& in,
                 const Kernel& kernel) {
  return Pool(net, name, SLUICE_OP_AVERAGE_POOL, in, kernel, 0.8);
}

Fmap Relu(Network* net, const std::string& name, const Fmap& in) {
  return net->Layer(name, SLUICE_OP_REQUANTIZE, {in.tensor},
                    {0, static_cast<int32_t>(kHalf), 1, 0, 0, 127}, in.dims,
                    in.rms / std::sqrt(2.0));
}

Fmap Curve(Network* net, const std::string& name, const Fmap& in, float (*f)(float)) {
  const Affine affine = {static_cast<float>(1.0 / in.rms), 0};
  const bool gate = f == Sigmoid || f == HardSigmoid;
  const Affine out = gate ? Affine{1.0f / 127, 0} : affine;
  const std::vector<uint8_t> table = LookupTable(kInt8, affine, kInt8, out, f);
  const uint32_t constant = net->writer().AddConstant(name + ".table", kInt8, {256},
                                                      table.data(), table.size());
  return net->Layer(name, SLUICE_OP_LOOKUP, {in.tensor, constant}, {}, in.dims,
                    gate ? 64 : in.rms / std::sqrt(2.0));
}

float Gelu(float x) { return x * 0.5f * (1 + std::erf(x * 0.70710678f)); }
float HardSigmoid(float x) { return std::clamp(x / 6 + 0.5f, 0.0f, 1.0f); }
float HardSwish(float x) { return x * HardSigmoid(x); }
float Sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

Fmap Gate(Network* net, const std::string& name, const Fmap& in, const Fmap& gate) {
  const Factor factor = QuantiseFactor(2.0 / 127);
  std::vector<int32_t> a(SLUICE_BINARY_ATTRIBUTES);
  a[SLUICE_BINARY_OUT_MULTIPLIER] = factor.multiplier;
  a[SLUICE_BINARY_OUT_SHIFT] = factor.shift;
  a[SLUICE_BINARY_ACT_MIN] = -128;
  a[SLUICE_BINARY_ACT_MAX] = 127;
  Dims dims(4);
  const Extents x = Normalised(in.dims), y = Normalised(gate.dims);
  for (size_t i = 0; i < 4; ++i) dims[i] = std::max(x[i], y[i]);
  return net->Layer(name, SLUICE_OP_MUL, {in.tensor, gate.tensor}, a, dims, in.rms);
}

Fmap Slice(Network* net, const std::string& name, const Fmap& in, const Dims& begin,
           Dims dims) {
  return net->Layer(name, SLUICE_OP_SLICE, {in.tensor}, begin, std::move(dims), in.rms);
}

Fmap Transpose(Network* net, const std::string& name, const Fmap& in,
               const std::vector<int32_t>& perm) {
  Dims dims;
  for (const int32_t axis : perm) dims.push_back(in.dims[static_cast<size_t>(axis)]);
  return net->Layer(name, SLUICE_OP_TRANSPOSE, {in.tensor}, perm, dims, in.rms);
}

Fmap Resize(Network* net, const std::string& name, const Fmap& in, int32_t h,
            int32_t w) {
  return net->Layer(name, SLUICE_OP_RESIZE_BILINEAR, {in.tensor}, {0, 1},
                    {in.dims[0], h, w, in.dims[3]}, in.rms);
}

Fmap Softmax(Network* net, const std::string& name, const Fmap& in) {
  const Factor factor = QuantiseFactor((1 << 26) / in.rms);
  const double radius =
      31.0 * (1 << 26) / static_cast<double>(int64_t{1} << factor.shift);
  return net->Layer(
      name, SLUICE_OP_SOFTMAX, {in.tensor},
      {factor.multiplier, factor.shift, -static_cast<int32_t>(std::floor(radius))},
      in.dims, 1);
}

namespace {

// [B,1,S,C] -> [B,heads,S,C/heads]
Fmap ByHead(Network* net, const std::string& name, const Fmap& x, int32_t heads) {
  const Fmap rows =
      Reshape(net, name + ".rows", x, {x.dims[0], x.dims[2], heads, x.dims[3] / heads});
  return Transpose(net, name + ".heads", rows, {0, 2, 1, 3});
}

}  // namespace

Fmap Attention(Network* net, const std::string& name, const Fmap& tokens,
               const Fmap& memory, int32_t heads) {
  const int32_t width = tokens.dims[3];
  const auto project = [&](const char* part, const Fmap& from) {
    const std::string full = name + "." + part;
    return ByHead(net, full, FullyConnected(net, full, from, width, false), heads);
  };
  const Fmap q = project("q", tokens), k = project("k", memory);
  const double spread = std::sqrt(1.0 * width / heads) * q.rms * k.rms;
  const Product logits = {q, k, true, 0, Network::kSpread / spread};
  const Fmap scores =
      Matmul(net, name + ".scores", logits, {q.dims[0], heads, q.dims[2], k.dims[2]},
             Network::kSpread);
  const Fmap v = project("v", memory);
  const Fmap p = Softmax(net, name + ".softmax", scores);
  // Probabilities are in 1/256; an average over tokens is narrower than the values.
  const Fmap mixed = Matmul(net, name + ".mix", {p, v, false, -128, 2.0 / 256},
                            {q.dims[0], heads, q.dims[2], q.dims[3]}, v.rms * 0.6);
  const Fmap back = Transpose(net, name + ".tokens", mixed, {0, 2, 1, 3});
  const Fmap whole =
      Reshape(net, name + ".whole", back, {q.dims[0], 1, q.dims[2], width});
  return FullyConnected(net, name + ".out", whole, width, false);
}

}  // namespace sluice::zoo
