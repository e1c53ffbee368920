// SPDX-License-Identifier: Apache-2.0
// A sequence through an LSTM of int8 activations and weights, with gates and cell of 16
// bits. The activation functions are 16-bit fixed point: exp by a Taylor series and
// tabulated powers of e, quotients by three Newton-Raphson steps.
#include <algorithm>

#include "cancel.h"
#include "fixed_point.h"
#include "host_functions.h"
#include "sluice/ops.h"

namespace sluice_sim {
namespace {

constexpr int kByte = SLUICE_DTYPE_INT8, kShort = SLUICE_DTYPE_INT16,
              kInt = SLUICE_DTYPE_INT32;

int16_t Wrap16(int32_t v) { return static_cast<int16_t>(static_cast<uint16_t>(v)); }

int16_t ShiftLeft16(int16_t v, int bits) {
  return Saturate16(int64_t{v} * (1 << bits));
}

// Narrows a 32-bit fixed-point constant to its upper 16 bits, rounded.
int16_t Narrow(int32_t v) { return static_cast<int16_t>(RoundingShiftRight(v, 16)); }

// exp(a) for a in [-1/4, 0), both with 15 fraction bits: around -1/8.
int16_t ExpOfQuarter(int16_t a) {
  const int16_t middle = Narrow(1895147668), third = Narrow(715827883);
  const int16_t x = Wrap16(a + (1 << 12));
  const int16_t x2 = HighMultiply16(x, x), x3 = HighMultiply16(x2, x),
                x4 = HighMultiply16(x2, x2);
  const int16_t fourth = static_cast<int16_t>(RoundingShiftRight(x4, 2));
  const int16_t tail = static_cast<int16_t>(
      RoundingShiftRight(Wrap16(HighMultiply16(Wrap16(fourth + x3), third) + x2), 1));
  return Saturate16(int64_t{middle} + HighMultiply16(middle, Wrap16(x + tail)));
}

// exp(a) for a <= 0 with `integer_bits` integer bits; the result has 15 fraction bits.
int16_t Exp16(int16_t a, int integer_bits) {
  constexpr int32_t kPowers[] = {1672461947, 1302514674, 790015084, 290630308,
                                 39332535,   720401,     242};
  if (a == 0) return INT16_MAX;
  if (integer_bits > 5 && a < -(1 << (20 - integer_bits))) return 0;
  const int fraction = 15 - integer_bits;
  const int quarter = 1 << (fraction - 2);
  const int16_t part = Wrap16((a & (quarter - 1)) - quarter);
  int16_t result = ExpOfQuarter(ShiftLeft16(part, integer_bits));
  const int32_t rest = Wrap16(part - a);
  for (int power = -2; power < integer_bits && power <= 4; ++power) {
    if ((rest >> (fraction + power) & 1) == 0) continue;
    result = HighMultiply16(result, Narrow(kPowers[power + 2]));
  }
  return result;
}

// 2 / (1 + a) for a in (0, 1), with two integer bits.
int16_t TwoOverOnePlus(int16_t a) {
  const int16_t half = static_cast<int16_t>((int32_t{a} + INT16_MAX + 1) / 2);
  constexpr int16_t kUnit = 1 << 13;
  int16_t x = Wrap16(Narrow(1515870810) + HighMultiply16(half, Narrow(-1010580540)));
  for (int i = 0; i < 3; ++i) {
    const int16_t missing = Wrap16(kUnit - HighMultiply16(half, x));
    x = Wrap16(x + ShiftLeft16(HighMultiply16(x, missing), 2));
  }
  return x;
}

// 1 / (1 + exp(-a)) for a with three integer bits.
int16_t Sigmoid16(int16_t a) {
  if (a == 0) return 1 << 14;
  const int16_t down = a > 0 ? Wrap16(-a) : a;
  const int16_t above = ShiftLeft16(TwoOverOnePlus(Exp16(down, 3)), 1);
  return a > 0 ? above : Wrap16(INT16_MAX - above);
}

int16_t Tanh16(int16_t a, int integer_bits) {
  if (a == 0) return 0;
  const int16_t down = a < 0 ? a : Wrap16(-a);
  const int16_t x = TwoOverOnePlus(Exp16(down, integer_bits + 1));
  const int16_t above = ShiftLeft16(Wrap16(x - (1 << 13)), 2);
  return a < 0 ? Wrap16(-above) : above;
}

struct Lstm {
  const HostOperands& in;
  const int32_t* options;
  int64_t inputs, cells;

