// SPDX-License-Identifier: Apache-2.0
// A sequence through an LSTM of int8 activations and weights, with gates and cell of 16
// bits. The activation functions are 16-bit fixed point: exp by a Taylor series and
// tabulated powers of e, quotients by three Newton-Raphson steps.
#include <algorithm>

#include "cancel.h"
#include "fixed_point.h"
#include "host_functions.h"
#include "host_tflite.h"
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

// What three gates say of a cell: how much stays, how much is taken of what is new.
struct Taking {
  int16_t keep, take, fresh;
};

int16_t NextCell(int16_t before, const Taking& gates, int cell_shift, int32_t clip) {
  const int32_t kept = RoundingShiftRight(int32_t{gates.keep} * before, 15);
  const int32_t taken =
      Wrap16(RoundingShiftRight(int32_t{gates.take} * gates.fresh, 30 + cell_shift));
  const int32_t cell = Saturate16(int64_t{Wrap16(kept)} + taken);
  return static_cast<int16_t>(clip > 0 ? std::clamp(cell, -clip, clip) : cell);
}

struct Hidden {
  int32_t multiplier, shift, zero;
};

int8_t Shown(int16_t show, int16_t cell, int cell_shift, const Hidden& hidden) {
  const int32_t real = int32_t{show} * Tanh16(cell, 15 + cell_shift);
  const int64_t shown =
      int64_t{Scale(real, hidden.multiplier, hidden.shift)} + hidden.zero;
  return static_cast<int8_t>(std::clamp<int64_t>(shown, -128, 127));
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
    std::vector<int8_t> next(static_cast<size_t>(cells));
    const bool coupled = options[kLstmCoupled] != 0;
    const int shift = options[kLstmCellShift];
    for (int64_t i = 0; i < cells; ++i) {
      const int16_t keep = Sigmoid16(Gate(1, i, x, h));
      const int16_t take = coupled ? static_cast<int16_t>(INT16_MAX - keep)
                                   : Sigmoid16(Gate(0, i, x, h));
      c[i] = NextCell(c[i], {keep, take, Tanh16(Gate(2, i, x, h), 3)}, shift,
                      options[kLstmCellClip]);
      next[static_cast<size_t>(i)] =
          Shown(Sigmoid16(Gate(3, i, x, h)), c[i], shift,
                {options[kLstmHiddenMultiplier], options[kLstmHiddenShift],
                 options[kLstmStateZero]});
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

// ---- one step, of which units have computed the products

struct LstmStep {
  const HostOperands& in;
  const int32_t* o;
  int64_t cells, gates;  // of a row of numbers

  bool Coupled() const { return o[kStepCoupled] != 0; }

  // The numbers of gate g of batch element b, with what `cell` adds through peepholes.
  std::vector<int16_t> Numbers(int64_t g, int64_t b, const int16_t* cell) const {
    const int64_t row = o[kStepTimeMajor] != 0
                            ? int64_t{o[kStepIndex]} * o[kStepBatch] + b
                            : b * o[kStepSteps] + o[kStepIndex];
    const int64_t at = (g - (Coupled() ? 1 : 0)) * cells;
    const int32_t* from_x = ElementsOf<int32_t>(in[0]) + row * gates + at;
    const int32_t* from_h = ElementsOf<int32_t>(in[1]) + b * gates + at;
    std::vector<int16_t> numbers(static_cast<size_t>(cells));
    for (int64_t i = 0; i < cells; ++i) {
      int16_t& number = numbers[static_cast<size_t>(i)];
      number = Saturate16(int64_t{from_h[i]} + Saturate16(from_x[i]));
      if (g == 2 || !peepholes) continue;
      const int64_t p = g == 3 ? 2 : g;  // of the three gates that have them
      const int32_t product =
          int32_t{ElementsOf<int16_t>(in[3])[p * cells + i]} * cell[i];
      const int32_t* scale = o + kStepPeephole + 2 * p;
      number = Saturate16(int64_t{Scale(product, scale[0], scale[1])} + number);
    }
    if (norms) Normalise(g, &numbers);
    return numbers;
  }

  void Normalise(int64_t g, std::vector<int16_t>* numbers) const {
    const int16_t* weight = ElementsOf<int16_t>(in[4]) + g * cells;
    const int32_t* bias = ElementsOf<int32_t>(in[5]) + g * cells;
    const int32_t* scale = o + kStepNorm + 3 * g;
    int64_t sum = 0, squares = 0;
    for (const int16_t number : *numbers) {
      sum += number;
      squares += int64_t{number} * number;
    }
    // Ten bits of fraction, twenty of the variance.
    const int32_t mean = Wrap32(sum * 1024 / cells);
    const int64_t spread = squares * ((1 << 20) / cells) - int64_t{mean} * mean;
    const int32_t variance = Wrap32(spread / (1 << 20));
    const LiteFactor root = LiteInverseRoot(variance < 1 ? scale[2] : variance, -1);
    for (int64_t i = 0; i < cells; ++i) {
      int16_t& number = (*numbers)[static_cast<size_t>(i)];
      const int32_t apart = LiteScale(Wrap32(int64_t{number} * 1024 - mean), root);
      const int64_t sum_of = int64_t{Wrap32(int64_t{apart} * weight[i])} + bias[i];
      const int32_t rounded = Wrap32((sum_of > 0 ? sum_of + 512 : sum_of - 512) / 1024);
      number = Saturate16(Scale(rounded, scale[0], scale[1] + 12));
    }
  }

  void Run(int64_t b, int8_t* hidden, int16_t* cell) const {
    const int shift = o[kStepCellShift];
    const std::vector<int16_t> keeps = Numbers(1, b, cell), fresh = Numbers(2, b, cell);
    std::vector<int16_t> takes;
    if (!Coupled()) takes = Numbers(0, b, cell);
    for (int64_t i = 0; i < cells; ++i) {
      const size_t at = static_cast<size_t>(i);
      const int16_t keep = Sigmoid16(keeps[at]);
      const int16_t take =
          Coupled() ? static_cast<int16_t>(INT16_MAX - keep) : Sigmoid16(takes[at]);
      cell[i] = NextCell(cell[i], {keep, take, Tanh16(fresh[at], 3)}, shift,
                         o[kStepCellClip]);
    }
    const std::vector<int16_t> shows = Numbers(3, b, cell);
    for (int64_t i = 0; i < cells; ++i) {
      hidden[i] = Shown(Sigmoid16(shows[static_cast<size_t>(i)]), cell[i], shift,
                        {o[kStepHidden], o[kStepHidden + 1], o[kStepHidden + 2]});
    }
  }

  bool peepholes = false, norms = false;
};

// `what` has either `count` elements or one, which says that there are none.
bool IsOptional(const HostOperand& what, int64_t count, bool* there) {
  *there = CountOf(what) == count;
  return *there || CountOf(what) == 1;
}

std::string CheckLstmStep(const HostOperands& in, const HostOperands& out) {
  if (!HasTypes(in, {kInt, kInt, kShort, kShort, kShort, kInt, kInt}) ||
      !HasTypes(out, {kByte, kShort}) || !HasOptions(in, kStepOptions)) {
    return "operands of a step of an LSTM";
  }
  const int32_t* o = ElementsOf<int32_t>(in[6]);
  const int64_t batch = o[kStepBatch], cells = o[kStepCells], steps = o[kStepSteps];
  const int64_t gates = o[kStepCoupled] != 0 ? 3 : 4;
  const bool good = batch > 0 && cells > 0 && steps > 0 && o[kStepIndex] >= 0 &&
                    o[kStepIndex] < steps && o[kStepCellShift] >= -15 &&
                    o[kStepCellShift] <= -9 && batch <= CountOf(in[2]) &&
                    CountOf(in[2]) / batch == cells && CountOf(in[2]) % batch == 0;
  return good && CountOf(in[1]) == CountOf(in[2]) * gates &&
                 CountOf(in[0]) == CountOf(in[1]) * steps &&
                 CountOf(out[0]) == CountOf(in[2]) && CountOf(out[1]) == CountOf(in[2])
             ? ""
             : "extents of a step of an LSTM";
}

}  // namespace

std::string LstmStepInt8(const HostOperands& in, const HostOperands& out) {
  const std::string wrong = CheckLstmStep(in, out);
  if (!wrong.empty()) return wrong;
  const int32_t* o = ElementsOf<int32_t>(in[6]);
  const int64_t cells = o[kStepCells];
  LstmStep step = {in, o, cells, cells * (o[kStepCoupled] != 0 ? 3 : 4)};
  bool biases = false;
  if (!IsOptional(in[3], 3 * cells, &step.peepholes) ||
      !IsOptional(in[4], 4 * cells, &step.norms) ||
      !IsOptional(in[5], 4 * cells, &biases) || biases != step.norms) {
    return "extents of a step of an LSTM";
  }
  *out[1].bytes = *in[2].bytes;
  for (int64_t b = 0; b < o[kStepBatch]; ++b) {
    step.Run(b, ResultOf<int8_t>(out[0]) + b * cells,
             ResultOf<int16_t>(out[1]) + b * cells);
  }
  return "";
}

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
