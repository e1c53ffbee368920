// SPDX-License-Identifier: Apache-2.0
// How the tiles of a fine group are cut.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "model/notation.h"
#include "tests/model/small_parser.h"

namespace sluice {
namespace {

TEST_CASE("notation cuts: boxes of a layer's tiles are disjoint and fill its map") {
  SmallParser s;
  std::vector<uint32_t> order = {0, 1, 2, 3, 4};
  std::vector<uint8_t> cut = {kCutDram, kCutFine, kCutFine, kCutFine, kCutFine};
  int cuttable = 0;
  for (int32_t count = 1; count <= 8; ++count) {
    std::vector<int32_t> tiles(5, count);
    const GroupNotation g = {{order.data(), 5}, {cut.data(), 5}, {tiles.data(), 5}};
    if (ParseNotation(&s.parser, g, &s.list) != ParseResult::kOk) continue;
    ++cuttable;
    REQUIRE(s.list.tiles == 5 * static_cast<uint32_t>(count));
    for (uint32_t layer = 0; layer < 5; ++layer) {
      const int32_t* extent = s.layers[layer].extent;
      std::vector<int> made(
          static_cast<size_t>(extent[0] * extent[1] * extent[2] * extent[3]));
      for (uint32_t p = 0; p < s.list.tiles; ++p) {
        if (s.list.layer[p] != layer) continue;
        const CutBox& b = s.list.box[p];
        for (int n = b.begin[0]; n < b.end[0]; ++n) {
          for (int h = b.begin[1]; h < b.end[1]; ++h) {
            for (int w = b.begin[2]; w < b.end[2]; ++w) {
              for (int k = b.begin[3]; k < b.end[3]; ++k) {
                const int row = (n * extent[1] + h) * extent[2] + w;
                ++made[static_cast<size_t>(row * extent[3] + k)];
              }
            }
          }
        }
      }
      CHECK(
          std::all_of(made.begin(), made.end(), [](int times) { return times == 1; }));
    }
  }
  CHECK(cuttable >= 4);
}

}  // namespace
}  // namespace sluice
