// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/gemm/gemm_exact_node.h"

namespace sluice {
namespace {

constexpr double kInfinity = __builtin_huge_val();

bool Has(uint8_t holds, int d) { return (holds >> d & 1) != 0; }

// Lengths of an axis of a node in which a datum stays in the PEs: all divisors where
// the axis has a weight in the cost, else 1.
struct StayingAxis {
  int axis;
  double weight;
  uint32_t bound;
  uint32_t spatial;
};

}  // namespace

GemmMapping MappingOf(const GemmSpace& space, const GemmBranch& branch,
                      const GemmSplit& split, const GemmTiles& tiles) {
  GemmMapping mapping = {};
  for (int d = 0; d < kGemmAxes; ++d) {
    mapping.middle_tile[d] = tiles.middle[d];
    mapping.inner_tile[d] = tiles.inner[d];
    mapping.spatial[d] = space.spatial[d][split.index[d]];
  }
  // A level that holds nothing may walk along any axis: takes that of the other level.
  const int p = branch.middle_holds == 0 ? branch.walk_middle : branch.walk_outer;
  const int q = branch.inner_holds == 0 ? p : branch.walk_middle;
  mapping.outer_order = GemmOrderFrom(p);
  mapping.middle_order = GemmOrderFrom(q);
  mapping.middle_holds = branch.middle_holds;
  mapping.inner_holds = branch.inner_holds;
  return mapping;
}

GemmNode MakeNode(const GemmSpace& space, const GemmBranch& branch,
                  const GemmSplit& split) {
  GemmNode node = {};
  node.per_pe = split.per_pe;
  node.middle.holds = branch.middle_holds;
  node.middle.words = space.machine->middle_words;
  node.inner.holds = branch.inner_holds;
  node.inner.words = space.machine->inner_words;
  for (int d = 0; d < kGemmAxes; ++d) {
    const uint32_t s = space.spatial[d][split.index[d]];
    const bool in_middle = Has(branch.middle_holds, d);
    const DatumTerms outer = OuterTerms(space, d, in_middle, d == branch.walk_outer);
    const DatumTerms inner = InnerTerms(space, d, in_middle, Has(branch.inner_holds, d),
                                        d == branch.walk_middle, s);
    const uint32_t extent = static_cast<uint32_t>(space.shape->extent[d]);
    node.spatial[d] = s;
    node.fixed += outer.fixed + inner.fixed;
    node.middle.weight[d] = outer.middle_weight + inner.middle_weight;
    node.middle.step[d] = s;
    node.middle.bound[d] = extent;
    node.inner.weight[d] = inner.inner_weight;
    node.inner.step[d] = 1;
    node.inner.bound[d] = extent / s;
  }
  return node;
}

double NodeRelaxation(const GemmSpace& space, const GemmNode& node,
                      uint32_t inner[kGemmAxes], double* middle_sum) {
  uint32_t middle[kGemmAxes];
  *middle_sum = BestTile(space.divisors, node.middle, space.scratch, middle);
  const double inner_sum = BestTile(space.divisors, node.inner, space.scratch, inner);
  return GemmObjectiveOf(space, node.fixed + *middle_sum + inner_sum, node.per_pe);
}

double NodeWithInner(const GemmSpace& space, const GemmNode& node, double inner_sum,
                     const uint32_t inner[kGemmAxes], uint32_t middle[kGemmAxes]) {
  TileProblem problem = node.middle;
  for (int d = 0; d < kGemmAxes; ++d) problem.step[d] = node.spatial[d] * inner[d];
  const double middle_sum = BestTile(space.divisors, problem, space.scratch, middle);
  return GemmObjectiveOf(space, node.fixed + middle_sum + inner_sum, node.per_pe);
}

double StayingNode(const GemmSpace& space, const GemmBranch& branch,
                   const GemmSplit& split, GemmTiles* tiles) {
  const int d = branch.walk_outer;
  StayingAxis axes[2];
  double fixed = 0;
  uint32_t inner[kGemmAxes] = {1, 1, 1};
  uint32_t middle[kGemmAxes];
  for (int a = 0; a < kGemmAxes; ++a) {
    const uint32_t s = space.spatial[a][split.index[a]];
    const bool in_middle = Has(branch.middle_holds, a);
    const DatumTerms outer = OuterTerms(space, a, in_middle, false);
    const DatumTerms below =
        InnerTerms(space, a, in_middle, Has(branch.inner_holds, a), a == d, s);
    middle[a] = s;
    fixed += outer.fixed + below.fixed;
    if (a == d) {
      fixed += below.middle_weight / static_cast<double>(space.shape->extent[a]);
      continue;
    }
    const double weight =
        outer.middle_weight / static_cast<double>(s) + below.inner_weight;
    axes[a == (d + 1) % kGemmAxes ? 0 : 1] = {
        a, weight, static_cast<uint32_t>(space.shape->extent[a]) / s, s};
  }
  const auto fits = [&] {
    return TileFits(inner, branch.inner_holds, space.machine->inner_words) &&
           TileFits(middle, branch.middle_holds, space.machine->middle_words);
  };
  const auto list = [&](const StayingAxis& axis) {
    const Span<const uint32_t> all = space.divisors[axis.axis];
    return axis.weight > 0 ? all : all.Slice(0, 1);
  };
  const auto set = [&](const StayingAxis& axis, uint32_t length) {
    inner[axis.axis] = length;
    middle[axis.axis] = axis.spatial * length;
    return axis.bound % length == 0;
  };
  double least = kInfinity;
  size_t j = list(axes[1]).size();
  for (const uint32_t length : list(axes[0])) {
    if (!set(axes[0], length)) continue;
    while (j > 0 && (!set(axes[1], list(axes[1])[j - 1]) || !fits())) --j;
    if (j == 0) break;
    const double sum = axes[0].weight / static_cast<double>(inner[axes[0].axis]) +
                       axes[1].weight / static_cast<double>(inner[axes[1].axis]);
    if (sum < least) {
      least = sum;
      for (int a = 0; a < kGemmAxes; ++a) {
        tiles->middle[a] = middle[a];
        tiles->inner[a] = inner[a];
      }
    }
  }
  return GemmObjectiveOf(space, fixed + least, split.per_pe);
}

NodeResult SolveNode(const GemmSpace& space, const GemmBranch& branch,
                     const GemmSplit& split, double beat, Budget* budget) {
  NodeResult result = {};
  result.value = kInfinity;
  result.complete = true;
  if (branch.stays) {
    const double value = StayingNode(space, branch, split, &result.tiles);
    if (value < beat) result.value = value;
    return result;
  }
  const GemmNode node = MakeNode(space, branch, split);
  uint32_t first[kGemmAxes];
  double middle_sum;
  double below = beat;
  if (!(NodeRelaxation(space, node, first, &middle_sum) < below)) return result;
  const auto attempt = [&](const uint32_t inner[kGemmAxes], double inner_sum) {
    uint32_t middle[kGemmAxes];
    const double value = NodeWithInner(space, node, inner_sum, inner, middle);
    if (value < below) {
      result.value = value;
      for (int d = 0; d < kGemmAxes; ++d) {
        result.tiles.middle[d] = middle[d];
        result.tiles.inner[d] = inner[d];
      }
      below = value * (1 - kGemmRounding);
    }
    result.complete = !budget->Tick();
    return result.complete;
  };
  double first_sum = 0;
  for (int d = 0; d < kGemmAxes; ++d) {
    if (node.inner.weight[d] > 0) {
      first_sum += node.inner.weight[d] / static_cast<double>(first[d]);
    }
  }
  if (!attempt(first, first_sum)) return result;
  ForEachInner(space, node, middle_sum, below, attempt);
  return result;
}

}  // namespace sluice
