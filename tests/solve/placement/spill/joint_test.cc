// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/joint.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "solve/placement/offsets/offsets.h"
#include "support/shared_data.h"
#include "tests/solve/placement/spill/brute_spills.h"

using namespace sluice;
using sluice_test::Ground;
using sluice_test::Net;

TEST_CASE("every reference case: optimum in both readings, proved, judged, in time") {
  const std::string folder = sluice_test::SharedPath("reference/cosma_cases");
  if (!std::filesystem::is_directory(folder)) {
    MESSAGE("skipped: no reference cases in ", folder);
    return;
  }
  double worst = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path());
    const nlohmann::json j = nlohmann::json::parse(file);
    const Net net = sluice_test::ReadNet(j);
    CAPTURE(j["name"].get<std::string>());
    CHECK(LargestOperator(net.Graph()) == j["M_R"].get<int64_t>());
    {
      Ground ground;
      Budget budget;
      FootprintPlan plan;
      REQUIRE(PlanFootprint(net.Graph(), &budget, &ground.arena, &plan,
                            &ground.diagnostic) == Status::kOk);
      CHECK(plan.proved);
      CHECK(plan.peak_bytes == j["M_P"].get<int64_t>());
    }
    for (const auto& result : j["results"]) {
      JointOptions options;
      options.capacity = result["M"];
      const bool paper = result["mode"] == "paper";
      options.charge = paper ? SpillCharge::kPaper : SpillCharge::kHost;
      double best = 1e9;
      for (int repeat = 0; repeat < 3; ++repeat) {
        Ground ground;
        Budget budget;
        SpillPlan plan;
        const double start = sluice_test::CpuSeconds();
        REQUIRE(PlanJoint(net.Graph(), options, &budget, &ground.arena, &plan,
                          &ground.diagnostic) == Status::kOk);
        best = std::min(best, sluice_test::CpuSeconds() - start);
        CHECK(plan.proved);
        CHECK(plan.bytes() == result["optimal_offchip_bytes"].get<int64_t>());
        int64_t recount = 0;
        CHECK(sluice_test::JudgePlan(net, plan, options.capacity, paper, &recount) ==
              "");
        CHECK(recount == plan.bytes());
      }
      worst = std::max(worst, best);
    }
  }
  MESSAGE("slowest case: ", worst * 1e3, " ms CPU");
#ifdef NDEBUG
  CHECK(worst < 0.01);
#endif
}

TEST_CASE("2000 tiny graphs: order, spills and addresses equal brute force") {
  Rng rng(2024);
  int misled = 0, spilling = 0;
  for (int i = 0; i < 2000; ++i) {
    const Net net = sluice_test::RandomNet(&rng, 8);
    CAPTURE(i);
    Ground ground;
    Budget budget;
    FootprintPlan footprint;
    REQUIRE(PlanFootprint(net.Graph(), &budget, &ground.arena, &footprint,
                          &ground.diagnostic) == Status::kOk);
    const int64_t need = LargestOperator(net.Graph());
    JointOptions options;
    options.capacity =
        need + rng.Below(static_cast<uint32_t>((footprint.peak_bytes - need) / 2 + 2));
    const bool paper = i % 2 == 0;
    options.charge = paper ? SpillCharge::kPaper : SpillCharge::kHost;
    const sluice_test::Brute brute =
        sluice_test::TryAll(net, options.capacity, paper, false);
    CHECK(footprint.peak_bytes == brute.least_peak);
    SpillPlan plan;
    REQUIRE(PlanJoint(net.Graph(), options, &budget, &ground.arena, &plan,
                      &ground.diagnostic) ==
            (brute.best == INT64_MAX ? Status::kInfeasible : Status::kOk));
    if (brute.best == INT64_MAX) continue;
    REQUIRE(plan.bytes() == brute.best);
    REQUIRE(plan.proved);
    int64_t recount = 0;
    REQUIRE(sluice_test::JudgePlan(net, plan, options.capacity, paper, &recount) == "");
    REQUIRE(recount == plan.bytes());
    misled += brute.best != brute.best_sums;
    spilling += brute.best > 0;
  }
  MESSAGE(spilling, " graphs spill; in ", misled, " the sums alone promise too little");
  CHECK(spilling > 500);
}

