// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/gemm/gemm_exact_space.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <vector>

#include "solve/mapping/gemm/gemm_exact_node.h"
#include "solve/mapping/gemm/random_gemm.h"

namespace sluice {
namespace {

TEST_CASE("gemm space: every split that uses the PEs asked for, or none at all") {
  Rng rng(41);
  int infeasible = 0;
  for (int round = 0; round < 400; ++round) {
    RandomSpace s(&rng, GemmForm::kPaper);
    CAPTURE(round);
    std::set<std::vector<int64_t>> expected;
    int64_t most = 0;
    for (int pass = 0; pass < 2; ++pass) {
      for (int64_t x = 1; x <= s.shape.extent[0]; ++x) {
        for (int64_t y = 1; y <= s.shape.extent[1]; ++y) {
          for (int64_t z = 1; z <= s.shape.extent[2]; ++z) {
            const int64_t spatial[] = {x, y, z};
            bool may = x * y * z <= s.machine.pe_count;
            for (int d = 0; d < 3; ++d) {
              const int64_t limit = s.machine.fanout_limit[d];
              may &= s.shape.extent[d] % spatial[d] == 0;
              may &= limit == 0 || spatial[d] <= limit;
            }
            if (!may) continue;
            if (pass == 0) most = std::max(most, x * y * z);
            const int64_t asked = s.options.objective == GemmObjective::kDelay ? most
                                  : s.options.pe_use == GemmPeUse::kExact
                                      ? s.machine.pe_count
                                      : 0;
            if (pass == 1 && (asked == 0 || asked == x * y * z)) {
              expected.insert({x, y, z});
            }
          }
        }
      }
    }
    if (expected.empty()) {
      CHECK(s.status == Status::kInfeasible);
      ++infeasible;
      continue;
    }
    REQUIRE(s.status == Status::kOk);
    std::set<std::vector<int64_t>> listed;
    for (const GemmSplit& split : s.space.splits) {
      std::vector<int64_t> spatial;
      int64_t pes = 1;
      for (int d = 0; d < 3; ++d) {
        spatial.push_back(s.space.spatial[d][split.index[d]]);
        pes *= spatial.back();
      }
      CHECK(split.per_pe == 1 / static_cast<double>(pes));
      listed.insert(spatial);
    }
    CHECK(listed.size() == s.space.splits.size());
    CHECK(listed == expected);
  }
  CHECK(infeasible > 10);
}

TEST_CASE("gemm space: bounds stay below the best tiles of a branch and a split") {
  Rng rng(42);
  int compared = 0, tight = 0;
  for (int round = 0; round < 40; ++round) {
    RandomSpace s(&rng, round % 2 == 0 ? GemmForm::kPaper : GemmForm::kReuse);
    if (s.status != Status::kOk) continue;
    for (const GemmBranch& branch : s.space.branches) {
      if (!branch.stays && s.options.form != GemmForm::kPaper) continue;
      const GemmSplit& split =
          s.space.splits[rng.Below(static_cast<uint32_t>(s.space.splits.size()))];
      const double best =
          branch.stays
              ? SolveNode(s.space, branch, split, __builtin_huge_val(), &s.budget).value
              : BestOfBranch(s, branch, split);
      const double bound = SplitBound(&s.space, branch, split);
      const double ease = 1e-9 * std::fabs(bound) + 1e-9;
      CAPTURE(round);
      CHECK(branch.bound <= bound + ease);
      CHECK(bound <= best + ease);
      ++compared;
      tight += bound >= best * 0.9;
    }
  }
  CHECK(compared > 1000);
  CHECK(tight > compared / 4);
}

}  // namespace
}  // namespace sluice
