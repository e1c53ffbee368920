// SPDX-License-Identifier: Apache-2.0
// An LSTM whose gates are set by their biases, against real arithmetic.
// tests/import/people_test.cc compares with the interpreter, byte for byte.
#include <cmath>

#include "tests/sim/host_case.h"

namespace sluice_sim {
namespace {

// One input, one cell, `steps` steps. The gates get these biases in steps of 1/4096;
// the cell is in steps of 1/2048, the output in steps of 1/128.
HostCase Lstm(const std::array<int32_t, 4>& biases, int16_t cell, int64_t steps,
              int32_t coupled = 0) {
  HostCase c;
  c.Bytes({1, 1, steps, 1}, std::vector<int8_t>(static_cast<size_t>(steps), 5));
  for (int i = 0; i < 8; ++i) c.Bytes({1, 1, 1, 1}, {0});
  for (const int32_t bias : biases) c.Ints({1, 1, 1, 1}, {bias});
  c.Bytes({1, 1, 1, 1}, {0});
  c.Shorts({1, 1, 1, 1}, {cell});
  std::vector<int32_t> options;
  for (int i = 0; i < 8; ++i) options.insert(options.end(), {kOne, 1});
  // The factor 2^-30 * 128.
  options.insert(options.end(), {kOne, -22, -11, 0, 0, 0, 0, coupled});
  c.Options(options);
  c.Wanted(SLUICE_DTYPE_INT8, {1, 1, steps, 1}, static_cast<size_t>(steps));
  c.Wanted(SLUICE_DTYPE_INT8, {1, 1, 1, 1}, 1);
  c.Wanted(SLUICE_DTYPE_INT16, {1, 1, 1, 1}, 2);
  return c;
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST_CASE("host lstm: gates, cell and output are what their curves say") {
  for (const int32_t input : {-9000, -300, 0, 2500, 30000}) {
    for (const int32_t fresh : {-20000, -1000, 0, 700, 12000}) {
      CAPTURE(input);
      CAPTURE(fresh);
      HostCase c = Lstm({input, 1000, fresh, -2000}, -3000, 1);
      REQUIRE(c.Run("lstm_int8") == "");
      const double cell = Sigmoid(1000 / 4096.0) * (-3000 / 2048.0) +
                          Sigmoid(input / 4096.0) * std::tanh(fresh / 4096.0);
      CHECK(std::abs(c.Result<int16_t>(2)[0] / 2048.0 - cell) < 0.003);
      const double shown = Sigmoid(-2000 / 4096.0) * std::tanh(cell);
      CHECK(std::abs(c.Result<int8_t>(0)[0] / 128.0 - shown) < 0.012);
      CHECK(c.Result<int8_t>(1)[0] == c.Result<int8_t>(0)[0]);
    }
  }
}

TEST_CASE("host lstm: a coupled input gate is what the forget gate leaves") {
  HostCase c = Lstm({30000, 1000, 700, -2000}, -3000, 1, 1);
  REQUIRE(c.Run("lstm_int8") == "");
  const double keep = Sigmoid(1000 / 4096.0);
  const double cell = keep * (-3000 / 2048.0) + (1 - keep) * std::tanh(700 / 4096.0);
  CHECK(std::abs(c.Result<int16_t>(2)[0] / 2048.0 - cell) < 0.003);
}

TEST_CASE("host lstm: a forgotten cell halves from step to step") {
  HostCase c = Lstm({0, 0, 0, 0}, 16000, 3);
  REQUIRE(c.Run("lstm_int8") == "");
  CHECK(c.Result<int16_t>(2) == std::vector<int16_t>{2000});
}

// Steps of 1/512: cells reach to 64, where the exponential's last power is that of 16.
TEST_CASE("host lstm: a cell of many integer bits is shown by its curve") {
  for (const int16_t cell : {100, 300, 8250, 20000, -400, -8250}) {
    CAPTURE(cell);
    HostCase c = Lstm({-30000, 30000, 0, 30000}, cell, 1);
    ResultOf<int32_t>(c.in[15])[kLstmCellShift] = -9;
    REQUIRE(c.Run("lstm_int8") == "");
    CHECK(std::abs(c.Result<int8_t>(0)[0] / 128.0 - std::tanh(cell / 512.0)) < 0.012);
  }
}

TEST_CASE("host lstm: operands that do not fit are a sentence") {
  HostCase types = Lstm({0, 0, 0, 0}, 0, 1);
  types.in[13].dtype = SLUICE_DTYPE_INT16;
  CHECK(types.Run("lstm_int8") == "operands of an LSTM");
  HostCase extents = Lstm({0, 0, 0, 0}, 0, 1);
  extents.in[3].extent[3] = 2;
  CHECK(extents.Run("lstm_int8") == "extents of an LSTM");
  HostCase shift = Lstm({0, 0, 0, 0}, 0, 1);
  ResultOf<int32_t>(shift.in[15])[kLstmCellShift] = 0;
  CHECK(shift.Run("lstm_int8") == "extents of an LSTM");
}

// One step of two cells, whose numbers a unit has computed.
struct StepCase {
  std::vector<int16_t> peepholes = {0}, norms = {0};
  std::vector<int32_t> biases = {0};
  int32_t coupled = 0;

  HostCase Made() const {
    HostCase c;
    std::vector<int32_t> gates = {9000, -300, 1000, 40, -20000, 700, -2000, 2500};
    if (coupled != 0) gates.erase(gates.begin(), gates.begin() + 2);
    const int64_t count = static_cast<int64_t>(gates.size());
    c.Ints({1, 1, 1, count}, gates);
    c.Ints({1, 1, 1, count}, std::vector<int32_t>(gates.size(), 0));
    c.Shorts({1, 1, 1, 2}, {-3000, 1500});
    c.Shorts({1, 1, 1, static_cast<int64_t>(peepholes.size())}, peepholes);
    c.Shorts({1, 1, 1, static_cast<int64_t>(norms.size())}, norms);
    c.Ints({1, 1, 1, static_cast<int64_t>(biases.size())}, biases);
    // The factor 2^-30 * 128 of the hidden state; 1/2048 of the peepholes.
    std::vector<int32_t> options = {1, 1, 2, 0, 0, coupled, -11, 0, kOne, -22, 0};
    for (int i = 0; i < 3; ++i) options.insert(options.end(), {kOne, -10});
    for (int i = 0; i < 4; ++i) options.insert(options.end(), {kOne, -13, 1});
    c.Options(options);
    c.Wanted(SLUICE_DTYPE_INT8, {1, 1, 1, 2}, 2);
    c.Wanted(SLUICE_DTYPE_INT16, {1, 1, 1, 2}, 4);
    return c;
  }
};

double CellOf(double take, double keep, double fresh, double before) {
  return Sigmoid(keep / 4096) * before / 2048 +
         Sigmoid(take / 4096) * std::tanh(fresh / 4096);
}

TEST_CASE("host lstm: a step computes what its gates say, with peepholes and without") {
  HostCase plain = StepCase().Made();
  REQUIRE(plain.Run("lstm_step_int8") == "");
  CHECK(std::abs(plain.Result<int16_t>(1)[0] / 2048.0 -
                 CellOf(9000, 1000, -20000, -3000)) < 0.003);
  CHECK(std::abs(plain.Result<int16_t>(1)[1] / 2048.0 - CellOf(-300, 40, 700, 1500)) <
        0.003);
  StepCase with;
  with.peepholes = {2048, 0, 0, 4096, 0, 0};  // 1 and 2 times the cell
  HostCase peep = with.Made();
  REQUIRE(peep.Run("lstm_step_int8") == "");
  CHECK(std::abs(peep.Result<int16_t>(1)[0] / 2048.0 -
                 CellOf(9000 - 3000, 1000, -20000, -3000)) < 0.003);
  CHECK(std::abs(peep.Result<int16_t>(1)[1] / 2048.0 -
                 CellOf(-300, 40 + 3000, 700, 1500)) < 0.003);
}

TEST_CASE("host lstm: a normalised gate has the mean 0 and the variance 1") {
  StepCase norm;
  norm.norms.assign(8, 16384);
  norm.biases.assign(8, 0);
  HostCase c = norm.Made();
  REQUIRE(c.Run("lstm_step_int8") == "");
  // Of two numbers one is 1 above the mean, the other 1 below; 16384 * 2^-14 is 1.
  CHECK(std::abs(c.Result<int16_t>(1)[0] / 2048.0 - CellOf(4096, 4096, -4096, -3000)) <
        0.01);
  CHECK(std::abs(c.Result<int16_t>(1)[1] / 2048.0 - CellOf(-4096, -4096, 4096, 1500)) <
        0.01);
}

TEST_CASE("host lstm: a step refuses operands of other extents") {
  StepCase coupled;
  coupled.coupled = 1;
  HostCase good = coupled.Made();
  CHECK(good.Run("lstm_step_int8") == "");
  StepCase bad;
  bad.peepholes = {1, 2};
  HostCase c = bad.Made();
  CHECK(c.Run("lstm_step_int8") == "extents of a step of an LSTM");
  HostCase late = StepCase().Made();
  ResultOf<int32_t>(late.in[6])[3] = 1;  // the second of one step
  CHECK(late.Run("lstm_step_int8") == "extents of a step of an LSTM");
}

}  // namespace
}  // namespace sluice_sim
