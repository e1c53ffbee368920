// SPDX-License-Identifier: Apache-2.0
#include "plan/space/take_space.h"

#include <doctest/doctest.h>

#include "plan/objective.h"
#include "plan/space/schedule_space.h"
#include "support/network_plan.h"
#include "tests/plan/called.h"
#include "zoo/network.h"
#include "zoo/zoo.h"

namespace sluice_test {
namespace {

// Only complete rounds of random changes count, so each plan is among those of the
// calls with more iterations.
TEST_CASE("take space: more iterations make the plan better, never worse") {
  NetworkPlan n(sluice::zoo::MakeZooGraph("vit_b_16", {}), "mcu-256k");
  REQUIRE(n.ok);
  REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
  CHECK(n.report.iterations == 0);
  CHECK(n.report.stop_reason == SLUICE_STOP_COMPLETE);
  const double alone = n.Product();
  double least = alone;
  for (const uint64_t most : {100, 10000}) {
    CAPTURE(most);
    n.max_iterations = most;
    REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
    CHECK(n.Verify() == SLUICE_OK);
    CHECK(n.report.iterations <= most);
    CHECK(n.report.stop_reason == SLUICE_STOP_ITERATIONS);
    CHECK(n.Product() <= least);
    least = n.Product();
  }
  CHECK(least < 0.98 * alone);  // 0.987 without random changes of the space
}

// The producer's tile of channels is a chunk of its reader's sum: DMA loads the reader's
// weights, all of them used once, while the producer computes.
TEST_CASE("take space: a convolution and one over all of its pixels overlap") {
  sluice::zoo::Network net("head");
  sluice::zoo::Fmap x = net.Input("x", {1, 14, 14, 512});
  x = Convolution(&net, "body", x, 512, {3, 1}, true);
  const sluice::import::Bytes graph = net.Finish(
      Convolution(&net, "head", x, 8, {14, 1, sluice::zoo::Padding::kValid}, false));
  NetworkPlan n(graph, "mcu-256k");
  REQUIRE(n.ok);
  for (const uint32_t energy : {0, 1}) {
    CAPTURE(energy);
    n.energy_exponent = energy;
    n.delay_exponent = 1;
    REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
    CHECK(n.Verify() == SLUICE_OK);
    // 1.29 with a segment for each.
    CHECK(n.report.latency_cycles < 1.05 * n.report.bound_latency_cycles);
  }
}

// Sums of half the channels leave room for twice the rows, for each of which keys and
// values are loaded again.
TEST_CASE("take space: attention in little room cuts the depth of its values") {
  sluice::zoo::Network net("attention");
  const auto input = [&](const char* name) {
    return net.Input(name, {1, 12, 512, 64});
  };
  const sluice::zoo::Fmap q = input("q"), k = input("k"), v = input("v");
  const sluice::zoo::Fmap scores =
      Matmul(&net, "scores", {q, k, true, 0, 1e-3}, {1, 12, 512, 512}, 32);
  NetworkPlan n(net.Finish(Matmul(&net, "mix", {scores, v, false, 0, 1e-3},
                                  {1, 12, 512, 64}, 32)),
                "soma-edge");
  REQUIRE(n.ok);
  REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 65536) == SLUICE_OK);
  CHECK(n.Verify() == SLUICE_OK);
  CHECK(n.Product() < 1.58e14);  // 1.635e14 with whole values
}

// Its best plan has four times the steps of the plan layer by layer, and there is memory
// to judge it, whether or not the caller may cancel.
TEST_CASE("take space: that a call may be cancelled changes no small plan") {
  sluice::zoo::Network net("ffn");
  sluice::zoo::Fmap x = net.Input("x", {512, 1, 1, 768});
  x = FullyConnected(&net, "up", x, 3072, false);
  NetworkPlan n(net.Finish(FullyConnected(&net, "down", x, 768, false)), "soma-edge");
  REQUIRE(n.ok);
  n.energy_exponent = 1;
  REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 524288) == SLUICE_OK);
  const double alone = n.report.energy_pj;
  const uint32_t word = 0;
  n.cancel = &word;
  REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 524288) == SLUICE_OK);
  CHECK(n.report.energy_pj == alone);
}

TEST_CASE("take space: another seed makes other random changes") {
  NetworkPlan n(sluice::zoo::MakeZooGraph("vit_b_16", {}), "mcu-256k");
  REQUIRE(n.ok);
  n.max_iterations = 1000;
  REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
  const double first = n.Product();
  n.seed = 1;
  REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
  CHECK(n.Verify() == SLUICE_OK);
  CHECK(n.Product() != first);
}

