// SPDX-License-Identifier: Apache-2.0
// Layers on nodes under the terms that pipelining fixes: slices of the batch, and fmaps that
// come from or go to other nodes on chip.
#include <doctest/doctest.h>

#include <algorithm>

#include "solve/mapping/mesh/node_parallel.h"
#include "tests/solve/mapping/machines.h"
#include "tests/solve/mapping/scratch.h"

namespace sluice {
namespace {

void MakeMesh(Machine* m, uint32_t cols, uint32_t rows) {
  MakeKaplaNode(m);
  m->levels[0].sliding = false;
  m->hardware.node_cols = cols;
  m->hardware.node_rows = rows;
  m->hardware.hop_pj_per_bit = 0.61;
}

Status MapIt(const MappingProblem& problem, const Machine& m, const NodeRegion& region,
             const LayerTerms& terms, Scratch* scratch, NodeMapping* mapped) {
  Budget budget;
  NodeParallelOptions options;
  options.terms = terms;
  return MapOnNodes({problem, m.hardware, region, options}, &budget, &scratch->arena,
                    mapped, &scratch->diagnostic);
}

TEST_CASE("forwarded fmaps leave only weights to DRAM") {
  Machine m;
  MakeMesh(&m, 4, 4);
  const NodeRegion region = {{2, 0}, {2, 4}};
  const MappingProblem problem = ConvProblem({8, 32, 16, 14, 14, 3, 3, 1, 2});
  Scratch scratch;
  NodeMapping mapped;
  LayerTerms terms;
  terms.top_batch = 8;
  terms.ifmap = FmapEnd{EndKind::kNodes, {{0, 0}, {2, 4}}};
  terms.ofmap = FmapEnd{EndKind::kNodes, {{0, 0}, {2, 4}}};
  REQUIRE(MapIt(problem, m, region, terms, &scratch, &mapped) == Status::kOk);
  const int64_t weights = TileWords(problem, kWeight, problem.extent) * 2;
  CHECK(mapped.cost.dram_write_bytes == 0);
  CHECK(mapped.cost.dram_read_bytes % weights == 0);
  CHECK(mapped.cost.dram_read_bytes <= 8 * weights);
  CHECK(mapped.cost.scratchpad_bytes <= 32768);
  terms.ofmap = FmapEnd{EndKind::kHere, {}};
  terms.ifmap = FmapEnd{EndKind::kHere, {}};
  REQUIRE(MapIt(problem, m, region, terms, &scratch, &mapped) == Status::kOk);
  CHECK(mapped.cost.dram_write_bytes == 0);
  CHECK(mapped.bound <= mapped.objective);
}

TEST_CASE("components of a layer's cost add up to its energy") {
  Machine m;
  MakeMesh(&m, 4, 2);
  for (const int32_t slices : {1, 2, 4}) {
    Scratch scratch;
    NodeMapping mapped;
    LayerTerms terms;
    terms.top_batch = slices;
    terms.top_ifm = slices;
    terms.ifmap = FmapEnd{EndKind::kNodes, {{0, 0}, {1, 1}}};
    REQUIRE(MapIt(ConvProblem({4, 16, 32, 7, 7, 3, 3, 1, 2}), m, WholeMesh(m.hardware),
                  terms, &scratch, &mapped) == Status::kOk);
    const MeshCost& cost = mapped.cost;
    CHECK(cost.layer.operations_pj + cost.registers_pj + cost.scratchpad_pj +
              cost.dram_pj + cost.layer.transfer_pj + cost.noc_pj +
              cost.layer.leakage_pj ==
          doctest::Approx(cost.layer.energy_pj).epsilon(1e-12));
    CHECK(cost.layer.cycles == std::max(cost.busy_cycles, cost.dram_cycles));
    CHECK(cost.dram_write_bytes == 4 * 16 * 7 * 7 * 2);
  }
}

TEST_CASE("a table of terms is what its terms are alone") {
  Machine m;
  MakeMesh(&m, 4, 4);
  const MappingProblem problem = ConvProblem({16, 32, 16, 14, 14, 3, 3, 1, 2});
  const NodeRegion region = {{2, 0}, {2, 4}};
  const FmapEnd left = {EndKind::kNodes, {{0, 0}, {2, 4}}};
  const FmapEnd here = {EndKind::kHere, {}};
  LayerTerms terms[] = {{1, 1, 1, {}, {}},     {4, 1, 1, left, {}},
                        {16, 1, 4, {}, left},  {16, 2, 1, left, {}},
                        {8, 1, 1, here, here}, {1, 1, 1, here, here}};
  constexpr size_t kTerms = sizeof terms / sizeof terms[0];
  Scratch scratch;
  Budget budget;
  NodeMapping mapped[kTerms];
  Status status[kTerms];
  REQUIRE(
      MapTableOnNodes({problem, m.hardware, region, {}},
                      Span<const LayerTerms>(terms, kTerms), &budget, &scratch.arena,
                      {Span<NodeMapping>(mapped, kTerms), Span<Status>(status, kTerms)},
                      &scratch.diagnostic) == Status::kOk);
  size_t found = 0;
  for (size_t i = 0; i < kTerms; ++i) {
    NodeMapping alone;
    CHECK(MapIt(problem, m, region, terms[i], &scratch, &alone) == status[i]);
    if (status[i] != Status::kOk) continue;
    ++found;
    CHECK(alone.objective == mapped[i].objective);
    CHECK(alone.kept == mapped[i].kept);
  }
  CHECK(found >= 4);
}

TEST_CASE("slices that do not divide, and scratchpads too small for a slice") {
  Machine m;
  MakeMesh(&m, 2, 2);
  Scratch scratch;
  NodeMapping mapped;
  LayerTerms terms;
  terms.top_batch = 3;
  const MappingProblem problem = ConvProblem({4, 16, 32, 56, 56, 3, 3, 1, 2});
  CHECK(MapIt(problem, m, WholeMesh(m.hardware), terms, &scratch, &mapped) ==
        Status::kBadInput);
  terms.top_batch = 1;
  terms.top_ifm = terms.top_ofm = 2;
  CHECK(MapIt(problem, m, WholeMesh(m.hardware), terms, &scratch, &mapped) ==
        Status::kBadInput);
  terms.top_ifm = terms.top_ofm = 1;
  terms.ifmap.kind = EndKind::kHere;
  ClearDiagnostic(&scratch.diagnostic);
  CHECK(MapIt(problem, m, WholeMesh(m.hardware), terms, &scratch, &mapped) ==
        Status::kInfeasible);
  CHECK(scratch.diagnostic.required_bytes > scratch.diagnostic.available_bytes);
}

}  // namespace
}  // namespace sluice
