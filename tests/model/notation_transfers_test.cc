// SPDX-License-Identifier: Apache-2.0
// What the tiles of a notation load and store.
#include <doctest/doctest.h>

#include <vector>

#include "model/notation.h"
#include "tests/model/small_parser.h"

namespace sluice {
namespace {

TEST_CASE("notation transfers: sums are those of the list, and a full list is told") {
  SmallParser s;
  std::vector<uint32_t> order = {0, 1, 2, 3, 4};
  std::vector<uint8_t> cut(5, kCutDram);
  std::vector<int32_t> tiles = {1, 1, 1, 1, 1};
  const GroupNotation g = {{order.data(), 5}, {cut.data(), 5}, {tiles.data(), 5}};
  REQUIRE(ParseNotation(&s.parser, g, &s.list) == ParseResult::kOk);
  int64_t loads = 0, stores = 0, cycles = 0;
  std::vector<int> stored(5);
  for (uint32_t t = 0; t < s.list.transfers; ++t) {
    const DramTensor& transfer = s.list.transfer[t];
    (transfer.kind == kStore ? stores : loads) += transfer.bytes;
    cycles += transfer.cycles;
    if (transfer.kind == kStore) ++stored[transfer.layer];
    // What another group made is loaded after it was stored.
    if (transfer.kind == kLoadInput && transfer.source < 5) {
      REQUIRE(transfer.after != kNone);
      CHECK(s.list.transfer[transfer.after].layer == transfer.source);
    }
  }
  CHECK(loads == s.list.load_bytes);
  CHECK(stores == s.list.store_bytes);
  CHECK(cycles == s.list.dram_cycles);
  CHECK(stored == std::vector<int>(5, 1));  // each layer is a group of its own
  const uint32_t needed = s.list.transfers;
  for (uint32_t room : {needed, needed - 1}) {
    Parser small;
    TileList held;
    REQUIRE(InitParser(&small, &s.arena, &s.problem, &s.memo, {512, room}, &held) ==
            Status::kOk);
    CHECK(ParseNotation(&small, g, &held) ==
          (room == needed ? ParseResult::kOk : ParseResult::kTooMany));
  }
}

}  // namespace
}  // namespace sluice
