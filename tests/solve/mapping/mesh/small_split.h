// SPDX-License-Identifier: Apache-2.0
// A search for the split of a small layer, with all parts listed.
#ifndef SLUICE_TESTS_SOLVE_MAPPING_MESH_SMALL_SPLIT_H_
#define SLUICE_TESTS_SOLVE_MAPPING_MESH_SMALL_SPLIT_H_

#include <doctest/doctest.h>

#include <memory>

#include "solve/mapping/mesh/node_split.h"
#include "tests/solve/mapping/mesh/small_node.h"
#include "tests/solve/mapping/scratch.h"

namespace sluice::node_split {

struct Split {
  Machine m;
  MappingProblem problem;
  NodeParallelOptions options;
  NodeRegion region;
  Scratch scratch;
  Budget budget;
  NodeMapping mapped = {};
  int64_t passes[kDims] = {1, 1, 1, 1, 1, 1, 1, 1};
  std::unique_ptr<Search> search;

  Split(Rng* rng, uint32_t cols, uint32_t rows) : problem(SmallLayer(rng)) {
    MakeSmallMesh(&m, cols, rows, 12, 160);
    region = WholeMesh(m.hardware);
    Prepare();
  }
  void Prepare() {
    search = std::make_unique<Search>(problem, passes, m.hardware, region, options,
                                      &scratch.arena);
    search->mapped = &mapped;
    search->best = 0;
    search->least_kept = INT64_MAX;
    OrderDims(search.get());
    REQUIRE(MeasureCorners(search.get(), &scratch.arena) == Status::kOk);
    REQUIRE(ListFactors(search.get(), &scratch.arena) == Status::kOk);
    REQUIRE(LeastArray(search.get(), &budget, &scratch.arena, &scratch.diagnostic) ==
            Status::kOk);
    REQUIRE(ListAllParts(search.get()) == Status::kOk);
  }
};

}  // namespace sluice::node_split

#endif  // SLUICE_TESTS_SOLVE_MAPPING_MESH_SMALL_SPLIT_H_
