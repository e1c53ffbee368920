// SPDX-License-Identifier: Apache-2.0
#include "solve/segments/space.h"

#include <doctest/doctest.h>

#include <vector>

#include "tests/solve/segments/brute_force.h"
#include "tests/solve/segments/small_mesh.h"

namespace sluice {
namespace {

struct Made {
  SegmentCounts counts = {};
  std::vector<std::vector<uint32_t>> runs;  // first, last, stages
  std::vector<std::vector<uint32_t>> vertices;
};

Made Make(SmallCase* small, bool stopped = false) {
  Made made;
  Space space = small->MakeEmpty();
  const uint32_t cancel = stopped ? 1 : 0;
  Budget budget({}, 0, 0, &cancel);
  REQUIRE(MakeSpace(&space, &budget, &small->scratch.arena, &made.counts) ==
          Status::kOk);
  size_t schemes = 0;
  for (const Run& run : space.runs) {
    made.runs.push_back({run.first, run.last, run.stages});
    CHECK(run.schemes == schemes);
    schemes = run.beyond;
  }
  CHECK(schemes == space.schemes.size());
  CHECK(schemes == made.counts.valid);
  for (const Vertex& v : space.vertices) made.vertices.push_back({v.first, v.last});
  return made;
}

TEST_CASE("space: as many vertices and schemes as all rules, tried one by one, allow") {
  std::mt19937 random(23);
  const uint32_t meshes[][2] = {{2, 1}, {2, 2}, {3, 1}, {3, 2}};
  uint64_t multi = 0;
  for (int round = 0; round < 80; ++round) {
    CAPTURE(round);
    SmallCase small(meshes[round % 4][0], meshes[round % 4][1], 1 << 20);
    small.options.proof = true;
    small.network = RandomNetwork(&random, round % 3 == 0 ? 1 : 6);
    const Made made = Make(&small);
    BruteForce brute;
    brute.layers.assign(small.layers.begin(), small.layers.end());
    brute.hardware = small.machine.hardware;
    brute.pricer.price = [](void*, const LayerQuery&, LayerPrice*, Diagnostic*) {
      return Status::kInfeasible;
    };
    brute.Best();
    CHECK(made.counts.vertices == brute.Vertices().size());
    CHECK(made.counts.schemes == brute.schemes + brute.layers.size());
    CHECK(made.counts.valid == made.counts.schemes);
    multi += made.counts.multi;
  }
  CHECK(multi > 100);
}

TEST_CASE(
    "space: what options and budgets leave out, and single layers are always there") {
  SmallCase small(2, 1, 256);
  small.network.Add("a", Dense(2, 8, 6), {-1});
  small.network.Add("b", Dense(2, 4, 8), {0});
  small.network.Add("pool", Channels(2, 4, 1, 1), {1});
  small.network.Add("c", Dense(2, 8, 4), {2});
  using Rows = std::vector<std::vector<uint32_t>>;
  const Rows singles = {{0, 1, 0}, {1, 2, 0}, {2, 3, 0}, {3, 4, 0}};
  const Made made = Make(&small);
  CHECK(made.vertices == Rows{{0, 1}, {1, 3}, {3, 4}});
  // The pool follows b: together they are a segment of one stage.
  CHECK(made.runs == Rows{{0, 1, 0},
                          {0, 3, 2},
                          {0, 4, 3},
                          {1, 2, 0},
                          {1, 3, 1},
                          {1, 4, 2},
                          {2, 3, 0},
                          {3, 4, 0}});
  // Three stages do not fit two nodes; one stage is no pipeline.
  CHECK(made.counts.multi == 4 + 2);
  CHECK(made.counts.spatial == 2);
  CHECK(Make(&small, true).runs == singles);
  small.options.max_stages = 2;
  CHECK(Make(&small).runs.size() == 7);
  small.options.temporal = false;
  CHECK(Make(&small).counts.multi == 2);
  small.options.solver = SegmentSolver::kLayers;
  CHECK(Make(&small).runs == singles);
}

TEST_CASE("space: slices too large for the scratchpads are left out") {
  SmallCase small(2, 1, 16);
  small.network.Add("a", Dense(4, 8, 6), {-1});
  small.network.Add("b", Dense(4, 4, 8), {0});
  small.options.spatial = false;
  // 4 x 8 words of 2 bytes lie between the layers, in 1, 2 or 4 slices; two nodes hold
  // 32 bytes.
  const Made made = Make(&small);
  CHECK(made.counts.schemes == 2 + 3);
  CHECK(made.counts.valid == 2 + 2);
}

}  // namespace
}  // namespace sluice
