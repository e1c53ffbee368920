// SPDX-License-Identifier: Apache-2.0
// Functions of one operand that are curves: computed in floats, through a table of 256
// entries for 8 bits, and through 513 entries with straight lines between them for 16.
#include <algorithm>
#include <array>
#include <limits>

#include "fixed_point.h"
#include "host_tflite.h"

namespace sluice_sim {
namespace {

using Curve = float (*)(float);

int32_t Rounded(float x) {
  const float steps = std::round(x);
  return steps >= -2147483648.0f && steps < 2147483648.0f ? static_cast<int32_t>(steps)
                                                          : INT32_MIN;
}

// The table of an 8-bit operand, by the operand's bits.
void CurveOfBytes(const LiteTensor& x, const LiteTensor& y, Curve f) {
  const float inverse = 1 / y.scale;
  std::array<int64_t, 256> table;
  for (int64_t v = LiteLeast(x.type); v <= LiteMost(x.type); ++v) {
    const float real = x.scale * static_cast<float>(v - x.zero);
    const int32_t steps = Rounded(f(real) * inverse);
    table[static_cast<size_t>(v & 255)] =
        LiteClamp(y.type, Wrap32(int64_t{steps} + y.zero));
  }
  for (int64_t i = 0; i < y.count; ++i) y.SetInt(i, table[x.bytes[i]]);
}

constexpr int kPieces = 512;
using Pieces = std::array<int32_t, kPieces + 1>;

template <typename Real>
struct Steps {  // of 16-bit numbers
  Real scale;
  int32_t zero;
};

// 512 straight pieces; half of what the middle of a piece is off moves the piece.
template <typename Real, typename F>
Pieces PiecesOf(const Steps<Real>& x, const Steps<Real>& y, F f) {
  const Real low = x.scale * static_cast<Real>(INT16_MIN - x.zero),
             high = x.scale * static_cast<Real>(INT16_MAX - x.zero),
             least = y.scale * static_cast<Real>(INT16_MIN - y.zero),
             most = y.scale * static_cast<Real>(INT16_MAX - y.zero);
  const Real step = (high - low) / kPieces, half = step / 2;
  const Real inverse = static_cast<Real>(UINT16_MAX + 1) / (most - least);
  Pieces table;
  const auto stored = [](Real v) {  // what is no number is the least one
    return static_cast<int32_t>(
        std::min(std::max(Real{INT16_MIN}, v), Real{INT16_MAX}));
  };
  for (int i = 0; i < kPieces; ++i) {
    const Real at = low + static_cast<Real>(i) * step;
    const Real here = std::round(f(at) * inverse);
    const Real next = f(low + static_cast<Real>(i + 1) * step) * inverse;
    const Real line = std::round((next + here) / 2);
    const Real middle = std::round(f(at + half) * inverse);
    table[static_cast<size_t>(i)] = stored(here - std::round((line - middle) / 2));
  }
  table[kPieces] = stored(std::round(f(high) * inverse));
  return table;
}

int32_t At(const Pieces& table, int64_t value) {
  const size_t piece = static_cast<size_t>(256 + (value >> 7));
  const int32_t slope = static_cast<int16_t>(table[piece + 1] - table[piece]);
  return table[piece] + ((slope * static_cast<int32_t>(value & 127) + 64) >> 7);
}

template <typename F>
void CurveOfShorts(const LiteTensor& x, const LiteTensor& y, F f) {
  const Pieces table = PiecesOf<float>({x.scale, x.zero}, {y.scale, y.zero}, f);
  for (int64_t i = 0; i < y.count; ++i) y.SetInt(i, At(table, x.Int(i)));
}

std::string Curved(const LiteCall& call, Curve f) {
  if (call.in.size() != 1) return kLiteOperands;
  const LiteTensor &x = call.in[0], &y = call.out[0];
  if (x.type != y.type || x.count != y.count) return kLiteOperands;
  if (x.IsFloat()) {
    for (int64_t i = 0; i < y.count; ++i) y.SetFloat(i, f(x.Float(i)));
    return "";
  }
  if (x.scale == 0 || y.scale == 0) return kLiteOperands;
  if (x.Is(kLiteInt8) || x.Is(kLiteUint8)) {
    CurveOfBytes(x, y, f);
  } else if (x.Is(kLiteInt16)) {
    CurveOfShorts(x, y, f);
  } else {
    return kLiteOperands;
  }
  return "";
}

float LogisticOf(float x) {
  // The float kernel's cut-offs: above the first the result is 1, below the second exp(x).
  constexpr float kUpper = 16.619047164916992188f, kLower = -9.0f;
  if (x > kUpper) return 1.0f;
  if (x < kLower) return std::exp(x);
  return 1.0f / (1.0f + std::exp(-x));
}
float GeluOf(float x) {
  return 0.5f * x * std::erfc(x * static_cast<float>(-0.70710678118654752440));
}
float GeluNearlyOf(float x) {
  constexpr float kFactor =
      static_cast<float>(1.12837916709551257390 * 0.70710678118654752440);
  return 0.5f * x * (1.0f + std::tanh(kFactor * (x + 0.044715f * x * x * x)));
}
float EluOf(float x) { return x < 0 ? std::expm1(x) : x; }
float RoundToEven(float x) {
  const float down = std::floor(x), apart = x - down;
  const bool even = static_cast<int64_t>(down) % 2 == 0;
  return apart < 0.5f || (apart == 0.5f && even) ? down : down + 1.0f;
}

// Shares of 65536 of the logistic function at n / 24. The runtime's table has one more
// than the rounded share at these places.
constexpr uint8_t kOneMore[] = {4,  8,  12, 14, 15, 16,  17,  19,  20,  21,  22,
                                25, 27, 28, 29, 30, 31,  33,  34,  35,  37,  39,
                                40, 41, 43, 44, 45, 46,  49,  50,  54,  62,  63,
                                64, 66, 82, 86, 93, 100, 103, 112, 116, 135, 255};

uint32_t LogisticEntry(uint32_t n) {
  const double share = 65536.0 / (1.0 + std::exp(-static_cast<double>(n) / 24.0));
  const double rounded = std::floor(share + 0.5);
  const bool more =
      std::find(std::begin(kOneMore), std::end(kOneMore), n) != std::end(kOneMore);
  return static_cast<uint32_t>(std::min(65535.0, rounded + (more ? 1 : 0)));
}

const std::array<uint32_t, 256>& LogisticEntries() {
  static const std::array<uint32_t, 256> entries = [] {
    std::array<uint32_t, 256> made{};
    for (uint32_t n = 0; n < 256; ++n) made[n] = LogisticEntry(n);
    return made;
  }();
  return entries;
}

// 16-bit operand as a multiple of 1 / 12288: value * multiplier >> shift, rounded.
struct SixteenBit {
  int32_t multiplier = 0, shift = 0;
};

SixteenBit SixteenBitOf(float scale, int most_shift) {
  int exponent = 0;
  const bool power = std::frexp(scale, &exponent) == 0.5f;
  const int shift = 12 + exponent - 1;
  if (power && shift >= 0 && shift <= most_shift) return {3 << shift, 0};
  SixteenBit s;
  double multiplier = static_cast<double>(scale) * 4096.0 * 3.0;
  while (multiplier <= 32767.0 / 2.0 && s.shift <= 30) {
    ++s.shift;
    multiplier *= 2.0;
  }
  s.multiplier = static_cast<int32_t>(LiteWhole(std::min(multiplier, 2147483647.0)));
  return s;
}

int32_t Scaled(int64_t value, const SixteenBit& s) {
  const int64_t half = s.shift > 0 ? int64_t{1} << (s.shift - 1) : 0;
  return static_cast<int32_t>((value * s.multiplier + half) >> s.shift);
}

void LogisticOfShorts(const LiteTensor& x, const LiteTensor& y) {
  const auto& table = LogisticEntries();
  const SixteenBit s = SixteenBitOf(x.scale, 0);
  for (int64_t i = 0; i < y.count; ++i) {
    const int32_t value = Scaled(x.Int(i), s);
    const uint32_t size = static_cast<uint32_t>(std::abs(value)), piece = size >> 9;
    uint32_t share = 0x7FFFu << 10;
    if (piece < 255) {
      share = (table[piece] << 9) + (size & 0x1FF) * (table[piece + 1] - table[piece]);
    }
    share = value >= 0 ? share + (1u << 9) : (1u << 25) - share + (1u << 9) - 1;
    y.SetInt(i, share >> 10);
  }
}

void TanhOfShorts(const LiteTensor& x, const LiteTensor& y) {
  const auto& table = LogisticEntries();
  const SixteenBit s = SixteenBitOf(x.scale, 1);
  for (int64_t i = 0; i < y.count; ++i) {
    const int32_t value = Scaled(x.Int(i), s);
    const uint32_t size = static_cast<uint32_t>(std::abs(value)), piece = size >> 8;
    int32_t share = 0xFFFF << 8;
    if (piece < 255) {
      share = static_cast<int32_t>((table[piece] << 8) +
                                   (size & 0xFF) * (table[piece + 1] - table[piece]));
    }
    constexpr int32_t kHalf = 1 << 23, kRound = 1 << 7;
    share = value >= 0 ? share - kHalf + kRound : -share + kHalf + kRound - 1;
    y.SetInt(i, share >> 8);
  }
}

bool AreShorts(const LiteCall& call) {
  return call.in.size() == 1 && call.in[0].Is(kLiteInt16) &&
         call.out[0].Is(kLiteInt16) && call.in[0].count == call.out[0].count &&
         call.in[0].scale != 0;
}

std::string Logistic(const LiteCall& call) {
  if (!AreShorts(call)) return Curved(call, LogisticOf);
  LogisticOfShorts(call.in[0], call.out[0]);
  return "";
}
std::string Tanh(const LiteCall& call) {
  if (!AreShorts(call)) {
    return Curved(call, [](float x) { return std::tanh(x); });
  }
  TanhOfShorts(call.in[0], call.out[0]);
  return "";
}
std::string Exp(const LiteCall& call) {
  return Curved(call, [](float x) { return std::exp(x); });
}
std::string Log(const LiteCall& call) {
  return Curved(call, [](float x) { return std::log(x); });
}
// Bytes are cut off, not rounded.
std::string Sqrt(const LiteCall& call) {
  if (call.in.size() == 1 && call.in[0].Is(kLiteInt8) && call.out[0].Is(kLiteInt8) &&
      call.in[0].count == call.out[0].count && call.out[0].scale != 0) {
    const LiteTensor &x = call.in[0], &y = call.out[0];
    for (int64_t i = 0; i < y.count; ++i) {
      const float real = x.scale * static_cast<float>(x.Int(i) - x.zero);
      if (real < 0) return "a root of a number below zero";
      const int64_t steps = LiteWhole(std::sqrt(real) / y.scale);
      y.SetInt(i, LiteClamp(y.type, steps + y.zero));
    }
    return "";
  }
  return Curved(call, [](float x) { return std::sqrt(x); });
}
std::string Sin(const LiteCall& call) {
  return Curved(call, [](float x) { return std::sin(x); });
}
std::string Cos(const LiteCall& call) {
  return Curved(call, [](float x) { return std::cos(x); });
}
std::string Square(const LiteCall& call) {
  return Curved(call, [](float x) { return x * x; });
}
std::string Floor(const LiteCall& call) {
  return Curved(call, [](float x) { return std::floor(x); });
}
std::string Ceil(const LiteCall& call) {
  return Curved(call, [](float x) { return std::ceil(x); });
}
std::string Round(const LiteCall& call) { return Curved(call, RoundToEven); }
std::string Elu(const LiteCall& call) { return Curved(call, EluOf); }
std::string Gelu(const LiteCall& call) {  // number 0: by tanh
  return Curved(call, call.Number(0) != 0 ? GeluNearlyOf : GeluOf);
}
std::string HardSwish(const LiteCall& call) {
  return Curved(call,
                [](float x) { return x * std::min(6.0f, std::max(0.0f, x + 3)) / 6; });
}

// 16 bits go through straight pieces; the root's inverse of 0 is the most that y holds.
std::string RsqrtOfShorts(const LiteTensor& x, const LiteTensor& y) {
  for (int64_t i = 0; i < x.count; ++i) {
    if (x.Int(i) < x.zero) return "a root of a number below zero";
  }
  const float most = y.scale * static_cast<float>(INT16_MAX - y.zero);
  CurveOfShorts(x, y, [&](float v) { return v <= 0 ? most : 1.0f / std::sqrt(v); });
  return "";
}

// The result keeps 20 bits of fraction until it is rescaled.
std::string Rsqrt(const LiteCall& call) {
  constexpr int kFraction = 20;
  if (call.in.size() == 1 && call.in[0].IsFloat()) {
    return Curved(call, [](float x) { return 1.0f / std::sqrt(x); });
  }
  if (call.in.size() != 1 || call.in[0].count != call.out[0].count ||
      call.in[0].type != call.out[0].type) {
    return kLiteOperands;
  }
  const LiteTensor &x = call.in[0], &y = call.out[0];
  if (x.scale == 0 || y.scale == 0) return kLiteOperands;
  if (x.Is(kLiteInt16)) return RsqrtOfShorts(x, y);
  LiteFactor factor =
      LiteFactorOf(1.0 / static_cast<double>(std::sqrt(x.scale) * y.scale));
  factor.shift -= kFraction;
  for (int64_t i = 0; i < y.count; ++i) {
    const int64_t value = x.Int(i) - x.zero;
    if (value < 0) return "a root of a number below zero";
    if (value == 0) {
      y.SetInt(i, LiteMost(y.type));
      continue;
    }
    LiteFactor root = LiteInverseRoot(static_cast<int32_t>(value), -1);
    root.shift += kFraction;
    const int64_t scaled = LiteScale(LiteScale(1, root), factor);
    y.SetInt(i, LiteClamp(y.type, scaled + y.zero));
  }
  return "";
}

// A row of 16-bit numbers: exponentials of differences to the largest one, from -10 on,
// and 1 / (1 + x), both by straight pieces.
void SoftmaxOfRow(const LiteTensor& x, const LiteTensor& y, int64_t row, int64_t n,
                  const LiteFactor& factor) {
  static const Pieces powers =
      PiecesOf<double>({10.0 / 65535.0, INT16_MAX}, {2.0 / 65535.0, 0},
                       [](double v) { return std::exp(v); });
  static const Pieces shares =
      PiecesOf<double>({1.0 / 65535.0, INT16_MIN}, {2.0 / 65535.0, 0},
                       [](double v) { return 1.0 / (1.0 + v); });
  int64_t most = INT16_MIN, sum = 0;
  for (int64_t i = row; i < row + n; ++i) most = std::max(most, x.Int(i));
  for (int64_t i = row; i < row + n; ++i) {
    const int64_t apart =
        int64_t{LiteScale(static_cast<int32_t>(x.Int(i) - most), factor)} + INT16_MAX;
    const int32_t power = At(powers, LiteClamp(kLiteInt16, apart));
    y.SetInt(i, power);
    sum += power;
  }
  if (sum <= 0) sum = 1;  // scales that the operator does not allow
  int zeros = 0;
  while ((static_cast<uint32_t>(sum) << zeros & 0x80000000u) == 0) ++zeros;
  const int64_t shifted = ((sum << (zeros - 1)) + (1 << 13)) >> 14;
  const int64_t share =
      At(shares, LiteClamp(kLiteInt16, shifted - (1 << 15) - (1 << 16)));
  const int right = 31 - zeros;
  for (int64_t i = row; i < row + n; ++i) {
    const int64_t round = int64_t{1} << (right - 1);
    y.SetInt(i, std::clamp<int64_t>((y.Int(i) * share + round) >> right, 0, 32767));
  }
}

// Number 0: beta.
std::string SoftmaxOfShorts(const LiteCall& call) {
  const LiteTensor &x = call.in[0], &y = call.out[0];
  if (x.count != y.count || !y.Is(kLiteInt16) || x.rank() == 0) return kLiteOperands;
  const double step = static_cast<double>(x.scale) * static_cast<double>(call.Real(0)) /
                      (10.0 / 65535.0);
  const LiteFactor factor = LiteFactorOf(step);
  const int64_t n = x.shape.back();
  for (int64_t row = 0; row < x.count; row += n) SoftmaxOfRow(x, y, row, n, factor);
  return "";
}

void SoftmaxOfFloats(const LiteTensor& x, const LiteTensor& y, float beta) {
  const int64_t n = x.shape.back();
  for (int64_t row = 0; row < x.count; row += n) {
    float most = std::numeric_limits<float>::lowest(), sum = 0;
    for (int64_t i = row; i < row + n; ++i) most = std::max(most, x.Float(i));
    for (int64_t i = row; i < row + n; ++i) {
      const float power = std::exp((x.Float(i) - most) * beta);
      y.SetFloat(i, power);
      sum += power;
    }
    for (int64_t i = row; i < row + n; ++i) y.SetFloat(i, y.Float(i) / sum);
  }
}

std::string Softmax(const LiteCall& call) {
  if (call.in.size() != 1 || call.in[0].rank() == 0) return kLiteOperands;
  const LiteTensor &x = call.in[0], &y = call.out[0];
  if (x.Is(kLiteInt16)) return SoftmaxOfShorts(call);
  if (!x.IsFloat() || !y.IsFloat() || x.count != y.count) return kLiteOperands;
  SoftmaxOfFloats(x, y, call.Real(0));
  return "";
}

// RELU, RELU6, RELU_N1_TO_1, RELU_0_TO_1: numbers are the bounds.
std::string Clamp(const LiteCall& call) {
  if (call.in.size() != 1 || call.in[0].count != call.out[0].count ||
      call.in[0].type != call.out[0].type) {
    return kLiteOperands;
  }
  const LiteTensor &x = call.in[0], &y = call.out[0];
  const float low = call.Real(0), high = call.Real(1);
  if (x.IsFloat()) {
    for (int64_t i = 0; i < y.count; ++i) {
      y.SetFloat(i, std::min(std::max(x.Float(i), low), high));
    }
    return "";
  }
  const int64_t least =
      std::max<int64_t>(LiteLeast(y.type), y.zero + int64_t{Rounded(low / y.scale)});
  const int64_t most =
      std::isinf(high) ? LiteMost(y.type)
                       : std::min<int64_t>(LiteMost(y.type),
                                           y.zero + int64_t{Rounded(high / y.scale)});
  const LiteFactor factor = LiteFactorOf(static_cast<double>(x.scale / y.scale));
  for (int64_t i = 0; i < y.count; ++i) {
    const int32_t value = static_cast<int32_t>(x.Int(i) - x.zero);
    y.SetInt(
        i, std::min(std::max(int64_t{LiteScale(value, factor)} + y.zero, least), most));
  }
  return "";
}

std::string LeakyRelu(const LiteCall& call) {  // number 0: the slope
  const LiteTensor &x = call.in[0], &y = call.out[0];
  if (call.in.size() != 1 || !x.IsFloat() || x.count != y.count) return kLiteOperands;
  for (int64_t i = 0; i < y.count; ++i) {
    const float value = x.Float(i);
    y.SetFloat(i, value > 0 ? value : value * call.Real(0));
  }
  return "";
}

std::string Prelu(const LiteCall& call) {
  if (call.in.size() != 2 || !call.in[0].IsFloat() || !call.in[1].IsFloat()) {
    return kLiteOperands;
  }
  const LiteTensor &x = call.in[0], &y = call.out[0];
  const auto slope = LiteBroadcast(call.in[1].shape, y.shape);
  if (slope.empty() || x.count != y.count) return kLiteOperands;
  for (int64_t i = 0; i < y.count; ++i) {
    const float value = x.Float(i);
    y.SetFloat(i, value >= 0 ? value
                             : value * call.in[1].Float(slope[static_cast<size_t>(i)]));
  }
  return "";
}

}  // namespace

void AddLiteCurves(LiteRows* rows) {
  const LiteRows here = {{"LOGISTIC", Logistic},
                         {"TANH", Tanh},
                         {"EXP", Exp},
                         {"LOG", Log},
                         {"SQRT", Sqrt},
                         {"RSQRT", Rsqrt},
                         {"SOFTMAX", Softmax},
                         {"SIN", Sin},
                         {"COS", Cos},
                         {"SQUARE", Square},
                         {"FLOOR", Floor},
                         {"CEIL", Ceil},
                         {"ROUND", Round},
                         {"ELU", Elu},
                         {"GELU", Gelu},
                         {"HARD_SWISH", HardSwish},
                         {"RELU", Clamp},
                         {"RELU6", Clamp},
                         {"RELU_N1_TO_1", Clamp},
                         {"RELU_0_TO_1", Clamp},
                         {"LEAKY_RELU", LeakyRelu},
                         {"PRELU", Prelu}};
  rows->insert(here.begin(), here.end());
}

}  // namespace sluice_sim
