// SPDX-License-Identifier: Apache-2.0
#include "import/tflite/constant_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "import/error.h"
#include "import/tflite/constant_parts.h"
#include "tflite_generated.h"

namespace sluice::import {
namespace {

using Op = tflite::BuiltinOperator;
using Values = std::vector<ComputedValue>;

Values ShapeOf(const ConstantCall& call) {
  const std::vector<int32_t>& shape = call.inputs[0].shape;
  // An empty shape means that the rank is not known, or that the result is empty.
  if (shape.empty()) throw Unknown();
  ComputedValue out =
      Empty(call, call.outputs[0].type, {static_cast<int32_t>(shape.size())});
  for (size_t i = 0; i < shape.size(); ++i) Put(&out, i, shape[i]);
  return {out};
}

Values Rank(const ConstantCall& call) {
  if (call.inputs[0].shape.empty()) throw Unknown();
  ComputedValue out = Empty(call, call.outputs[0].type, {});
  Put(&out, 0, static_cast<int64_t>(call.inputs[0].shape.size()));
  return {out};
}

Values ZerosLike(const ConstantCall& call) {
  return {Empty(call, call.outputs[0].type, call.inputs[0].shape)};
}

Values Fill(const ConstantCall& call) {
  const ConstantValue& value = Input(call, 1);
  ComputedValue out = Empty(call, value.type, Extents32(Integers(Input(call, 0))));
  if (Elements(value.shape) != 1) throw Unknown();
  const size_t step = TfliteTypeBytes(value.type);
  for (size_t i = 0; i < out.bytes.size(); i += step) {
    std::memcpy(out.bytes.data() + i, value.data, step);
  }
  return {out};
}

Values Range(const ConstantCall& call) {
  const std::vector<int64_t> start = Integers(Input(call, 0)),
                             limit = Integers(Input(call, 1)),
                             delta = Integers(Input(call, 2));
  if (start.size() != 1 || limit.size() != 1 || delta.size() != 1 || delta[0] == 0) {
    throw Unknown();
  }
  const double steps =
      std::ceil((static_cast<double>(limit[0]) - static_cast<double>(start[0])) /
                static_cast<double>(delta[0]));
  if (steps > std::numeric_limits<int32_t>::max()) throw Unknown();
  const int32_t count = static_cast<int32_t>(std::max(steps, 0.0));
  ComputedValue out = Empty(call, Input(call, 0).type, {count});
  for (int32_t i = 0; i < count; ++i) {
    Put(&out, static_cast<size_t>(i), start[0] + i * delta[0]);
  }
  return {out};
}

Values Cast(const ConstantCall& call) {
  const ConstantValue& in = Input(call, 0);
  ComputedValue out = Empty(call, call.outputs[0].type, in.shape);
  const size_t n = Elements(in.shape);
  if (IsReal(in.type)) {
    for (size_t i = 0; i < n; ++i) {
      const double value = Real(in, i);
      // Converting a float outside of the integer's range is undefined in C++.
      if (!IsReal(out.type) && !(std::abs(value) < 2147483648.0)) throw Unknown();
      if (IsReal(out.type)) {
        PutReal(&out, i, value);
      } else {
        Put(&out, i, static_cast<int64_t>(value));
      }
    }
    return {out};
  }
  for (size_t i = 0; i < n; ++i) {
    if (IsReal(out.type)) {
      PutReal(&out, i, static_cast<double>(Integer(in, i)));
    } else if (IsBool(out.type)) {
      Put(&out, i, Integer(in, i) != 0 ? 1 : 0);
    } else {
      Put(&out, i, Integer(in, i));
    }
  }
  return {out};
}

double HalfAt(const ConstantValue& in, size_t i) {
  uint16_t bits = 0;
  std::memcpy(&bits, in.data + 2 * i, 2);
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double size = exponent == 0    ? std::ldexp(fraction, -24)
                      : exponent == 31 ? (fraction == 0 ? HUGE_VAL : NAN)
                                       : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

// Its operand was made whole when the model was read.
Values Densified(const ConstantCall& call) {
  const ConstantValue& in = Input(call, 0);
  ComputedValue out = Empty(call, in.type, in.shape);
  std::copy_n(in.data, out.bytes.size(), out.bytes.begin());
  return {out};
}

Values Dequantise(const ConstantCall& call) {
  const ConstantValue& in = Input(call, 0);
  ComputedValue out = Empty(call, call.outputs[0].type, in.shape);
  if (in.type == static_cast<int>(tflite::TensorType::FLOAT16) && IsReal(out.type)) {
    for (size_t i = 0; i < Elements(in.shape); ++i) PutReal(&out, i, HalfAt(in, i));
    return {out};
  }
  if (in.scale == nullptr || IsReal(in.type) || !IsReal(out.type)) throw Unknown();
  for (size_t i = 0; i < Elements(in.shape); ++i) {
    const double steps = static_cast<double>(Integer(in, i) - in.zero_point);
    PutReal(&out, i, static_cast<double>(*in.scale) * steps);
  }
  return {out};
}

int64_t FloorDivide(int64_t a, int64_t b) {
  if (b == 0) throw Unknown();
  const int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

int64_t Divide(int64_t a, int64_t b) {
  if (b == 0) throw Unknown();
  return a / b;
}

// 64-bit integers wrap, as in the model's runtime.
int64_t Wrapped(uint64_t value) { return static_cast<int64_t>(value); }

struct ArithmeticRow {
  Op op;
  int64_t (*integers)(int64_t, int64_t);
  float (*reals)(float, float);  // nullptr: integers only
};
constexpr ArithmeticRow kArithmetic[] = {
    {Op::ADD, [](int64_t a, int64_t b) { return Wrapped(uint64_t(a) + uint64_t(b)); },
     [](float a, float b) { return a + b; }},
    {Op::SUB, [](int64_t a, int64_t b) { return Wrapped(uint64_t(a) - uint64_t(b)); },
     [](float a, float b) { return a - b; }},
    {Op::MUL, [](int64_t a, int64_t b) { return Wrapped(uint64_t(a) * uint64_t(b)); },
     [](float a, float b) { return a * b; }},
    {Op::DIV, Divide, [](float a, float b) { return a / b; }},
    {Op::FLOOR_DIV, FloorDivide, nullptr},
    {Op::FLOOR_MOD, [](int64_t a, int64_t b) { return a - b * FloorDivide(a, b); },
     nullptr},
    {Op::MINIMUM, [](int64_t a, int64_t b) { return std::min(a, b); },
     [](float a, float b) { return std::min(a, b); }},
    {Op::MAXIMUM, [](int64_t a, int64_t b) { return std::max(a, b); },
     [](float a, float b) { return std::max(a, b); }},
    {Op::EQUAL, [](int64_t a, int64_t b) { return int64_t{a == b}; }, nullptr},
    {Op::NOT_EQUAL, [](int64_t a, int64_t b) { return int64_t{a != b}; }, nullptr},
    {Op::GREATER, [](int64_t a, int64_t b) { return int64_t{a > b}; }, nullptr},
    {Op::GREATER_EQUAL, [](int64_t a, int64_t b) { return int64_t{a >= b}; }, nullptr},
    {Op::LESS, [](int64_t a, int64_t b) { return int64_t{a < b}; }, nullptr},
    {Op::LESS_EQUAL, [](int64_t a, int64_t b) { return int64_t{a <= b}; }, nullptr},
    {Op::LOGICAL_AND, [](int64_t a, int64_t b) { return a & b; }, nullptr},
    {Op::LOGICAL_OR, [](int64_t a, int64_t b) { return a | b; }, nullptr},
};

const ArithmeticRow* ArithmeticOf(const TfliteOperator& op) {
  for (const ArithmeticRow& row : kArithmetic) {
    if (row.op == static_cast<Op>(op.code)) return &row;
  }
  return nullptr;
}

bool HasFusedActivation(const TfliteOperator& op) {
  const auto none = tflite::Activation::NONE;
  const auto* add = op.wire->builtin_options_as_AddOptions();
  const auto* sub = op.wire->builtin_options_as_SubOptions();
  const auto* mul = op.wire->builtin_options_as_MulOptions();
  return (add != nullptr && add->activation() != none) ||
         (sub != nullptr && sub->activation() != none) ||
         (mul != nullptr && mul->activation() != none);
}

// Folds integers and floats only. Quantised operands stay layers, which round as the
// runtime does.
Values Arithmetic(const ConstantCall& call) {
  const ArithmeticRow* row = ArithmeticOf(call.op);
  const ConstantValue& a = Input(call, 0);
  const ConstantValue& b = Input(call, 1);
  if (row == nullptr || a.type != b.type || HasFusedActivation(call.op))
    throw Unknown();
  const bool real = IsReal(a.type);
  if (real ? row->reals == nullptr : !IsPlainInteger(a)) throw Unknown();
  if (!real && !IsPlainInteger(b)) throw Unknown();
  const std::vector<int32_t> shape = Broadcast(a.shape, b.shape);
  ComputedValue out = Empty(call, call.outputs[0].type, shape);
  for (size_t i = 0; i < Elements(shape); ++i) {
    const size_t x = BroadcastIndex(i, shape, a.shape),
                 y = BroadcastIndex(i, shape, b.shape);
    if (real) {
      PutReal(&out, i,
              static_cast<double>(row->reals(static_cast<float>(Real(a, x)),
                                             static_cast<float>(Real(b, y)))));
    } else {
      Put(&out, i, row->integers(Integer(a, x), Integer(b, y)));
    }
  }
  return {out};
}

Values Product(const ConstantCall& call) {
  const ConstantValue& in = Input(call, 0);
  if (!IsPlainInteger(in)) throw Unknown();
  // Only products over all axes are computed, as arithmetic on shapes uses them.
  std::vector<bool> taken(in.shape.size());
  for (const int64_t axis : Integers(Input(call, 1))) {
    taken[static_cast<size_t>(AxisIn(in.shape, axis))] = true;
  }
  if (std::find(taken.begin(), taken.end(), false) != taken.end()) throw Unknown();
  std::vector<int32_t> shape = call.outputs[0].shape;
  const auto* options = call.op.wire->builtin_options_as_ReducerOptions();
  if (shape.empty() && options != nullptr && options->keep_dims()) {
    shape.assign(in.shape.size(), 1);
  }
  ComputedValue out = Empty(call, in.type, shape);
  if (Elements(out.shape) != 1) throw Unknown();
  uint64_t product = 1;
  for (size_t i = 0; i < Elements(in.shape); ++i) {
    product *= static_cast<uint64_t>(Integer(in, i));
  }
  Put(&out, 0, Wrapped(product));
  return {out};
}

struct Row {
  Op op;
  Values (*compute)(const ConstantCall&);
};
constexpr Row kRows[] = {
    {Op::SHAPE, ShapeOf},
    {Op::RANK, Rank},
    {Op::ZEROS_LIKE, ZerosLike},
    {Op::FILL, Fill},
    {Op::RANGE, Range},
    {Op::CAST, Cast},
    {Op::DEQUANTIZE, Dequantise},
    {Op::DENSIFY, Densified},
    {Op::REDUCE_PROD, Product},
    {Op::RESHAPE, ReshapeParts},
    {Op::SQUEEZE, ReshapeParts},
    {Op::EXPAND_DIMS, ReshapeParts},
    {Op::STRIDED_SLICE, StridedSliceParts},
    {Op::SLICE, SliceParts},
    {Op::PACK, PackParts},
    {Op::UNPACK, UnpackParts},
    {Op::CONCATENATION, ConcatParts},
    {Op::TILE, TileParts},
    {Op::GATHER, GatherParts},
    {Op::TRANSPOSE, TransposeParts},
    {Op::BROADCAST_TO, BroadcastParts},
    {Op::SPLIT, SplitParts},
};

}  // namespace

bool NeedsShapeAlone(const TfliteOperator& op) {
  const Op code = static_cast<Op>(op.code);
  return code == Op::SHAPE || code == Op::RANK || code == Op::ZEROS_LIKE;
}

std::vector<ComputedValue> Compute(const ConstantCall& call) {
  for (const Row& row : kRows) {
    if (row.op == static_cast<Op>(call.op.code)) return row.compute(call);
  }
  return Arithmetic(call);
}

}  // namespace sluice::import