TEST_CASE("in place: order, spills and addresses equal brute force on tiny graphs") {
  Rng rng(2025);
  int reused = 0;
  for (int i = 0; i < 600; ++i) {
    Net net = sluice_test::RandomNet(&rng, 7);
    for (OperatorTensor& t : net.tensors) t.bytes = 2 + 2 * (t.bytes % 2);
    for (Operator& op : net.operators) {
      if (rng.Below(3) != 0) op.in_place = rng.Below(op.input_count);
    }
    CAPTURE(i);
    JointOptions options;
    const bool paper = i % 2 == 0;
    options.charge = paper ? SpillCharge::kPaper : SpillCharge::kHost;
    options.capacity = LargestOperator(net.Graph()) - 2 + rng.Below(4);
    const sluice_test::Brute brute =
        sluice_test::TryAll(net, options.capacity, paper, false);
    Ground ground;
    Budget budget;
    FootprintPlan footprint;
    REQUIRE(PlanFootprint(net.Graph(), &budget, &ground.arena, &footprint,
                          &ground.diagnostic) == Status::kOk);
    CHECK(footprint.peak_bytes == brute.least_peak);
    SpillPlan plan;
    REQUIRE(PlanJoint(net.Graph(), options, &budget, &ground.arena, &plan,
                      &ground.diagnostic) ==
            (brute.best == INT64_MAX ? Status::kInfeasible : Status::kOk));
    if (brute.best == INT64_MAX) continue;
    REQUIRE(plan.bytes() == brute.best);
    REQUIRE(plan.proved);
    int64_t recount = 0;
    REQUIRE(sluice_test::JudgePlan(net, plan, options.capacity, paper, &recount) == "");
    REQUIRE(recount == plan.bytes());
    for (const Residence& r : plan.residences) reused += r.takes_over != kNoOperand;
  }
  MESSAGE(reused, " outputs took over an operand");
  CHECK(reused > 300);
}

TEST_CASE("where sums fit but addresses do not, the next best plan is found") {
  Rng rng(17);
  int found = 0;
  for (int i = 0; i < 20000 && found < 5; ++i) {
    const sluice_test::Buffers b = sluice_test::FullBuffers(&rng, 6, 7);
    Ground ground;
    Budget budget;
    OffsetPlan offsets;
    if (PlaceOffsets(b.Set(), 6, OffsetOptions(),
                     Workspace{&budget, &ground.arena, &ground.diagnostic},
                     &offsets) == Status::kOk) {
      continue;
    }
    ++found;
    const Net net = sluice_test::NetOfBuffers(b, 7);
    const std::vector<uint32_t> order = sluice_test::GivenOrder(net);
    for (const int64_t capacity : {6, 7}) {
      if (capacity < LargestOperator(net.Graph())) continue;
      const sluice_test::Brute brute = sluice_test::TryAll(net, capacity, true, true);
      JointOptions options;
      options.capacity = capacity;
      options.charge = SpillCharge::kPaper;
      options.fixed_order = {order.data(), order.size()};
      SpillPlan plan;
      REQUIRE(PlanJoint(net.Graph(), options, &budget, &ground.arena, &plan,
                        &ground.diagnostic) ==
              (brute.best == INT64_MAX ? Status::kInfeasible : Status::kOk));
      if (brute.best == INT64_MAX) continue;
      CHECK(plan.proved);
      CHECK(plan.bytes() == brute.best);
      int64_t recount = 0;
      CHECK(sluice_test::JudgePlan(net, plan, capacity, true, &recount) == "");
      CHECK(recount == brute.best);
      MESSAGE("capacity ", capacity, ": sums ", brute.best_sums, ", addresses ",
              brute.best);
    }
  }
  CHECK(found > 0);
}

