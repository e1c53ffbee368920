// SPDX-License-Identifier: Apache-2.0
// LAYER_NORM and RMS_NORM against real arithmetic, at the edges of their ranges, and
// what the simulator refuses.
#include <doctest/doctest.h>

#include <cmath>

#include "firmware-sim/kernels.h"

namespace sluice_test {
namespace {

using sluice_sim::DenseBox;
using sluice_sim::Extent;
using sluice_sim::Tile;

// Multiplier and shift of 32 * 256 / 2^20: one standard deviation is 32 steps.
constexpr int32_t kMultiplier = 1 << 30, kShift = -6;

struct Norm {
  std::vector<uint8_t> in, out;
  std::vector<int32_t> parameters;
  Tile t;
  Norm(int op, int dtype, int64_t rows, int64_t channels) {
    const Extent extent = {1, 1, rows, channels};
    in.resize(static_cast<size_t>(rows * channels));
    out.resize(in.size());
    for (int64_t c = 0; c < channels; ++c) {
      parameters.insert(parameters.end(), {0, kMultiplier, kShift});
    }
    t.op = op;
    t.attributes = {0, 0, 0, -128, 127};
    t.input0 = DenseBox(in.data(), dtype, extent);
    t.output = DenseBox(out.data(), SLUICE_DTYPE_INT8, extent);
    t.parameters = DenseBox(reinterpret_cast<uint8_t*>(parameters.data()),
                            SLUICE_DTYPE_INT32, {1, 1, channels, 3});
    t.layer.input = t.layer.output = extent;
  }
  void Run() {
    REQUIRE(sluice_sim::CheckTile(t) == "");
    sluice_sim::RunTile(t);
  }
  int Out(size_t i) const { return static_cast<int8_t>(out[i]); }
};

TEST_CASE("norms are the real ones to within rounding") {
  uint32_t noise = 1;
  for (const int op : {SLUICE_OP_LAYER_NORM, SLUICE_OP_RMS_NORM}) {
    for (const int64_t channels : {2, 3, 64, 768, 32768}) {
      Norm n(op, SLUICE_DTYPE_INT8, 2, channels);
      n.t.attributes[SLUICE_NORM_INPUT_ZERO] = 3;
      for (uint8_t& v : n.in) {
        v = static_cast<uint8_t>((noise = noise * 1664525 + 1013904223) >> 24);
      }
      for (size_t c = 0; c < n.parameters.size(); c += 3) {
        n.parameters[c] = static_cast<int32_t>(c % 7) * 100 - 300;
      }
      n.Run();
      double worst = 0;
      for (size_t row = 0; row < 2; ++row) {
        const size_t count = static_cast<size_t>(channels), first = row * count;
        const auto value = [&](size_t c) {
          return static_cast<double>(static_cast<int8_t>(n.in[first + c]));
        };
        double mean = 0, squares = 0;
        for (size_t c = 0; c < count; ++c)
          mean += value(c) / static_cast<double>(count);
        if (op == SLUICE_OP_RMS_NORM) mean = 3;
        for (size_t c = 0; c < count; ++c) {
          squares += (value(c) - mean) * (value(c) - mean) / static_cast<double>(count);
        }
        for (size_t c = 0; c < count; ++c) {
          const double y =
              (value(c) - mean) / std::sqrt(squares) * 32 + n.parameters[3 * c] / 256.0;
          const double want = std::fmin(127, std::fmax(-128, y));
          worst = std::fmax(worst, std::fabs(want - n.Out(first + c)));
        }
      }
      CAPTURE(op);
      CAPTURE(channels);
      CHECK(worst < 0.55);
    }
  }
}

TEST_CASE("a norm by hand: (1, 2, 3, 6) around 3, root of 3.5") {
  Norm n(SLUICE_OP_LAYER_NORM, SLUICE_DTYPE_UINT8, 1, 4);
  n.in = {1, 2, 3, 6};
  n.t.input0.data = n.in.data();
  n.Run();
  // d = 4 x - 12 = -8 -4 0 12, v = 224 / 4 = 56, s = floor(sqrt(56) * 256) = 1915. d /
  // deviation is -1.0694 -0.5347 0 1.6041; outputs are 32 times that.
  CHECK(n.Out(0) == -34);
  CHECK(n.Out(1) == -17);
  CHECK(n.Out(2) == 0);
  CHECK(n.Out(3) == 51);
  // RMS_NORM with zero point 2: d = -4 0 4 16, v = 288 / 4 = 72, 16 / sqrt(72) = 1.886.
  n.t.op = SLUICE_OP_RMS_NORM;
  n.t.attributes[SLUICE_NORM_INPUT_ZERO] = 2;
  n.Run();
  CHECK(n.Out(3) == 60);
  // EPSILON is added to v: 72 + 216 halves every value.
  n.t.attributes[SLUICE_NORM_EPSILON] = 216;
  n.Run();
  CHECK(n.Out(3) == 30);
}

TEST_CASE("a constant row and the widest row stay in range") {
  Norm n(SLUICE_OP_LAYER_NORM, SLUICE_DTYPE_INT8, 2, 32768);
  for (size_t c = 0; c < 32768; ++c) n.in[c] = 0x80;  // all -128
  n.in[32768] = 0x7f;                                 // one 127, the rest -128
  for (size_t c = 32769; c < 65536; ++c) n.in[c] = 0x80;
  n.parameters[0] = 5 * 256;
  n.Run();
  CHECK(n.Out(0) == 5);
  CHECK(n.Out(1) == 0);
  CHECK(n.Out(32768) == 127);  // 181 deviations
  CHECK(n.Out(32769) == 0);    // -0.0055 deviations
  n.t.attributes[SLUICE_NORM_EPSILON] = INT32_MAX;
  n.Run();
  CHECK(n.Out(0) == 5);
}

TEST_CASE("tiles that cut a row, drop parameters or overflow are refused") {
  Norm n(SLUICE_OP_RMS_NORM, SLUICE_DTYPE_INT8, 2, 8);
  const auto refused = [](Tile t) { return !sluice_sim::CheckTile(t).empty(); };
  REQUIRE(!refused(n.t));
  Tile t = n.t;
  t.output.extent[3] = t.input0.extent[3] = 4;
  CHECK(refused(t));
  t = n.t;
  t.parameters.data = nullptr;
  CHECK(refused(t));
  t = n.t;
  for (const int32_t zero : {-129, -128, 127, 128}) {
    t.attributes[SLUICE_NORM_INPUT_ZERO] = zero;
    CHECK(refused(t) == (zero < -128 || zero > 127));
  }
  t = n.t;
  t.attributes[SLUICE_NORM_EPSILON] = -1;
  CHECK(refused(t));
  t = n.t;
  t.layer.input[3] = t.input0.extent[3] = t.output.extent[3] = 32769;
  CHECK(refused(t));
}

}  // namespace
}  // namespace sluice_test
