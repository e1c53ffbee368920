// SPDX-License-Identifier: Apache-2.0
// Rows that are quantised by their range, against numbers by hand.
#include <limits>

#include "tests/sim/host_case.h"

namespace sluice_sim {
namespace {

void Floats(HostCase* c, const std::vector<float>& floats) {
  c->Given<float>(SLUICE_DTYPE_INT32, {1, 1, 1, static_cast<int64_t>(floats.size())},
                  floats);
}
int32_t BitsOf(float number) {
  int32_t bits;
  std::memcpy(&bits, &number, 4);
  return bits;
}

HostCase Rows(const std::vector<float>& floats, int32_t by_range) {
  HostCase c;
  Floats(&c, floats);
  c.Options({2, 2, by_range});
  c.Wanted(SLUICE_DTYPE_INT8, {1, 1, 2, 2}, 4);
  c.Wanted(SLUICE_DTYPE_INT32, {1, 1, 1, 2}, 8);
  c.Wanted(SLUICE_DTYPE_INT32, {1, 1, 1, 2}, 8);
  return c;
}

TEST_CASE("quantised rows: the largest number is 127, and zeros have a scale of 1") {
  HostCase c = Rows({-127, 2.5f, 0, 0}, 0);
  CHECK(c.Run("quantise_rows") == "");
  CHECK(c.Result<int8_t>() == std::vector<int8_t>{-127, 3, 0, 0});
  CHECK(c.Result<float>(1) == std::vector<float>{1, 1});
  CHECK(c.Result<int32_t>(2) == std::vector<int32_t>{0, 0});
}

TEST_CASE("quantised rows: by range, 0 is a whole number of steps") {
  // From -51 to 204 in steps of 1: -51 is -128. From 0 to 510 in steps of 2.
  HostCase c = Rows({-51, 204, 100, 510}, 1);
  CHECK(c.Run("quantise_rows") == "");
  CHECK(c.Result<int8_t>() == std::vector<int8_t>{-128, 127, -78, 127});
  CHECK(c.Result<float>(1) == std::vector<float>{1, 2});
  CHECK(c.Result<int32_t>(2) == std::vector<int32_t>{-77, -128});
}

TEST_CASE("quantised rows: what is not finite or does not fit is a sentence") {
  HostCase c = Rows({1, std::numeric_limits<float>::infinity(), 0, 0}, 1);
  CHECK(c.Run("quantise_rows") == "a number that is not finite");
  HostCase d = Rows({1, 2, 3, 4}, 0);
  d.out[0].dtype = SLUICE_DTYPE_UINT8;
  CHECK(d.Run("quantise_rows") != "");
}

// Sums of a window of two with one pixel of padding in front; the weight is 3 and 4.
HostCase Sums(int32_t transposed) {
  HostCase c;
  c.Ints({1, 1, 2, 1}, {100, 200});
  Floats(&c, {0.5f});
  c.Ints({1, 1, 1, 1}, {-10});
  c.Ints({1, 1, 1, 2}, {3, 4});
  Floats(&c, {0.25f});
  Floats(&c, {1});
  c.Options({1,
             1,
             1,
             2,
             1,
             1,
             2,
             1,
             2,
             1,
             1,
             1,
             1,
             1,
             0,
             1,
             0,
             transposed,
             BitsOf(-100),
             BitsOf(30)});
  c.Wanted(SLUICE_DTYPE_INT32, {1, 1, 2, 1}, 8);
  return c;
}

TEST_CASE("quantised rows: sums less the zero point times what lies inside, scaled") {
  // (100 + 10 * 4) / 8 + 1 and (200 + 10 * 7) / 8 + 1, at most 30.
  HostCase c = Sums(0);
  CHECK(c.Run("scale_rows") == "");
  CHECK(c.Result<float>() == std::vector<float>{18.5f, 30});
}

TEST_CASE("quantised rows: a transposed convolution adds by its own places") {
  // With one pixel cut off in front: the first result adds 4 and 3, the second 4 alone.
  HostCase c = Sums(1);
  CHECK(c.Run("scale_rows") == "");
  CHECK(c.Result<float>() == std::vector<float>{(100 + 70) / 8.0f + 1, 30});
  ResultOf<int32_t>(c.in[0])[1] = 0;
  CHECK(c.Run("scale_rows") == "");
  CHECK(c.Result<float>()[1] == 40 / 8.0f + 1);
  c.in[3].extent[3] = 1;
  CHECK(c.Run("scale_rows") != "");
}

}  // namespace
}  // namespace sluice_sim
