// SPDX-License-Identifier: Apache-2.0
// Permutations of any number of axes, done step by step on numbered elements.
#include "import/permutation.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "base/rng.h"
#include "import/lowering_rules.h"

namespace sluice::import {
namespace {

using Numbers = std::vector<int>;

// Axis i of the result is axis order[i]; extents and order may be of any length.
template <typename Extent, typename Axis>
Numbers Permuted(const Numbers& in, const std::vector<Extent>& extents,
                 const std::vector<Axis>& order) {
  const size_t rank = extents.size();
  std::vector<size_t> stride(rank, 1), index(rank, 0);
  for (size_t a = rank; a-- > 1;) {
    stride[a - 1] = stride[a] * static_cast<size_t>(extents[a]);
  }
  Numbers out;
  while (out.size() < in.size()) {
    size_t at = 0;
    for (size_t a = 0; a < rank; ++a) {
      at += index[a] * stride[static_cast<size_t>(order[a])];
    }
    out.push_back(in[at]);
    for (size_t a = rank; a-- > 0;) {
      if (++index[a] < static_cast<size_t>(extents[static_cast<size_t>(order[a])]))
        break;
      index[a] = 0;
    }
  }
  return out;
}

TEST_CASE("permutation: steps of four axes do what the whole does") {
  Rng rng(1);
  for (int round = 0; round < 300; ++round) {
    const size_t rank = 1 + rng.Below(6);
    std::vector<int64_t> extents;
    int64_t elements = 1;
    for (size_t a = 0; a < rank; ++a) {
      extents.push_back(1 + static_cast<int64_t>(rng.Below(3)));
      elements *= extents.back();
    }
    std::vector<int> perm(rank);
    std::iota(perm.begin(), perm.end(), 0);
    for (size_t a = rank; a-- > 1;) std::swap(perm[a], perm[rng.Below(a + 1)]);
    Numbers whole(static_cast<size_t>(elements));
    std::iota(whole.begin(), whole.end(), 0);
    Numbers parts = whole;
    for (const PermutationStep& step : PermutationSteps(extents, perm)) {
      REQUIRE(step.runs.size() <= 4);
      const int64_t covered = std::accumulate(step.runs.begin(), step.runs.end(),
                                              int64_t{1}, std::multiplies<>());
      REQUIRE(covered == elements);
      parts = Permuted(parts, step.runs, step.order);
    }
    CHECK(parts == Permuted(whole, extents, perm));
  }
}

TEST_CASE("permutation: attributes count four axes, five in order are no step") {
  const auto two = PermutationSteps({3, 5}, {1, 0});
  REQUIRE(two.size() == 1);
  CHECK(two[0].Attributes() == std::vector<int32_t>{0, 1, 3, 2});
  CHECK(two[0].Result() == Dims{5, 3});
  CHECK(PermutationSteps({1, 2, 3, 4, 5}, {0, 1, 2, 3, 4}).empty());
  // Channels that are shuffled: two neighbouring axes trade places.
  CHECK(PermutationSteps({1, 16, 16, 2, 8}, {0, 1, 2, 4, 3}).size() == 1);
  CHECK_THROWS_AS(PermutationSteps({1 << 16, 1 << 16, 1, 2, 3}, {0, 1, 2, 4, 3}),
                  Unsupported);
}

}  // namespace
}  // namespace sluice::import
