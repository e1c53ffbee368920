// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/mesh/node_split.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "tests/solve/mapping/mesh/small_split.h"

namespace sluice::node_split {
namespace {

TEST_CASE("splits: every way to part the dims that wastes no node, cheapest first") {
  Rng rng(101);
  for (int round = 0; round < 40; ++round) {
    Split s(&rng, 1 + round % 3, 2 + round % 2);
    CAPTURE(round);
    std::set<std::vector<int32_t>> listed, expected;
    for (const Parts& parts : s.search->parts) {
      listed.insert(std::vector<int32_t>(parts.factor, parts.factor + kDims));
    }
    CHECK(listed.size() == s.search->parts.size());
    std::vector<int32_t> factor(kDims, 1);
    const int64_t nodes = NodesOf(s.region);
    const auto dim = [&](auto self, uint32_t d, int64_t used) -> void {
      if (d == kDims) {
        expected.insert(factor);
        return;
      }
      const int64_t extent = s.problem.extent[d];
      for (int64_t f = 1; f <= extent && used * f <= nodes; ++f) {
        if (f > 1 && (d == kDimR || d == kDimS)) break;
        const int64_t size = (extent + f - 1) / f;
        if ((extent + size - 1) / size != f) continue;  // fewer parts suffice
        factor[d] = static_cast<int32_t>(f);
        self(self, d + 1, used * f);
      }
      factor[d] = 1;
    };
    dim(dim, 0, 1);
    CHECK(listed == expected);
    double last = 0;
    while (s.search->heap.size() > 0) {
      CHECK(s.search->heap[0].estimate >= last);
      last = s.search->heap[0].estimate;
      Drop(s.search.get());
      Sink(s.search.get(), 0);
    }
  }
}

TEST_CASE("splits: the layout of parts with the least traffic over links") {
  Rng rng(102);
  int placed = 0, none = 0;
  for (int round = 0; round < 30; ++round) {
    Split s(&rng, 3, 2);
    for (size_t i = 0; i < s.search->parts.size(); i += 3) {
      Parts parts = s.search->parts[i];
      bool found = false;
      REQUIRE(FindPlace(s.search.get(), &s.scratch.arena, &parts, &found) ==
              Status::kOk);
      double best = 1e300, chosen = 1e300;
      NodeSplit split = WholeOnEach();
      for (uint32_t a = 0; a < kMeshAxes; ++a) {
        std::copy(s.search->order, s.search->order + kDims, split.order[a]);
      }
      const auto dim = [&](auto self, uint32_t d, int64_t cols, int64_t rows) -> void {
        if (cols > 3 || rows > 2) return;
        if (d == kDims) {
          OperandPath path[kOperands];
          FindPaths(s.m.hardware, s.region, split, s.options.terms, path);
          double pj = 0;
          for (uint32_t v = 0; v < kOperands; ++v) {
            pj += static_cast<double>(TileWords(s.problem, v, s.problem.extent)) *
                  path[v].links * LinkPj(s.m.hardware, InnerBytes(s.problem, v));
          }
          best = std::min(best, pj);
          if (!found) return;
          const NodeSplit mine = SplitOf(*s.search, parts);
          if (memcmp(mine.factor, split.factor, sizeof mine.factor) == 0) chosen = pj;
          return;
        }
        for (int32_t f = 1; f <= parts.factor[d]; ++f) {
          if (parts.factor[d] % f != 0) continue;
          split.factor[kColumns][d] = f;
          split.factor[kRows][d] = parts.factor[d] / f;
          self(self, d + 1, cols * f, rows * (parts.factor[d] / f));
        }
      };
      dim(dim, 0, 1, 1);
      CHECK(found == (best < 1e300));
      ++(found ? placed : none);
      if (!found) continue;
      CHECK(chosen == doctest::Approx(best).epsilon(1e-9));
    }
  }
  CHECK(placed > 100);
  CHECK(none > 0);  // five parts fit no rectangle of the mesh
}

TEST_CASE(
    "splits: distances to the corners, the order of dims, a bound on everything") {
  Rng rng(103);
  Split s(&rng, 4, 3);
  s.region = {{1, 0}, {3, 2}};
  s.Prepare();
  // Columns 1 to 3 are 1, 1 and 0 links away from an edge of the mesh, rows 0 and 1 are 0
  // and 1 links away.
  const double sums[] = {0, 1, 2, 3, 5, 7};
  REQUIRE(s.search->to_corner.size() == 6);
  for (int i = 0; i < 6; ++i) {
    CHECK(s.search->to_corner[i] == doctest::Approx(sums[i] / (i + 1)));
  }
  for (int round = 0; round < 20; ++round) {
    Split all(&rng, 2, 2);
    // Dims that do not index the operand with most words come first.
    double most = 0;
    uint32_t heaviest = 0;
    for (uint32_t v = 0; v < kOperands; ++v) {
      if (all.search->words[v] > most) heaviest = v;
      most = std::max(most, all.search->words[v]);
    }
    double rest = -most;
    for (uint32_t v = 0; v < kOperands; ++v) rest += all.search->words[v];
    if (most > rest) CHECK(!Moves(all.search->order[0], heaviest));
    NodeMapping mapped;
    REQUIRE(MapOnNodes({all.problem, all.m.hardware, all.region, all.options},
                       &all.budget, &all.scratch.arena, &mapped,
                       &all.scratch.diagnostic) == Status::kOk);
    CHECK(BoundOf(*all.search) <= mapped.objective);
    CHECK(BoundOf(*all.search) >= 0.1 * mapped.objective);
  }
}

}  // namespace
}  // namespace sluice::node_split
