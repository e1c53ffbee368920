// SPDX-License-Identifier: Apache-2.0
// The best tiles of one branch and one spatial split.
//
// Input    a built GemmSpace, a branch and a split of it, the value to beat.
// Output   NodeResult: the best tiles when they beat it, and a lower bound in any case.
// Errors   none; a spent budget leaves `complete` false.
// Cost     a sweep over divisors; more only when the sum of the two levels' separate
//          optima beats the value, then one sweep for each inner tile that still may.
#ifndef SLUICE_SOLVE_MAPPING_GEMM_GEMM_EXACT_NODE_H_
#define SLUICE_SOLVE_MAPPING_GEMM_GEMM_EXACT_NODE_H_

#include <stdint.h>

#include "base/budget.h"
#include "base/checked.h"
#include "solve/mapping/gemm/gemm_exact_space.h"

namespace sluice {

struct GemmTiles {
  uint32_t middle[kGemmAxes];
  uint32_t inner[kGemmAxes];
};

// The loop nest that a branch, a split and the tiles of both memories stand for.
GemmMapping MappingOf(const GemmSpace& space, const GemmBranch& branch,
                      const GemmSplit& split, const GemmTiles& tiles);

// The two levels of a node. Their only link is that inner tiles divide middle tiles.
struct GemmNode {
  TileProblem middle;
  TileProblem inner;
  double fixed;
  double per_pe;
  uint32_t spatial[kGemmAxes];
};

// kind 0 branches only.
GemmNode MakeNode(const GemmSpace& space, const GemmBranch& branch,
                  const GemmSplit& split);
// The best objective with this inner tile, and the middle tile that has it.
double NodeWithInner(const GemmSpace& space, const GemmNode& node, double inner_sum,
                     const uint32_t inner[kGemmAxes], uint32_t middle[kGemmAxes]);
// Sum of the separate optima, in the unit of the objective; `inner` has the inner one
// and *middle_sum the middle one.
double NodeRelaxation(const GemmSpace& space, const GemmNode& node,
                      uint32_t inner[kGemmAxes], double* middle_sum);

// Calls visit(inner tile, its weighted sum) for all inner tiles that fit and whose sum
// with `middle_sum` is below `below` (objective). Stops when visit returns false.
template <typename Visit>
void ForEachInner(const GemmSpace& space, const GemmNode& node, double middle_sum,
                  const double& below, const Visit& visit) {
  uint32_t tile[kGemmAxes];
  // At most two axes have weight: the walking datum's has none.
  int axes[kGemmAxes];
  int count = 0;
  for (int d = 0; d < kGemmAxes; ++d) {
    tile[d] = 1;
    if (node.inner.weight[d] > 0) axes[count++] = d;
  }
  for (; count < 2; ++count) axes[count] = -1;
  const auto lengths = [&](int axis) {
    return axis < 0 ? Span<const uint32_t>() : space.divisors[axis];
  };
  const auto term = [&](int axis) {
    return node.inner.weight[axis] / static_cast<double>(tile[axis]);
  };
  const auto open = [&](double sum) {
    return GemmObjectiveOf(space, node.fixed + middle_sum + sum, node.per_pe) < below;
  };
  // Longest first: the sums ascend.
  for (size_t i = Max<size_t>(lengths(axes[0]).size(), 1); i > 0; --i) {
    double first = 0;
    if (axes[0] >= 0) {
      tile[axes[0]] = lengths(axes[0])[i - 1];
      if (node.inner.bound[axes[0]] % tile[axes[0]] != 0) continue;
      first = term(axes[0]);
    }
    if (!open(first)) break;
    for (size_t j = Max<size_t>(lengths(axes[1]).size(), 1); j > 0; --j) {
      double sum = first;
      if (axes[1] >= 0) {
        tile[axes[1]] = lengths(axes[1])[j - 1];
        if (node.inner.bound[axes[1]] % tile[axes[1]] != 0) continue;
        sum += term(axes[1]);
      }
      if (!open(sum)) break;
      if (!TileFits(tile, node.inner.holds, node.inner.words)) continue;
      if (!visit(tile, sum)) return;
    }
  }
}

// Branches in which a datum stays: both levels in one sweep. The best objective.
double StayingNode(const GemmSpace& space, const GemmBranch& branch,
                   const GemmSplit& split, GemmTiles* tiles);

struct NodeResult {
  double value;  // best objective, if it beats the given one; else infinity
  GemmTiles tiles;
  bool complete;
};

NodeResult SolveNode(const GemmSpace& space, const GemmBranch& branch,
                     const GemmSplit& split, double beat, Budget* budget);

}  // namespace sluice

#endif  // SLUICE_SOLVE_MAPPING_GEMM_GEMM_EXACT_NODE_H_
