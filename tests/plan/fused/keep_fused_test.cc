// SPDX-License-Identifier: Apache-2.0
// The copy of a search's result does not depend on the memory of the search.
#include "plan/fused/keep_fused.h"

#include <doctest/doctest.h>

#include "plan/fused/place_section.h"
#include "tests/plan/fused/placed_run.h"

namespace sluice {
namespace {

template <typename T>
std::vector<T> Values(Span<const T> span) {
  return {span.begin(), span.end()};
}

TEST_CASE("keep fused: a copy is equal, lies elsewhere, and is cut to what is used") {
  sluice_test::SearchedRun s(sluice_test::Chain(4));
  REQUIRE(PlaceOrTighten(&s.section, 1 << 16, &s.budget, &s.n.arena) == Status::kOk);
  FusionResult result = s.section.result;
  FusedBuffers buffers = s.section.buffers;
  Span<int64_t> offsets = s.section.offsets;
  Arena arena(&s.n.memory);
  REQUIRE(KeepFused(&arena, &result, &buffers, &offsets) == Status::kOk);
  const FusionResult& from = s.section.result;
  CHECK(Values<uint32_t>(result.notation.order) ==
        Values<uint32_t>(from.notation.order));
  CHECK(Values<uint8_t>(result.notation.cut) == Values<uint8_t>(from.notation.cut));
  CHECK(result.notation.order.data() != from.notation.order.data());
  CHECK(Values<int64_t>(offsets) == Values<int64_t>(s.section.offsets));
  CHECK(offsets.data() != s.section.offsets.data());
  REQUIRE(result.list.tiles == from.list.tiles);
  REQUIRE(result.list.transfers == from.list.transfers);
  CHECK(result.list.layer.size() == from.list.tiles);
  CHECK(result.list.transfer.size() == from.list.transfers);
  CHECK(result.dma.order.size() == from.list.transfers);
  for (uint32_t p = 0; p < from.list.tiles; ++p) {
    CHECK(result.list.layer[p] == from.list.layer[p]);
    CHECK(result.list.cycles[p] == from.list.cycles[p]);
  }
  CHECK(result.score.cost == from.score.cost);
  CHECK(result.scheme == nullptr);  // the copy has no scheme to tighten
  REQUIRE(buffers.ranges.size() == s.section.buffers.ranges.size());
  for (size_t i = 0; i < buffers.ranges.size(); ++i) {
    CHECK(buffers.ranges[i].begin == s.section.buffers.ranges[i].begin);
    CHECK(buffers.ranges[i].bytes == s.section.buffers.ranges[i].bytes);
  }
}

}  // namespace
}  // namespace sluice
