// SPDX-License-Identifier: Apache-2.0
#include "base/first_fit.h"

#include <doctest/doctest.h>

#include <vector>

#include "base/rng.h"

namespace sluice {
namespace {

TEST_CASE("first fit: the lowest address that a search of all of them finds") {
  Rng rng(9);
  int behind = 0;
  for (int round = 0; round < 4000; ++round) {
    const int64_t alignment = 1 << rng.Below(3);
    const int64_t bytes = rng.Below(12);
    std::vector<TakenRange> taken(rng.Below(round % 100 == 0 ? 900 : 9));
    for (TakenRange& range : taken) {
      range.begin = rng.Below(4 * static_cast<uint32_t>(taken.size()) + 8);
      range.end = range.begin + rng.Below(6);
    }
    int64_t lowest = 0;
    const auto meets = [&](const TakenRange& range) {
      return range.begin < lowest + bytes && lowest < range.end;
    };
    for (bool free = false; !free;) {
      free = true;
      for (const TakenRange& range : taken) free = free && !meets(range);
      if (!free) lowest += alignment;
    }
    behind += lowest > 0;
    REQUIRE(FirstFit(bytes, alignment, {taken.data(), taken.size()}) == lowest);
  }
  CHECK(behind > 1000);
}

TEST_CASE("first fit: nowhere is told") {
  TakenRange taken[] = {{0, 4}, {6, 9}};
  const auto up_to_ten = [](int64_t from) { return from > 10 ? int64_t{1000} : from; };
  CHECK(FirstFit(2, {taken, 2}, 1000, up_to_ten) == 4);
  TakenRange same[] = {{0, 4}, {6, 9}};
  CHECK(FirstFit(3, {same, 2}, 1000, up_to_ten) == 9);
  TakenRange all[] = {{0, 11}};
  CHECK(FirstFit(1, {all, 1}, 1000, up_to_ten) == 1000);
}

}  // namespace
}  // namespace sluice
