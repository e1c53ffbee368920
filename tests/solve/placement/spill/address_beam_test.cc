// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/address_beam.h"

#include <doctest/doctest.h>

#include <vector>

#include "tests/solve/placement/spill/brute_spills.h"

using namespace sluice;
using sluice_test::Ground;
using sluice_test::Net;

namespace {

struct Placed {
  bool placed;
  int64_t bytes;
};

// Addresses for the order as given; fetch: of every read but the first.
Placed PlaceGiven(const Net& net, const AddressBeamOptions& options, uint8_t fetch,
                  const uint32_t* cancel = nullptr) {
  std::vector<uint32_t> order = sluice_test::GivenOrder(net);
  std::vector<uint8_t> fetches(net.operands.size(), fetch);
  SpillDecisions decisions;
  decisions.order = {order.data(), order.size()};
  decisions.fetch = {fetches.data(), fetches.size()};
  Ground ground;
  Budget budget({}, 0, 0, cancel);
  SpillPlan plan;
  REQUIRE(PlaceDecisions(net.Graph(), options, decisions,
                         Workspace{&budget, &ground.arena, &ground.diagnostic},
                         &plan) == Status::kOk);
  if (!plan.placed) return {false, 0};
  int64_t recount = 0, peak = 0;
  CHECK(sluice_test::JudgePlan(net, plan, options.capacity,
                               options.charge == SpillCharge::kPaper, &recount) == "");
  CHECK(recount == plan.bytes());
  for (const Residence& stay : plan.residences)
    peak = std::max(peak, stay.offset + net.tensors[stay.tensor].bytes);
  CHECK(plan.peak_bytes == peak);
  return {true, plan.bytes()};
}

// A random graph, half of whose operators work in place where sizes are equal.
Net SomeNet(Rng* rng) {
  Net net = sluice_test::RandomNet(rng, 7);
  for (Operator& op : net.operators) {
    if (rng->Below(2) == 0) op.in_place = rng->Below(op.input_count);
  }
  return net;
}

}  // namespace

TEST_CASE(
    "address beam: sums that fit without addresses, and a tensor more has to leave") {
  Rng rng(17);
  int found = 0;
  for (int i = 0; i < 20000 && found < 4; ++i) {
    const sluice_test::Buffers b = sluice_test::FullBuffers(&rng, 6, 7);
    const Net net = sluice_test::NetOfBuffers(b, 7);
    if (LargestOperator(net.Graph()) > 6) continue;
    const sluice_test::Brute brute = sluice_test::TryAll(net, 6, true, true);
    if (brute.best_sums != 0 || brute.best == 0 || brute.best == INT64_MAX) continue;
    ++found;
    CAPTURE(i);
    for (const uint32_t width : {0u, 64u}) {
      for (const int64_t give_up : {brute.best, INT64_MAX}) {
        const Placed got =
            PlaceGiven(net, {SpillCharge::kPaper, 6, give_up, 1000, width}, 0);
        CHECK(got.placed == (width != 0 && give_up > brute.best));
        if (got.placed) CHECK(got.bytes == brute.best);
      }
    }
  }
  CHECK(found == 4);
}

TEST_CASE("address beam: what has addresses is placed as it is") {
  Rng rng(4);
  for (int i = 0; i < 100; ++i) {
    const Net net = sluice_test::RandomNet(&rng, 8);
    for (const uint64_t nodes : {0u, 1000u}) {
      const Placed got = PlaceGiven(net, {SpillCharge::kHost, 1000, 1, nodes, 4}, 0);
      CHECK(got.placed);
      CHECK(got.bytes == 0);
    }
  }
}

TEST_CASE("address beam: all spills, none and no time give plans near the best") {
  Rng rng(25);
  int cases = 0, equal = 0;
  const uint32_t cancelled = 1;
  for (int i = 0; i < 300; ++i) {
    const Net net = SomeNet(&rng);
    const int64_t capacity =
        LargestOperator(net.Graph()) + static_cast<int64_t>(rng.Below(4));
    for (const bool paper : {false, true}) {
      CAPTURE(i);
      const int64_t best = sluice_test::TryAll(net, capacity, paper, true).best;
      REQUIRE(best < INT64_MAX);
      const SpillCharge charge = paper ? SpillCharge::kPaper : SpillCharge::kHost;
      for (const uint8_t fetch : {uint8_t{0}, uint8_t{1}}) {
        const Placed got = PlaceGiven(net, {charge, capacity, INT64_MAX, 0, 64}, fetch);
        REQUIRE(got.placed);
        CHECK(got.bytes >= best);
        ++cases;
        equal += got.bytes == best;
        const Placed narrow =
            PlaceGiven(net, {charge, capacity, INT64_MAX, 0, 64}, fetch, &cancelled);
        REQUIRE(narrow.placed);
        CHECK(narrow.bytes >= best);
      }
    }
  }
  CHECK(cases == 1200);
  CHECK(equal > 1080);
}
