// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/address_search.h"

#include <doctest/doctest.h>

#include <vector>

#include "solve/placement/spill/spill_plan.h"
#include "tests/solve/placement/spill/brute_spills.h"

using namespace sluice;
using sluice_test::Ground;
using sluice_test::Net;

namespace {

struct Searched {
  std::vector<uint32_t> order;
  std::vector<uint8_t> fetch;
  int64_t bytes;
};

Status Search(const Net& net, const JointOptions& options,
              const AddressSearchBounds& bounds, Searched* found) {
  Ground ground;
  Budget budget;
  found->order.resize(net.operators.size());
  found->fetch.resize(net.operands.size());
  AddressedOrder out = {{found->order.data(), found->order.size()},
                        {found->fetch.data(), found->fetch.size()},
                        -1};
  const Status status =
      SearchAddresses(net.Graph(), options, bounds,
                      Workspace{&budget, &ground.arena, &ground.diagnostic}, &out);
  found->bytes = out.bytes;
  return status;
}

// Places the decisions found and judges the plan.
void Judge(const Net& net, const JointOptions& options, const Searched& found) {
  Ground ground;
  Budget budget;
  SpillPlan plan;
  REQUIRE(BuildResidences(net.Graph(), sluice_test::View(found.order),
                          sluice_test::View(found.fetch), options.charge, &ground.arena,
                          &plan) == Status::kOk);
  CHECK(plan.bytes() == found.bytes);
  AddressOptions address;
  address.capacity = options.capacity;
  REQUIRE(PlaceResidences(net.Graph(), address, &budget, &ground.arena, &plan) ==
          Status::kOk);
  int64_t recount = 0;
  CHECK(sluice_test::JudgePlan(net, plan, options.capacity,
                               options.charge == SpillCharge::kPaper, &recount) == "");
}

}  // namespace

TEST_CASE("address search: from scratch, the fewest bytes that brute force finds") {
  Rng rng(2024);
  int spilling = 0;
  for (int i = 0; i < 600; ++i) {
    Net net = sluice_test::RandomNet(&rng, 7);
    if (i % 3 == 0) {
      for (Operator& op : net.operators) op.in_place = rng.Below(op.input_count);
    }
    CAPTURE(i);
    JointOptions options;
    options.capacity = LargestOperator(net.Graph()) + rng.Below(2);
    const bool paper = i % 2 == 0;
    options.charge = paper ? SpillCharge::kPaper : SpillCharge::kHost;
    const sluice_test::Brute brute =
        sluice_test::TryAll(net, options.capacity, paper, false);
    Searched found;
    AddressSearchBounds bounds;
    REQUIRE(Search(net, options, bounds, &found) == Status::kOk);
    REQUIRE(found.bytes == brute.best);
    Judge(net, options, found);
    if (brute.best == 0) continue;
    ++spilling;
    bounds.give_up = brute.best;  // no plan has fewer
    CHECK(Search(net, options, bounds, &found) == Status::kInfeasible);
    bounds.max_steps = 1;
    CHECK(Search(net, options, bounds, &found) == Status::kStopped);
  }
  CHECK(spilling > 100);
}

TEST_CASE("address search: where sums mislead, the next best plan that has addresses") {
  Rng rng(17);
  int misled = 0;
  for (int i = 0; i < 20000 && misled < 3; ++i) {
    const sluice_test::Buffers b = sluice_test::FullBuffers(&rng, 6, 7);
    const Net net = sluice_test::NetOfBuffers(b, 7);
    const std::vector<uint32_t> order = sluice_test::GivenOrder(net);
    if (LargestOperator(net.Graph()) > 6) continue;
    const sluice_test::Brute brute = sluice_test::TryAll(net, 6, true, true);
    if (brute.best == brute.best_sums) continue;
    ++misled;
    JointOptions options;
    options.capacity = 6;
    options.charge = SpillCharge::kPaper;
    options.fixed_order = sluice_test::View(order);
    Searched found;
    const Status status = Search(net, options, AddressSearchBounds(), &found);
    REQUIRE(status == (brute.best == INT64_MAX ? Status::kInfeasible : Status::kOk));
    if (status != Status::kOk) continue;
    CHECK(found.bytes == brute.best);
    Judge(net, options, found);
  }
  CHECK(misled == 3);
}
