// SPDX-License-Identifier: Apache-2.0
// sluice schedule --prove: what it says of plans whose whole space is made here by other code.
#include "cli/prove.h"

#include <doctest/doctest.h>

#include <vector>

#include "presets/presets.h"
#include "support/wire_builder.h"

namespace sluice::cli {
namespace {

// Products of so many rows, one behind another, in a scratchpad that does not hold them.
Bytes Products(int32_t rows, int32_t channels, int layers) {
  sluice_test::GraphSpec g;
  g.tensors.push_back({{rows, channels}, SLUICE_DTYPE_INT8, 1, 0, 0});
  uint32_t from = 0;
  for (int l = 0; l < layers; ++l) {
    const auto at = static_cast<uint32_t>(g.tensors.size());
    g.tensors.push_back({{channels, channels}, SLUICE_DTYPE_INT8, 3, 3, at});
    g.tensors.push_back({{channels, 3}, SLUICE_DTYPE_INT32, 3, 3, at + 1});
    const uint8_t kind = l + 1 == layers ? 2 : 0;
    g.tensors.push_back({{rows, channels}, SLUICE_DTYPE_INT8, kind, 0, at + 2});
    g.layers.push_back({SLUICE_OP_FULLY_CONNECTED,
                        {from, at, at + 1},
                        {at + 2},
                        {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -128, 127, 0}});
    from = at + 2;
  }
  return sluice_test::GraphBytes(g);
}

struct Planned {
  Planned(const Bytes& graph_bytes, uint64_t room) : graph(graph_bytes) {
    const auto preset = presets::LoadPreset("soma-edge");
    hardware.assign(preset.begin(), preset.end());
    options.struct_size = sizeof options;
    options.scratchpad_bytes = room;
    options.energy_exponent = options.delay_exponent = 1;
    Session session(0);
    session.LoadHardware(hardware);
    session.LoadGraph(graph);
    session.Schedule(options);
    plan = session.PlanBytes();
  }
  Proof Prove(uint64_t most) const {
    return cli::Prove({graph, hardware, plan, options, most});
  }

  const Bytes graph;
  Bytes hardware, plan;
  sluice_schedule_options_t options = {};
};

TEST_CASE("prove: all plans of one product, made again one by one") {
  const Planned planned(Products(6, 8, 1), 160);
  const Proof proof = planned.Prove(100000);
  CHECK(proof.proved == Proved::kInSpace);
  CHECK(proof.made > 20);
  CHECK(ProofText(proof).find("optimal in the plan space") == 0);
  // Rows, output channels and the sum, each in every number of parts, in each order.
  PlanMaker maker(planned.graph, planned.hardware, planned.plan, planned.options);
  SegmentNotation notation = SegmentsOfPlan(planned.plan);
  double least = 1;
  uint64_t made = 0;
  for (int32_t rows = 1; rows <= 6; ++rows) {
    for (int32_t columns = 1; columns <= 8; ++columns) {
      for (int32_t sum = 1; sum <= 8; ++sum) {
        for (const bool swapped : {false, true}) {
          std::vector<SegmentLoop> loops = {{2, rows}, {3, columns}, {4, sum}};
          if (swapped) std::swap(loops[0], loops[1]);
          std::vector<SegmentLoop>& own = notation.segments[0].loops;
          own.clear();
          for (const SegmentLoop& loop : loops) {
            if (loop.parts > 1) own.push_back(loop);
          }
          const double ratio = maker.Ratio(notation);
          made += ratio < INFINITY ? 1 : 0;
          least = std::min(least, ratio);
        }
      }
    }
  }
  CHECK(made > 20);
  CHECK(proof.ratio == doctest::Approx(least));
  CHECK(proof.cheaper.empty() == (proof.ratio == 1));
}

TEST_CASE("prove: a plan that is not the best is replaced by it") {
  Planned planned(Products(6, 8, 1), 160);
  const Bytes best = planned.plan;
  PlanMaker maker(planned.graph, planned.hardware, planned.plan, planned.options);
  SegmentNotation notation = SegmentsOfPlan(planned.plan);
  notation.segments[0].loops = {{2, 6}, {3, 8}};
  const double ratio = maker.Ratio(notation);
  REQUIRE(ratio > 1.01);
  REQUIRE(ratio < INFINITY);
  planned.plan = maker.PlanBytes();
  const Proof proof = planned.Prove(100000);
  CHECK(proof.proved == Proved::kInSpace);
  CHECK(proof.ratio <= 1 / ratio * (1 + 1e-9));
  CHECK(!proof.cheaper.empty());
}

TEST_CASE("prove: what is not known is not said") {
  const Planned planned(Products(6, 8, 1), 160);
  const Proof few = planned.Prove(5);
  CHECK(few.proved == Proved::kUndecided);
  CHECK(few.made + few.refused == 5);
  CHECK(ProofText(few).find("optimal") == std::string::npos);
  const Proof longer = Planned(Products(6, 8, 3), 200).Prove(5);
  CHECK(longer.proved == Proved::kNotAsked);
  CHECK(ProofText(longer).find("optimal") == std::string::npos);
  const Proof two = Planned(Products(2, 2, 2), 72).Prove(100000);
  CHECK((two.proved == Proved::kInSpace || two.proved == Proved::kByBound));
}

}  // namespace
}  // namespace sluice::cli
