// SPDX-License-Identifier: Apache-2.0
#include "import/float_parts.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "import/lowering_rules.h"

namespace sluice::import {
namespace {

TEST_CASE("float parts: a slice is its scale times the sum of three bytes") {
  const std::vector<float> reals = {1, -0.3f, 1e-3f, 0, 0, 0, 7e30f, -2, 3e30f};
  const FloatParts split = SplitFloats(reals, 3);
  REQUIRE(split.scales.size() == 3);
  CHECK(split.scales[1] == 0);
  const float most[] = {1, 0, 7e30f};
  for (size_t i = 0; i < reals.size(); ++i) {
    double sum = 0;
    for (int p = 0; p < kFloatParts; ++p)
      sum +=
          split.parts[static_cast<size_t>(p)][i] * static_cast<double>(PartWeight(p));
    const double real = sum * static_cast<double>(split.scales[i / 3]);
    CHECK(std::abs(real - static_cast<double>(reals[i])) <=
          static_cast<double>(most[i / 3]) * std::ldexp(1.0, -22));
  }
}

TEST_CASE("float parts: infinity has none") {
  CHECK_THROWS_AS(SplitFloats({1, std::numeric_limits<float>::infinity()}, 2),
                  Unsupported);
}

}  // namespace
}  // namespace sluice::import
