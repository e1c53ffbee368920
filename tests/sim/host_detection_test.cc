// SPDX-License-Identifier: Apache-2.0
// Detections by hand.
#include "tests/sim/host_case.h"

namespace sluice_sim {
namespace {

int32_t BitsOf(float value) {
  int32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

// Three boxes of size 10: two nearly equal, one far away. Two classes behind a
// background class. Scales are 1, zero points 100.
HostCase Detector(int32_t most, float overlap) {
  HostCase c;
  const std::vector<uint8_t> boxes = {100, 100, 100, 100, 101, 100,
                                      100, 100, 100, 100, 100, 100};
  const std::vector<uint8_t> scores = {255, 110, 120, 0, 130, 101, 0, 105, 105};
  const std::vector<uint8_t> anchors = {100, 100, 110, 110, 100, 100,
                                        110, 110, 200, 200, 110, 110};
  c.Given(SLUICE_DTYPE_UINT8, {1, 1, 3, 4}, boxes);
  c.Given(SLUICE_DTYPE_UINT8, {1, 1, 3, 3}, scores);
  c.Given(SLUICE_DTYPE_UINT8, {1, 1, 3, 4}, anchors);
  const int32_t one = BitsOf(1);
  c.Options({most, 2, BitsOf(-10), BitsOf(overlap), BitsOf(10), one, one, one, one, 100,
             one, 100, one, 100});
  const size_t n = static_cast<size_t>(most);
  c.Wanted(SLUICE_DTYPE_INT32, {1, 1, most, 4}, 16 * n);
  c.Wanted(SLUICE_DTYPE_INT32, {1, 1, 1, most}, 4 * n);
  c.Wanted(SLUICE_DTYPE_INT32, {1, 1, 1, most}, 4 * n);
  c.Wanted(SLUICE_DTYPE_INT32, {1, 1, 1, 1}, 4);
  return c;
}

using Floats = std::vector<float>;

TEST_CASE("host detection: the best box takes those away that overlap it too much") {
  HostCase c = Detector(3, 0.5f);
  REQUIRE(c.Run("detection") == "");
  CHECK(c.Result<float>(0) == Floats{-4, -5, 6, 5, 95, 95, 105, 105, 0, 0, 0, 0});
  CHECK(c.Result<float>(1) == Floats{0, 0, 0});
  CHECK(c.Result<float>(2) == Floats{30, 5, 0});
  CHECK(c.Result<float>(3) == Floats{2});
}

TEST_CASE("host detection: no more than asked for, by score and then by place") {
  HostCase all = Detector(3, 1);
  REQUIRE(all.Run("detection") == "");
  CHECK(all.Result<float>(1) == Floats{0, 1, 0});
  CHECK(all.Result<float>(2) == Floats{30, 20, 5});
  CHECK(all.Result<float>(3) == Floats{3});
  HostCase two = Detector(2, 1);
  REQUIRE(two.Run("detection") == "");
  CHECK(two.Result<float>(2) == Floats{30, 20});
  two.out[1].extent[3] = 3;
  CHECK(two.Run("detection") == "extents of a detection");
}

}  // namespace
}  // namespace sluice_sim
