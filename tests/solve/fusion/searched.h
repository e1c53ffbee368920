// SPDX-License-Identifier: Apache-2.0
// Memory and a scheme over a fusion problem, for tests of the search's parts.
#ifndef SLUICE_TESTS_SOLVE_FUSION_SEARCHED_H_
#define SLUICE_TESTS_SOLVE_FUSION_SEARCHED_H_

#include <doctest/doctest.h>

#include <set>
#include <vector>

#include "base/workspace.h"
#include "solve/fusion/scheme.h"
#include "support/malloc_allocator.h"

namespace sluice {

struct Searched {
  Searched(const FusionProblem& problem, const TileModel& model) {
    const uint32_t n = static_cast<uint32_t>(problem.layers.size());
    REQUIRE(memo.Init(&arena, model, 64 * n) == Status::kOk);
    REQUIRE(scheme.Init(&arena, &problem, &memo, Objective(), 256 * n, 512 * n) ==
            Status::kOk);
  }
  Workspace work() { return Workspace{&budget, &arena, &diagnostic}; }

  Memory memory{sluice_test::Malloc(), 0};
  Arena arena{&memory};
  Budget budget;
  Diagnostic diagnostic = {};
  TileMemo memo;
  Scheme scheme;
};

// A notation that can be kept and compared.
struct Copy {
  explicit Copy(const GroupNotation& n)
      : order(n.order.begin(), n.order.end()),
        cut(n.cut.begin(), n.cut.end()),
        tiles(n.tiles.begin(), n.tiles.end()) {}
  bool operator==(const Copy& other) const {
    return order == other.order && cut == other.cut && tiles == other.tiles;
  }
  std::vector<uint32_t> order;
  std::vector<uint8_t> cut;
  std::vector<int32_t> tiles;
};

// Every layer once, the first position behind a DRAM cut.
inline bool IsNotation(const Copy& n) {
  const std::set<uint32_t> layers(n.order.begin(), n.order.end());
  return layers.size() == n.order.size() && *layers.rbegin() + 1 == n.order.size() &&
         n.cut[0] == kCutDram;
}

}  // namespace sluice

#endif  // SLUICE_TESTS_SOLVE_FUSION_SEARCHED_H_
