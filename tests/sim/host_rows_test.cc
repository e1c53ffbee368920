// SPDX-License-Identifier: Apache-2.0
// Softmax to 16 bits and SVDF by hand.
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

// Two filters of two features with a memory of two values each, summed to one output.
HostCase SvdfCase() {
  HostCase c;
  c.Bytes({1, 1, 1, 2}, {3, 4});
  c.Bytes({1, 1, 2, 2}, {1, 2, 10, 20});
  c.Shorts({1, 1, 2, 2}, {5, 1, 1, 1});
  c.Ints({1, 1, 1, 1}, {7});
  c.Shorts({1, 1, 1, 4}, {100, 2, 100, 3});
  c.Options({2, 1, -10, kOne, 1, kOne, 1});
  c.Wanted(SLUICE_DTYPE_INT8, {1, 1, 1, 1}, 1);
  c.Wanted(SLUICE_DTYPE_INT16, {1, 1, 1, 4}, 8);
  return c;
}

TEST_CASE("host rows: SVDF forgets the oldest value, learns one, and sums over time") {
  HostCase c = SvdfCase();
  REQUIRE(c.Run("svdf") == "");
  // The new features 2 + 2 * 3 and 2 * 10 + 3 * 20 of (2, 3): 8 and 80.
  CHECK(c.Result<int16_t>(1) == std::vector<int16_t>{2, 8, 3, 80});
  // 5 * 2 + 8 + 3 + 80, plus the bias 7, and the zero point -10.
  CHECK(c.Result<int8_t>(0) == std::vector<int8_t>{98});
  HostCase wrong = SvdfCase();
  ResultOf<int32_t>(wrong.in[5])[0] = 3;
  CHECK(wrong.Run("svdf") == "extents of an SVDF");
}

}  // namespace
}  // namespace sluice_sim
