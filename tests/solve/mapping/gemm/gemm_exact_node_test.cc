// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/gemm/gemm_exact_node.h"

#include <doctest/doctest.h>

#include <cmath>

#include "solve/mapping/gemm/random_gemm.h"

namespace sluice {
namespace {

// The objective of a branch with these tiles, computed as the cost of the whole mapping.
double ObjectiveOfBranch(const RandomSpace& s, const GemmBranch& branch,
                         const GemmSplit& split, const GemmTiles& tiles) {
  GemmMapping m = MappingOfBranch(s, branch, split);
  for (int d = 0; d < 3; ++d) {
    m.middle_tile[d] = tiles.middle[d];
    m.inner_tile[d] = tiles.inner[d];
    if (branch.stays && d == branch.walk_outer) m.middle_tile[d] = s.shape.extent[d];
  }
  return ObjectiveOfMapping(s, m);
}

TEST_CASE("gemm nodes: the best of all tiles of one branch and one split") {
  Rng rng(31);
  int solved = 0, stay = 0;
  for (int round = 0; round < 60; ++round) {
    RandomSpace s(&rng, round % 2 == 0 ? GemmForm::kPaper : GemmForm::kReuse);
    if (s.status != Status::kOk) continue;
    for (const GemmBranch& branch : s.space.branches) {
      // Only the paper's form prices axes that move as the branches do; the form with
      // reuse may charge less for loops of one trip.
      if (!branch.stays && s.options.form != GemmForm::kPaper) continue;
      const GemmSplit& split =
          s.space.splits[rng.Below(static_cast<uint32_t>(s.space.splits.size()))];
      const double best = BestOfBranch(s, branch, split);
      const double never = __builtin_huge_val();
      const NodeResult node = SolveNode(s.space, branch, split, never, &s.budget);
      CAPTURE(round);
      CHECK(node.complete);
      if (branch.stays && std::isinf(node.value)) continue;
      if (std::isinf(best)) {
        CHECK(std::isinf(node.value));
        continue;
      }
      // In a branch where one datum stays, a mapping may have more reuse than the branch
      // counts.
      CHECK(node.value >= best * (1 - 1e-9));
      if (!branch.stays) CHECK(node.value == doctest::Approx(best).epsilon(1e-9));
      CHECK(ObjectiveOfBranch(s, branch, split, node.tiles) <= node.value * (1 + 1e-9));
      ++(branch.stays ? stay : solved);
      // With a limit just below the optimum the search finds nothing.
      CHECK(std::isinf(
          SolveNode(s.space, branch, split, node.value * (1 - 1e-9), &s.budget).value));
      if (branch.stays) continue;
      uint32_t inner[kGemmAxes];
      double middle_sum;
      const GemmNode terms = MakeNode(s.space, branch, split);
      CHECK(NodeRelaxation(s.space, terms, inner, &middle_sum) <=
            best * (1 + 1e-9) + 1e-9);
    }
  }
  CHECK(solved > 1000);
  CHECK(stay > 50);
}

}  // namespace
}  // namespace sluice
