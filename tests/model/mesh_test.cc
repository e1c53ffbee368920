// SPDX-License-Identifier: Apache-2.0
#include "model/mesh.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <utility>
#include <vector>

#include "solve/mapping/mesh/node_parallel.h"
#include "tests/solve/mapping/machines.h"
#include "tests/solve/mapping/networks.h"
#include "tests/solve/mapping/scratch.h"

namespace sluice {
namespace {

struct Position {
  int col, row;
};

int Distance(Position a, Position b) {
  return std::abs(a.col - b.col) + std::abs(a.row - b.row);
}

// Groups of nodes that hold the same words of an operand, found by every node's digits.
std::vector<std::vector<Position>> GroupsOf(const NodeRegion& region,
                                            const NodeSplit& split, uint32_t operand) {
  std::vector<std::vector<int>> keys;
  std::vector<std::vector<Position>> groups;
  int used[kMeshAxes] = {1, 1};
  for (int axis = 0; axis < kMeshAxes; ++axis) {
    for (int d = 0; d < kDims; ++d) used[axis] *= split.factor[axis][d];
  }
  for (int row = 0; row < used[kRows]; ++row) {
    for (int col = 0; col < used[kColumns]; ++col) {
      const int at[kMeshAxes] = {col, row};
      std::vector<int> key;
      for (int axis = 0; axis < kMeshAxes; ++axis) {
        int left = at[axis];
        for (int i = 0; i < kDims; ++i) {
          const int d = split.order[axis][i];
          if (Moves(static_cast<uint32_t>(d), operand)) {
            key.push_back(left % split.factor[axis][d]);
          }
          left /= split.factor[axis][d];
        }
      }
      const auto found = std::find(keys.begin(), keys.end(), key);
      const size_t index = static_cast<size_t>(found - keys.begin());
      if (found == keys.end()) {
        keys.push_back(key);
        groups.emplace_back();
      }
      groups[index].push_back({col + static_cast<int>(region.begin[kColumns]),
                               row + static_cast<int>(region.begin[kRows])});
    }
  }
  return groups;
}

// Links of a tree grown from the node nearest to a corner, always by the nearest node.
int TreeOf(const std::vector<Position>& group, int cols, int rows) {
  const Position corners[] = {
      {0, 0}, {cols - 1, 0}, {0, rows - 1}, {cols - 1, rows - 1}};
  int links = 1 << 30;
  size_t start = 0;
  for (size_t i = 0; i < group.size(); ++i) {
    for (const Position& corner : corners) {
      if (Distance(group[i], corner) < links) {
        links = Distance(group[i], corner);
        start = i;
      }
    }
  }
  std::vector<bool> in(group.size());
  in[start] = true;
  for (size_t reached = 1; reached < group.size(); ++reached) {
    int least = 1 << 30;
    size_t next = 0;
    for (size_t i = 0; i < group.size(); ++i) {
      for (size_t j = 0; j < group.size(); ++j) {
        if (in[i] && !in[j] && Distance(group[i], group[j]) < least) {
          least = Distance(group[i], group[j]);
          next = j;
        }
      }
    }
    in[next] = true;
    links += least;
  }
  return links;
}

void MakeMesh(Machine* m, uint32_t cols, uint32_t rows) {
  MakeKaplaNode(m);
  m->levels[0].sliding = false;
  m->hardware.node_cols = cols;
  m->hardware.node_rows = rows;
  m->hardware.hop_pj_per_bit = 0.61;
}

TEST_CASE("links to DRAM equal those of spanning trees grown node by node") {
  std::mt19937 random(7);
  const auto below = [&](uint32_t n) { return static_cast<int>(random() % n); };
  for (int round = 0; round < 300; ++round) {
    Machine m;
    const uint32_t cols = 1 + static_cast<uint32_t>(below(9));
    const uint32_t rows = 1 + static_cast<uint32_t>(below(9));
    MakeMesh(&m, cols, rows);
    NodeRegion region;
    const uint32_t size[] = {cols, rows};
    NodeSplit split = WholeOnEach();
    for (int axis = 0; axis < kMeshAxes; ++axis) {
      region.begin[axis] = static_cast<uint32_t>(below(size[axis]));
      region.extent[axis] =
          1 + static_cast<uint32_t>(below(size[axis] - region.begin[axis]));
      int left = static_cast<int>(region.extent[axis]);
      for (int tries = 0; tries < 3; ++tries) {
        const int f = 1 + below(static_cast<uint32_t>(left));
        split.factor[axis][below(kDims)] *= f;
        left /= f;
      }
      std::shuffle(split.order[axis], split.order[axis] + kDims, random);
    }
    OperandPath path[kOperands];
    FindPaths(m.hardware, region, split, LayerTerms(), path);
    for (uint32_t v = 0; v < kOperands; ++v) {
      const auto groups = GroupsOf(region, split, v);
      double links = 0;
      for (const auto& group : groups) {
        links += TreeOf(group, static_cast<int>(cols), static_cast<int>(rows));
      }
      CHECK(path[v].links ==
            doctest::Approx(links / static_cast<double>(groups.size())).epsilon(1e-12));
      CHECK(path[v].sharers == static_cast<int64_t>(groups[0].size()));
    }
  }
}

TEST_CASE("a mesh of one node costs what the node costs") {
  Machine m;
  MakeMesh(&m, 1, 1);
  for (const MappingProblem& problem :
       {ConvProblem({2, 16, 24, 14, 14, 3, 3, 1, 2}), GemmProblem(1, 40, 96, 200, 2),
        ConvProblem({1, 32, 8, 15, 15, 5, 5, 2, 2})}) {
    Scratch scratch;
    Budget budget;
    MappedNest node;
    NodeMapping mesh;
    NodeParallelOptions options;
    REQUIRE(MapConvExact({problem, m.hardware, {}}, &budget, &scratch.arena, &node,
                         &scratch.diagnostic) == Status::kOk);
    REQUIRE(MapOnNodes({problem, m.hardware, WholeMesh(m.hardware), options}, &budget,
                       &scratch.arena, &mesh, &scratch.diagnostic) == Status::kOk);
    CHECK(mesh.cost.nodes == 1);
    CHECK(mesh.cost.noc_pj == 0);
    CHECK(mesh.cost.layer.cycles == node.cost.cycles);
    CHECK(mesh.cost.layer.energy_pj ==
          doctest::Approx(node.cost.energy_pj).epsilon(1e-12));
  }
}

TEST_CASE("splits found are within 1 percent of solving every split") {
  double worst = 0;
  for (uint32_t side : {2u, 3u, 4u}) {
    Machine m;
    MakeMesh(&m, side, side);
    for (const MappingProblem& problem :
         {ConvProblem({8, 16, 24, 13, 13, 3, 3, 1, 2}), GemmProblem(1, 64, 100, 200, 2),
          ConvProblem({4, 32, 3, 28, 28, 5, 5, 2, 2})}) {
      Scratch scratch;
      Budget budget;
      NodeMapping found, every;
      NodeParallelOptions options;
      REQUIRE(MapOnNodes({problem, m.hardware, WholeMesh(m.hardware), options}, &budget,
                         &scratch.arena, &found, &scratch.diagnostic) == Status::kOk);
      options.every = true;
      REQUIRE(MapOnNodes({problem, m.hardware, WholeMesh(m.hardware), options}, &budget,
                         &scratch.arena, &every, &scratch.diagnostic) == Status::kOk);
      CHECK(found.solved <= every.solved);
      CHECK(every.bound <= every.objective);
      worst = std::max(worst, found.objective / every.objective - 1);
    }
  }
  CHECK(worst <= 0.01);
}

TEST_CASE("meshes that divide nothing, one row, and parts that do not fit") {
  Scratch scratch;
  Budget budget;
  NodeMapping mapped;
  const NodeParallelOptions options;
  {
    Machine m;
    MakeMesh(&m, 7, 1);
    REQUIRE(
        MapOnNodes(
            {GemmProblem(1, 5, 11, 13, 2), m.hardware, WholeMesh(m.hardware), options},
            &budget, &scratch.arena, &mapped, &scratch.diagnostic) == Status::kOk);
    CHECK(mapped.cost.nodes >= 1);
    CHECK(mapped.cost.nodes <= 7);
    const NodeRegion outside = {{3, 0}, {5, 1}};
    CHECK(MapOnNodes({GemmProblem(1, 5, 11, 13, 2), m.hardware, outside, options},
                     &budget, &scratch.arena, &mapped,
                     &scratch.diagnostic) == Status::kBadInput);
  }
  Machine m;
  MakeMesh(&m, 2, 2);
  m.levels[1].capacity_bytes = 4;
  m.Finish();
  ClearDiagnostic(&scratch.diagnostic);
  CHECK(MapOnNodes(
            {GemmProblem(1, 5, 11, 13, 2), m.hardware, WholeMesh(m.hardware), options},
            &budget, &scratch.arena, &mapped,
            &scratch.diagnostic) == Status::kInfeasible);
  CHECK(scratch.diagnostic.required_bytes > scratch.diagnostic.available_bytes);
}

TEST_CASE("rows and columns of nodes, and layers smaller than the mesh") {
  Scratch scratch;
  Budget budget;
  const NodeParallelOptions options;
  for (const auto& [cols, rows] :
       {std::pair{1u, 13u}, {13u, 1u}, {3u, 5u}, {17u, 2u}}) {
    Machine m;
    MakeMesh(&m, cols, rows);
    const NodeRegion whole = WholeMesh(m.hardware);
    for (const MappingProblem& problem :
         {GemmProblem(1, 1, 1, 1, 2), GemmProblem(1, 7, 19, 23, 2),
          ConvProblem({3, 11, 5, 9, 7, 3, 3, 1, 2})}) {
      NodeMapping mapped;
      REQUIRE(MapOnNodes({problem, m.hardware, whole, options}, &budget, &scratch.arena,
                         &mapped, &scratch.diagnostic) == Status::kOk);
      CHECK(mapped.cost.nodes >= 1);
      CHECK(mapped.cost.nodes <= NodesOf(whole));
      CHECK(mapped.cost.nodes <= OperationCount(problem));
      CHECK(mapped.bound <= mapped.objective);
      CHECK(mapped.cost.dram_write_bytes ==
            2 * TileWords(problem, kOutput, problem.extent));
    }
  }
}

TEST_CASE("MLP-L on 16 x 16 nodes, batch 64: within 1 percent of every split") {
  const std::vector<NetworkLayer> layers = ReadNetwork("mlp_l", 64);
  if (layers.empty()) {
    MESSAGE("skipped: no mlp_l.json");
    return;
  }
  Machine m;
  MakeMesh(&m, 16, 16);
  m.levels[2].bandwidth = Rational{256, 5};
  double found = 0, best = 0;
  for (const NetworkLayer& layer : layers) {
    Scratch scratch;
    Budget budget;
    NodeMapping mapped;
    NodeParallelOptions options;
    for (double* sum : {&found, &best}) {
      options.every = sum == &best;
      REQUIRE(MapOnNodes({layer.problem, m.hardware, WholeMesh(m.hardware), options},
                         &budget, &scratch.arena, &mapped,
                         &scratch.diagnostic) == Status::kOk);
      *sum += mapped.objective;
    }
    CHECK(found <= best * 1.05);
  }
  CHECK(found <= best * 1.01);
}

}  // namespace
}  // namespace sluice
