// SPDX-License-Identifier: Apache-2.0
#include "import/float_ranges.h"

#include <doctest/doctest.h>

#include <cmath>

#include "import/error.h"

namespace sluice::import {
namespace {

TEST_CASE("float ranges: int8 numbers hold 0 and the bounds of the interval") {
  const Affine odd = Int8Affine({-1, 1.55f});
  CHECK(odd.scale == doctest::Approx(0.01f));
  CHECK(odd.zero == -28);
  CHECK(Int8Of(0, odd) == odd.zero);
  CHECK(Int8Of(-1, odd) == -128);
  CHECK(Int8Of(1.55f, odd) == 127);
  CHECK(Int8Of(99, odd) == 127);
  // An interval that lies beside 0 is widened to it.
  CHECK(Int8Affine({2, 255}).zero == -128);
  CHECK(Int8Affine({2, 255}).scale == 1);
  CHECK(Int8Affine({-255, -2}).zero == 127);
  CHECK(Int8Affine({0, 0}).scale == 1);
  CHECK(Int8Affine({0, 1e-45f}).scale == 1);
}

TEST_CASE(
    "float ranges: weights are symmetric for each slice, ties go to the even step") {
  const Slices columns = SlicesOf(std::vector<int64_t>{2, 3}, 1);
  const Int8Weights made = QuantisedWeights({127, -0.5f, 0, -1, 1.27f, 0}, columns);
  REQUIRE(made.scales.size() == 3);
  CHECK(made.scales[0] == 1);
  CHECK(made.scales[1] == doctest::Approx(0.01f));
  CHECK(made.scales[2] == 1);  // nothing but zeros
  CHECK(made.bytes == std::vector<uint8_t>{127, 206, 0, 255, 127, 0});
  const Int8Weights whole = QuantisedWeights({127, 0.5f, 1.5f, 2.5f}, Slices());
  CHECK(whole.bytes == std::vector<uint8_t>{127, 0, 2, 2});
}

TEST_CASE("float ranges: biases have the scale of the sums") {
  CHECK(QuantisedBias({1, -1}, {0.5f, 0.25f}) ==
        std::vector<uint8_t>{2, 0, 0, 0, 252, 255, 255, 255});
  CHECK(QuantisedBias({1e30f}, {0.5f}) == std::vector<uint8_t>{255, 255, 255, 127});
  CHECK(Int32Of(1, 0) == 0);
}

TEST_CASE("float ranges: no number, unknown tensors and missing ranges are told") {
  const float bad = NAN;
  CHECK_THROWS_AS(FloatsIn(reinterpret_cast<const uint8_t*>(&bad), 4), Error);
  CHECK_THROWS_AS(MustBeKnown({{"x", {0, 1}}}, {"y"}), Error);
  try {
    FailUnranged({{"a", "why", 1}, {"b", "why", 1}});
    FAIL("it returned");
  } catch (const Refusal& refusal) {
    CHECK(refusal.name() == SLUICE_IMPORT_UNRANGED);
    CHECK(refusal.fault() == Fault::kBadInput);
    CHECK(refusal.list().size() == 2);
  }
}

}  // namespace
}  // namespace sluice::import
