// SPDX-License-Identifier: Apache-2.0
// A program of two layers, completed with waits, times and a report.
#include "plan/candidate.h"

#include <doctest/doctest.h>

#include <vector>

#include "base/budget.h"
#include "solve/baseline/layer_by_layer.h"
#include "support/read_graph.h"

namespace sluice {
namespace {

using sluice_test::kI8;

TEST_CASE("candidate: waits, cycles and report of a program that is written") {
  sluice_test::GraphSpec spec;
  spec.tensors = {
      {{1, 4, 4, 8}, kI8, 1}, {{1, 4, 4, 8}, kI8, 0}, {{1, 4, 4, 8}, kI8, 2}};
  const std::vector<int32_t> same = {0, 1 << 30, 1, 0, -128, 127};
  spec.layers = {{SLUICE_OP_REQUANTIZE, {0}, {1}, same},
                 {SLUICE_OP_REQUANTIZE, {1}, {2}, same}};
  sluice_test::Nouns n(spec);
  Candidate candidate(&n.memory, n.hardware);
  Budget unlimited;
  REQUIRE(Lower(n.graph, n.hardware, &candidate.places, &candidate.lowering,
                &n.diagnostic) == Status::kOk);
  REQUIRE(ScheduleLayerByLayer(
              {n.graph, n.hardware, candidate.lowering, 4096, TileCoster{}, &unlimited},
              &n.arena, &candidate.program, &n.diagnostic) == Status::kOk);
  REQUIRE(candidate.program.block_count() == 2);
  std::vector<int64_t> blocks(2, -1);
  PlanBound bound = {};
  bound.cycles = 12;
  bound.energy_pj = 34;
  REQUIRE(CompleteCandidate({n.graph, n.hardware, bound}, &n.arena, &candidate,
                            {blocks.data(), blocks.size()}) == Status::kOk);
  // Each layer: a load, a tile, a store of 128 bytes at 4 per cycle behind 10 of latency;
  // the tile takes 128 operations at 16 per cycle.
  CHECK(candidate.program.size() == 6);
  CHECK(blocks[0] == 42 + 8 + 42);
  CHECK(blocks[1] == 2 * 92);  // when it ends
  CHECK(candidate.report.latency_cycles == 2 * 92);
  CHECK(candidate.report.dram_read_bytes == 256);
  CHECK(candidate.report.dram_write_bytes == 256);
  CHECK(candidate.report.vector_ops == 256);
  CHECK(candidate.report.tiles == 2);
  CHECK(candidate.report.spill_bytes == 128);  // the result of the first layer
  CHECK(candidate.report.bound_latency_cycles == 12);
  CHECK(candidate.report.bound_energy_pj == 34);
  // A tile waits for its load, a store for its tile, the second load for the first store.
  CHECK(candidate.waits.begin[6] >= 4);
}

}  // namespace
}  // namespace sluice