TEST_CASE("take space: with a deadline a plan of the space comes before the best one") {
  NetworkPlan n(sluice::zoo::MakeZooGraph("googlenet", {}), "mcu-256k");
  REQUIRE(n.ok);
  REQUIRE(n.Schedule(SLUICE_SOLVER_BASELINE, 0) == SLUICE_OK);
  const double plain = n.Product();
  // The callback stops the call at the second plan: the first is the plain one.
  static int plans;
  static double last;
  plans = 0;
  last = 0;
  n.progress = [](void*, uint64_t, double cost) {
    if (cost != last) ++plans;
    last = cost;
    return plans >= 2 ? 1 : 0;
  };
  constexpr uint64_t kMinute = 60ull * 1000 * 1000 * 1000;
  REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0, kMinute) == SLUICE_OK);
  CHECK(n.Verify() == SLUICE_OK);
  CHECK(n.report.stop_reason == SLUICE_STOP_CANCELLED);
  CHECK(n.Product() < 0.6 * plain);
}

TEST_CASE(
    "take space: a callback that leaves all tiles to the library changes nothing") {
  NetworkPlan n(sluice::zoo::MakeZooGraph("mobilenet_v1", {}), "mcu-256k");
  REQUIRE(n.ok);
  REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
  const double alone = n.Product();
  static int asked;
  asked = 0;
  n.tile_cost = [](void*, uint32_t, const int32_t*, int32_t, sluice_tile_cost_t*) {
    ++asked;
    return 0;
  };
  const uint64_t bound = n.MemoryBound();
  n.ForgetPeak();
  const uint64_t before = n.memory().live;
  REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
  CHECK(n.Product() == alone);
  CHECK(asked > 5000);
  CHECK(n.memory().peak - before <= bound);
}

// The cost of the best plan that the search finds without changes at the end.
double CostUnchanged(Called* c) {
  using sluice::Status;
  sluice::Arena memory(&c->n.memory);
  sluice::Budget endless;
  sluice::SpaceSearch search;
  const sluice_report_t& plain = c->call.plain.report;
  search.goal = {1 / plain.energy_pj, 1 / static_cast<double>(plain.latency_cycles)};
  search.budget = &endless;
  search.improving = 0;
  sluice::SpaceSchedule space({c->call.graph, c->call.hardware, c->call.plain.lowering,
                               c->call.capacity, c->call.coster, search, &endless},
                              &memory);
  REQUIRE(space.Find(&c->n.diagnostic) == Status::kOk);
  double least = 0;
  for (int order = 0; order < sluice::SpaceSchedule::kOrders; ++order) {
    if (!space.Has(order)) continue;
    sluice::Candidate plan(&c->n.memory, c->call.hardware);
    REQUIRE(space.Write(order, &plan) == Status::kOk);
    REQUIRE(sluice::CompleteCandidate({c->call.graph, c->call.hardware, c->call.bound},
                                      &memory, &plan) == Status::kOk);
    const double cost = sluice::PlanCost(c->options, plan.report);
    least = least == 0 ? cost : std::min(least, cost);
  }
  return least;
}

// What changes of a whole plan gain is a prediction, and in these networks some of it is
// wrong.
TEST_CASE(
    "take space: a plan is not taken where it costs more than before its last "
    "changes") {
  const struct {
    const char* network;
    int batch;
    const char* preset;
  } rows[] = {{"resnext50", 8, "soma-edge"}, {"resnet50", 8, "mcu-256k"}};
  for (const auto& row : rows) {
    CAPTURE(row.network);
    sluice::zoo::ZooOptions options;
    options.batch = row.batch;
    Called c(sluice::zoo::MakeZooGraph(row.network, options),
             sluice::presets::LoadPreset(row.preset));
    c.MakePlain();
    REQUIRE(sluice::TakeFromSpace(&c.call) == sluice::Status::kOk);
    REQUIRE(c.call.has_plan());
    CHECK(c.call.best_cost <= CostUnchanged(&c) * (1 + 1e-12));
  }
}

// Costs of tiles that are remembered must leave memory for the search: without a plan of
// segments this one costs 1.6e18.
TEST_CASE("take space: the memory bound leaves room for the search of large images") {
  NetworkPlan n(sluice::zoo::MakeZooGraph("vgg16", {8}), "soma-edge");
  REQUIRE(n.ok);
  REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
  CHECK(n.Verify() == SLUICE_OK);
  CHECK(n.Product() < 7.1e17);
}

