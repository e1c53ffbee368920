// SPDX-License-Identifier: Apache-2.0
// Transfers that meet on the links of a mesh of 4 columns and 3 rows, by hand. Each takes
// its links for 10 cycles and asks for the next one 2 cycles after it got one.
#include "firmware-sim/links.h"

#include <doctest/doctest.h>

#include <map>
#include <utility>

namespace sluice_test {
namespace {

using sluice_sim::Links;
using Rectangle = Links::Rectangle;
// Of a link from a node to its neighbour: how long one that comes at cycle 100 waits.
using Waiting = std::map<std::pair<uint32_t, uint32_t>, uint64_t>;

constexpr uint32_t kCols = 4, kRows = 3;

Rectangle One(uint32_t node) { return {node, 1, 1}; }

// Sends one transfer at cycle 100, then another over one link, for each of the links.
Waiting After(uint32_t from, const Rectangle& to) {
  Waiting found;
  for (uint32_t a = 0; a < kCols * kRows; ++a) {
    for (uint32_t b = 0; b < kCols * kRows; ++b) {
      const bool row = a / kCols == b / kCols && (a + 1 == b || b + 1 == a);
      if (!row && a + kCols != b && b + kCols != a) continue;
      Links links(kCols, kRows);
      CHECK(links.Delay(from, to, 100, 2, 10) == 0);
      const uint64_t delay = links.Delay(a, One(b), 100, 2, 10);
      if (delay != 0) found[{a, b}] = delay;
      CHECK(links.waits() == (delay != 0 ? 1 : 0));
      CHECK(links.wait_cycles() == delay);
      CHECK(links.busiest() == (delay != 0 ? 20 : 10));
    }
  }
  return found;
}

TEST_CASE("links: a transfer walks along its row, then along a column") {
  CHECK(After(0, One(6)) == Waiting{{{0, 1}, 10}, {{1, 2}, 12}, {{2, 6}, 14}});
  CHECK(After(11, One(5)) == Waiting{{{11, 10}, 10}, {{10, 9}, 12}, {{9, 5}, 14}});
}

TEST_CASE("links: to a rectangle, all columns branch off the row that is met first") {
  CHECK(After(0, {5, 2, 2}) ==
        Waiting{{{0, 1}, 10}, {{1, 5}, 12}, {{5, 9}, 14}, {{5, 6}, 14}, {{6, 10}, 16}});
  CHECK(After(11, {0, 2, 2}) == Waiting{{{11, 10}, 10},
                                        {{10, 9}, 12},
                                        {{9, 5}, 14},
                                        {{5, 1}, 16},
                                        {{5, 4}, 16},
                                        {{4, 0}, 18}});
}

TEST_CASE("links: those that wait add up, and one that stays takes no link") {
  Links links(kCols, kRows);
  CHECK(links.Delay(5, One(5), 100, 2, 10) == 0);
  CHECK(links.busiest() == 0);
  CHECK(links.Delay(0, One(3), 100, 2, 10) == 0);
  CHECK(links.Delay(0, One(1), 100, 2, 10) == 10);
  CHECK(links.Delay(1, One(2), 104, 2, 10) == 8);  // the first took it at 102
  CHECK(links.Delay(2, One(3), 114, 2, 10) == 0);  // from 104 to 114
  CHECK(links.Delay(2, One(1), 100, 2, 10) == 0);  // the other way is another link
  CHECK(links.waits() == 2);
  CHECK(links.wait_cycles() == 18);
  CHECK(links.busiest() == 20);
}

TEST_CASE("links: memory lies behind the corner nearest to a rectangle") {
  const Links links(kCols, kRows);
  for (const uint32_t corner : {0, 3, 8, 11}) {
    CHECK(links.CornerOf(One(corner)) == corner);
  }
  CHECK(links.CornerOf(One(2)) == 3);
  CHECK(links.CornerOf(One(1)) == 0);
  CHECK(links.CornerOf(One(9)) == 8);
  CHECK(links.CornerOf({5, 2, 2}) == 8);  // as near as 11, and before it
  CHECK(links.CornerOf({0, 4, 3}) == 0);  // it has all four
  CHECK(links.CornerOf({5, 3, 1}) == 3);  // one row, up to the last column
}

}  // namespace
}  // namespace sluice_test