TEST_CASE("a fixed order: equal to brute force over spills, and to the reference") {
  Rng rng(99);
  for (int i = 0; i < 1000; ++i) {
    const Net net = sluice_test::RandomNet(&rng, 8);
    const std::vector<uint32_t> order = sluice_test::GivenOrder(net);
    const int64_t capacity = LargestOperator(net.Graph()) + rng.Below(6);
    const bool paper = i % 2 == 0;
    const sluice_test::Brute brute = sluice_test::TryAll(net, capacity, paper, true);
    Ground ground;
    Budget budget;
    JointOptions options;
    options.capacity = capacity;
    options.charge = paper ? SpillCharge::kPaper : SpillCharge::kHost;
    options.fixed_order = {order.data(), order.size()};
    SpillPlan plan;
    REQUIRE(PlanJoint(net.Graph(), options, &budget, &ground.arena, &plan,
                      &ground.diagnostic) == Status::kOk);
    CHECK(plan.proved);
    REQUIRE(plan.bytes() == brute.best);
    int64_t recount = 0;
    REQUIRE(sluice_test::JudgePlan(net, plan, capacity, paper, &recount) == "");
    CHECK(recount == plan.bytes());
  }
  const std::string folder = sluice_test::SharedPath("reference/cosma_cases");
  if (!std::filesystem::is_directory(folder)) {
    MESSAGE("skipped: no reference cases in ", folder);
    return;
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path());
    const nlohmann::json j = nlohmann::json::parse(file);
    const Net net = sluice_test::ReadNet(j);
    for (const auto& result : j["results"]) {
      if (result["mode"] != "paper") continue;
      for (const char* which : {"default", "minpeak"}) {
        CAPTURE(entry.path().string());
        CAPTURE(which);
        std::vector<uint32_t> order;
        for (uint32_t o = 0; o < net.operators.size(); ++o) order.push_back(o);
        if (which[0] == 'm') order = j["minpeak_order"].get<std::vector<uint32_t>>();
        Ground ground;
        Budget budget;
        JointOptions options;
        options.capacity = result["M"];
        options.charge = SpillCharge::kPaper;
        options.fixed_order = {order.data(), order.size()};
        SpillPlan plan;
        REQUIRE(PlanJoint(net.Graph(), options, &budget, &ground.arena, &plan,
                          &ground.diagnostic) == Status::kOk);
        CHECK(plan.proved);
        CHECK(plan.bytes() == result["fixed_schedule_optimum"][which].get<int64_t>());
      }
    }
  }
}

namespace {

// A chain of tensors of 10 bytes: each operator reads the result of the one before and the
// network's input.
Net InPlaceChain(uint32_t length) {
  Net net;
  uint32_t last = net.Tensor(10, TensorRole::kInput);
  const uint32_t skip = last;
  for (uint32_t o = 0; o < length; ++o) {
    const uint32_t next = net.Tensor(
        10, o + 1 == length ? TensorRole::kOutput : TensorRole::kIntermediate);
    net.Op({last, skip}, {next});
    last = next;
  }
  return net;
}

}  // namespace

TEST_CASE("in-place reuse lowers the need, and the judge accepts the shared bytes") {
  Net net = InPlaceChain(6);
  Ground ground;
  Budget budget;
  JointOptions options;
  options.capacity = 20;
  SpillPlan plan;
  CHECK(PlanJoint(net.Graph(), options, &budget, &ground.arena, &plan,
                  &ground.diagnostic) == Status::kInfeasible);
  CHECK(ground.diagnostic.required_bytes == 30);
  for (size_t o = 1; o < net.operators.size(); ++o) net.operators[o].in_place = 0;
  REQUIRE(PlanJoint(net.Graph(), options, &budget, &ground.arena, &plan,
                    &ground.diagnostic) == Status::kOk);
  CHECK(plan.bytes() == 0);
  CHECK(plan.peak_bytes == 20);
  int64_t recount = 0;
  CHECK(sluice_test::JudgePlan(net, plan, 20, false, &recount) == "");
  FootprintPlan footprint;
  REQUIRE(PlanFootprint(net.Graph(), &budget, &ground.arena, &footprint,
                        &ground.diagnostic) == Status::kOk);
  CHECK(footprint.peak_bytes == 20);
  // Random graphs: plans are legal, and in-place operators never make one worse.
  Rng rng(31);
  for (int i = 0; i < 500; ++i) {
    Net plain = sluice_test::RandomNet(&rng, 8);
    for (OperatorTensor& t : plain.tensors) t.bytes = 4 + 4 * (t.bytes % 2);
    options.capacity = LargestOperator(plain.Graph()) + rng.Below(8);
    SpillPlan without, with;
    REQUIRE(PlanJoint(plain.Graph(), options, &budget, &ground.arena, &without,
                      &ground.diagnostic) == Status::kOk);
    for (Operator& op : plain.operators) op.in_place = 0;
    REQUIRE(PlanJoint(plain.Graph(), options, &budget, &ground.arena, &with,
                      &ground.diagnostic) == Status::kOk);
    CHECK(with.bytes() <= without.bytes());
    CHECK(sluice_test::JudgePlan(plain, with, options.capacity, false, &recount) == "");
    CHECK(recount == with.bytes());
  }
}

