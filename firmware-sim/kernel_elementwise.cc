// SPDX-License-Identifier: Apache-2.0
// ADD, SUB, MUL, MINIMUM, MAXIMUM, RELU_GRADIENT, REQUANTIZE, LOOKUP, and the choice of a kernel.
#include <algorithm>

#include "kernels.h"

namespace sluice_sim {
namespace {

// f(output pointer, n, h, w, c) for every element of the output.
template <typename F>
void ForEach(const Box& out, F&& f) {
  for (int64_t n = 0; n < out.extent[0]; ++n) {
    for (int64_t h = 0; h < out.extent[1]; ++h) {
      for (int64_t w = 0; w < out.extent[2]; ++w) {
        for (int64_t c = 0; c < out.extent[3]; ++c) {
          f(out.at(n, h, w, c), n, h, w, c);
        }
      }
    }
  }
}

// Same box, stride 0 where one element serves the whole axis.
Box Broadcast(Box box) {
  for (int a = 0; a < 4; ++a) {
    if (box.extent[a] == 1) box.stride[a] = 0;
  }
  return box;
}

int64_t Combine(const Tile& t, int64_t a, int64_t b) {
  if (t.op == SLUICE_OP_MINIMUM) return std::min(a, b);
  if (t.op == SLUICE_OP_MAXIMUM) return std::max(a, b);
  if (t.op == SLUICE_OP_RELU_GRADIENT && b <= t.A(SLUICE_BINARY_ZERO1)) {
    return t.A(SLUICE_BINARY_OUTPUT_ZERO);
  }
  const int32_t x = Wrap32(a - t.A(SLUICE_BINARY_ZERO0));
  const int32_t y = Wrap32(b - t.A(SLUICE_BINARY_ZERO1));
  int32_t raw;
  if (t.op == SLUICE_OP_RELU_GRADIENT) {
    raw = x;
  } else if (t.op == SLUICE_OP_MUL) {
    raw = Wrap32(static_cast<int64_t>(x) * y);
  } else {
    const int left = t.A(SLUICE_BINARY_LEFT_SHIFT);
    const int64_t u = Scale(ShiftLeftWrap(x, left), t.A(SLUICE_BINARY_MULTIPLIER0),
                            t.A(SLUICE_BINARY_SHIFT0));
    const int64_t v = Scale(ShiftLeftWrap(y, left), t.A(SLUICE_BINARY_MULTIPLIER1),
                            t.A(SLUICE_BINARY_SHIFT1));
    raw = Wrap32(t.op == SLUICE_OP_SUB ? u - v : u + v);
  }
  const int64_t scaled =
      Scale(raw, t.A(SLUICE_BINARY_OUT_MULTIPLIER), t.A(SLUICE_BINARY_OUT_SHIFT));
  return Clamp(scaled + t.A(SLUICE_BINARY_OUTPUT_ZERO), t.A(SLUICE_BINARY_ACT_MIN),
               t.A(SLUICE_BINARY_ACT_MAX));
}

}  // namespace

void RunBinary(const Tile& t) {
  const Box a = Broadcast(t.input0), b = Broadcast(t.input1);
  ForEach(t.output, [&](uint8_t* p, int64_t n, int64_t h, int64_t w, int64_t c) {
    Write(t.output.dtype, p, Combine(t, Read(a, n, h, w, c), Read(b, n, h, w, c)));
  });
}

void RunRequantize(const Tile& t) {
  ForEach(t.output, [&](uint8_t* p, int64_t n, int64_t h, int64_t w, int64_t c) {
    const int32_t x =
        Wrap32(Read(t.input0, n, h, w, c) - t.A(SLUICE_REQUANTIZE_INPUT_ZERO));
    const int64_t y =
        Scale(x, t.A(SLUICE_REQUANTIZE_MULTIPLIER), t.A(SLUICE_REQUANTIZE_SHIFT));
    Write(t.output.dtype, p,
          Clamp(y + t.A(SLUICE_REQUANTIZE_OUTPUT_ZERO), t.A(SLUICE_REQUANTIZE_ACT_MIN),
                t.A(SLUICE_REQUANTIZE_ACT_MAX)));
  });
}

void RunLookup(const Tile& t) {
  ForEach(t.output, [&](uint8_t* p, int64_t n, int64_t h, int64_t w, int64_t c) {
    *p = *t.weight.at(0, 0, 0, *t.input0.at(n, h, w, c));
  });
}

void RunTile(const Tile& t) {
  switch (t.op) {
    case SLUICE_OP_CONV:
    case SLUICE_OP_FULLY_CONNECTED:
      return RunConvolution(t);
    case SLUICE_OP_DEPTHWISE_CONV:
      return RunDepthwise(t);
    case SLUICE_OP_TRANSPOSED_CONV:
      return RunTransposed(t);
    case SLUICE_OP_BATCH_MATMUL:
      return RunMatmul(t);
    case SLUICE_OP_WEIGHT_GRADIENT:
      return RunWeightGradient(t);
    case SLUICE_OP_MAX_POOL_GRADIENT:
      return RunMaxPoolGradient(t);
    case SLUICE_OP_MAX_POOL:
    case SLUICE_OP_AVERAGE_POOL:
      return RunPool(t);
    case SLUICE_OP_REQUANTIZE:
      return RunRequantize(t);
    case SLUICE_OP_LOOKUP:
      return RunLookup(t);
    case SLUICE_OP_SOFTMAX:
      return RunSoftmax(t);
    case SLUICE_OP_LAYER_NORM:
    case SLUICE_OP_RMS_NORM:
      return RunNorm(t);
    case SLUICE_OP_REDUCE:
      return RunReduce(t);
    case SLUICE_OP_ARGMAX:
      return RunArgmax(t);
    case SLUICE_OP_PAD:
      return RunPad(t);
    case SLUICE_OP_TRANSPOSE:
      return RunTranspose(t);
    case SLUICE_OP_RESIZE_BILINEAR:
    case SLUICE_OP_RESIZE_NEAREST:
      return RunResize(t);
    default:
      return RunBinary(t);
  }
}

}  // namespace sluice_sim
