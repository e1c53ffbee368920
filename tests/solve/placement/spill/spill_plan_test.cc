// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/spill_plan.h"

#include <doctest/doctest.h>

#include <vector>

#include "tests/solve/placement/spill/spill_judge.h"

using namespace sluice;
using sluice_test::Ground;
using sluice_test::Net;

namespace {

// An input of 4 bytes, used by the first and the third of three operators; the second
// makes 2 of 6 bytes.
struct Three {
  Net net;
  std::vector<uint32_t> order{0, 1, 2};
  std::vector<uint8_t> fetch;
  Ground ground;
  Budget budget;
  SpillPlan plan;

  Three() {
    net.Tensor(4, TensorRole::kInput);
    net.Tensor(6, TensorRole::kIntermediate);
    net.Tensor(2, TensorRole::kIntermediate);
    net.Tensor(4, TensorRole::kOutput);
    net.Op({0}, {1});
    net.Op({1}, {2});
    net.Op({0, 2}, {3});
    fetch.resize(net.operands.size());
  }
  void Build(SpillCharge charge, bool leaves) {
    fetch[net.operators[2].first_input] = leaves;
    REQUIRE(BuildResidences(net.Graph(), sluice_test::View(order),
                            sluice_test::View(fetch), charge, &ground.arena,
                            &plan) == Status::kOk);
  }
  void CheckStay(size_t i, uint32_t tensor, uint32_t begin, uint32_t end) const {
    CAPTURE(i);
    REQUIRE(i < plan.residences.size());
    CHECK(plan.residences[i].tensor == tensor);
    CHECK(plan.residences[i].begin == begin);
    CHECK(plan.residences[i].end == end);
  }
  Status Place(const AddressOptions& options) {
    return PlaceResidences(net.Graph(), options, &budget, &ground.arena, &plan);
  }
};

}  // namespace

TEST_CASE("spill plan: stays end with their last read, and what leaves is read again") {
  Three t;
  t.Build(SpillCharge::kHost, false);
  REQUIRE(t.plan.residences.size() == 4);
  t.CheckStay(0, 0, 0, 3);
  t.CheckStay(1, 1, 0, 2);
  t.CheckStay(2, 2, 1, 3);
  t.CheckStay(3, 3, 2, 3);
  CHECK(t.plan.bytes() == 0);
  for (const SpillCharge charge : {SpillCharge::kHost, SpillCharge::kPaper}) {
    t.Build(charge, true);
    REQUIRE(t.plan.residences.size() == 5);
    t.CheckStay(0, 0, 0, 1);
    t.CheckStay(3, 0, 2, 3);
    CHECK(t.plan.residences[3].retrieved);
    CHECK(!t.plan.residences[0].retrieved);
    // The host has the input anyway.
    CHECK(t.plan.residences[0].spilled == (charge == SpillCharge::kPaper));
    CHECK(t.plan.spill_bytes == (charge == SpillCharge::kPaper ? 4 : 0));
    CHECK(t.plan.retrieve_bytes == 4);
  }
}

TEST_CASE(
    "spill plan: an output takes over an operand that nobody else reads, as large") {
  Three t;
  t.net.operators[1].in_place = 0;
  t.Build(SpillCharge::kHost, false);
  CHECK(t.plan.residences[2].takes_over == kNoOperand);  // 6 bytes and 2
  t.net.tensors[2].bytes = 6;
  t.Build(SpillCharge::kHost, false);
  CHECK(t.plan.residences[2].takes_over == 1);
  t.net.operators[0].in_place = 0;
  t.net.tensors[1].bytes = t.net.tensors[2].bytes = 4;
  t.Build(SpillCharge::kHost, false);
  CHECK(t.plan.residences[1].takes_over == kNoOperand);  // the input is read again
  AddressOptions options;
  options.capacity = 12;
  REQUIRE(t.Place(options) == Status::kOk);
  CHECK(t.plan.residences[2].offset == t.plan.residences[1].offset);
  CHECK(t.plan.peak_bytes == 12);
}

TEST_CASE("spill plan: addresses within the capacity, for all steps or some of them") {
  Three t;
  AddressOptions options;
  options.capacity = 10;
  t.Build(SpillCharge::kHost, false);
  CHECK(t.Place(options) == Status::kInfeasible);  // 4 + 6 + 2 during the second step
  CHECK(!t.plan.placed);
  options.steps = 1;
  CHECK(t.Place(options) == Status::kOk);
  CHECK(!t.plan.placed);  // not all of it
  options.first_step = 2;
  options.steps = 3;
  CHECK(t.Place(options) == Status::kOk);
  CHECK(!t.plan.placed);
  t.Build(SpillCharge::kHost, true);
  options.first_step = 0;
  REQUIRE(t.Place(options) == Status::kOk);
  CHECK(t.plan.placed);
  CHECK(t.plan.peak_bytes == 10);
  int64_t recount = 0;
  CHECK(sluice_test::JudgePlan(t.net, t.plan, 10, false, &recount) == "");
  options.alignment = 4;
  CHECK(t.Place(options) == Status::kInfeasible);
  options.capacity = 12;
  REQUIRE(t.Place(options) == Status::kOk);
  for (const Residence& stay : t.plan.residences) CHECK(stay.offset % 4 == 0);
}
