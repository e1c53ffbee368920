// SPDX-License-Identifier: Apache-2.0
#include "import/quantisation.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "base/rng.h"
#include "sluice/ops.h"

namespace sluice::import {
namespace {

TEST_CASE("quantisation: factors are fractions of 2^31 and a shift") {
  const auto is = [](Factor f, int64_t m, int32_t s) {
    return f.multiplier == m && f.shift == s;
  };
  CHECK(is(QuantiseFactor(0), 0, 0));
  CHECK(is(QuantiseFactor(1), 1 << 30, 1));
  CHECK(is(QuantiseFactor(0.5), 1 << 30, 0));
  CHECK(is(QuantiseFactor(0.75), 3 << 29, 0));
  CHECK(is(QuantiseFactor(std::nextafter(1.0, 0.0)), 1 << 30, 1));  // rounds up to 1
  CHECK(is(QuantiseFactor(1e-20), 0, 0));
  CHECK(QuantiseFactor(2.0 / 3).multiplier == 1431655765);
  CHECK(QuantiseFactorUp(2.0 / 3).multiplier == 1431655766);
}

TEST_CASE("quantisation: factors are rounded as std::round and std::ceil do") {
  Rng rng(5);
  for (int i = 0; i < 200000; ++i) {
    // Steps with a random fraction, or next to a multiple of a quarter.
    const double fine = static_cast<double>(rng.Below(1u << 30)) / (1u << 30);
    const double step = static_cast<double>((1u << 30) + rng.Below(1u << 30));
    const double near = static_cast<double>(rng.Below(5)) * 0.25 +
                        (static_cast<double>(rng.Below(3)) - 1) / (1 << 22);
    const double scaled = step + (i % 2 == 0 ? fine : near);
    const double sign = i % 16 == 0 ? -1 : 1;
    const double factor =
        sign * std::ldexp(scaled, -31 - static_cast<int>(rng.Below(20)));
    if (i % 32 == 1) CHECK(QuantiseFactor(std::ldexp(scaled, -1080)).multiplier == 0);
    int shift = 0;
    const double fraction = std::frexp(factor, &shift) * 2147483648.0;
    for (const bool up : {false, true}) {
      const Factor made = up ? QuantiseFactorUp(factor) : QuantiseFactor(factor);
      const double expected = up ? std::ceil(fraction) : std::round(fraction);
      REQUIRE(std::ldexp(made.multiplier, made.shift) == std::ldexp(expected, shift));
    }
  }
}

TEST_CASE("quantisation: clamps stay inside the type and survive tiny scales") {
  const float infinity = std::numeric_limits<float>::infinity();
  const Range relu6 = ClampRange(SLUICE_DTYPE_INT8, {6.0f / 255, -128}, 0, 6);
  CHECK((relu6.min == -128 && relu6.max == 127));
  const Range relu = ClampRange(SLUICE_DTYPE_UINT8, {0.1f, 100}, 0, infinity);
  CHECK((relu.min == 100 && relu.max == 255));
  const Range tiny = ClampRange(SLUICE_DTYPE_INT8, {1e-30f, 0}, -1, 1);
  CHECK((tiny.min == -128 && tiny.max == 127));
  const Range nothing = ClampRange(SLUICE_DTYPE_INT8, {0, 3}, 0, infinity);
  CHECK((nothing.min == 3 && nothing.max == 127));
}

TEST_CASE("quantisation: what is no number has a defined answer") {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double factor : {infinity, -infinity, std::nan("")}) {
    CHECK(QuantiseFactor(factor).shift > 31);
  }
  const std::vector<uint8_t> table =
      LookupTable(SLUICE_DTYPE_INT8, {0.1f, 0}, SLUICE_DTYPE_INT8, {0.1f, 5},
                  [](float x) { return x / 0.0f; });
  CHECK(table[0] == 5);  // 0 / 0
  CHECK(table[1] == 127);
  CHECK(static_cast<int8_t>(table[255]) == -128);
}

}  // namespace
}  // namespace sluice::import
