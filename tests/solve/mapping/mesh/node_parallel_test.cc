// SPDX-License-Identifier: Apache-2.0
// Mappings of layers on small meshes, compared with an enumeration of every split and every
// nest of a part.
#include "solve/mapping/mesh/node_parallel.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "tests/solve/mapping/mesh/small_node.h"
#include "tests/solve/mapping/scratch.h"

namespace sluice {
namespace {

struct Brute {
  const MappingProblem& problem;
  const Machine& m;
  const NodeRegion region;
  LayerTerms terms;
  uint32_t kept;
  uint32_t rotated = 0;
  double best = 1e300;
  NodeSplit split = WholeOnEach();
  LoopNest nest = {};

  void Evaluate() {
    // The cost of rotated operands also depends on the outermost group below DRAM.
    constexpr uint8_t kOrders[6][kDims] = {
        {kDimQ, kDimP, kDimN, kDimS, kDimR, kDimC, kDimK, kDimG},
        {kDimK, kDimS, kDimR, kDimC, kDimQ, kDimP, kDimN, kDimG},
        {kDimS, kDimR, kDimC, kDimK, kDimQ, kDimP, kDimN, kDimG},
        {kDimQ, kDimP, kDimN, kDimK, kDimS, kDimR, kDimC, kDimG},
        {kDimK, kDimQ, kDimP, kDimN, kDimS, kDimR, kDimC, kDimG},
        {kDimS, kDimR, kDimC, kDimQ, kDimP, kDimN, kDimK, kDimG}};
    for (int i = 0; i < (rotated == 0 ? 3 : 6); ++i) {
      for (int j = 0; j < 3; ++j) {
        std::copy(kOrders[i], kOrders[i] + kDims, nest.order[1]);
        std::copy(kOrders[j], kOrders[j] + kDims, nest.order[2]);
        CostOptions options;
        options.resident = kept;
        options.rotated = rotated;
        MeshCost cost;
        Diagnostic diagnostic;
        if (EvaluateOnMesh({problem, m.hardware, region, split, terms}, nest, options,
                           &cost, &diagnostic) == Status::kOk) {
          best = std::min(best, cost.layer.energy_pj);
        }
      }
    }
  }
  // Tries all factors of the part's dims from d on: two axes of the array and three levels
  // of loops, of which DRAM's gets the rest.
  void Nests(const MappingProblem& part, uint32_t d, int64_t used0, int64_t used1) {
    if (d == kDims) return Evaluate();
    const int64_t extent = part.extent[d];
    for (int64_t a = 1; a <= extent && used0 * a <= 2; ++a) {
      if (a > 1 && !MayUnroll(m.fanouts[0], d)) break;
      for (int64_t b = 1; a * b < extent + a && used1 * b <= 2; ++b) {
        if (b > 1 && !MayUnroll(m.fanouts[1], d)) break;
        for (int64_t t0 = 1; a * b * t0 < extent + a * b; ++t0) {
          for (int64_t t1 = 1; a * b * t0 * t1 < extent + a * b * t0; ++t1) {
            const int64_t tile = a * b * t0 * t1;
            nest.spatial[1][0][d] = a;
            nest.spatial[1][1][d] = b;
            nest.temporal[0][d] = t0;
            nest.temporal[1][d] = t1;
            nest.temporal[2][d] = (extent + tile - 1) / tile;
            Nests(part, d + 1, used0 * a, used1 * b);
          }
        }
      }
    }
  }
  void Splits(uint32_t axis, uint32_t d) {
    if (axis == kMeshAxes) {
      int64_t passes[kDims];
      Diagnostic diagnostic;
      REQUIRE(PassesOf(problem, terms, passes, &diagnostic) == Status::kOk);
      const MappingProblem part = PartOf(PassOf(problem, passes), split);
      nest = EmptyNest(m.hardware, part);
      return Nests(part, 0, 1, 1);
    }
    if (d == kDims) return Splits(axis + 1, 0);
    int32_t used = 1;
    for (uint32_t i = 0; i < d; ++i) used *= split.factor[axis][i];
    for (int32_t f = 1; f <= problem.extent[d]; ++f) {
      if (used * f > static_cast<int32_t>(region.extent[axis])) break;
      if (f > 1 && (d == kDimR || d == kDimS)) break;
      split.factor[axis][d] = f;
      Splits(axis, d + 1);
    }
    split.factor[axis][d] = 1;
  }
};

struct Case {
  MappingProblem problem;
  uint32_t cols, rows;
  int64_t scratchpad;
  LayerTerms terms = {};
  NodeRegion region = {{0, 0}, {0, 0}};  // none: the whole mesh
};

// The least energy over all sets of operands that may stay on chip for later passes.
double BruteForce(const Case& c, const Machine& m, const NodeRegion& region) {
  int64_t passes[kDims];
  Diagnostic diagnostic;
  REQUIRE(PassesOf(c.problem, c.terms, passes, &diagnostic) == Status::kOk);
  const uint32_t must = KeptOperands(c.terms, passes);
  double best = 1e300;
  for (uint32_t kept = 0; kept < 8; ++kept) {
    if ((kept & must) != must) continue;
    const uint32_t more = kept & ~must;
    if ((more & OperandBit(kOutput)) != 0) continue;
    if ((more & OperandBit(kInput)) != 0 && passes[kDimK] == 1) continue;
    if ((more & OperandBit(kWeight)) != 0 &&
        passes[kDimN] * passes[kDimC] * passes[kDimK] == 1) {
      continue;
    }
    Brute brute = {c.problem, m, region, c.terms, kept};
    brute.Splits(0, 0);
    best = std::min(best, brute.best);
  }
  return best;
}

TEST_CASE("layers on up to 4 nodes: equal to every split and every nest") {
  const FmapEnd left = {EndKind::kNodes, {{0, 0}, {1, 2}}};
  const FmapEnd here = {EndKind::kHere, {}};
  const NodeRegion right = {{1, 0}, {1, 2}};
  const Case cases[] = {
      {GemmProblem(1, 4, 4, 4, 2), 2, 2, 20},
      {GemmProblem(1, 4, 4, 2, 2), 4, 1, 16},
      {GemmProblem(1, 4, 2, 4, 2), 1, 3, 20},
      {ConvProblem({1, 2, 2, 4, 1, 3, 1, 1, 2}), 2, 1, 28},
      {ConvProblem({2, 4, 2, 2, 1, 1, 1, 1, 2}), 2, 2, 16},
      {GemmProblem(2, 2, 4, 3, 2), 2, 1, 24},
      {ConvProblem({2, 4, 2, 2, 1, 1, 1, 1, 2}), 2, 2, 40, {2, 1, 1, left, {}}, right},
      {ConvProblem({2, 4, 4, 1, 1, 1, 1, 1, 2}), 2, 2, 40, {2, 1, 2, {}, left}, right},
      {ConvProblem({2, 4, 4, 1, 1, 1, 1, 1, 2}), 2, 2, 40, {1, 2, 1, left, {}}, right},
      {ConvProblem({2, 4, 4, 1, 1, 1, 1, 1, 2}), 2, 2, 48, {2, 1, 1, here, here}},
  };
  double worst = 0, worst_exact = 0;
  for (size_t j = 0; j < 2 * std::size(cases); ++j) {
    const Case& c = cases[j / 2];
    Machine m;
    MakeSmallMesh(&m, c.cols, c.rows, j % 2 == 0 ? 8 : 24, c.scratchpad);
    const NodeRegion region = NodesOf(c.region) == 0 ? WholeMesh(m.hardware) : c.region;
    const double best = BruteForce(c, m, region);
    REQUIRE(best < 1e300);
    Scratch scratch;
    Budget budget;
    NodeMapping mapped;
    NodeParallelOptions options;
    options.terms = c.terms;
    double found[2];
    for (int i = 0; i < 2; ++i) {
      options.exact = i == 1;
      REQUIRE(MapOnNodes({c.problem, m.hardware, region, options}, &budget,
                         &scratch.arena, &mapped, &scratch.diagnostic) == Status::kOk);
      found[i] = mapped.objective / best - 1;
      CHECK(mapped.bound <= best);
      CHECK(found[i] >= -1e-12);
    }
    INFO("case ", j, ": ", found[0], " ", found[1]);
    CHECK(found[1] <= 0.005);
    worst = std::max(worst, found[0]);
    worst_exact = std::max(worst_exact, found[1]);
  }
  CHECK(worst <= 0.01);
  CHECK(worst_exact <= 0.005);
}

TEST_CASE("parts handed round: never below every nest, never above copies for all") {
  const Case cases[] = {{GemmProblem(1, 4, 4, 4, 2), 2, 2, 20},
                        {GemmProblem(1, 2, 4, 4, 2), 2, 1, 18},
                        {GemmProblem(1, 4, 2, 4, 2), 2, 1, 16},
                        {ConvProblem({2, 4, 4, 1, 1, 1, 1, 1, 2}), 2, 1, 14}};
  int gains = 0;
  for (const Case& c : cases) {
    Machine m;
    MakeSmallMesh(&m, c.cols, c.rows, 6, c.scratchpad);
    const NodeRegion region = WholeMesh(m.hardware);
    double best = 1e300;
    for (uint32_t rotated = 0; rotated < 4; ++rotated) {
      Brute brute = {c.problem, m, region, c.terms, 0, rotated};
      brute.Splits(0, 0);
      best = std::min(best, brute.best);
    }
    Scratch scratch;
    Budget budget;
    NodeMapping copies, parts;
    NodeParallelOptions options;
    REQUIRE(MapOnNodes({c.problem, m.hardware, region, options}, &budget,
                       &scratch.arena, &copies, &scratch.diagnostic) == Status::kOk);
    options.rotate = true;
    REQUIRE(MapOnNodes({c.problem, m.hardware, region, options}, &budget,
                       &scratch.arena, &parts, &scratch.diagnostic) == Status::kOk);
    CHECK(parts.objective >= best * (1 - 1e-12));
    CHECK(parts.objective <= copies.objective);
    CHECK(parts.objective <= best * 1.02);
    gains += parts.objective < copies.objective ? 1 : 0;
  }
  CHECK(gains > 0);
}

TEST_CASE(
    "one round replaces a delivery to all, and every other crosses the links again") {
  Machine m;
  MakeSmallMesh(&m, 2, 1, 64, 64);
  const MappingProblem problem = GemmProblem(1, 4, 2, 4, 2);
  NodeSplit split = WholeOnEach();
  split.factor[kColumns][kDimP] = 2;  // both nodes need all 8 weights
  LoopNest nest = EmptyNest(m.hardware, problem);
  nest.temporal[1][kDimP] = 2;
  nest.temporal[1][kDimK] = 2;
  nest.temporal[1][kDimC] = 4;
  const double word = 16, read = 0.18 * word, hop = 0.61 * word;
  const auto cost_of = [&](uint32_t rotated, uint8_t outermost) {
    uint8_t* order = nest.order[1];
    constexpr uint8_t kOrder[kDims] = {kDimP, kDimK, kDimC, kDimN,
                                       kDimQ, kDimR, kDimS, kDimG};
    std::copy(kOrder, kOrder + kDims, order);
    std::rotate(std::find(order, order + kDims, outermost),
                std::find(order, order + kDims, outermost) + 1, order + kDims);
    CostOptions options;
    options.rotated = rotated;
    MeshCost cost;
    Diagnostic diagnostic;
    REQUIRE(EvaluateOnMesh(
                {problem, m.hardware, WholeMesh(m.hardware), split, LayerTerms()}, nest,
                options, &cost, &diagnostic) == Status::kOk);
    return cost;
  };
  const uint32_t weights = OperandBit(kWeight);
  for (const uint8_t outermost : {uint8_t{kDimC}, uint8_t{kDimP}}) {
    const MeshCost copies = cost_of(0, outermost);
    const MeshCost parts = cost_of(weights, outermost);
    // Eight weights come from one neighbour; with rows outermost, once for every row.
    const int more = outermost == kDimP ? 1 : 0;
    CHECK(parts.scratchpad_bytes == copies.scratchpad_bytes - 8);
    CHECK(parts.dram_pj == copies.dram_pj);
    CHECK(parts.noc_pj == doctest::Approx(copies.noc_pj + more * 8 * hop));
    CHECK(parts.scratchpad_pj ==
          doctest::Approx(copies.scratchpad_pj + 8 * read * (1 + 2 * more)));
  }
}

}  // namespace
}  // namespace sluice
