// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/least_peak.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "tests/solve/placement/spill/brute_spills.h"

using namespace sluice;
using sluice_test::Ground;
using sluice_test::Net;

namespace {

// The largest sum of live bytes of an order: each tensor from its first use to its last.
int64_t PeakOf(const Net& net, const std::vector<uint32_t>& order) {
  const auto uses = [&](uint32_t o, uint32_t a) {
    const Operator& op = net.operators[o];
    const auto in = net.operands.begin() + op.first_input;
    const auto out = net.operands.begin() + op.first_output;
    return std::count(in, in + op.input_count, a) +
               std::count(out, out + op.output_count, a) !=
           0;
  };
  std::vector<int64_t> load(order.size());
  for (uint32_t a = 0; a < net.tensors.size(); ++a) {
    size_t first = order.size(), last = 0;
    for (size_t t = 0; t < order.size(); ++t) {
      if (!uses(order[t], a)) continue;
      first = std::min(first, t);
      last = t;
    }
    for (size_t t = first; t <= last; ++t) load[t] += net.tensors[a].bytes;
  }
  return *std::max_element(load.begin(), load.end());
}

}  // namespace

TEST_CASE("least peak: proved, equal to that of all orders, and none keeps below it") {
  Rng rng(71);
  int gains = 0;
  for (int i = 0; i < 600; ++i) {
    Net net = sluice_test::RandomNet(&rng, 8);
    const bool in_place = i % 3 == 0;
    for (size_t a = 0; in_place && a < net.tensors.size(); ++a) {
      net.tensors[a].bytes = 2 + 2 * (net.tensors[a].bytes % 2);
    }
    for (size_t o = 0; in_place && o < net.operators.size(); ++o) {
      net.operators[o].in_place = rng.Below(net.operators[o].input_count);
    }
    CAPTURE(i);
    Ground ground;
    Budget budget;
    const Workspace work = {&budget, &ground.arena, &ground.diagnostic};
    std::vector<uint32_t> order(net.operators.size());
    const Span<uint32_t> span = {order.data(), order.size()};
    int64_t peak = 0;
    bool proved = false;
    REQUIRE(MinimumPeak(net.Graph(), 0, work, span, &peak, &proved) == Status::kOk);
    CHECK(proved);
    CHECK(peak == sluice_test::TryAll(net, 0, false, false).least_peak);
    CHECK((in_place || PeakOf(net, order) == peak));
    gains += peak < PeakOf(net, sluice_test::GivenOrder(net));
    bool found = false, none = false;
    REQUIRE(OrderWithin(net.Graph(), {peak, 0}, work, span, &found, &none) ==
            Status::kOk);
    CHECK(found);
    CHECK(!none);
    CHECK((in_place || PeakOf(net, order) <= peak));
    REQUIRE(OrderWithin(net.Graph(), {peak - 1, 0}, work, span, &found, &none) ==
            Status::kOk);
    CHECK(!found);
    CHECK(none);
  }
  CHECK(gains > 100);
}

TEST_CASE("least peak: limits leave an order and no proof") {
  Rng rng(72);
  const Net net = sluice_test::WindowNet(&rng, 200, 30, 100);
  Ground ground;
  Budget budget;
  const Workspace work = {&budget, &ground.arena, &ground.diagnostic};
  std::vector<uint32_t> order(net.operators.size());
  const Span<uint32_t> span = {order.data(), order.size()};
  int64_t peak = 0;
  bool proved = true, found = true, none = true;
  REQUIRE(MinimumPeak(net.Graph(), 10, work, span, &peak, &proved) == Status::kOk);
  CHECK(!proved);
  CHECK(PeakOf(net, order) == peak);
  REQUIRE(OrderWithin(net.Graph(), {peak / 2, 10}, work, span, &found, &none) ==
          Status::kOk);
  CHECK(!found);
  CHECK(!none);
}
