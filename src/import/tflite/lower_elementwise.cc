// SPDX-License-Identifier: Apache-2.0
// Pooling, arithmetic on two operands, activations, softmax and reductions.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "import/error.h"
#include "import/tflite/tflite_lowering.h"
#include "tflite_generated.h"

namespace sluice::import {
namespace {

using tflite::BuiltinOperator;

bool Is(const TfliteOperator& op, BuiltinOperator code) {
  return op.code == static_cast<int>(code);
}

void AddLookup(Lowering* to, const TfliteOperator& op,
               const std::vector<uint8_t>& table) {
  const uint8_t dtype = EightBit(OutputOf(*to, op));
  const uint32_t input = InputTensor(to, op, 0);
  const uint32_t constant = to->graph.AddConstant(
      OutputOf(*to, op).name + "/table", dtype, {256}, table.data(), table.size());
  AddLayer(to, op, SLUICE_OP_LOOKUP, {input, constant}, OutputTensor(to, op));
}

// Table of LEAKY_RELU: two slopes, each applied with the integer rounding of scale().
std::vector<uint8_t> LeakyTable(const TfliteTensor& input, const TfliteTensor& out,
                                float alpha) {
  const Affine in = AffineOf(input), o = AffineOf(out);
  const double factor = static_cast<double>(in.scale / o.scale);
  const Factor identity = QuantiseFactor(factor);
  const Factor leak = QuantiseFactor(static_cast<double>(in.scale * alpha / o.scale));
  const auto scale = [](int64_t x, const Factor& f) {
    const int left = std::max(f.shift, 0), right = std::max(-f.shift, 0);
    const int64_t product = (x << left) * f.multiplier;
    const int64_t nudge = product >= 0 ? (1 << 30) : 1 - (1 << 30);
    const int64_t high = (product + nudge) / (int64_t{1} << 31);
    if (right == 0) return high;
    const int64_t half = int64_t{1} << (right - 1);
    return high >= 0 ? (high + half) >> right : -((-high + half) >> right);
  };
  const uint8_t dtype = EightBit(out);
  const Range range = DtypeRange(dtype);
  std::vector<uint8_t> table(256);
  for (int bits = 0; bits < 256; ++bits) {
    const int stored = dtype == SLUICE_DTYPE_INT8 && bits > 127 ? bits - 256 : bits;
    const int64_t value = stored - in.zero;
    const int64_t result = o.zero + scale(value, value >= 0 ? identity : leak);
    table[static_cast<size_t>(bits)] =
        static_cast<uint8_t>(std::clamp<int64_t>(result, range.min, range.max));
  }
  return table;
}

// An operator on two operands: the layer's operator, and how its attributes are computed.
// An operator without attributes (MINIMUM, MAXIMUM) outputs one of its operands unchanged,
// so both must have the scale and zero point of the output.
struct BinaryRow {
  BuiltinOperator from;
  uint16_t op;
  std::vector<int32_t> (*attributes)(const Affine&, const Affine&, const Affine&,
                                     const Range&);
};

constexpr BinaryRow kBinaryRows[] = {
    {BuiltinOperator::ADD, SLUICE_OP_ADD, SumAttributes},
    {BuiltinOperator::SUB, SLUICE_OP_SUB, SumAttributes},
    {BuiltinOperator::MUL, SLUICE_OP_MUL, ProductAttributes},
    {BuiltinOperator::MINIMUM, SLUICE_OP_MINIMUM, nullptr},
    {BuiltinOperator::MAXIMUM, SLUICE_OP_MAXIMUM, nullptr},
};

const BinaryRow& BinaryRowOf(const TfliteOperator& op) {
  for (const BinaryRow& row : kBinaryRows) {
    if (Is(op, row.from)) return row;
  }
  throw Unsupported("this operator on two operands");
}

bool IsPowerOfTwo(float scale) {
  int exponent = 0;
  return std::frexp(scale, &exponent) == 0.5f;
}

// With the option pot_scale_int16 the kernel replaces power-of-two scales by shifts,
// which round differently. Refuses such operators.
void RequirePlainSixteenBit(const TfliteOperator& op, const TfliteTensor& x0,
                            const TfliteTensor& x1, const TfliteTensor& out) {
  const auto* add = op.wire->builtin_options_as_AddOptions();
  const auto* sub = op.wire->builtin_options_as_SubOptions();
  const bool sums = Is(op, BuiltinOperator::ADD) || Is(op, BuiltinOperator::SUB);
  const bool shifts = add != nullptr   ? add->pot_scale_int16()
                      : sub != nullptr ? sub->pot_scale_int16()
                                       : sums;
  for (const TfliteTensor* tensor : {&x0, &x1, &out}) {
    Require(AffineOf(*tensor).zero == 0, "16-bit numbers with a zero point");
  }
  Require(!shifts || !IsPowerOfTwo(AffineOf(x0).scale) ||
              !IsPowerOfTwo(AffineOf(x1).scale) || !IsPowerOfTwo(AffineOf(out).scale),
          "16-bit scales that are powers of two");
}

// 16-bit LEAKY_RELU as the sum of two REQUANTIZE layers: one is 0 for x < 0, the other
// for x > 0.
void LowerWideLeakyRelu(Lowering* to, const TfliteOperator& op, float alpha) {
  const TfliteTensor& input = InputOf(*to, op, 0);
  const TfliteTensor& out = OutputOf(*to, op);
  const Affine in = AffineOf(input), o = AffineOf(out);
  Require(in.zero == 0 && o.zero == 0 && alpha >= 0,
          "16-bit numbers with a zero point, or a negative slope");
  const Factor plain = QuantiseFactor(static_cast<double>(in.scale / o.scale));
  const Factor leak = QuantiseFactor(static_cast<double>(in.scale * alpha / o.scale));
  const Range range = DtypeRange(DtypeOf(out));
  const uint32_t ifmap = InputTensor(to, op, 0);
  const Dims dims = DimsOf(out);
  const uint32_t above = Temporary(to, out, "/above", dims),
                 below = Temporary(to, out, "/below", dims);
  to->graph.AddLayer(out.name + "/above", SLUICE_OP_REQUANTIZE, {ifmap}, {above},
                     {0, plain.multiplier, plain.shift, 0, 0, range.max});
  to->graph.AddLayer(out.name + "/below", SLUICE_OP_REQUANTIZE, {ifmap}, {below},
                     {0, leak.multiplier, leak.shift, 0, range.min, 0});
  constexpr int32_t kHalf = 1 << 30;  // with a shift of 1 to the left: 1
  AddLayer(to, op, SLUICE_OP_ADD, {above, below}, OutputTensor(to, op),
           {0, 0, kHalf, 1, 0, kHalf, 1, 0, kHalf, 1, range.min, range.max});
}

int FusedActivation(const TfliteOperator& op) {
  if (const auto* add = op.wire->builtin_options_as_AddOptions()) {
    return static_cast<int>(add->activation());
  }
  if (const auto* sub = op.wire->builtin_options_as_SubOptions()) {
    return static_cast<int>(sub->activation());
  }
  if (const auto* mul = op.wire->builtin_options_as_MulOptions()) {
    return static_cast<int>(mul->activation());
  }
  return 0;
}

}  // namespace

void LowerPool(Lowering* to, const TfliteOperator& op) {
  const auto* options = op.wire->builtin_options_as_Pool2DOptions();
  Require(options != nullptr, "missing options");
  const TfliteTensor& input = InputOf(*to, op, 0);
  const TfliteTensor& out = OutputOf(*to, op);
  Require(input.shape.size() == 4 && out.shape.size() == 4,
          "operands that do not have four axes");
  Require(EightBit(input) == EightBit(out) && SameAffine(input, out),
          "an output quantised unlike the input");
  Require(options->window_h() >= 1 && options->window_w() >= 1, "a window below 1");
  const Extents in = ExtentsOf(input), o = ExtentsOf(out);
  const bool same = options->padding() == tflite::Padding::SAME;
  const Pads vertical =
      PadsOf(same, in[1], o[1], options->window_h(), options->stride_h(), 1);
  const Pads horizontal =
      PadsOf(same, in[2], o[2], options->window_w(), options->stride_w(), 1);
  const Range range = Clamped(out, static_cast<int>(options->activation()));
  const uint16_t code = Is(op, BuiltinOperator::MAX_POOL_2D) ? SLUICE_OP_MAX_POOL
                                                             : SLUICE_OP_AVERAGE_POOL;
  const uint32_t ifmap = InputTensor(to, op, 0);
  AddLayer(to, op, code, {ifmap}, OutputTensor(to, op),
           {options->window_h(), options->window_w(), options->stride_h(),
            options->stride_w(), vertical.before, horizontal.before, vertical.after,
            horizontal.after, range.min, range.max});
}

void LowerBinary(Lowering* to, const TfliteOperator& op) {
  const TfliteTensor& x0 = InputOf(*to, op, 0);
  const TfliteTensor& x1 = InputOf(*to, op, 1);
  const TfliteTensor& out = OutputOf(*to, op);
  const uint8_t dtype = SmallInteger(out);
  Require(SmallInteger(x0) == dtype && SmallInteger(x1) == dtype,
          "operands of several types");
  if (IsSixteenBit(out)) RequirePlainSixteenBit(op, x0, x1, out);
  const Extents e0 = ExtentsOf(x0), e1 = ExtentsOf(x1), o = ExtentsOf(out);
  for (size_t a = 0; a < 4; ++a) {
    Require(o[a] == std::max(e0[a], e1[a]) && (e0[a] == o[a] || e0[a] == 1) &&
                (e1[a] == o[a] || e1[a] == 1),
            "extents that do not broadcast");
  }
  const BinaryRow& row = BinaryRowOf(op);
  std::vector<int32_t> attributes;
  if (row.attributes == nullptr) {
    Require(SameAffine(x0, out) && SameAffine(x1, out),
            "operands quantised differently");
  } else {
    const Range range = Clamped(out, FusedActivation(op));
    attributes = row.attributes(AffineOf(x0), AffineOf(x1), AffineOf(out), range);
    if (row.attributes == SumAttributes && IsSixteenBit(out)) {
      attributes = WideSumAttributes(AffineOf(x0), AffineOf(x1), AffineOf(out), range);
    }
  }
  const uint32_t first = InputTensor(to, op, 0);
  const uint32_t second = InputTensor(to, op, 1);
  AddLayer(to, op, row.op, {first, second}, OutputTensor(to, op), attributes);
}

void LowerQuantise(Lowering* to, const TfliteOperator& op) {
  const TfliteTensor& input = InputOf(*to, op, 0);
  const TfliteTensor& out = OutputOf(*to, op);
  SmallInteger(input);
  const bool widens =
      static_cast<tflite::TensorType>(out.type) == tflite::TensorType::INT32;
  const Range range = DtypeRange(widens ? DtypeOf(out) : SmallInteger(out));
  const uint32_t ifmap = InputTensor(to, op, 0);
  AddLayer(to, op, SLUICE_OP_REQUANTIZE, {ifmap}, OutputTensor(to, op),
           RequantiseAttributes(AffineOf(input), AffineOf(out), range));
}

// A DEQUANTIZE that float_borders.h has not removed feeds a float operator.
void LowerDequantise(Lowering*, const TfliteOperator&) {
  throw Unsupported(
      "float32 in the middle of the model; convert it with integer operators alone");
}

void LowerActivation(Lowering* to, const TfliteOperator& op) {
  const TfliteTensor& input = InputOf(*to, op, 0);
  const TfliteTensor& out = OutputOf(*to, op);
  const auto* leaky = op.wire->builtin_options_as_LeakyReluOptions();
  if (leaky != nullptr && IsSixteenBit(input) && IsSixteenBit(out)) {
    return LowerWideLeakyRelu(to, op, leaky->alpha());
  }
  const uint8_t dtype = EightBit(input);
  Require(EightBit(out) == dtype, "an output of another type than the input");
  const Affine in = AffineOf(input), o = AffineOf(out);
  switch (static_cast<BuiltinOperator>(op.code)) {
    case BuiltinOperator::LOGISTIC:
      return AddLookup(to, op, LookupTable(dtype, in, dtype, o, [](float x) {
                         return 1.0f / (1.0f + std::exp(-x));
                       }));
    case BuiltinOperator::TANH:
      return AddLookup(to, op, LookupTable(dtype, in, dtype, o, [](float x) {
                         return std::tanh(x);
                       }));
    case BuiltinOperator::LEAKY_RELU:
      Require(leaky != nullptr, "missing options");
      return AddLookup(to, op, LeakyTable(input, out, leaky->alpha()));
    default:
      break;
  }
  tflite::Activation activation = tflite::Activation::RELU;
  if (Is(op, BuiltinOperator::RELU6)) activation = tflite::Activation::RELU6;
  if (Is(op, BuiltinOperator::RELU_N1_TO_1)) {
    activation = tflite::Activation::RELU_N1_TO_1;
  }
  const Range range = Clamped(out, static_cast<int>(activation));
  const uint32_t ifmap = InputTensor(to, op, 0);
  AddLayer(to, op, SLUICE_OP_REQUANTIZE, {ifmap}, OutputTensor(to, op),
           RequantiseAttributes(in, o, range));
}

void LowerHardSwish(Lowering* to, const TfliteOperator& op) {
  const TfliteTensor& input = InputOf(*to, op, 0);
  const TfliteTensor& out = OutputOf(*to, op);
  Require(EightBit(out) == EightBit(input), "an output of another type than the input");
  std::vector<int32_t> attributes = HardSwishAttributes(AffineOf(input), AffineOf(out));
  Require(!attributes.empty(), "a scale outside the fixed point");
  const uint32_t ifmap = InputTensor(to, op, 0);
  AddLayer(to, op, SLUICE_OP_HARD_SWISH, {ifmap}, OutputTensor(to, op), attributes);
}

void LowerPrelu(Lowering* to, const TfliteOperator& op) {
  const TfliteTensor& input = InputOf(*to, op, 0);
  const TfliteTensor& slopes = InputOf(*to, op, 1);
  const TfliteTensor& out = OutputOf(*to, op);
  const uint8_t dtype = EightBit(out);
  Require(EightBit(input) == dtype && EightBit(slopes) == dtype,
          "operands of several types");
  const Extents in = ExtentsOf(input), slope = ExtentsOf(slopes), o = ExtentsOf(out);
  for (size_t a = 0; a < 4; ++a) {
    Require(o[a] == in[a] && (slope[a] == in[a] || slope[a] == 1),
            "slopes that do not broadcast to the input");
  }
  const uint32_t ifmap = InputTensor(to, op, 0);
  const uint32_t alpha = InputTensor(to, op, 1);
  AddLayer(to, op, SLUICE_OP_PRELU, {ifmap, alpha}, OutputTensor(to, op),
           PreluAttributes(AffineOf(input), AffineOf(slopes), AffineOf(out),
                           DtypeRange(dtype)));
}

void LowerSoftmax(Lowering* to, const TfliteOperator& op) {
  const auto* options = op.wire->builtin_options_as_SoftmaxOptions();
  Require(options != nullptr, "missing options");
  const TfliteTensor& input = InputOf(*to, op, 0);
  const TfliteTensor& out = OutputOf(*to, op);
  const bool wide = IsSixteenBit(out);
  Require(wide || EightBit(out) == EightBit(input),
          "an output of another type than the input");
  Require(wide || (AffineOf(out).scale == 1.0f / 256 &&
                   AffineOf(out).zero == DtypeRange(EightBit(input)).min),
          "an output not quantised as 1/256 from the smallest value");
  // Differences to the row's maximum in Q5.26.
  constexpr int kIntegerBits = 5, kFractionBits = 31 - kIntegerBits;
  const double scaled =
      std::min(static_cast<double>(options->beta()) *
                   static_cast<double>(AffineOf(input).scale) * (1 << kFractionBits),
               2147483647.0);
  const Factor factor = QuantiseFactor(scaled);
  Require(factor.shift >= 0 && factor.shift <= 31, "a scale outside the fixed point");
  const double radius = 1.0 * ((1 << kIntegerBits) - 1) *
                        static_cast<double>(1LL << (31 - kIntegerBits)) /
                        static_cast<double>(1LL << factor.shift);
  const std::vector<int32_t> numbers = {factor.multiplier, factor.shift,
                                        -static_cast<int32_t>(std::floor(radius))};
  if (wide) return LowerSoftmax16(to, op, numbers);
  const uint32_t ifmap = InputTensor(to, op, 0);
  AddLayer(to, op, SLUICE_OP_SOFTMAX, {ifmap}, OutputTensor(to, op), numbers);
}

void LowerReduce(Lowering* to, const TfliteOperator& op) {
  const TfliteTensor& input = InputOf(*to, op, 0);
  const TfliteTensor& out = OutputOf(*to, op);
  const uint8_t dtype = EightBit(input);
  Require(EightBit(out) == dtype, "an output of another type than the input");
  Require(!Is(op, BuiltinOperator::SUM) || dtype == SLUICE_DTYPE_UINT8,
          "int8 sums; the reference kernel does not follow the quantisation");
  const Extents in = ExtentsOf(input);
  int32_t mask = 0;
  Dims kept(in.begin(), in.end());
  int64_t count = 1;
  for (int64_t axis : Integers(InputOf(*to, op, 1))) {
    const int at = AxisOf(input, axis);
    if ((mask >> at & 1) != 0) continue;
    mask |= 1 << at;
    kept[static_cast<size_t>(at)] = 1;
    count *= in[static_cast<size_t>(at)];
  }
  Require(mask != 0, "no axis to reduce");
  const Affine in_affine = AffineOf(input), out_affine = AffineOf(out);
  Factor factor = QuantiseFactor(static_cast<double>(in_affine.scale) /
                                 static_cast<double>(out_affine.scale));
  if (Is(op, BuiltinOperator::REDUCE_MAX)) {
    Require(SameAffine(input, out), "an output quantised unlike the input");
  } else if (Is(op, BuiltinOperator::MEAN)) {
    // The division by the count goes into the multiplier at full precision.
    int shift = 0;
    while (shift < 32 && (count >> (shift + 1)) != 0) ++shift;
    shift = std::min({shift, 32, 31 + factor.shift});
    factor.multiplier =
        static_cast<int32_t>((int64_t{factor.multiplier} << shift) / count);
    factor.shift -= shift;
  }
  const int32_t kind = Is(op, BuiltinOperator::REDUCE_MAX) ? SLUICE_REDUCE_KIND_MAX
                                                           : SLUICE_REDUCE_KIND_SUM;
  const Range range = DtypeRange(dtype);
  const uint32_t ifmap = InputTensor(to, op, 0);
  const uint32_t ofmap = OpenOutput(to, op, kept);
  AddLayer(to, op, SLUICE_OP_REDUCE, {ifmap}, ofmap,
           {mask, kind, in_affine.zero, out_affine.zero, factor.multiplier,
            factor.shift, range.min, range.max});
  CloseOutput(to, op, ofmap);
}

// If the axis is not the last, a TRANSPOSE makes it the last. ARGMIN is the ARGMAX of
// the values with all bits inverted, which keeps the first of equal values first.
void LowerArgmax(Lowering* to, const TfliteOperator& op) {
  const TfliteTensor& input = InputOf(*to, op, 0);
  const TfliteTensor& out = OutputOf(*to, op);
  const uint8_t dtype = EightBit(input);
  const auto type = static_cast<tflite::TensorType>(out.type);
  Require(type == tflite::TensorType::INT32 || type == tflite::TensorType::INT64,
          "an output that is neither int32 nor int64");
  const std::vector<int64_t> axes = Integers(InputOf(*to, op, 1));
  Require(axes.size() == 1, "several axes");
  const int32_t axis = AxisOf(input, axes[0]);
  const Extents in = ExtentsOf(input);
  Dims dims(in.begin(), in.end());
  uint32_t tensor = InputTensor(to, op, 0);
  if (Is(op, BuiltinOperator::ARG_MIN)) {
    std::vector<uint8_t> table(256);
    for (size_t b = 0; b < table.size(); ++b) table[b] = static_cast<uint8_t>(~b);
    const uint32_t constant = to->graph.AddConstant(out.name + "/table", dtype, {256},
                                                    table.data(), table.size());
    const uint32_t inverted = Temporary(to, input, "/inverted", dims);
    to->graph.AddLayer(out.name + "/inverted", SLUICE_OP_LOOKUP, {tensor, constant},
                       {inverted});
    tensor = inverted;
  }
  if (axis != 3) {
    std::vector<int32_t> order;
    for (int32_t a = 0; a < 4; ++a) {
      if (a != axis) order.push_back(a);
    }
    order.push_back(axis);
    for (size_t a = 0; a < 4; ++a) dims[a] = in[static_cast<size_t>(order[a])];
    const uint32_t turned = Temporary(to, input, "/turned", dims);
    to->graph.AddLayer(out.name + "/turned", SLUICE_OP_TRANSPOSE, {tensor}, {turned},
                       order);
    tensor = turned;
  }
  dims[3] = 1;
  const uint32_t ofmap = OpenOutput(to, op, dims);
  AddLayer(to, op, SLUICE_OP_ARGMAX, {tensor}, ofmap);
  CloseOutput(to, op, ofmap);
}

}  // namespace sluice::import
