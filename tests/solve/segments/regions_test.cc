// SPDX-License-Identifier: Apache-2.0
#include "solve/segments/regions.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "tests/solve/segments/brute_force.h"
#include "tests/solve/segments/small_mesh.h"

namespace sluice {
namespace {

using Regions = std::vector<NodeRegion>;

// The allocations of a run of as many stages as there are loads.
std::vector<Regions> Allocate(uint32_t cols, uint32_t rows, std::vector<double> load,
                              bool proof) {
  SmallCase small(cols, rows, 256);
  small.options.proof = proof;
  Space space = small.MakeEmpty();
  space.load = {load.data(), load.size()};
  Run run = {};
  run.stages = static_cast<uint32_t>(load.size());
  Budget budget;
  uint32_t first, count;
  REQUIRE(AllocateRegions(&space, run, &budget, &first, &count) == Status::kOk);
  CHECK(space.regions.size() == first + size_t{count} * run.stages);
  std::vector<Regions> all;
  for (uint32_t i = 0; i < count; ++i) {
    const NodeRegion* begin = space.regions.data() + first + size_t{i} * run.stages;
    all.emplace_back(begin, begin + run.stages);
  }
  return all;
}

// Every way to tile the mesh, one rectangle for each stage.
std::vector<Regions> Tilings(uint32_t cols, uint32_t rows, size_t stages) {
  BruteForce brute;
  brute.hardware.node_cols = cols;
  brute.hardware.node_rows = rows;
  Regions regions;
  std::vector<Regions> all;
  brute.Tile(&regions, stages, &all);
  return all;
}

bool Less(const Regions& a, const Regions& b) {
  return memcmp(a.data(), b.data(), a.size() * sizeof(NodeRegion)) < 0;
}

double MostWorkPerNode(const Regions& regions, const std::vector<double>& load) {
  double most = 0;
  for (size_t i = 0; i < load.size(); ++i) {
    most = std::max(most, load[i] / static_cast<double>(NodesOf(regions[i])));
  }
  return most;
}

TEST_CASE("regions: with a proof, every tiling of a small mesh, each once") {
  const uint32_t meshes[][2] = {{2, 1}, {1, 3}, {2, 2}, {4, 1}, {3, 2}, {4, 2}};
  for (const auto& mesh : meshes) {
    for (size_t stages = 2; stages <= 4; ++stages) {
      CAPTURE(mesh[0]);
      CAPTURE(mesh[1]);
      CAPTURE(stages);
      const std::vector<double> load(stages, 1.0);
      std::vector<Regions> cut = Allocate(mesh[0], mesh[1], load, true);
      std::vector<Regions> all = Tilings(mesh[0], mesh[1], stages);
      REQUIRE(cut.size() == std::min<size_t>(all.size(), 512));
      if (cut.size() < all.size()) continue;  // one run may have 512 at most
      std::sort(cut.begin(), cut.end(), Less);
      std::sort(all.begin(), all.end(), Less);
      for (size_t i = 0; i < all.size(); ++i) {
        CHECK(memcmp(cut[i].data(), all[i].data(), stages * sizeof(NodeRegion)) == 0);
      }
    }
  }
}

TEST_CASE("regions: without a proof, one tiling with nodes in proportion to the work") {
  const std::vector<Regions> halves = Allocate(4, 1, {3, 1}, false);
  REQUIRE(halves.size() == 1);
  CHECK(halves[0][0].extent[kColumns] == 3);
  CHECK(halves[0][1].begin[kColumns] == 3);
  // Never better than the best of all tilings in the order of the stages, and near it.
  std::mt19937 random(3);
  for (int i = 0; i < 50; ++i) {
    std::vector<double> load;
    for (size_t k = 2 + random() % 2; k > 0; --k) load.push_back(1 + random() % 5);
    const std::vector<Regions> chosen = Allocate(3, 3, load, false);
    REQUIRE(chosen.size() == 1);
    double best = 1e300;
    for (const Regions& regions : Tilings(3, 3, load.size())) {
      best = std::min(best, MostWorkPerNode(regions, load));
    }
    const double found = MostWorkPerNode(chosen[0], load);
    CHECK(found >= best);
    CHECK(found <= 1.5 * best);
  }
}

TEST_CASE("regions: none where most nodes would wait, or where there are too few") {
  // One stage does nearly all the work on a third of the nodes.
  CHECK(Allocate(3, 1, {10, 0.1, 0.1}, false).empty());
  CHECK(Allocate(3, 1, {10, 2, 2}, false).size() == 1);
  CHECK(Allocate(3, 1, {10, 0.1, 0.1}, true).size() == 6);  // a proof needs all of them
  CHECK(Allocate(2, 1, {1, 1, 1}, true).empty());
}

}  // namespace
}  // namespace sluice
