// SPDX-License-Identifier: Apache-2.0
// Links that carry one transfer at a time, with delays computed by hand.
#include "firmware-sim/links.h"

#include <doctest/doctest.h>

namespace sluice_sim {
namespace {

TEST_CASE(
    "links: alone nothing waits, and on one link the second waits for the first") {
  Links links(4, 4);
  CHECK(links.Delay(0, {3, 1, 1}, 100, 2, 10) == 0);  // along row 0
  CHECK(links.busiest() == 10);
  // From node 1 on the same links: its first one is taken from 102 to 112.
  CHECK(links.Delay(1, {2, 1, 1}, 105, 2, 10) == 7);
  // The way back, and a column, are other links.
  CHECK(links.Delay(3, {0, 1, 1}, 100, 2, 10) == 0);
  CHECK(links.Delay(1, {13, 1, 1}, 100, 2, 10) == 0);
  CHECK(links.waits() == 1);
  CHECK(links.wait_cycles() == 7);
}

TEST_CASE("links: a transfer to itself takes none") {
  Links links(2, 2);
  CHECK(links.Delay(1, {1, 1, 1}, 0, 5, 1000) == 0);
  CHECK(links.busiest() == 0);
}

TEST_CASE("links: a rectangle is reached by a tree, each link once") {
  Links links(4, 3);
  CHECK(links.Delay(0, {5, 3, 2}, 0, 1, 8) == 0);
  CHECK(links.busiest() == 8);
  // Node 0 to (1, 0), (1, 1): then along row 1 to columns 2 and 3, each down to row 2.
  CHECK(links.Delay(0, {1, 1, 1}, 0, 1, 1) == 8);
  CHECK(links.Delay(6, {7, 1, 1}, 0, 1, 1) == 11);  // wanted there at 3, for 8
  CHECK(links.Delay(7, {11, 1, 1}, 0, 1, 1) == 12);
  CHECK(links.Delay(4, {5, 1, 1}, 0, 1, 1) == 0);  // an unused link
}

TEST_CASE("links: DRAM is behind the corner nearest to where its words go") {
  const Links links(5, 4);
  CHECK(links.CornerOf({0, 1, 1}) == 0);
  CHECK(links.CornerOf({8, 2, 1}) == 4);
  CHECK(links.CornerOf({11, 1, 2}) == 15);
  CHECK(links.CornerOf({0, 5, 4}) == 0);
}

}  // namespace
}  // namespace sluice_sim
