// SPDX-License-Identifier: Apache-2.0
// KAPLA's published greedy mapper. On one node: its unit tensors. On a mesh: its mappings
// are legal, use all nodes where that is possible, and are never better than the optimum
// of the same space.
#include <doctest/doctest.h>

#include "solve/mapping/mesh/node_parallel.h"
#include "tests/solve/mapping/machines.h"
#include "tests/solve/mapping/scratch.h"

namespace sluice {
namespace {

void SetMesh(Machine* m, uint32_t columns, uint32_t rows) {
  MakeKaplaNode(m);
  m->hardware.node_cols = columns;
  m->hardware.node_rows = rows;
  m->hardware.hop_pj_per_bit = 0.61;
}

Status Map(const MappingProblem& problem, const Machine& machine,
           const LayerTerms& terms, bool greedy, Scratch* scratch,
           NodeMapping* mapped) {
  NodeParallelOptions options;
  options.node.greedy = greedy;
  options.node.dataflow = Dataflow::kRowStationary;
  options.terms = terms;
  Budget budget;
  return MapOnNodes({problem, machine.hardware, WholeMesh(machine.hardware), options},
                    &budget, &scratch->arena, mapped, &scratch->diagnostic);
}

const MappingProblem kLayers[] = {
    ConvProblem({64, 128, 48, 27, 27, 5, 5, 1, 2}),
    ConvProblem({64, 192, 256, 13, 13, 3, 3, 1, 2}),
    ConvProblem({64, 64, 3, 112, 112, 7, 7, 2, 2}),
    ConvProblem({64, 4096, 4096, 1, 1, 1, 1, 1, 2}),
    ConvProblem({8, 10, 500, 1, 1, 1, 1, 1, 2}),
    ConvProblem({7, 17, 19, 5, 3, 1, 1, 1, 2}),
};

TEST_CASE("nodes: the published greedy deals all nodes out, the exact search wins") {
  Machine machine;
  SetMesh(&machine, 4, 4);
  for (const MappingProblem& problem : kLayers) {
    Scratch scratch;
    NodeMapping greedy, exact;
    REQUIRE(Map(problem, machine, {}, true, &scratch, &greedy) == Status::kOk);
    REQUIRE(Map(problem, machine, {}, false, &scratch, &exact) == Status::kOk);
    CHECK(NodesUsed(greedy.split) == 16);
    CHECK(greedy.cost.layer.energy_pj >= exact.cost.layer.energy_pj * 0.995);
    CHECK(greedy.cost.layer.energy_pj >= exact.bound);
    CHECK(greedy.cost.layer.energy_pj < 3 * exact.cost.layer.energy_pj);
    // The greedy mapper reports the cost of the split and the nest that it returns.
    MeshCost cost;
    CostOptions options;
    options.resident = greedy.kept;
    REQUIRE(EvaluateOnMesh({problem, machine.hardware, WholeMesh(machine.hardware),
                            greedy.split, LayerTerms()},
                           greedy.nest, options, &cost,
                           &scratch.diagnostic) == Status::kOk);
    CHECK(cost.layer.energy_pj == greedy.cost.layer.energy_pj);
  }
}

TEST_CASE("nodes: on one node the published greedy is the one within a layer") {
  Machine machine;
  SetMesh(&machine, 1, 1);
  for (const MappingProblem& problem : kLayers) {
    Scratch scratch;
    NodeMapping nodes;
    MappedNest within;
    KaplaOptions options;
    options.greedy = true;
    options.dataflow = Dataflow::kRowStationary;
    Budget budget;
    REQUIRE(Map(problem, machine, {}, true, &scratch, &nodes) == Status::kOk);
    REQUIRE(MapKapla({problem, machine.hardware, options}, &budget, &scratch.arena,
                     &within, &scratch.diagnostic) == Status::kOk);
    CHECK(nodes.cost.layer.energy_pj - nodes.cost.noc_pj <=
          within.cost.energy_pj * (1 + 1e-9));
  }
}

TEST_CASE("nodes: the published greedy keeps to what pipelining fixes") {
  Machine machine;
  SetMesh(&machine, 4, 2);
  Scratch scratch;
  LayerTerms terms;
  terms.top_batch = 16;
  terms.top_ofm = 4;
  terms.ofmap.kind = EndKind::kHere;
  const MappingProblem problem = ConvProblem({64, 128, 48, 13, 13, 3, 3, 1, 2});
  NodeMapping greedy, exact;
  REQUIRE(Map(problem, machine, terms, true, &scratch, &greedy) == Status::kOk);
  REQUIRE(Map(problem, machine, terms, false, &scratch, &exact) == Status::kOk);
  CHECK(greedy.cost.layer.energy_pj >= exact.cost.layer.energy_pj * 0.995);
  terms.top_batch = 7;  // does not divide 64
  CHECK(Map(problem, machine, terms, true, &scratch, &greedy) == Status::kBadInput);
}

TEST_CASE("kapla: row-stationary nests use the unit tensor and slide along rows") {
  Machine node;
  MakeKaplaNode(&node);
  KaplaOptions options;
  options.dataflow = Dataflow::kRowStationary;
  options.greedy = true;
  Scratch scratch;
  Budget budget;
  MappedNest mapped;
  const MappingProblem problem = ConvProblem({1, 64, 32, 28, 28, 3, 3, 1, 2});
  REQUIRE(MapKaplaGreedy({problem, node.hardware, options}, &budget, &mapped,
                         &scratch.diagnostic) == Status::kOk);
  CHECK(mapped.nest.temporal[0][kDimS] == 3);
  CHECK(SpatialFactor(mapped.nest, 1, kDimR) == 3);
  CHECK(mapped.nest.order[1][0] == kDimQ);
  // One new column per step: the registers are filled with less than a third of what
  // refetching whole windows would take.
  AccessCounts sliding, still;
  REQUIRE(CountAccesses(problem, node.hardware, mapped.nest, {ReuseForm::kReuse, 0},
                        &sliding, &scratch.diagnostic) == Status::kOk);
  node.levels[0].sliding = false;
  REQUIRE(CountAccesses(problem, node.hardware, mapped.nest, {ReuseForm::kReuse, 0},
                        &still, &scratch.diagnostic) == Status::kOk);
  CHECK(2 * sliding.writes[0][kInput] < still.writes[0][kInput]);
  // The default mapper is never worse than the greedy mapper.
  node.levels[0].sliding = true;
  options.greedy = false;
  MappedNest best;
  REQUIRE(MapKapla({problem, node.hardware, options}, &budget, &scratch.arena, &best,
                   &scratch.diagnostic) == Status::kOk);
  CHECK(best.cost.energy_pj <= mapped.cost.energy_pj);
}

TEST_CASE("kapla: a unit tensor that does not fit is reported in bytes") {
  Machine node;
  MakeKaplaNode(&node);
  KaplaOptions options;
  options.dataflow = Dataflow::kRowStationary;
  options.greedy = true;
  Scratch scratch;
  Budget budget;
  MappedNest mapped;
  const MappingProblem problem = ConvProblem({1, 8, 8, 16, 16, 31, 31, 1, 2});
  REQUIRE(MapKaplaGreedy({problem, node.hardware, options}, &budget, &mapped,
                         &scratch.diagnostic) == Status::kInfeasible);
  CHECK(scratch.diagnostic.required_bytes == 2 * (31 + 31 + 1));
  CHECK(scratch.diagnostic.available_bytes == 64);
}

}  // namespace
}  // namespace sluice
