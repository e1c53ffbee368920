// SPDX-License-Identifier: Apache-2.0
#include "host_tflite.h"

#include <algorithm>
#include <limits>

#include "fixed_point.h"
#include "sluice/ops.h"

namespace sluice_sim {
namespace {

struct Reader {
  const int32_t* numbers;
  int64_t count, at = 0;
  bool bad = false;

  int32_t Next() {
    if (at >= count) bad = true;
    return bad ? 0 : numbers[at++];
  }
};

constexpr int kMostOperands = 64, kMostAxes = 8;

bool ReadTensor(Reader* r, LiteTensor* t) {
  t->type = r->Next();
  const int32_t bits = r->Next();
  std::memcpy(&t->scale, &bits, 4);
  t->zero = r->Next();
  const int32_t rank = r->Next();
  if (r->bad || rank < 0 || rank > kMostAxes) return false;
  t->count = 1;
  for (int32_t a = 0; a < rank; ++a) {
    t->shape.push_back(r->Next());
    if (t->shape.back() < 1 || t->count > INT32_MAX / t->shape.back()) return false;
    t->count *= t->shape.back();
  }
  return !r->bad && (t->type == -1 || LiteTypeBytes(t->type) > 0);
}

bool Bind(const HostOperand& operand, LiteTensor* t) {
  t->bytes = operand.bytes->data();
  return operand.bytes->size() ==
         static_cast<size_t>(t->count * LiteTypeBytes(t->type));
}

// Reads the options and gives each operand its bytes. False: they do not fit.
bool ReadCall(const HostOperands& in, const HostOperands& out, LiteCall* call) {
  if (in.empty() || in.back().dtype != SLUICE_DTYPE_INT32) return false;
  Reader r = {ElementsOf<int32_t>(in.back()), CountOf(in.back())};
  const int32_t inputs = r.Next(), outputs = r.Next(), numbers = r.Next();
  if (r.bad || inputs < 0 || outputs < 1 || inputs > kMostOperands ||
      outputs > kMostOperands || numbers < 0) {
    return false;
  }
  call->in.resize(static_cast<size_t>(inputs));
  call->out.resize(static_cast<size_t>(outputs));
  size_t at = 0;
  for (LiteTensor& t : call->in) {
    if (!ReadTensor(&r, &t)) return false;
    if (!t.there()) continue;
    if (at + 1 >= in.size() || !Bind(in[at++], &t)) return false;
  }
  if (at + 1 != in.size() || out.size() != call->out.size()) return false;
  for (size_t i = 0; i < out.size(); ++i) {
    LiteTensor& t = call->out[i];
    if (!ReadTensor(&r, &t) || !t.there() || !Bind(out[i], &t)) return false;
  }
  for (int32_t i = 0; i < numbers; ++i) call->numbers.push_back(r.Next());
  return !r.bad && r.at == r.count;
}

}  // namespace

int64_t LiteTypeBytes(int type) {
  switch (type) {
    case kLiteUint8:
    case kLiteBool:
    case kLiteInt8:
      return 1;
    case kLiteInt16:
      return 2;
    case kLiteFloat:
    case kLiteInt32:
      return 4;
    case kLiteInt64:
      return 8;
    default:
      return 0;
  }
}

int64_t LiteTensor::Int(int64_t i) const {
  if (!Has(i)) return 0;
  switch (type) {
    case kLiteInt8:
      return static_cast<int8_t>(bytes[i]);
    case kLiteInt16: {
      int16_t value;
      std::memcpy(&value, bytes + 2 * i, 2);
      return value;
    }
    case kLiteInt32: {
      int32_t value;
      std::memcpy(&value, bytes + 4 * i, 4);
      return value;
    }
    case kLiteInt64: {
      int64_t value;
      std::memcpy(&value, bytes + 8 * i, 8);
      return value;
    }
    default:
      return bytes[i];
  }
}

void LiteTensor::SetInt(int64_t i, int64_t value) const {
  if (!Has(i)) return;
  const int64_t size = LiteTypeBytes(type);
  std::memcpy(bytes + size * i, &value, static_cast<size_t>(size));
}

int64_t LiteCount(const LiteShape& shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

int64_t LiteLeast(int type) {
  switch (type) {
    case kLiteInt8:
      return INT8_MIN;
    case kLiteInt16:
      return INT16_MIN;
    case kLiteInt32:
      return INT32_MIN;
    case kLiteInt64:
      return INT64_MIN;
    default:
      return 0;
  }
}

int64_t LiteMost(int type) {
  switch (type) {
    case kLiteInt8:
      return INT8_MAX;
    case kLiteInt16:
      return INT16_MAX;
    case kLiteInt32:
      return INT32_MAX;
    case kLiteInt64:
      return INT64_MAX;
    case kLiteBool:
      return 1;
    default:
      return UINT8_MAX;
  }
}

int64_t LiteClamp(int type, int64_t value) {
  return std::clamp(value, LiteLeast(type), LiteMost(type));
}

int64_t LiteAxis(int64_t axis, size_t rank) {
  const int64_t axes = static_cast<int64_t>(rank);
  if (axis < -axes || axis >= axes) return -1;
  return axis < 0 ? axis + axes : axis;
}

std::vector<int64_t> LiteBroadcast(const LiteShape& from, const LiteShape& to) {
  if (from.size() > to.size()) return {};
  const size_t lead = to.size() - from.size();
  LiteShape stride(to.size(), 0);
  int64_t step = 1;
  for (size_t a = from.size(); a-- > 0;) {
    if (from[a] != 1 && from[a] != to[lead + a]) return {};
    stride[lead + a] = from[a] == 1 ? 0 : step;
    step *= from[a];
  }
  std::vector<int64_t> index(static_cast<size_t>(LiteCount(to)));
  LiteShape at(to.size(), 0);
  int64_t place = 0;
  for (int64_t& i : index) {
    i = place;
    for (size_t a = to.size(); a-- > 0;) {
      place += stride[a];
      if (++at[a] < to[a]) break;
      place -= stride[a] * to[a];
      at[a] = 0;
    }
  }
  return index;
}

int64_t LiteWhole(double real) {
  constexpr double kMost = 281474976710656.0;
  return std::isnan(real) ? 0 : static_cast<int64_t>(std::clamp(real, -kMost, kMost));
}

std::vector<int64_t> LiteInts(const LiteTensor& tensor) {
  std::vector<int64_t> values(static_cast<size_t>(tensor.count));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = tensor.Int(static_cast<int64_t>(i));
  }
  return values;
}

LiteFactor LiteFactorOf(double factor) {
  LiteFactor f;
  if (!(factor != 0) || !std::isfinite(factor)) return f;
  int64_t fixed = std::llround(std::frexp(factor, &f.shift) * 2147483648.0);
  if (fixed == int64_t{1} << 31) {
    fixed /= 2;
    ++f.shift;
  }
  if (f.shift < -31) return {};
  if (f.shift > 30) return {INT32_MAX, 30};
  f.multiplier = static_cast<int32_t>(fixed);
  return f;
}

int32_t LiteScale(int32_t value, const LiteFactor& factor) {
  return Scale(value, factor.multiplier, factor.shift);
}

int32_t LiteScaleWide(int64_t value, const LiteFactor& factor) {
  const int64_t multiplier = factor.multiplier < 0x7FFF0000
                                 ? (int64_t{factor.multiplier} + (1 << 15)) >> 16
                                 : 0x7FFF;
  const int shift = std::clamp(15 - factor.shift, 1, 62);
  return Wrap32((value * multiplier + (int64_t{1} << (shift - 1))) >> shift);
}

namespace {

int32_t ShiftUp(int32_t x, int bits) {  // saturates
  const int64_t wide = int64_t{x} * (int64_t{1} << bits);
  return static_cast<int32_t>(std::clamp<int64_t>(wide, INT32_MIN, INT32_MAX));
}

}  // namespace

// Five steps of Newton's method in Q3.28.
LiteFactor LiteInverseRoot(int32_t value, int reverse) {
  if (value <= 1) return {INT32_MAX, 0};
  int shift = 11;
  while (value >= 1 << 29) {
    value /= 4;
    ++shift;
  }
  int zeros = 0;
  while ((static_cast<uint32_t>(value) << zeros & 0x80000000u) == 0) ++zeros;
  const int pairs = (zeros - 1) / 2 - 1;
  shift -= pairs;
  value = static_cast<int32_t>(static_cast<uint32_t>(value) << (2 * pairs));
  const int32_t half = RoundingShiftRight(value >> 1, 1);
  constexpr int32_t kThreeHalves = (1 << 28) + (1 << 27), kRootOfHalf = 1518500250;
  int32_t x = 1 << 28;
  for (int step = 0; step < 5; ++step) {
    const int32_t cube = ShiftUp(HighMultiply(HighMultiply(x, x), x), 6);
    x = ShiftUp(
        Wrap32(int64_t{HighMultiply(kThreeHalves, x)} - HighMultiply(half, cube)), 3);
  }
  x = HighMultiply(x, kRootOfHalf);
  if (shift < 0) {
    x = static_cast<int32_t>(static_cast<uint32_t>(x) << -shift);
    shift = 0;
  }
  return {x, shift * reverse};
}

float LiteActivate(float value, int64_t activation) {
  switch (activation) {
    case 1:
      return std::max(value, 0.0f);
    case 2:
      return std::min(std::max(value, -1.0f), 1.0f);
    case 3:
      return std::min(std::max(value, 0.0f), 6.0f);
    default:
      return value;
  }
}

const HostFunction* FindLiteFunction(const std::string& name) {
  static const std::map<std::string, HostFunction> functions = [] {
    LiteRows rows;
    AddLiteElements(&rows);
    AddLiteCurves(&rows);
    AddLiteRows(&rows);
    AddLiteMoves(&rows);
    AddLiteWindows(&rows);
    AddLiteBoxes(&rows);
    std::map<std::string, HostFunction> map;
    for (const auto& [op, function] : rows) {
      const LiteFunction f = function;
      map["tflite." + op] = [f](const HostOperands& in, const HostOperands& out) {
        LiteCall call;
        const bool read = ReadCall(in, out, &call) && !call.in.empty();
        if (!read || !call.in[0].there()) return std::string(kLiteOperands);
        bool fault = false;
        for (auto* tensors : {&call.in, &call.out}) {
          for (LiteTensor& t : *tensors) t.fault = &fault;
        }
        const std::string wrong = f(call);
        return fault ? std::string(kLiteOperands) : wrong;
      };
    }
    return map;
  }();
  const auto found = functions.find(name);
  return found == functions.end() ? nullptr : &found->second;
}

}  // namespace sluice_sim