  // The input of gate g's activation function: both products, each scaled separately.
  int16_t Gate(int g, int64_t cell, const int8_t* x, const int8_t* h) const {
    const size_t at = static_cast<size_t>(g);
    const int32_t* scales = options + kLstmScales + 4 * g;
    const int64_t from_x = Sum(in[1 + at], cell, x, inputs, options[kLstmInputZero]) +
                           ElementsOf<int32_t>(in[9 + at])[cell];
    const int64_t from_h = Sum(in[5 + at], cell, h, cells, options[kLstmStateZero]);
    const int16_t first = Saturate16(Scale(Wrap32(from_x), scales[0], scales[1]));
    return Saturate16(int64_t{Scale(Wrap32(from_h), scales[2], scales[3])} + first);
  }

  // One time step of one batch element; updates h and c.
  void Step(const int8_t* x, int8_t* h, int16_t* c) const {
    const int cell_bits = 15 + options[kLstmCellShift];
    std::vector<int8_t> next(static_cast<size_t>(cells));
    for (int64_t i = 0; i < cells; ++i) {
      const int32_t keep = Sigmoid16(Gate(1, i, x, h));
      const int32_t take =
          options[kLstmCoupled] != 0 ? INT16_MAX - keep : Sigmoid16(Gate(0, i, x, h));
      const int32_t fresh = Tanh16(Gate(2, i, x, h), 3);
      const int32_t show = Sigmoid16(Gate(3, i, x, h));
      const int32_t kept = RoundingShiftRight(keep * c[i], 15);
      const int32_t taken =
          Wrap16(RoundingShiftRight(take * fresh, 30 + options[kLstmCellShift]));
      int32_t cell = Saturate16(int64_t{Wrap16(kept)} + taken);
      const int32_t clip = options[kLstmCellClip];
      if (clip > 0) cell = std::clamp(cell, -clip, clip);
      c[i] = static_cast<int16_t>(cell);
      const int32_t shown =
          Scale(show * Tanh16(c[i], cell_bits), options[kLstmHiddenMultiplier],
                options[kLstmHiddenShift]) +
          options[kLstmStateZero];
      next[static_cast<size_t>(i)] = static_cast<int8_t>(std::clamp(shown, -128, 127));
    }
    std::copy(next.begin(), next.end(), h);
  }

 private:
  static int64_t Sum(const HostOperand& weight, int64_t row, const int8_t* x, int64_t n,
                     int32_t zero) {
    const int8_t* w = ElementsOf<int8_t>(weight) + row * n;
    int64_t sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += int64_t{w[i]} * (x[i] - zero);
    return sum;
  }
};

std::string CheckLstm(const HostOperands& in, const HostOperands& out) {
  std::vector<int> types(9, kByte);
  types.insert(types.end(), 4, kInt);
  types.insert(types.end(), {kByte, kShort, kInt});
  if (!HasTypes(in, types) || !HasTypes(out, {kByte, kByte, kShort}) ||
      !HasOptions(in, kLstmOptions)) {
    return "operands of an LSTM";
  }
  const int64_t inputs = in[0].extent[3], cells = in[1].extent[2];
  const int64_t steps = CountOf(in[0]) / inputs, state = CountOf(in[13]);
  bool fits = state % cells == 0 && CountOf(in[14]) == state &&
              CountOf(out[1]) == state && CountOf(out[2]) == state &&
              CountOf(out[0]) == steps * cells && steps % (state / cells) == 0;
  for (size_t g = 0; g < 4; ++g) {
    fits = fits && CountOf(in[1 + g]) == cells * inputs &&
           CountOf(in[5 + g]) == cells * cells && CountOf(in[9 + g]) == cells;
  }
  const int32_t shift = ElementsOf<int32_t>(in[15])[kLstmCellShift];
  return fits && shift >= -15 && shift <= -9 ? "" : "extents of an LSTM";
}

}  // namespace

std::string LstmInt8(const HostOperands& in, const HostOperands& out) {
  const std::string wrong = CheckLstm(in, out);
  if (!wrong.empty()) return wrong;
  const Lstm lstm = {in, ElementsOf<int32_t>(in[15]), in[0].extent[3], in[1].extent[2]};
  *out[1].bytes = *in[13].bytes;
  *out[2].bytes = *in[14].bytes;
  const int64_t cells = lstm.cells, batches = CountOf(in[13]) / cells,
                steps = CountOf(in[0]) / lstm.inputs / batches;
  for (int64_t b = 0; b < batches; ++b) {
    int8_t* h = ResultOf<int8_t>(out[1]) + b * cells;
    for (int64_t t = 0; t < steps; ++t) {
      const int64_t row =
          lstm.options[kLstmTimeMajor] != 0 ? t * batches + b : b * steps + t;
      Poll(in[0].cancel);
      lstm.Step(ElementsOf<int8_t>(in[0]) + row * lstm.inputs, h,
                ResultOf<int16_t>(out[2]) + b * cells);
      std::copy_n(h, cells, ResultOf<int8_t>(out[0]) + row * cells);
    }
  }
  return "";
}

}  // namespace sluice_sim
