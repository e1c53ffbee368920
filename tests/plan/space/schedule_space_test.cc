// SPDX-License-Identifier: Apache-2.0
// Plans of the space (segments, src/solve/space): joined tensors stay on chip, plans verify,
// compute the right bytes and take the cycles predicted. Random graphs: tests/property.
#include "plan/space/schedule_space.h"

#include <doctest/doctest.h>

#include "plan/better_plan.h"
#include "plan/objective.h"
#include "support/network_plan.h"
#include "tests/plan/called.h"
#include "zoo/network.h"
#include "zoo/zoo.h"

namespace sluice_test {
namespace {

TEST_CASE("space: networks with joins move little more than they must") {
  for (const char* network : {"googlenet", "densenet121", "amoebanet_d"}) {
    CAPTURE(network);
    NetworkPlan n(sluice::zoo::MakeZooGraph(network, {}), "soma-edge");
    REQUIRE(n.ok);
    REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
    CHECK(n.Verify() == SLUICE_OK);
    const uint64_t moved = n.report.dram_read_bytes + n.report.dram_write_bytes;
    CHECK(n.report.spill_bytes < moved / 10);
    CHECK(n.report.latency_cycles < 2 * n.report.bound_latency_cycles);
    const double product = n.Product();
    REQUIRE(n.Schedule(SLUICE_SOLVER_FUSION, 0) == SLUICE_OK);
    CHECK(product <= n.Product());
  }
}

// Layers whose weights take longer to load than their tiles to compute. Cutting the tiles
// would cost energy and gain nothing: their time is hidden behind the next layer's loads.
// Only near the end, where nothing is loaded behind them, parts of channels gain.
TEST_CASE("space: what tiles take is hidden behind later loads") {
  for (const int images : {8, 32}) {
    CAPTURE(images);
    sluice::zoo::ZooOptions batch;
    batch.batch = images;
    NetworkPlan n(sluice::zoo::MakeZooGraph("mlp_l", batch), "soma-edge");
    REQUIRE(n.ok);
    REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
    const double product = n.Product();
    REQUIRE(n.Schedule(SLUICE_SOLVER_FUSION, 0) == SLUICE_OK);
    CHECK(product < 1.003 * n.Product());
  }
}

TEST_CASE("space: with iterations the search goes on, and the plan is no worse") {
  sluice::zoo::ZooOptions batch;
  batch.batch = 32;
  NetworkPlan n(sluice::zoo::MakeZooGraph("lstm_gnmt", batch), "soma-edge");
  REQUIRE(n.ok);
  REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
  CHECK(n.report.iterations == 0);
  const double alone = n.Product();
  n.max_iterations = 20;
  REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
  CHECK(n.Verify() == SLUICE_OK);
  CHECK(n.report.iterations > 0);
  CHECK(n.Product() <= alone);
}

// 512 tokens from 3,072 to 768 channels. The sums leave little room for operands, which are
// loaded in whole passes of the array; operands that change in every iteration are loaded
// before those that wait for the previous tile.
TEST_CASE("space: a projection's sums take the scratchpad, and its operands stream") {
  sluice::zoo::Network net("projection");
  const auto x = net.Input("x", {512, 1, 1, 3072});
  NetworkPlan n(net.Finish(net.FullyConnected("down", x, 768, false)), "mcu-256k");
  REQUIRE(n.ok);
  n.delay_exponent = 1;
  constexpr double kLeast = 512.0 * 3072 * 768 / 128;
  struct {
    uint64_t bytes;
    double most;
  } const rows[] = {{262144, 1.31}, {65536, 2.6}, {32768, 3.7}};
  for (const auto& row : rows) {
    CAPTURE(row.bytes);
    REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, row.bytes) == SLUICE_OK);
    CHECK(n.Verify() == SLUICE_OK);
    CHECK(static_cast<double>(n.report.latency_cycles) < row.most * kLeast);
  }
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
                               c->call.capacity, c->call.coster, search},
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
    "space: a plan is not taken where it costs more than before its last changes") {
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
    REQUIRE(TakeFromSpace(&c.call) == sluice::Status::kOk);
    REQUIRE(c.call.has_plan());
    CHECK(c.call.best_cost <= CostUnchanged(&c) * (1 + 1e-12));
  }
}

// The first plan found does not fit the memory (transformer, VGG-16), or costs of tiles
// that are remembered would take all of it (L-RASPP).
TEST_CASE("space: with little memory there are fewer tiles, not the plain plan") {
  const struct {
    const char* network;
    int batch;
    uint64_t memory;
    double most;  // times the bound
  } rows[] = {{"transformer", 8, 2200000, 1.1},
              {"vgg16", 1, 700000, 1.1},
              {"lraspp", 32, 3000000, 1.2}};
  for (const auto& row : rows) {
    CAPTURE(row.network);
    sluice::zoo::ZooOptions batch;
    batch.batch = row.batch;
    NetworkPlan n(sluice::zoo::MakeZooGraph(row.network, batch), "soma-edge",
                  row.memory);
    REQUIRE(n.ok);
    REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
    CHECK(n.Verify() == SLUICE_OK);
    CHECK(static_cast<double>(n.report.latency_cycles) <
          row.most * static_cast<double>(n.report.bound_latency_cycles));
  }
}

// For latency alone the search first finds tiles so small that the judge cannot follow
// them.
TEST_CASE("space: a plan that takes the judge too much work is searched again") {
  NetworkPlan n(sluice::zoo::MakeZooGraph("resnet50", {}), "soma-edge");
  REQUIRE(n.ok);
  n.delay_exponent = 1;
  REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
  CHECK(n.Verify() == SLUICE_OK);
  CHECK(n.report.latency_cycles < n.report.bound_latency_cycles * 101 / 100);
}

// A call with a progress callback judges the plain plan first.
TEST_CASE("space: where the judge cannot follow the plain plan, there is another") {
  NetworkPlan n(sluice::zoo::MakeZooGraph("fcn", {}), "gemmini-16x16");
  REQUIRE(n.ok);
  n.progress = [](void*, uint64_t, double) { return 0; };
  REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
  CHECK(n.diagnostic.message[0] == 0);
  CHECK(n.Verify() == SLUICE_OK);
  CHECK(n.Schedule(SLUICE_SOLVER_BASELINE, 0) == SLUICE_UNSUPPORTED);
}

}  // namespace
}  // namespace sluice_test