// An inverted residual in 8 KiB: loops over rows and columns, and within them parts of
// the sum. Under rows alone the sums of a part do not fit, and the plan costs 8.8e13.
TEST_CASE("take space: a sum is added up in parts under rows and columns") {
  sluice::zoo::Network net("inverted_residual");
  sluice::zoo::Fmap x = net.Input("x", {1, 30, 30, 24});
  x = Convolution(&net, "expand", x, 192, {1, 1}, true);
  x = Depthwise(&net, "depthwise", x, {3, 1, sluice::zoo::Padding::kValid}, true);
  NetworkPlan n(net.Finish(Convolution(&net, "project", x, 24, {1, 1}, false)),
                "mcu-256k");
  REQUIRE(n.ok);
  REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 8192) == SLUICE_OK);
  CHECK(n.Verify() == SLUICE_OK);
  CHECK(n.report.groups == 1);
  CHECK(n.Product() < 6.2e13);
}

// Found with half of the scratchpad: with all of it the best plan has coarser loops, whose
// first loads take longer, and costs 1.4 % more than the bound.
TEST_CASE("take space: a small graph near its bound is searched with less room too") {
  NetworkPlan n(sluice::zoo::MakeZooGraph("lstm_gnmt", {}), "soma-edge");
  REQUIRE(n.ok);
  REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 384 << 10) == SLUICE_OK);
  CHECK(n.Verify() == SLUICE_OK);
  CHECK(n.Product() < 1.005 * n.report.bound_energy_pj *
                          static_cast<double>(n.report.bound_latency_cycles));
}

// In the graph's order a cell's branches begin together: the product is 1.25 times as large.
TEST_CASE("take space: cells run in the order in which whole tensors move least") {
  NetworkPlan n(sluice::zoo::MakeZooGraph("darts", {}), "soma-edge");
  REQUIRE(n.ok);
  REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 225792) == SLUICE_OK);
  CHECK(n.Verify() == SLUICE_OK);
  CHECK(n.Product() < 4.5e14);
}

// The first plan found does not fit the memory (transformer, VGG-16), or costs of tiles
// that are remembered would take all of it (L-RASPP).
TEST_CASE("take space: with little memory there are fewer tiles, not the plain plan") {
  const struct {
    const char* network;
    int batch;
    uint64_t memory;
  } rows[] = {
      {"transformer", 8, 2200000}, {"vgg16", 1, 700000}, {"lraspp", 32, 3000000}};
  for (const auto& row : rows) {
    CAPTURE(row.network);
    sluice::zoo::ZooOptions batch;
    batch.batch = row.batch;
    const Bytes graph = sluice::zoo::MakeZooGraph(row.network, batch);
    NetworkPlan all(graph, "soma-edge"), n(graph, "soma-edge", row.memory);
    REQUIRE((all.ok && n.ok));
    REQUIRE(all.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
    REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
    CHECK(n.Verify() == SLUICE_OK);
    CHECK(static_cast<double>(n.report.latency_cycles) <
          1.05 * static_cast<double>(all.report.latency_cycles));
  }
}

// For latency alone the search first finds tiles so small that the judge cannot follow
// them.
TEST_CASE("take space: a plan that takes the judge too much work is searched again") {
  NetworkPlan n(sluice::zoo::MakeZooGraph("resnet50", {}), "soma-edge");
  REQUIRE(n.ok);
  n.delay_exponent = 1;
  REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
  CHECK(n.Verify() == SLUICE_OK);
  CHECK(n.report.latency_cycles < n.report.bound_latency_cycles * 101 / 100);
}

// A call with a progress callback judges the plain plan first. On split queues this one has
// so many tiles that the judge follows it only because it joins what was stored.
TEST_CASE("take space: a plain plan of very many tiles on split queues is judged") {
  NetworkPlan n(sluice::zoo::MakeZooGraph("fcn", {}), "gemmini-16x16");
  REQUIRE(n.ok);
  n.progress = [](void*, uint64_t, double) { return 0; };
  REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
  CHECK(n.diagnostic.message[0] == 0);
  CHECK(n.Verify() == SLUICE_OK);
  const double cost = n.Product();
  REQUIRE(n.Schedule(SLUICE_SOLVER_BASELINE, 0) == SLUICE_OK);
  CHECK(n.Verify() == SLUICE_OK);
  CHECK(cost <= n.Product());
}

}  // namespace
}  // namespace sluice_test
