// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/offsets/fixed_overlap.h"

#include <doctest/doctest.h>

#include <vector>

#include "tests/solve/placement/judge.h"

using namespace sluice;
using sluice_test::Ground;
using sluice_test::View;

namespace {

bool Meet(const FixedBlock& a, const FixedBlock& b) {
  return a.begin < b.end && b.begin < a.end && a.first_byte < b.last_byte &&
         b.first_byte < a.last_byte && !(a.reserved && b.reserved);
}

// Compares the answer with that of all pairs.
bool CheckPairs(const std::vector<FixedBlock>& blocks) {
  bool any = false;
  for (size_t i = 0; i < blocks.size() && !any; ++i) {
    for (size_t j = 0; j < i && !any; ++j) any = Meet(blocks[i], blocks[j]);
  }
  Ground ground;
  FixedOverlap overlap;
  REQUIRE(FindFixedOverlap(View(blocks), &ground.arena, &overlap) == Status::kOk);
  REQUIRE(overlap.found == any);
  if (!any) return false;
  CHECK(Meet(overlap.first, overlap.second));
  CHECK(overlap.first.begin <= overlap.second.begin);
  CHECK((overlap.first.index != overlap.second.index ||
         overlap.first.reserved != overlap.second.reserved));
  return true;
}

}  // namespace

TEST_CASE("fixed blocks: an overlap is found where all pairs have one") {
  Rng rng(3);
  int overlaps = 0;
  for (int i = 0; i < 3000; ++i) {
    std::vector<FixedBlock> blocks(2 + rng.Below(8));
    for (uint32_t b = 0; b < blocks.size(); ++b) {
      const int64_t begin = rng.Below(12), byte = rng.Below(30);
      blocks[b] = {begin,       begin + 1 + rng.Below(4), byte, byte + 1 + rng.Below(6),
                   uint32_t{b}, rng.Below(3) == 0};
    }
    overlaps += CheckPairs(blocks);
  }
  CHECK(overlaps > 1000);
  CHECK(overlaps < 2500);
}

TEST_CASE("fixed blocks: an overlap is found among thousands that are alive together") {
  constexpr uint32_t kMany = 3000;
  std::vector<FixedBlock> blocks;
  for (uint32_t i = 0; i < kMany; ++i) {
    const int64_t byte = 8 * ((i * 7) % kMany);
    blocks.push_back({0, 2 + i % 5, byte, byte + 8, i, i % 2 == 0});
  }
  CHECK(!CheckPairs(blocks));
  // A reserved region may lie over an even block, which is reserved too, but not over an
  // odd one.
  for (const bool meets : {true, false}) {
    const int64_t byte = 8 * 7 * (meets ? 1 : 2);
    blocks.push_back({1, 3, byte + 1, byte + 2, kMany, true});
    CHECK(CheckPairs(blocks) == meets);
    blocks.pop_back();
  }
  // Legal contacts do not hide a later overlap: a reserved region over another one, and a
  // block that begins at the address and the time at which others end.
  blocks.push_back({1, 3, 8 * 14 + 1, 8 * 14 + 2, kMany, true});
  blocks.push_back({6, 7, 0, 8 * kMany, kMany + 1, false});
  CHECK(!CheckPairs(blocks));
  blocks.push_back({7, 9, 8, 16, kMany + 2, false});
  blocks.push_back({8, 10, 15, 20, kMany + 3, true});
  CHECK(CheckPairs(blocks));
}
