// SPDX-License-Identifier: Apache-2.0
#include "tests/solve/placement/spill/bound_judge.h"

#include <doctest/doctest.h>

#include "tests/solve/placement/spill/brute_spills.h"

using namespace sluice;
using sluice_test::Net;

TEST_CASE("judge of bounds: never above brute force, equal to it with one part") {
  Rng rng(77);
  int64_t sum = 0, best = 0;
  for (int i = 0; i < 3000; ++i) {
    const Net net =
        i % 2 == 0 ? sluice_test::ChainNet(&rng, 8) : sluice_test::RandomNet(&rng, 7);
    CAPTURE(i);
    const int64_t capacity = LargestOperator(net.Graph()) + rng.Below(3);
    const sluice_test::Brute brute = sluice_test::TryAll(net, capacity, true, false);
    const std::vector<uint32_t> order = sluice_test::GivenOrder(net);
    REQUIRE(sluice_test::BoundJudge(net, capacity, order, {}).Run() == brute.best_sums);
    sluice_test::BoundShape shape;
    shape.least = 1 + rng.Below(3);
    shape.most = shape.least + rng.Below(3);
    shape.ahead = rng.Below(5);
    if (i % 3 == 0) shape.states = 1 + rng.Below(40);
    const int64_t bound = sluice_test::BoundJudge(net, capacity, order, shape).Run();
    REQUIRE(bound <= brute.best_sums);
    sum += bound;
    best += brute.best_sums;
  }
  MESSAGE("parts of a few steps prove ", sum, " of ", best, " bytes");
  CHECK(10 * sum > 5 * best);
}
