// SPDX-License-Identifier: Apache-2.0
#include "solve/space/problem.h"

#include <doctest/doctest.h>

#include "support/joined_graph.h"

namespace sluice {
namespace {

TEST_CASE("space problem: positions, roots and when they are read") {
  const sluice_test::SpaceCase c(sluice_test::JoinedGraph());
  const SpaceProblem& p = c.problem;
  REQUIRE(p.layer.size() == 3);  // the concat is a view
  CHECK(p.layer[2] == 3);
  CHECK(p.root_of[1] == 3);
  const SpaceRoot& joined = p.roots[3];
  CHECK(joined.first_maker == 0);
  CHECK(joined.last_maker == 1);
  CHECK(joined.last_reader == 2);
  CHECK(joined.bytes == 512);
  CHECK_FALSE(joined.output);
  CHECK(p.roots[4].output);
  CHECK(p.roots[0].first_maker == kNone);
  CHECK(p.NextUse(3, 0) == 1);
  CHECK(p.NextUse(3, 2) == 2);
  CHECK(p.NextUse(3, 3) == kNone);
  CHECK(p.Lives(3, 2));
  CHECK_FALSE(p.Lives(3, 3));
  CHECK_FALSE(p.Lives(0, 1));
}

}  // namespace
}  // namespace sluice
