// SPDX-License-Identifier: Apache-2.0
#include "solve/segments/value.h"

#include <doctest/doctest.h>

#include <vector>

#include "tests/solve/segments/scheme_cost.h"
#include "tests/solve/segments/small_mesh.h"

namespace sluice {
namespace {

// Prices made by hand: every layer costs 63 pJ, the one at position p takes 100 (p + 1)
// cycles, and one layer may be refused.
struct Hand {
  uint32_t refused = kNone;
  LayerPricer pricer{
      this, [](void* user, const LayerQuery& query, LayerPrice* price, Diagnostic*) {
        if (query.position == static_cast<Hand*>(user)->refused) {
          return Status::kInfeasible;
        }
        *price = LayerPrice{};
        price->cost.layer.operations_pj = 1;
        price->cost.registers_pj = 2;
        price->cost.layer.transfer_pj = 4;
        price->cost.scratchpad_pj = 8;
        price->cost.dram_pj = 16;
        price->cost.noc_pj = 32;
        price->cost.busy_cycles = 100 * (query.position + 1);
        price->cost.dram_read_bytes = 80;
        return Status::kOk;
      }};
};

TEST_CASE("value: a layer by itself is its price, leakage, and the slower of two") {
  SmallCase small(2, 1, 256);
  small.network.Add("a", Dense(4, 8, 6), {-1});
  small.network.Add("b", Dense(4, 8, 6), {-1});
  small.network.Add("c", Dense(4, 4, 6), {-1});
  small.machine.hardware.leakage_pj_per_cycle = 5;
  Space space = small.MakeEmpty();
  Hand hand;
  Values values(space, hand.pricer, &small.scratch.arena);
  REQUIRE(InitValues(&values) == Status::kOk);
  Run run = {};
  run.last = 1;
  SegmentScheme scheme = {};
  scheme.top_batch = 1;
  CHECK_FALSE(ValueOf(values, run, scheme, Ranking::kBound).priced);
  bool all;
  const auto price = [&] {
    return PriceNext(&values, run, scheme, &all, &small.scratch.diagnostic);
  };
  REQUIRE(price() == Status::kOk);
  SchemeValue value = ValueOf(values, run, scheme, Ranking::kBound);
  CHECK(value.priced);
  CHECK(value.node_cycles == 100);
  CHECK(value.dram_cycles == 10);  // 80 bytes at 8 a cycle
  CHECK(value.cycles == 100);
  CHECK(value.pj == doctest::Approx(63 + 5 * 2 * 100));
  small.machine.hardware.leakage_pj_per_cycle = 0;
  small.machine.levels[2].bandwidth = Rational{1, 2};
  CHECK(ValueOf(values, run, scheme, Ranking::kBound).cycles == 160);
  // Layer 1 equals layer 0, so its price is known. Layer 2 differs and has no price.
  run = {};
  run.first = 1;
  run.last = 2;
  REQUIRE(price() == Status::kOk);
  CHECK(all);
  CHECK(values.calls == 1);
  hand.refused = 2;
  run.first = 2;
  run.last = 3;
  CHECK(price() == Status::kInfeasible);
  CHECK(small.scratch.diagnostic.layer == 2);
  CHECK(values.calls == 2);
}

TEST_CASE("value: pipelines fill and then go at the pace of the slowest stage") {
  Run run = {};
  run.last = 2;
  run.stages = 2;
  SegmentScheme scheme = {};
  scheme.kind = SegmentKind::kSpatial;
  scheme.top_batch = 4;
  scheme.groups[0] = scheme.groups[1] = 1;
  LayerRole role[2] = {};
  role[0].producer = kNone;
  role[1].stage = 1;
  LayerPart part[2] = {};
  part[0].busy_cycles = 40;
  part[1].busy_cycles = 80;
  const auto cycles = [&] { return PipelineCycles(run, scheme, role, part); };
  // Slices of 10 and 20 cycles: the second starts after 10, and ends 4 x 20 later.
  CHECK(cycles() == 90);
  scheme.groups[0] = 2;  // after half a slice
  role[1].fine = true;
  CHECK(cycles() == 85);
  part[0].busy_cycles = 200;  // slices of 50: stage 1 ends half a slice after stage 0
  CHECK(cycles() == 50 + 10 + 3 * 50);
  scheme.kind = SegmentKind::kTemporal;
  CHECK(cycles() == 280);
}

// Translates a scheme of the solver into one for SchemeCost of the tests.
GivenScheme Given(const Space& space, const Run& run, const SegmentScheme& scheme) {
  GivenScheme given;
  given.batch = scheme.top_batch;
  given.spatial = scheme.kind == SegmentKind::kSpatial;
  if (run.stages == 0) given.run.push_back({run.first, run.last});
  for (uint32_t s = 0; s < run.stages; ++s) {
    const Vertex& v = space.vertices[run.vertex + s];
    given.run.push_back({v.first, v.last});
    given.groups.push_back(scheme.groups[s]);
    if (given.spatial) given.regions.push_back(space.regions[scheme.regions + s]);
  }
  return given;
}

TEST_CASE("value: priced schemes cost what the rules say, and no less than bounds") {
  std::mt19937 random(31);
  int compared = 0;
  for (int round = 0; round < 8; ++round) {
    SmallCase small(2, 1 + round % 2, 256);
    if (round % 2 == 1) small.machine.hardware.leakage_pj_per_cycle = 20;
    small.network = RandomNetwork(&random, 4);
    Space space = small.MakeEmpty();
    SegmentCounts counts = {};
    Budget budget;
    REQUIRE(MakeSpace(&space, &budget, &small.scratch.arena, &counts) == Status::kOk);
    PricedNetwork net;
    net.layers.assign(small.layers.begin(), small.layers.end());
    net.hardware = small.machine.hardware;
    NodePricer pricer(small.layers, net.hardware, NodeParallelOptions(), &budget,
                      &small.scratch.memory);
    net.pricer = pricer.pricer();
    Values values(space, net.pricer, &small.scratch.arena);
    REQUIRE(InitValues(&values) == Status::kOk);
    for (const Run& run : space.runs) {
      for (uint32_t i = run.schemes; i < run.beyond; ++i) {
        const SegmentScheme& scheme = space.schemes[i];
        const SchemeValue bound = ValueOf(values, run, scheme, Ranking::kBound);
        for (bool all = false; !all;) {
          REQUIRE(PriceNext(&values, run, scheme, &all, &small.scratch.diagnostic) ==
                  Status::kOk);
        }
        const SchemeValue value = ValueOf(values, run, scheme, Ranking::kBound);
        const GivenScheme given = Given(space, run, scheme);
        net.energy = true;
        CAPTURE(round);
        CAPTURE(i);
        const double pj = SchemeCost(&net, given).Of();
        CHECK(value.infeasible == (pj >= 1e300));
        if (value.infeasible) continue;
        CHECK(value.pj == doctest::Approx(pj).epsilon(1e-9));
        LayerRole role[kMaxRunLayers];
        const LayerPrice* price[kMaxRunLayers];
        REQUIRE(PricesOf(values, run, scheme, role, price));
        bool stay = true;
        for (uint32_t k = run.first; k < run.last; ++k)
          stay &= role[k - run.first].query.stay;
        // Weights that may not stay are charged for every slice by the bound, but not by
        // the price of a nest that holds them whole: these are not compared.
        if (stay) CHECK(bound.pj <= value.pj * (1 + 1e-12));
        if (stay) CHECK(bound.cycles <= value.cycles);
        net.energy = false;
        CHECK(static_cast<double>(value.cycles) ==
              doctest::Approx(SchemeCost(&net, given).Of()));
        ++compared;
      }
    }
  }
  CHECK(compared > 100);
}

}  // namespace
}  // namespace sluice
