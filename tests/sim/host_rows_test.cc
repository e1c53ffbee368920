// SPDX-License-Identifier: Apache-2.0
// Softmax to 16 bits and the host's parts of SVDF by hand.
#include <cmath>

#include "tests/sim/host_case.h"

namespace sluice_sim {
namespace {

TEST_CASE("host rows: a softmax to 16 bits is the exponentials' share") {
  HostCase c;
  c.Bytes({1, 1, 1, 3}, {0, 10, 10});
  // A step is 0.1: multiplier and shift of 0.1 * 2^26.
  c.Options({1717986918, 23, -248});
  c.Wanted(SLUICE_DTYPE_INT16, {1, 1, 1, 3}, 6);
  REQUIRE(c.Run("softmax_int16") == "");
  const std::vector<int16_t> got = c.Result<int16_t>();
  const double sum = 2 + std::exp(-1.0);
  CHECK(std::abs(got[0] + 32768 - 65536 * std::exp(-1.0) / sum) < 2);
  CHECK(std::abs(got[1] + 32768 - 65536 / sum) < 2);
  CHECK(got[1] == got[2]);
  c.out[0].extent[3] = 2;
  CHECK(c.Run("softmax_int16") == "operands of a softmax");
}

// Two filters with a memory of two values each: rows of the state are moments.
HostCase StateCase() {
  HostCase c;
  c.Ints({1, 1, 1, 2}, {-300, 40000});
  c.Shorts({1, 1, 1, 4}, {100, 200, 2, 3});
  c.Options({2, 2});
  c.Wanted(SLUICE_DTYPE_INT16, {1, 1, 1, 4}, 8);
  c.Wanted(SLUICE_DTYPE_INT8, {1, 1, 2, 2}, 4);
  c.Wanted(SLUICE_DTYPE_UINT8, {1, 1, 2, 2}, 4);
  return c;
}

TEST_CASE("host rows: SVDF forgets the oldest row and learns one, as two bytes each") {
  HostCase c = StateCase();
  REQUIRE(c.Run("svdf_state") == "");
  CHECK(c.Result<int16_t>(0) == std::vector<int16_t>{2, 3, -300, 32767});
  CHECK(c.Result<int8_t>(1) == std::vector<int8_t>{0, 0, -2, 127});
  CHECK(c.Result<uint8_t>(2) == std::vector<uint8_t>{2, 3, 212, 255});
  HostCase wrong = StateCase();
  ResultOf<int32_t>(wrong.in[2])[1] = 3;
  CHECK(wrong.Run("svdf_state") == "extents of an SVDF");
}

TEST_CASE("host rows: SVDF adds up the sums of bytes over its rank") {
  HostCase c;
  for (const int32_t sum : {1, -2, 3, 4}) c.Ints({1, 1, 1, 2}, {sum, 10 * sum});
  c.Ints({1, 1, 1, 1}, {7});
  // The factor 2^-12.
  c.Options({2, kOne, -11, -10});
  c.Wanted(SLUICE_DTYPE_INT8, {1, 1, 1, 1}, 1);
  REQUIRE(c.Run("svdf_output") == "");
  // 11 * (65536 + (3 - 2) * 256 + 4) + 7, in steps of 4096: 176.7, clamped.
  CHECK(c.Result<int8_t>(0) == std::vector<int8_t>{127});
  ResultOf<int32_t>(c.in[5])[2] = -13;
  REQUIRE(c.Run("svdf_output") == "");
  CHECK(c.Result<int8_t>(0) == std::vector<int8_t>{34});
  ResultOf<int32_t>(c.in[5])[0] = 3;
  CHECK(c.Run("svdf_output") == "extents of an SVDF");
}

}  // namespace
}  // namespace sluice_sim
