// SPDX-License-Identifier: Apache-2.0
#include "base/checked.h"

#include <doctest/doctest.h>

#include "base/rng.h"

namespace sluice {
namespace {

// Long division, one bit of the product at a time.
int64_t Divided(int64_t bytes, int64_t numerator, int64_t denominator) {
  const unsigned __int128 product =
      static_cast<unsigned __int128>(bytes) * static_cast<uint64_t>(denominator);
  unsigned __int128 quotient = 0, rest = 0;
  for (int bit = 127; bit >= 0; --bit) {
    rest = rest * 2 + static_cast<uint64_t>(product >> bit & 1);
    quotient *= 2;
    if (rest < static_cast<uint64_t>(numerator)) continue;
    rest -= static_cast<uint64_t>(numerator);
    quotient += 1;
  }
  quotient += rest != 0 ? 1 : 0;
  const bool fits = quotient <= static_cast<uint64_t>(INT64_MAX);
  return fits ? static_cast<int64_t>(quotient) : INT64_MAX;
}

TEST_CASE("checked: cycles of a transfer are rounded up, in 64 bits and in 128") {
  CHECK(TransferCycles(0, 3, 5) == 0);
  CHECK(TransferCycles(1, 3, 1) == 1);
  CHECK(TransferCycles(6, 3, 1) == 2);
  CHECK(TransferCycles(INT64_MAX, 1, 1) == INT64_MAX);
  CHECK(TransferCycles(INT64_MAX, INT64_MAX, 1) == 1);
  CHECK(TransferCycles(INT64_MAX, 1, 2) == INT64_MAX);
  CHECK(TransferCycles(INT64_MAX, 2, 2) == INT64_MAX);
  CHECK(TransferCycles(INT64_MAX, 3, 2) == 6148914691236517205);
  Rng rng(1);
  int wide = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto number = [&] {
      return static_cast<int64_t>(rng.Next() >> (2 + rng.Below(62)));
    };
    const int64_t bytes = number(), numerator = number() + 1, denominator = number();
    int64_t product = 0;
    wide += CheckedMultiply(bytes, denominator, &product) ? 0 : 1;
    REQUIRE(TransferCycles(bytes, numerator, denominator) ==
            Divided(bytes, numerator, denominator));
  }
  CHECK(wide > 1000);
  CHECK(wide < 19000);
}

}  // namespace
}  // namespace sluice
