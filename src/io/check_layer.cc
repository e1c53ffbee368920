// SPDX-License-Identifier: Apache-2.0
// Shape and attribute rules of every op, as ops.h states them.
#include "base/checked.h"
#include "io/read.h"
#include "model/ops/traits.h"

namespace sluice {

namespace {

// For strides, dilations, pads, filter extents.
constexpr int64_t kMaxWindow = 1 << 16;

struct Rule {
  const Graph& graph;
  const Layer& layer;
  uint32_t index;
  Diagnostic* diagnostic;

  const Tensor& in(size_t i) const { return graph.tensors[layer.inputs[i]]; }
  const Tensor& out() const { return graph.tensors[layer.outputs[0]]; }
  int32_t at(size_t i) const { return layer.attribute(i); }

  Status Bad(const char* what) const {
    return Fail(diagnostic, Status::kBadInput, "graph")
        .Layer(index)
        .Say("layer # (", index)
        .Text(OpName(layer.op))
        .Text("): ")
        .Text(what);
  }
  Status Unsupported(const char* what) const {
    return Fail(diagnostic, Status::kUnsupported, "graph")
        .Layer(index)
        .Say("layer # (", index)
        .Text(OpName(layer.op))
        .Text("): ")
        .Text(what);
  }
};

bool SameExtents(const Tensor& a, const Tensor& b) {
  for (int i = 0; i < kAxes; ++i) {
    if (a.extent[i] != b.extent[i]) return false;
  }
  return true;
}

bool IsEightBit(const Tensor& t) {
  return t.dtype == SLUICE_DTYPE_INT8 || t.dtype == SLUICE_DTYPE_UINT8;
}

// Checks the numbers of inputs, outputs and attributes against the operator's row.
Status CheckOperands(const Rule& r) {
  const OpTraits& traits = TraitsOf(r.layer);
  const size_t inputs = r.layer.inputs.size();
  if (inputs < traits.least_inputs ||
      (traits.most_inputs != 0 && inputs > traits.most_inputs)) {
    return r.Bad("wrong number of inputs");
  }
  // An operator with any number of inputs has no optional ones.
  const size_t required = traits.most_inputs == 0 ? inputs : traits.least_inputs;
  for (size_t i = 0; i < required; ++i) {
    if (r.layer.inputs[i] == kNone) return r.Bad("a required input is absent");
  }
  if (traits.kind != LayerKind::kHost && r.layer.outputs.size() != 1) {
    return r.Bad("must have one output");
  }
  if (r.layer.attributes.size() > traits.attributes) {
    return r.Bad("more attributes than the operator has");
  }
  return Status::kOk;
}

// One spatial axis of a window.
struct WindowAxis {
  int64_t filter, stride, dilation, before, after;
};

// Attributes are in range, and the output's extent follows from input and window.
bool WindowFits(int64_t in, int64_t out, const WindowAxis& w) {
  const auto [filter, stride, dilation, before, after] = w;
  if (filter < 1 || stride < 1 || dilation < 1 || before < 0 || after < 0) return false;
  if (filter > kMaxWindow || stride > kMaxWindow || dilation > kMaxWindow) return false;
  // The stream stores pads in 16 bits; a window must not lie in padding alone.
  if (before >= kMaxWindow || after >= kMaxWindow) return false;
  const int64_t window = (filter - 1) * dilation + 1;
  if (before >= window || after >= window) return false;
  const int64_t room = in + before + after - window;
  return room >= 0 && out == room / stride + 1;
}

int64_t OneIfZero(int64_t value) { return value == 0 ? 1 : value; }

// The window along H (side 0) or W (side 1).
WindowAxis ConvAxis(const Rule& r, size_t side, const Tensor& filter) {
  return {filter.extent[1 + side], OneIfZero(r.at(SLUICE_CONV_STRIDE_H + side)),
          OneIfZero(r.at(SLUICE_CONV_DILATION_H + side)),
          r.at(SLUICE_CONV_PAD_TOP + side), r.at(SLUICE_CONV_PAD_BOTTOM + side)};
}

WindowAxis PoolAxis(const Rule& r, size_t side) {
  return {r.at(SLUICE_POOL_WINDOW_H + side),
          OneIfZero(r.at(SLUICE_POOL_STRIDE_H + side)), 1,
          r.at(SLUICE_POOL_PAD_TOP + side), r.at(SLUICE_POOL_PAD_BOTTOM + side)};
}

Status CheckParameters(const Rule& r, const Tensor& parameters, int64_t channels) {
  if (parameters.dtype != SLUICE_DTYPE_INT32 || parameters.rank != 2 ||
      parameters.extent[2] != channels || parameters.extent[3] != 3) {
    return r.Bad("parameters must be int32 [output channels, 3]");
  }
  return Status::kOk;
}

// Checks the window as that of the convolution from the output to the input.
Status CheckTransposedConv(const Rule& r) {
  const Tensor& in = r.in(0);
  const Tensor& weight = r.in(1);
  const Tensor& out = r.out();
  SLUICE_TRY(CheckParameters(r, r.in(2), out.extent[3]));
  if (!IsEightBit(in) || !IsEightBit(weight)) return r.Bad("operands must be 8 bit");
  if (in.extent[0] != out.extent[0]) return r.Bad("batch differs");
  const int32_t layout = r.at(SLUICE_CONV_WEIGHT_LAYOUT);
  if (layout < SLUICE_WEIGHT_LAYOUT_OWN || layout > SLUICE_WEIGHT_LAYOUT_DEPTHWISE) {
    return r.Bad("weight_layout must be 0, 1 or 2");
  }
  const bool own = layout == SLUICE_WEIGHT_LAYOUT_OWN;
  const bool depthwise = layout == SLUICE_WEIGHT_LAYOUT_DEPTHWISE;
  if (weight.extent[own ? 0 : 3] != out.extent[3] ||
      weight.extent[own ? 3 : 0] != (depthwise ? 1 : in.extent[3]) ||
      (depthwise && in.extent[3] != out.extent[3])) {
    return r.Bad("weight must be [K, R, S, C], [C, R, S, K] or [1, R, S, K = C]");
  }
  if (OneIfZero(r.at(SLUICE_CONV_DILATION_H)) != 1 ||
      OneIfZero(r.at(SLUICE_CONV_DILATION_W)) != 1 ||
      OneIfZero(r.at(SLUICE_CONV_GROUPS)) != 1) {
    return r.Bad("dilation and groups must be 0 or 1");
  }
  for (size_t side = 0; side < 2; ++side) {
    if (!WindowFits(out.extent[1 + side], in.extent[1 + side],
                    ConvAxis(r, side, weight))) {
      return r.Bad("input extents do not follow from output, filter, stride and pads");
    }
  }
  return Status::kOk;
}

Status CheckConv(const Rule& r) {
  const Tensor& in = r.in(0);
  const Tensor& weight = r.in(1);
  const Tensor& out = r.out();
  const bool depthwise = TraitsOf(r.layer).form == Form::kDepthwiseConv;
  const int64_t groups = OneIfZero(r.at(SLUICE_CONV_GROUPS));
  const int64_t channels = out.extent[3];
  SLUICE_TRY(CheckParameters(r, r.in(2), channels));
  if (!IsEightBit(in) || !IsEightBit(weight)) return r.Bad("operands must be 8 bit");
  if (in.extent[0] != out.extent[0]) return r.Bad("batch differs");
  if (depthwise) {
    if (groups != 1) return r.Bad("groups must be 0");
    if (weight.extent[0] != 1 || weight.extent[3] != channels ||
        channels % in.extent[3] != 0) {
      return r.Bad("weight must be [1, R, S, K] with K a multiple of C");
    }
  } else {
    if (groups < 1 || in.extent[3] % groups != 0 || channels % groups != 0) {
      return r.Bad("groups must divide input and output channels");
    }
    if (weight.extent[0] != channels || weight.extent[3] != in.extent[3] / groups) {
      return r.Bad("weight must be [K, R, S, C / groups]");
    }
  }
  if (!WindowFits(in.extent[1], out.extent[1], ConvAxis(r, 0, weight)) ||
      !WindowFits(in.extent[2], out.extent[2], ConvAxis(r, 1, weight))) {
    return r.Bad("output extents do not follow from filter, stride, dilation and pads");
  }
  return Status::kOk;
}

Status CheckFullyConnected(const Rule& r) {
  const Tensor& in = r.in(0);
  const Tensor& weight = r.in(1);
  const Tensor& out = r.out();
  SLUICE_TRY(CheckParameters(r, r.in(2), out.extent[3]));
  if (!IsEightBit(in) || !IsEightBit(weight)) return r.Bad("operands must be 8 bit");
  if (weight.rank != 2 || weight.extent[2] != out.extent[3] ||
      weight.extent[3] != in.extent[3]) {
    return r.Bad("weight must be [K, C]");
  }
  for (int a = 0; a < 3; ++a) {
    if (in.extent[a] != out.extent[a]) return r.Bad("rows of input and output differ");
  }
  return Status::kOk;
}

Status CheckMatmul(const Rule& r) {
  const Tensor& a = r.in(0);
  const Tensor& b = r.in(1);
  const Tensor& out = r.out();
  const bool transposed = r.at(SLUICE_MATMUL_TRANSPOSE_B) != 0;
  const int64_t c = b.extent[transposed ? 3 : 2];
  const int64_t k = b.extent[transposed ? 2 : 3];
  if (!IsEightBit(a) || !IsEightBit(b)) return r.Bad("operands must be 8 bit");
  if (a.extent[3] != c || out.extent[3] != k || out.extent[2] != a.extent[2]) {
    return r.Bad("shapes must be [B,G,M,C] x [B,G,C,K] -> [B,G,M,K]");
  }
  for (int i = 0; i < 2; ++i) {
    if (a.extent[i] != out.extent[i] || b.extent[i] != out.extent[i]) {
      return r.Bad("batch axes differ");
    }
  }
  return Status::kOk;
}

Status CheckPoolWindow(const Rule& r, const Tensor& in, const Tensor& out) {
  if (in.extent[0] != out.extent[0] || in.extent[3] != out.extent[3]) {
    return r.Bad("batch or channels differ");
  }
  if (!WindowFits(in.extent[1], out.extent[1], PoolAxis(r, 0)) ||
      !WindowFits(in.extent[2], out.extent[2], PoolAxis(r, 1))) {
    return r.Bad("output extents do not follow from window, stride and pads");
  }
  return Status::kOk;
}

Status CheckPool(const Rule& r) {
  if (r.in(0).dtype != r.out().dtype) return r.Bad("dtype differs");
  return CheckPoolWindow(r, r.in(0), r.out());
}

Status CheckBinary(const Rule& r) {
  if (r.in(0).dtype != r.in(1).dtype) return r.Bad("dtype differs");
  for (int a = 0; a < kAxes; ++a) {
    int32_t widest = 1;
    for (size_t i = 0; i < 2; ++i) widest = Max(widest, r.in(i).extent[a]);
    if (r.out().extent[a] != widest)
      return r.Bad("output extents must be the wider of the inputs'");
    for (size_t i = 0; i < 2; ++i) {
      if (r.in(i).extent[a] != 1 && r.in(i).extent[a] != widest) {
        return r.Bad("inputs must agree or have extent 1");
      }
    }
  }
  return Status::kOk;
}

Status CheckUnary(const Rule& r) {
  return SameExtents(r.in(0), r.out()) ? Status::kOk
                                       : r.Bad("input and output extents differ");
}

Status CheckEightBitUnary(const Rule& r) {
  SLUICE_TRY(CheckUnary(r));
  return IsEightBit(r.in(0)) && IsEightBit(r.out()) ? Status::kOk
                                                    : r.Bad("operands must be 8 bit");
}

Status CheckLookup(const Rule& r) {
  SLUICE_TRY(CheckEightBitUnary(r));
  return IsEightBit(r.in(1)) && r.in(1).bytes == 256
             ? Status::kOk
             : r.Bad("the table must have 256 bytes");
}

// True when `tensor` has the box's extent or 1 along each axis.
bool BroadcastsTo(const Tensor& tensor, const Tensor& box) {
  for (int a = 0; a < kAxes; ++a) {
    if (tensor.extent[a] != 1 && tensor.extent[a] != box.extent[a]) return false;
  }
  return true;
}

// Keeps every step of the formula inside 16 bits.
Status CheckHardSwish(const Rule& r) {
  SLUICE_TRY(CheckEightBitUnary(r));
  if (r.in(0).dtype != r.out().dtype) return r.Bad("dtype differs");
  const int32_t low = r.in(0).dtype == SLUICE_DTYPE_INT8 ? -128 : 0;
  constexpr size_t kZeros[] = {SLUICE_HARD_SWISH_INPUT_ZERO,
                               SLUICE_HARD_SWISH_OUTPUT_ZERO};
  for (size_t i : kZeros) {
    if (r.at(i) < low || r.at(i) > low + 255) {
      return r.Bad("zeros must lie in the dtype's range");
    }
  }
  constexpr size_t kMultipliers[] = {SLUICE_HARD_SWISH_MULTIPLIER,
                                     SLUICE_HARD_SWISH_GATE_MULTIPLIER};
  for (size_t i : kMultipliers) {
    if (r.at(i) < 0 || r.at(i) > INT16_MAX) {
      return r.Bad("multipliers must lie in 0 to 32767");
    }
  }
  const int32_t shift = r.at(SLUICE_HARD_SWISH_SHIFT);
  const int32_t gate_shift = r.at(SLUICE_HARD_SWISH_GATE_SHIFT);
  return shift < -15 || shift > 0 || gate_shift < -15 || gate_shift > 15
             ? r.Bad("shift must lie in -15 to 0, gate_shift in -15 to 15")
             : Status::kOk;
}

Status CheckPrelu(const Rule& r) {
  SLUICE_TRY(CheckEightBitUnary(r));
  if (!IsEightBit(r.in(1))) return r.Bad("operands must be 8 bit");
  return BroadcastsTo(r.in(1), r.in(0)) ? Status::kOk : r.Bad("slopes do not fit");
}

Status CheckSoftmax(const Rule& r) {
  SLUICE_TRY(CheckEightBitUnary(r));
  if (r.in(0).dtype != r.out().dtype) return r.Bad("dtype differs");
  if (r.layer.input(1) == kNone) return Status::kOk;
  if (!BroadcastsTo(r.in(1), r.in(0))) return r.Bad("mask does not fit");
  return r.in(1).dtype == SLUICE_DTYPE_UINT8 ? Status::kOk
                                             : r.Bad("the mask must be uint8");
}

Status CheckWeightGradient(const Rule& r) {
  const Tensor& in = r.in(0);
  const Tensor& error = r.in(1);
  const Tensor& out = r.out();
  const int64_t groups = OneIfZero(r.at(SLUICE_CONV_GROUPS));
  if (!IsEightBit(in) || !IsEightBit(error) || !IsEightBit(out)) {
    return r.Bad("operands must be 8 bit");
  }
  if (in.extent[0] != error.extent[0]) return r.Bad("batch differs");
  if (groups < 1 || in.extent[3] % groups != 0 || error.extent[3] % groups != 0) {
    return r.Bad("groups must divide input and error channels");
  }
  if (out.extent[0] != error.extent[3] || out.extent[3] != in.extent[3] / groups) {
    return r.Bad("output must be [K, R, S, C / groups]");
  }
  if (int64_t{error.extent[0]} * error.extent[1] > INT32_MAX) {
    return r.Unsupported("more than 2^31 rows of errors");
  }
  for (size_t side = 0; side < 2; ++side) {
    if (!WindowFits(in.extent[1 + side], error.extent[1 + side],
                    ConvAxis(r, side, out))) {
      return r.Bad("error extents do not follow from filter, stride and pads");
    }
  }
  return Status::kOk;
}

Status CheckReluGradient(const Rule& r) {
  for (size_t i = 0; i < 2; ++i) {
    if (!SameExtents(r.in(i), r.out())) return r.Bad("extents differ");
  }
  return Status::kOk;
}

// Checks the pool from the output (and input 1) to input 0.
Status CheckMaxPoolGradient(const Rule& r) {
  const Tensor& error = r.in(0);
  const Tensor& out = r.out();
  if (!SameExtents(r.in(1), out)) return r.Bad("ifmap and output extents differ");
  if (!IsEightBit(error) || !IsEightBit(r.in(1)) || error.dtype != out.dtype) {
    return r.Bad("operands must be 8 bit, error and output of one dtype");
  }
  return CheckPoolWindow(r, out, error);
}

// With more channels, sums of squares could overflow 64 bits.
constexpr int32_t kMaxNormChannels = 32768;

Status CheckNorm(const Rule& r) {
  SLUICE_TRY(CheckEightBitUnary(r));
  const Tensor& in = r.in(0);
  SLUICE_TRY(CheckParameters(r, r.in(1), in.extent[3]));
  if (in.extent[3] > kMaxNormChannels) return r.Unsupported("more than 32768 channels");
  const int32_t low = in.dtype == SLUICE_DTYPE_INT8 ? -128 : 0;
  const int32_t zero = r.at(SLUICE_NORM_INPUT_ZERO);
  if (TraitsOf(r.layer).form == Form::kRmsNorm && (zero < low || zero > low + 255)) {
    return r.Bad("input_zero must lie in the dtype's range");
  }
  return r.at(SLUICE_NORM_EPSILON) >= 0 ? Status::kOk
                                        : r.Bad("epsilon must not be negative");
}

Status CheckReducedAxes(const Rule& r) {
  const uint32_t axes = ReducedAxes(r.layer);
  for (int a = 0; a < kAxes; ++a) {
    const int32_t want = (axes >> a & 1) != 0 ? 1 : r.in(0).extent[a];
    if (r.out().extent[a] != want) return r.Bad("reduced axes must keep extent 1");
  }
  return Status::kOk;
}

Status CheckReduce(const Rule& r) {
  const int32_t axes = r.at(SLUICE_REDUCE_AXES);
  if (axes < 1 || axes > 15) return r.Bad("axes must be a mask of bits 0 to 3");
  if (r.at(SLUICE_REDUCE_KIND) != SLUICE_REDUCE_KIND_SUM &&
      r.at(SLUICE_REDUCE_KIND) != SLUICE_REDUCE_KIND_MAX) {
    return r.Bad("unknown kind");
  }
  return CheckReducedAxes(r);
}

Status CheckArgmax(const Rule& r) {
  SLUICE_TRY(CheckReducedAxes(r));
  return r.out().dtype == SLUICE_DTYPE_INT32 || r.out().dtype == SLUICE_DTYPE_INT64
             ? Status::kOk
             : r.Bad("output must be int32 or int64");
}

Status CheckConcat(const Rule& r) {
  const int32_t axis = r.at(SLUICE_CONCAT_AXIS);
  if (axis < 0 || axis >= kAxes) return r.Bad("axis must be 0 to 3");
  int64_t sum = 0;
  for (size_t i = 0; i < r.layer.inputs.size(); ++i) {
    if (r.in(i).dtype != r.out().dtype) return r.Bad("dtype differs");
    for (int a = 0; a < kAxes; ++a) {
      if (a != axis && r.in(i).extent[a] != r.out().extent[a]) {
        return r.Bad("inputs differ outside the axis");
      }
    }
    sum += r.in(i).extent[axis];
  }
  if (sum != r.out().extent[axis]) return r.Bad("extents along the axis do not add up");
  return Status::kOk;
}

// Checks that `inner`, placed by the first four attributes, lies inside `outer`.
Status CheckInside(const Rule& r, const Tensor& outer, const Tensor& inner,
                   const char* otherwise) {
  if (outer.dtype != inner.dtype) return r.Bad("dtype differs");
  for (int a = 0; a < kAxes; ++a) {
    const int32_t begin = r.at(static_cast<size_t>(a));
    if (begin < 0 || begin > outer.extent[a] ||
        inner.extent[a] > outer.extent[a] - begin) {
      return r.Bad(otherwise);
    }
  }
  return Status::kOk;
}

Status CheckPad(const Rule& r) {
  SLUICE_TRY(CheckInside(r, r.out(), r.in(0), "pads do not fit the output"));
  for (int a = 0; a < kAxes; ++a) {
    const int32_t begin = r.at(static_cast<size_t>(a));
    const int64_t after = r.out().extent[a] - begin - int64_t{r.in(0).extent[a]};
    if (begin >= kMaxWindow || after >= kMaxWindow) {
      return r.Unsupported("pads above 65535");
    }
  }
  return Status::kOk;
}

Status CheckReshape(const Rule& r) {
  if (r.in(0).dtype != r.out().dtype || r.in(0).bytes != r.out().bytes) {
    return r.Bad("input and output must have the same bytes");
  }
  return Status::kOk;
}

Status CheckTranspose(const Rule& r) {
  uint32_t seen = 0;
  for (int a = 0; a < kAxes; ++a) {
    const int32_t from = r.at(static_cast<size_t>(a));
    if (from < 0 || from >= kAxes || (seen >> from & 1) != 0) {
      return r.Bad("perm must be a permutation of 0 to 3");
    }
    seen |= 1u << from;
    if (r.out().extent[a] != r.in(0).extent[from]) {
      return r.Bad("output extents are not the permuted input extents");
    }
  }
  return r.in(0).dtype == r.out().dtype ? Status::kOk : r.Bad("dtype differs");
}

Status CheckGather(const Rule& r) {
  const Tensor& table = r.in(0);
  const Tensor& indices = r.in(1);
  if (table.rank != 2 || indices.dtype != SLUICE_DTYPE_INT32 ||
      table.dtype != r.out().dtype || table.extent[3] != r.out().extent[3]) {
    return r.Bad("needs a table [V, C], int32 indices and an output [..., C]");
  }
  if (table.kind == TensorKind::kState || indices.kind == TensorKind::kState) {
    return r.Unsupported("gathers from a state");
  }
  const int64_t rows = r.out().bytes / r.out().element_bytes / r.out().extent[3];
  if (rows != indices.bytes / 4) return r.Bad("the output must have one row per index");
  return Status::kOk;
}

Status CheckResize(const Rule& r) {
  if (r.in(0).extent[0] != r.out().extent[0] ||
      r.in(0).extent[3] != r.out().extent[3]) {
    return r.Bad("batch or channels differ");
  }
  for (int a = 1; a < 3; ++a) {
    if (r.in(0).extent[a] > (1 << 20) || r.out().extent[a] > (1 << 20)) {
      return r.Unsupported("extents above 2^20");
    }
  }
  return r.in(0).dtype == r.out().dtype ? Status::kOk : r.Bad("dtype differs");
}

Status CheckAppend(const Rule& r) {
  const int32_t axis = r.at(SLUICE_APPEND_AXIS);
  const int32_t parameter = r.at(SLUICE_APPEND_PARAMETER);
  if (axis < 0 || axis >= kAxes) return r.Bad("axis must be 0 to 3");
  if (parameter < 0 || static_cast<size_t>(parameter) >= r.graph.parameters.size()) {
    return r.Bad("the parameter does not exist");
  }
  if (r.in(0).kind != TensorKind::kState || r.layer.outputs[0] != r.layer.inputs[0]) {
    return r.Bad("input 0 must be a state tensor and the output the same tensor");
  }
  if (r.in(1).dtype != r.in(0).dtype) return r.Bad("dtype differs");
  for (int a = 0; a < kAxes; ++a) {
    if (a != axis && r.in(1).extent[a] != r.in(0).extent[a])
      return r.Bad("rows differ");
  }
  const int64_t last = r.graph.parameters[static_cast<size_t>(parameter)].max;
  if (last + r.in(1).extent[axis] > r.in(0).extent[axis]) {
    return r.Bad("the parameter's maximum puts rows outside the state");
  }
  return Status::kOk;
}

Status CheckOpaque(const Rule& r) {
  const uint64_t cycles = static_cast<uint32_t>(r.at(SLUICE_OPAQUE_CYCLES_LO)) |
                          uint64_t{static_cast<uint32_t>(r.at(SLUICE_OPAQUE_CYCLES_HI))}
                              << 32;
  if (cycles == 0 || cycles > (uint64_t{1} << 50)) {
    return r.Bad("must declare 1 to 2^50 cycles");
  }
  return Status::kOk;
}

// Checks layers whose output is computed by tiles.
Status CheckComputed(const Rule& r) {
  switch (TraitsOf(r.layer).form) {
    case Form::kConv:
    case Form::kDepthwiseConv:
      return CheckConv(r);
    case Form::kTransposedConv:
      return CheckTransposedConv(r);
    case Form::kFullyConnected:
      return CheckFullyConnected(r);
    case Form::kMatmul:
      return CheckMatmul(r);
    case Form::kWeightGradient:
      return CheckWeightGradient(r);
    case Form::kPool:
      return CheckPool(r);
    case Form::kPoolGradient:
      return CheckMaxPoolGradient(r);
    case Form::kBinary:
      return CheckBinary(r);
    case Form::kUnary:
      return CheckUnary(r);
    case Form::kReluGradient:
      return CheckReluGradient(r);
    case Form::kHardSwish:
      return CheckHardSwish(r);
    case Form::kPrelu:
      return CheckPrelu(r);
    case Form::kLookup:
      return CheckLookup(r);
    case Form::kSoftmax:
      return CheckSoftmax(r);
    case Form::kLayerNorm:
    case Form::kRmsNorm:
      return CheckNorm(r);
    case Form::kReduce:
      return CheckReduce(r);
    case Form::kArgmax:
      return CheckArgmax(r);
    case Form::kPad:
      return CheckPad(r);
    case Form::kTranspose:
      return CheckTranspose(r);
    case Form::kResize:
      return CheckResize(r);
    case Form::kUnknown:
    case Form::kConcat:
    case Form::kSlice:
    case Form::kReshape:
    case Form::kGather:
    case Form::kAppend:
    case Form::kOpaque:
      break;
  }
  return r.Unsupported("this version does not know this op");
}

Status CheckForm(const Rule& r) {
  switch (TraitsOf(r.layer).form) {
    case Form::kConcat:
      return CheckConcat(r);
    case Form::kSlice:
      return CheckInside(r, r.in(0), r.out(), "the slice leaves the input");
    case Form::kReshape:
      return CheckReshape(r);
    case Form::kGather:
      return CheckGather(r);
    case Form::kAppend:
      return CheckAppend(r);
    case Form::kOpaque:
      return CheckOpaque(r);
    case Form::kUnknown:
    case Form::kConv:
    case Form::kDepthwiseConv:
    case Form::kTransposedConv:
    case Form::kFullyConnected:
    case Form::kMatmul:
    case Form::kWeightGradient:
    case Form::kPool:
    case Form::kPoolGradient:
    case Form::kBinary:
    case Form::kUnary:
    case Form::kReluGradient:
    case Form::kHardSwish:
    case Form::kPrelu:
    case Form::kLookup:
    case Form::kSoftmax:
    case Form::kLayerNorm:
    case Form::kRmsNorm:
    case Form::kReduce:
    case Form::kArgmax:
    case Form::kPad:
    case Form::kTranspose:
    case Form::kResize:
      break;
  }
  return CheckComputed(r);  // refuses operators that tiles do not compute
}

}  // namespace

Status CheckLayer(const Graph& graph, uint32_t layer, Diagnostic* diagnostic) {
  const Rule rule = {graph, graph.layers[layer], layer, diagnostic};
  SLUICE_TRY(CheckOperands(rule));
  return CheckForm(rule);
}

}  // namespace sluice
