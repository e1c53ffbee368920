// SPDX-License-Identifier: Apache-2.0
// HARD_SWISH and PRELU against values by hand, against a second implementation with
// TensorFlow Lite's fixed-point primitives, and against real arithmetic.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "firmware-sim/kernels.h"

namespace sluice_test {
namespace {

using sluice_sim::Box;
using sluice_sim::DenseBox;
using sluice_sim::Extent;
using sluice_sim::Tile;

// A tensor that has each value of an 8-bit dtype once.
struct AllInputs {
  std::vector<uint8_t> in, out;
  Tile t;
  AllInputs(int op, int dtype, std::vector<int32_t> attributes) : in(256), out(256) {
    for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint8_t>(i);
    t.op = op;
    t.attributes = std::move(attributes);
    const Extent extent = {1, 4, 8, 8};
    t.input0 = DenseBox(in.data(), dtype, extent);
    t.output = DenseBox(out.data(), dtype, extent);
    t.layer.input = t.layer.output = extent;
  }
  void Run() {
    const std::string wrong = sluice_sim::CheckTile(t);
    INFO(wrong);
    REQUIRE(wrong.empty());
    sluice_sim::RunTile(t);
  }
  int64_t Of(int64_t value) const {
    return sluice_sim::Read(t.output.dtype, &out[static_cast<uint8_t>(value)]);
  }
};

int16_t Narrow(int32_t v) { return static_cast<int16_t>(v); }

// gemmlowp's SaturatingRoundingDoublingHighMul for 16 bits.
int16_t RoundingDoublingHigh(int16_t a, int16_t b) {
  if (a == b && a == std::numeric_limits<int16_t>::min()) return INT16_MAX;
  const int32_t ab = int32_t{a} * int32_t{b};
  const int32_t nudge = ab >= 0 ? (1 << 14) : (1 - (1 << 14));
  return Narrow((ab + nudge) / (1 << 15));
}
// gemmlowp's SaturatingDoublingHighMul: the same without rounding.
int16_t DoublingHigh(int16_t a, int16_t b) {
  if (a == b && a == std::numeric_limits<int16_t>::min()) return INT16_MAX;
  return Narrow((int32_t{a} * int32_t{b}) / (1 << 15));
}
// gemmlowp's RoundingDivideByPOT.
int16_t DivideByPowerOfTwo(int16_t x, int exponent) {
  const int32_t mask = (1 << exponent) - 1;
  const int32_t remainder = x & mask;
  const int32_t threshold = (mask >> 1) + (x < 0 ? 1 : 0);
  return Narrow((x >> exponent) + (remainder > threshold ? 1 : 0));
}
int16_t SaturatingShift(int16_t x, int amount) {
  const int64_t v = int64_t{x} * (int64_t{1} << amount);
  return v > INT16_MAX   ? INT16_MAX
         : v < INT16_MIN ? INT16_MIN
                         : static_cast<int16_t>(v);
}

struct Swish {
  int32_t in_zero, out_zero, multiplier, shift, gate_multiplier, gate_shift;
};

int64_t Straight(const Swish& s, int value, int low, int high) {
  const int16_t input = Narrow(value - s.in_zero);
  const int16_t fine = Narrow(input * (1 << 7));
  const int16_t scaled = RoundingDoublingHigh(fine, Narrow(s.multiplier));
  int16_t gate = fine;
  if (s.gate_shift > 0) gate = SaturatingShift(gate, s.gate_shift - 1);
  gate = RoundingDoublingHigh(gate, Narrow(s.gate_multiplier));
  if (s.gate_shift > 0) gate = SaturatingShift(gate, 1);
  if (s.gate_shift < 0) gate = DivideByPowerOfTwo(gate, -s.gate_shift);
  gate = Narrow((gate + (1 << 15)) >> 1);
  int16_t out = DivideByPowerOfTwo(DoublingHigh(gate, scaled), -s.shift);
  out = Narrow(out + s.out_zero);
  return out < low ? low : out > high ? high : out;
}

TEST_CASE("hard_swish: values by hand") {
  // Steps of 3/256 in and out: factors 1/128 = 2^14 / 2^15 * 2^-6, 1 = 2^14 / 2^15 * 2.
  AllInputs a(SLUICE_OP_HARD_SWISH, SLUICE_DTYPE_INT8, {0, 0, 1 << 14, -6, 1 << 14, 1});
  a.Run();
  CHECK(a.Of(127) == 95);    // 24512 * 8128 / 2^15 = 6080, / 64
  CHECK(a.Of(-128) == -32);  // 8192 * -8192 / 2^15 = -2048, / 64
  CHECK(a.Of(0) == 0);
  CHECK(a.Of(1) == 1);   // 16448 * 64 / 2^15 = 32, / 64 is a tie, away from zero
  CHECK(a.Of(-1) == 0);  // 16320 * -64 / 2^15 = -31 (towards zero), / 64
}

TEST_CASE("hard_swish: the gate is shut below -3 and open above 3") {
  // Steps of 3/32 in, 3/64 out: the gate's factor is 8, the output's 1/64.
  AllInputs a(SLUICE_OP_HARD_SWISH, SLUICE_DTYPE_INT8, {0, 5, 1 << 14, -5, 1 << 14, 4});
  a.Run();
  for (int x = -128; x <= -32; ++x) CHECK(a.Of(x) == 5);
  for (int x = 32; x <= 60; ++x) CHECK(std::abs(a.Of(x) - (2 * x + 5)) <= 1);
  CHECK(a.Of(127) == 127);
}

TEST_CASE("hard_swish: equal to a second implementation, for every input") {
  uint32_t state = 7;
  const auto below = [&](int32_t n) {
    state = state * 1664525 + 1013904223;
    return static_cast<int32_t>((state >> 8) % static_cast<uint32_t>(n));
  };
  for (int i = 0; i < 400; ++i) {
    const int dtype = i % 3 == 0 ? SLUICE_DTYPE_UINT8 : SLUICE_DTYPE_INT8;
    const int low = dtype == SLUICE_DTYPE_UINT8 ? 0 : -128, high = low + 255;
    const Swish s = {low + below(256),
                     low + below(256),
                     i % 7 == 0 ? 32767 : below(32768),
                     -below(16),
                     i % 5 == 0 ? 32767 : below(32768),
                     below(31) - 15};
    AllInputs a(SLUICE_OP_HARD_SWISH, dtype,
                {s.in_zero, s.out_zero, s.multiplier, s.shift, s.gate_multiplier,
                 s.gate_shift});
    a.Run();
    CAPTURE(i);
    int wrong = 0;
    for (int x = low; x <= high; ++x) wrong += a.Of(x) != Straight(s, x, low, high);
    CHECK(wrong == 0);
  }
}

TEST_CASE("hard_swish: close to real arithmetic") {
  // Steps of 0.0234 and zero point -11 in, 0.0125 and -98 out: an importer's factors.
  const double in = 0.0234, out = 0.0125;
  const auto split = [](double factor, int32_t* multiplier, int32_t* shift) {
    int exponent = 0;
    *multiplier =
        static_cast<int32_t>(std::lround(std::frexp(factor, &exponent) * 32768));
    *shift = exponent;
  };
  Swish s = {-11, -98, 0, 0, 0, 0};
  split(in / 128 / out, &s.multiplier, &s.shift);
  split(in / 128 * 32768 / 3, &s.gate_multiplier, &s.gate_shift);
  AllInputs a(
      SLUICE_OP_HARD_SWISH, SLUICE_DTYPE_INT8,
      {s.in_zero, s.out_zero, s.multiplier, s.shift, s.gate_multiplier, s.gate_shift});
  a.Run();
  for (int x = -128; x <= 127; ++x) {
    const double real = (x - s.in_zero) * in;
    const double want =
        real * std::fmin(std::fmax(real + 3, 0), 6) / 6 / out + s.out_zero;
    CHECK(std::fabs(std::fmin(127, std::fmax(-128, want)) -
                    static_cast<double>(a.Of(x))) < 1.01);
  }
}

TEST_CASE("hard_swish: attributes that would leave 16 bits are refused") {
  const std::vector<int32_t> right = {0, 0, 1 << 14, -6, 1 << 14, 1};
  struct Bad {
    size_t at;
    int32_t value;
  };
  const Bad bad[] = {{0, 128}, {0, -129}, {1, 128}, {1, -129},  {2, -1}, {2, 32768},
                     {3, 1},   {3, -16},  {4, -1},  {4, 32768}, {5, 16}, {5, -16}};
  for (const Bad& b : bad) {
    AllInputs a(SLUICE_OP_HARD_SWISH, SLUICE_DTYPE_INT8, right);
    REQUIRE(sluice_sim::CheckTile(a.t) == "");
    a.t.attributes[b.at] = b.value;
    CAPTURE(b.at);
    CAPTURE(b.value);
    CHECK(sluice_sim::CheckTile(a.t) != "");
  }
  AllInputs a(SLUICE_OP_HARD_SWISH, SLUICE_DTYPE_INT8, right);
  a.t.output.dtype = SLUICE_DTYPE_UINT8;
  CHECK(sluice_sim::CheckTile(a.t) != "");
}

struct Slopes {
  std::vector<uint8_t> bytes;
  Slopes(Tile* t, const Extent& extent, std::vector<int> values) {
    for (const int v : values) bytes.push_back(static_cast<uint8_t>(v));
    t->input1 = DenseBox(bytes.data(), SLUICE_DTYPE_INT8, extent);
    t->layer.second = extent;
  }
};

TEST_CASE("prelu: values by hand") {
  // Above zero 2 * input - 3; below zero input * slope / 8.
  AllInputs a(SLUICE_OP_PRELU, SLUICE_DTYPE_INT8,
              {3, 1, -10, 1 << 30, 2, 1 << 30, -2, -100, 90});
  Slopes slopes(&a.t, {1, 1, 1, 1}, {4});
  a.Run();
  CHECK(a.Of(3) == -10);
  CHECK(a.Of(4) == -8);
  CHECK(a.Of(52) == 88);
  CHECK(a.Of(60) == 90);     // clamped
  CHECK(a.Of(-5) == -13);    // -8 * 3 / 8
  CHECK(a.Of(2) == -10);     // -3 / 8: first -1.5 to -1, then -1/4 to 0
  CHECK(a.Of(-128) == -59);  // -393 / 8: first -196.5 to -196, then to -49
}

TEST_CASE("prelu: slopes of elements, columns and channels") {
  uint32_t state = 3;
  const Extent whole = {1, 4, 8, 8};
  for (const Extent& extent :
       {whole, Extent{1, 1, 1, 8}, Extent{1, 1, 8, 1}, Extent{1, 4, 1, 8}}) {
    AllInputs a(SLUICE_OP_PRELU, SLUICE_DTYPE_INT8,
                {-4, 9, 2, 1518500250, 0, 1234567890, -6, -128, 127});
    std::vector<int> values;
    for (int64_t i = 0; i < sluice_sim::Elements(extent); ++i) {
      state = state * 1664525 + 1013904223;
      values.push_back(static_cast<int>(state >> 24) - 128);
    }
    Slopes slopes(&a.t, extent, values);
    a.Run();
    int wrong = 0;
    for (int i = 0; i < 256; ++i) {
      const int64_t h = i / 64, w = i / 8 % 8, c = i % 8;
      const int64_t at = (h * (extent[1] != 1)) * extent[2] * extent[3] +
                         (w * (extent[2] != 1)) * extent[3] + c * (extent[3] != 1);
      const int x = static_cast<int8_t>(i) + 4;
      const int64_t y =
          x >= 0 ? sluice_sim::Scale(x, 1518500250, 0)
                 : sluice_sim::Scale(x * (values[static_cast<size_t>(at)] - 9),
                                     1234567890, -6);
      const int64_t want = std::min<int64_t>(127, std::max<int64_t>(-128, y + 2));
      wrong += a.Of(static_cast<int8_t>(i)) != want;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("prelu: slopes that do not broadcast to the input are refused") {
  AllInputs a(SLUICE_OP_PRELU, SLUICE_DTYPE_INT8,
              {0, 0, 0, 1 << 30, 1, 1 << 30, 1, -128, 127});
  CHECK(sluice_sim::CheckTile(a.t) == "operands: input1 is missing");
  Slopes slopes(&a.t, {1, 1, 1, 4}, {1, 2, 3, 4});
  CHECK(sluice_sim::CheckTile(a.t) != "");
}

}  // namespace
}  // namespace sluice_test
