// SPDX-License-Identifier: Apache-2.0
// Operators on one, two or three operands, element by element. Numbers: the fused
// activation of ADD, SUB, MUL, DIV.
#include <algorithm>
#include <limits>
#include <utility>

#include "fixed_point.h"
#include "host_tflite.h"

namespace sluice_sim {
namespace {

bool IsQuantised(const LiteTensor& t) {
  return t.scale != 0 && (t.Is(kLiteInt8) || t.Is(kLiteUint8) || t.Is(kLiteInt16));
}

// ---- one operand

// An integer of a float, as the processor converts it: out of range is the least int32.
int32_t Truncated(float x) {
  return x >= -2147483648.0f && x < 2147483648.0f ? static_cast<int32_t>(x) : INT32_MIN;
}

std::string Cast(const LiteCall& call) {
  if (call.in.size() != 1 || call.in[0].count != call.out[0].count)
    return kLiteOperands;
  const LiteTensor &x = call.in[0], &y = call.out[0];
  for (int64_t i = 0; i < y.count; ++i) {
    if (x.IsFloat() && y.IsFloat()) {
      y.SetFloat(i, x.Float(i));
    } else if (y.IsFloat()) {
      y.SetFloat(i, static_cast<float>(x.Int(i)));
    } else if (y.Is(kLiteBool)) {
      y.SetInt(i, x.IsFloat() ? x.Float(i) != 0 : x.Int(i) != 0);
    } else {
      y.SetInt(i, x.IsFloat() ? LiteClamp(y.type, Truncated(x.Float(i))) : x.Int(i));
    }
  }
  return "";
}

// Of floats, or of int32 that are rescaled.
std::string Quantize(const LiteCall& call) {
  if (call.in.size() != 1 || call.in[0].count != call.out[0].count ||
      call.out[0].scale == 0) {
    return kLiteOperands;
  }
  const LiteTensor &x = call.in[0], &y = call.out[0];
  if (x.Is(kLiteInt32)) {
    const LiteFactor factor =
        LiteFactorOf(static_cast<double>(x.scale) / static_cast<double>(y.scale));
    for (int64_t i = 0; i < y.count; ++i) {
      const int32_t scaled = LiteScale(Wrap32(x.Int(i) - int64_t{x.zero}), factor);
      y.SetInt(i, LiteClamp(y.type, int64_t{scaled} + y.zero));
    }
    return "";
  }
  if (!x.IsFloat()) return kLiteOperands;
  for (int64_t i = 0; i < y.count; ++i) {
    const float steps = std::round(x.Float(i) / y.scale);
    const int32_t whole = Truncated(steps);
    y.SetInt(i, LiteClamp(y.type, Wrap32(int64_t{whole} + y.zero)));
  }
  return "";
}

std::string Dequantize(const LiteCall& call) {
  if (call.in.size() != 1 || call.in[0].count != call.out[0].count ||
      !call.out[0].IsFloat() || call.in[0].scale == 0) {
    return kLiteOperands;
  }
  const LiteTensor &x = call.in[0], &y = call.out[0];
  const double scale = static_cast<double>(x.scale);
  for (int64_t i = 0; i < y.count; ++i) {
    y.SetFloat(
        i, static_cast<float>(scale * static_cast<double>(x.Int(i) - int64_t{x.zero})));
  }
  return "";
}

// int8 and int16 as distances from the zero point, rescaled where the scales differ.
template <typename F>
std::string OfDistance(const LiteCall& call, F f) {
  const LiteTensor &x = call.in[0], &y = call.out[0];
  const bool rescale = x.scale != y.scale;
  const LiteFactor factor = LiteFactorOf(static_cast<double>(x.scale / y.scale));
  for (int64_t i = 0; i < y.count; ++i) {
    const int32_t value = f(static_cast<int32_t>(x.Int(i) - x.zero));
    const int32_t scaled = rescale ? LiteScale(value, factor) : value;
    y.SetInt(i, LiteClamp(y.type, int64_t{scaled} + y.zero));
  }
  return "";
}

template <typename F, typename G>
std::string Unary(const LiteCall& call, F of_float, G of_int) {
  if (call.in.size() != 1 || call.in[0].count != call.out[0].count ||
      call.in[0].type != call.out[0].type) {
    return kLiteOperands;
  }
  const LiteTensor &x = call.in[0], &y = call.out[0];
  for (int64_t i = 0; i < y.count; ++i) {
    if (x.IsFloat()) {
      y.SetFloat(i, of_float(x.Float(i)));
    } else {
      y.SetInt(i, of_int(x.Int(i)));
    }
  }
  return "";
}

std::string Abs(const LiteCall& call) {
  if (call.in.size() == 1 && IsQuantised(call.in[0]) &&
      call.in[0].count == call.out[0].count) {
    return OfDistance(call, [](int32_t v) { return std::abs(v); });
  }
  return Unary(
      call, [](float x) { return std::fabs(x); },
      [](int64_t x) { return x < 0 ? -x : x; });
}
std::string Neg(const LiteCall& call) {
  return Unary(
      call, [](float x) { return -x; }, [](int64_t x) { return -x; });
}
std::string Sign(const LiteCall& call) {
  return Unary(
      call, [](float x) { return x > 0   ? 1.0f
                                 : x < 0 ? -1.0f
                                         : 0.0f; },
      [](int64_t x) { return int64_t{x > 0} - (x < 0); });
}
std::string ZerosLike(const LiteCall& call) {
  return Unary(
      call, [](float) { return 0.0f; }, [](int64_t) { return int64_t{0}; });
}
std::string LogicalNot(const LiteCall& call) {
  return Unary(
      call, [](float x) { return x; }, [](int64_t x) { return int64_t{x == 0}; });
}

// ---- two operands

struct Pair {
  std::vector<int64_t> a, b;
};

bool Broadcast(const LiteCall& call, Pair* pair) {
  if (call.in.size() != 2 || !call.in[0].there() || !call.in[1].there() ||
      call.in[0].type != call.in[1].type) {
    return false;
  }
  pair->a = LiteBroadcast(call.in[0].shape, call.out[0].shape);
  pair->b = LiteBroadcast(call.in[1].shape, call.out[0].shape);
  return !pair->a.empty() && !pair->b.empty();
}

// Floats by `of_float`, integers by `of_int`, both clamped by the fused activation.
template <typename F, typename G>
std::string Binary(const LiteCall& call, F of_float, G of_int) {
  Pair pair;
  if (!Broadcast(call, &pair) || call.out[0].type != call.in[0].type) {
    return kLiteOperands;
  }
  const LiteTensor &a = call.in[0], &b = call.in[1], &y = call.out[0];
  const int64_t activation = call.Number(0);
  for (int64_t i = 0; i < y.count; ++i) {
    const size_t at = static_cast<size_t>(i);
    if (y.IsFloat()) {
      const float value = of_float(a.Float(pair.a[at]), b.Float(pair.b[at]));
      y.SetFloat(i, LiteActivate(value, activation));
      continue;
    }
    int64_t value = of_int(a.Int(pair.a[at]), b.Int(pair.b[at]));
    if (y.Is(kLiteInt32)) value = Wrap32(value);
    if (activation == 1 || activation == 3) value = std::max<int64_t>(value, 0);
    if (activation == 3) value = std::min<int64_t>(value, 6);
    if (activation == 2) value = std::clamp<int64_t>(value, -1, 1);
    y.SetInt(i, value);
  }
  return "";
}

int64_t WrapAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t WrapMultiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
int64_t Negated(int64_t a) {
  return static_cast<int64_t>(0 - static_cast<uint64_t>(a));
}
int64_t Quotient(int64_t a, int64_t b) {
  return b == 0 ? 0 : b == -1 ? Negated(a) : a / b;
}
int64_t FloorQuotient(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return Quotient(a, b);
  return a / b - ((a % b != 0) && ((a < 0) != (b < 0)));
}
int64_t FloorRemainder(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return 0;
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
int64_t Power(int64_t a, int64_t b) {
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 != 0 ? -1 : 1) : 0;
  int64_t result = 1;
  for (; b > 0; b >>= 1) {
    if (b & 1) result = WrapMultiply(result, a);
    a = WrapMultiply(a, a);
  }
  return result;
}
float FloorModulo(float a, float b) {
  const float rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

std::string Add(const LiteCall& call) {
  return Binary(
      call, [](float a, float b) { return a + b; }, WrapAdd);
}
std::string Sub(const LiteCall& call) {
  return Binary(
      call, [](float a, float b) { return a - b; },
      [](int64_t a, int64_t b) { return WrapAdd(a, Negated(b)); });
}
std::string Mul(const LiteCall& call) {
  return Binary(
      call, [](float a, float b) { return a * b; }, WrapMultiply);
}
std::string Maximum(const LiteCall& call) {
  return Binary(
      call, [](float a, float b) { return a > b ? a : b; },
      [](int64_t a, int64_t b) { return std::max(a, b); });
}
std::string Minimum(const LiteCall& call) {
  return Binary(
      call, [](float a, float b) { return a < b ? a : b; },
      [](int64_t a, int64_t b) { return std::min(a, b); });
}
std::string FloorDiv(const LiteCall& call) {
  return Binary(
      call, [](float a, float b) { return std::floor(a / b); }, FloorQuotient);
}
std::string FloorMod(const LiteCall& call) {
  return Binary(call, FloorModulo, FloorRemainder);
}
std::string Pow(const LiteCall& call) {
  return Binary(
      call, [](float a, float b) { return std::pow(a, b); }, Power);
}
std::string Atan2(const LiteCall& call) {
  return Binary(
      call, [](float a, float b) { return std::atan2(a, b); },
      [](int64_t a, int64_t) { return a; });
}
std::string BitwiseXor(const LiteCall& call) {
  return Binary(
      call, [](float a, float) { return a; },
      [](int64_t a, int64_t b) { return a ^ b; });
}
std::string RightShift(const LiteCall& call) {
  const int64_t most = 8 * LiteTypeBytes(call.out[0].type) - 1;
  return Binary(
      call, [](float a, float) { return a; },
      [most](int64_t a, int64_t b) { return a >> std::clamp<int64_t>(b, 0, most); });
}
std::string LogicalAnd(const LiteCall& call) {
  return Binary(
      call, [](float a, float) { return a; },
      [](int64_t a, int64_t b) { return int64_t{a != 0 && b != 0}; });
}
std::string LogicalOr(const LiteCall& call) {
  return Binary(
      call, [](float a, float) { return a; },
      [](int64_t a, int64_t b) { return int64_t{a != 0 || b != 0}; });
}

// Both operands are scaled to a common step, 2^-7 of twice the larger scale, first.
std::string QuantisedSquaredDifference(const LiteCall& call, const Pair& pair) {
  constexpr int kLeft = 7;
  const LiteTensor &a = call.in[0], &b = call.in[1], &y = call.out[0];
  const double twice = 2.0 * static_cast<double>(std::max(a.scale, b.scale));
  const LiteFactor of_a = LiteFactorOf(static_cast<double>(a.scale) / twice),
                   of_b = LiteFactorOf(static_cast<double>(b.scale) / twice),
                   of_y =
                       LiteFactorOf(twice * twice /
                                    ((1 << kLeft * 2) * static_cast<double>(y.scale)));
  for (int64_t i = 0; i < y.count; ++i) {
    const size_t at = static_cast<size_t>(i);
    const int64_t p = a.Int(pair.a[at]) - a.zero, q = b.Int(pair.b[at]) - b.zero;
    const int32_t apart = LiteScale(static_cast<int32_t>(p * (1 << kLeft)), of_a) -
                          LiteScale(static_cast<int32_t>(q * (1 << kLeft)), of_b);
    const int32_t square = Wrap32(int64_t{apart} * apart);
    y.SetInt(i, LiteClamp(y.type, int64_t{LiteScale(square, of_y)} + y.zero));
  }
  return "";
}

std::string SquaredDifference(const LiteCall& call) {
  Pair pair;
  if (!Broadcast(call, &pair)) return kLiteOperands;
  if (IsQuantised(call.out[0])) return QuantisedSquaredDifference(call, pair);
  return Binary(
      call, [](float a, float b) { return (a - b) * (a - b); },
      [](int64_t a, int64_t b) {
        const int64_t apart = WrapAdd(a, Negated(b));
        return WrapMultiply(apart, apart);
      });
}

int SignBits(int32_t x) {  // of equal leading bits, without the first
  uint32_t bits = static_cast<uint32_t>(x < 0 ? ~x : x);
  int zeros = 0;
  while (zeros < 32 && (bits << zeros & 0x80000000u) == 0) ++zeros;
  return zeros - 1;
}

// 1 / x for x > 0 in Q0.31, divided by 2^*shift.
int32_t ReciprocalOf(int32_t x, int* shift) { return Reciprocal(x, 31, shift); }

// A high product over 2^shift, rounded. The runtime's arithmetic has 32 bits: it shifts by
// 32 and more as by that many less, and one is added to a number that is not below 0.
int32_t RuntimeShiftRight(int32_t x, int shift) {
  if (shift <= 31) return RoundingShiftRight(x, shift);
  return (x >> (shift & 31)) + (x >= 0);
}

// Bounds of a fused activation, as stored numbers.
std::pair<int64_t, int64_t> StoredBounds(const LiteTensor& y, int64_t activation) {
  const auto stored = [&](float real) {
    return y.zero + LiteWhole(std::round(real / y.scale));
  };
  int64_t least = LiteLeast(y.type), most = LiteMost(y.type);
  if (activation == 1 || activation == 3) least = std::max(least, stored(0));
  if (activation == 2) least = std::max(least, stored(-1));
  if (activation == 2) most = std::min(most, stored(1));
  if (activation == 3) most = std::min(most, stored(6));
  return {least, most};
}

std::string QuantisedDiv(const LiteCall& call, const Pair& pair) {
  const LiteTensor &a = call.in[0], &b = call.in[1], &y = call.out[0];
  const LiteFactor factor =
      LiteFactorOf(static_cast<double>(a.scale) /
                   (static_cast<double>(b.scale) * static_cast<double>(y.scale)));
  const auto [least, most] = StoredBounds(y, call.Number(0));
  for (int64_t i = 0; i < y.count; ++i) {
    const size_t at = static_cast<size_t>(i);
    int32_t p = static_cast<int32_t>(a.Int(pair.a[at]) - a.zero);
    int32_t q = static_cast<int32_t>(b.Int(pair.b[at]) - b.zero);
    if (q == 0) return "a division by zero";
    if (q < 0) p = -p, q = -q;
    int shift = 0;
    const int32_t inverse = ReciprocalOf(q, &shift);
    const int headroom = SignBits(p);
    const int32_t raw = HighMultiply(ShiftLeftWrap(p, headroom), inverse);
    const int32_t scaled = RuntimeShiftRight(HighMultiply(raw, factor.multiplier),
                                             shift + headroom - factor.shift);
    y.SetInt(i, std::min(std::max(int64_t{scaled} + y.zero, least), most));
  }
  return "";
}

std::string Div(const LiteCall& call) {
  Pair pair;
  if (!Broadcast(call, &pair)) return kLiteOperands;
  if (IsQuantised(call.out[0])) return QuantisedDiv(call, pair);
  return Binary(
      call, [](float a, float b) { return a / b; }, Quotient);
}

// Bytes are scaled before they are compared; `shorts`: numbers of 16 bits too.
template <typename F>
std::string Compare(const LiteCall& call, F holds, bool shorts = false) {
  Pair pair;
  if (!Broadcast(call, &pair) || !call.out[0].Is(kLiteBool)) return kLiteOperands;
  const LiteTensor &a = call.in[0], &b = call.in[1], &y = call.out[0];
  const bool scaled = IsQuantised(a) && IsQuantised(b) && (shorts || !a.Is(kLiteInt16));
  const LiteFactor of_a = LiteFactorOf(static_cast<double>(a.scale)),
                   of_b = LiteFactorOf(static_cast<double>(b.scale));
  for (int64_t i = 0; i < y.count; ++i) {
    const int64_t p = pair.a[static_cast<size_t>(i)],
                  q = pair.b[static_cast<size_t>(i)];
    if (a.IsFloat()) {
      y.SetInt(i, holds(a.Float(p), b.Float(q)));
    } else if (scaled) {
      const int32_t left = static_cast<int32_t>((a.Int(p) - a.zero) * 256),
                    right = static_cast<int32_t>((b.Int(q) - b.zero) * 256);
      y.SetInt(i, holds(LiteScale(left, of_a), LiteScale(right, of_b)));
    } else {
      y.SetInt(i, holds(a.Int(p), b.Int(q)));
    }
  }
  return "";
}

std::string Equal(const LiteCall& call) {
  return Compare(
      call, [](auto a, auto b) { return a == b; }, true);
}
std::string NotEqual(const LiteCall& call) {
  return Compare(
      call, [](auto a, auto b) { return a != b; }, true);
}
std::string Greater(const LiteCall& call) {
  return Compare(call, [](auto a, auto b) { return a > b; });
}
std::string GreaterEqual(const LiteCall& call) {
  return Compare(call, [](auto a, auto b) { return a >= b; });
}
std::string Less(const LiteCall& call) {
  return Compare(call, [](auto a, auto b) { return a < b; });
}
std::string LessEqual(const LiteCall& call) {
  return Compare(call, [](auto a, auto b) { return a <= b; });
}

// ---- three and more

// A condition of one axis selects slices of SELECT, but broadcasts in SELECT_V2 (number
// 0 is 1).
std::string Select(const LiteCall& call) {
  if (call.in.size() != 3 || !call.in[0].Is(kLiteBool)) return kLiteOperands;
  const LiteTensor &c = call.in[0], &a = call.in[1], &b = call.in[2], &y = call.out[0];
  if (a.type != y.type || b.type != y.type) return kLiteOperands;
  LiteShape condition = c.shape;
  if (call.Number(0) == 0 && c.rank() == 1 && y.rank() > 1) {
    condition.resize(y.rank(), 1);
  }
  const auto of_c = LiteBroadcast(condition, y.shape),
             of_a = LiteBroadcast(a.shape, y.shape),
             of_b = LiteBroadcast(b.shape, y.shape);
  if (of_c.empty() || of_a.empty() || of_b.empty()) return kLiteOperands;
  const int64_t size = LiteTypeBytes(y.type);
  for (int64_t i = 0; i < y.count; ++i) {
    const size_t at = static_cast<size_t>(i);
    const uint8_t* from =
        c.Int(of_c[at]) != 0 ? a.bytes + size * of_a[at] : b.bytes + size * of_b[at];
    std::memcpy(y.bytes + size * i, from, static_cast<size_t>(size));
  }
  return "";
}

std::string AddN(const LiteCall& call) {
  const LiteTensor& y = call.out[0];
  for (const LiteTensor& x : call.in) {
    if (x.type != y.type || x.count != y.count) return kLiteOperands;
  }
  for (int64_t i = 0; i < y.count; ++i) {
    float real = 0;
    int64_t whole = 0;
    for (const LiteTensor& x : call.in) {
      if (x.IsFloat()) real += x.Float(i);
      if (!x.IsFloat()) whole = WrapAdd(whole, x.Int(i));
    }
    if (y.IsFloat()) y.SetFloat(i, real);
    if (!y.IsFloat()) y.SetInt(i, whole);
  }
  return "";
}

}  // namespace

void AddLiteElements(LiteRows* rows) {
  const LiteRows here = {{"CAST", Cast},
                         {"QUANTIZE", Quantize},
                         {"DEQUANTIZE", Dequantize},
                         {"ABS", Abs},
                         {"NEG", Neg},
                         {"SIGN", Sign},
                         {"ZEROS_LIKE", ZerosLike},
                         {"LOGICAL_NOT", LogicalNot},
                         {"ADD", Add},
                         {"SUB", Sub},
                         {"MUL", Mul},
                         {"DIV", Div},
                         {"MAXIMUM", Maximum},
                         {"MINIMUM", Minimum},
                         {"FLOOR_DIV", FloorDiv},
                         {"FLOOR_MOD", FloorMod},
                         {"POW", Pow},
                         {"ATAN2", Atan2},
                         {"BITWISE_XOR", BitwiseXor},
                         {"RIGHT_SHIFT", RightShift},
                         {"LOGICAL_AND", LogicalAnd},
                         {"LOGICAL_OR", LogicalOr},
                         {"SQUARED_DIFFERENCE", SquaredDifference},
                         {"EQUAL", Equal},
                         {"NOT_EQUAL", NotEqual},
                         {"GREATER", Greater},
                         {"GREATER_EQUAL", GreaterEqual},
                         {"LESS", Less},
                         {"LESS_EQUAL", LessEqual},
                         {"SELECT", Select},
                         {"SELECT_V2", Select},
                         {"ADD_N", AddN}};
  rows->insert(here.begin(), here.end());
}

}  // namespace sluice_sim