TEST_CASE("in place: limited searches never move more than without") {
  Rng rng(61);
  int fewer = 0;
  for (int i = 0; i < 12; ++i) {
    const Net plain =
        sluice_test::WindowNet(&rng, 40 + 20 * static_cast<uint32_t>(i), 6, 4);
    Net net = plain;
    for (sluice::Operator& op : net.operators) op.in_place = rng.Below(op.input_count);
    JointOptions options;
    options.capacity = LargestOperator(plain.Graph());
    options.charge = i % 2 == 0 ? SpillCharge::kPaper : SpillCharge::kHost;
    options.max_states = 1000;
    Ground ground;
    Budget budget;
    SpillPlan without, with;
    REQUIRE(PlanJoint(plain.Graph(), options, &budget, &ground.arena, &without,
                      &ground.diagnostic) == Status::kOk);
    REQUIRE(PlanJoint(net.Graph(), options, &budget, &ground.arena, &with,
                      &ground.diagnostic) == Status::kOk);
    CHECK(with.bytes() <= without.bytes());
    CHECK(with.lower_bound <= with.bytes());
    fewer += with.bytes() < without.bytes();
    int64_t recount = 0;
    CHECK(sluice_test::JudgePlan(net, with, options.capacity,
                                 options.charge == SpillCharge::kPaper,
                                 &recount) == "");
    CHECK(recount == with.bytes());
  }
  CHECK(fewer > 0);
}

TEST_CASE("a little above the least peak nothing moves, whatever order has addresses") {
  Rng rng(17);
  for (int i = 0; i < 12; ++i) {
    const Net net =
        sluice_test::WindowNet(&rng, 100 + 20 * static_cast<uint32_t>(i), 6, 100);
    Ground ground;
    Budget budget;
    sluice::FootprintPlan least;
    REQUIRE(sluice::PlanFootprint(net.Graph(), &budget, &ground.arena, &least,
                                  &ground.diagnostic) == Status::kOk);
    JointOptions options;
    options.capacity = least.peak_bytes + least.peak_bytes / 8;
    options.exact = false;
    SpillPlan plan;
    REQUIRE(PlanJoint(net.Graph(), options, &budget, &ground.arena, &plan,
                      &ground.diagnostic) == Status::kOk);
    CHECK(plan.bytes() == 0);
    CHECK(plan.proved);
  }
}

TEST_CASE(
    "large graphs: a placed plan early, better with time, never below its bound") {
  Rng rng(6);
  for (int i = 0; i < 6; ++i) {
    const Net net = i < 4 ? sluice_test::WindowNet(&rng, 200, 6, 100)
                          : sluice_test::CellNet(i == 4 ? 3 : 8, 1000);
    JointOptions options;
    options.capacity = LargestOperator(net.Graph());
    int64_t earlier = INT64_MAX;
    std::string line;
    // A deadline that has passed, one during the search, and a search to the end.
    for (const uint64_t deadline_ns : {uint64_t{1}, uint64_t{5000000}, uint64_t{0}}) {
      options.exact = deadline_ns != 0;
      if (deadline_ns == 0) options.max_states = 20000, options.exact = true;
      Ground ground;
      SpillPlan plan;
      Budget budget({}, deadline_ns, 0, nullptr);
      const double start = sluice_test::CpuSeconds();
      REQUIRE(PlanJoint(net.Graph(), options, &budget, &ground.arena, &plan,
                        &ground.diagnostic) == Status::kOk);
      const double seconds = sluice_test::CpuSeconds() - start;
      int64_t recount = 0;
      CHECK(sluice_test::JudgePlan(net, plan, options.capacity, false, &recount) == "");
      CHECK(recount == plan.bytes());
      CHECK(plan.lower_bound <= plan.bytes());
      if (deadline_ns != 5000000) {  // timing may not decide what a test expects
        CHECK(plan.bytes() <= earlier);
        earlier = plan.bytes();
      }
      line += "; " + std::to_string(plan.bytes()) + " bytes (bound " +
              std::to_string(plan.lower_bound) + ") in " +
              std::to_string(seconds * 1e3) + " ms";
    }
    MESSAGE(net.operators.size(), " operators", line);
  }
}
