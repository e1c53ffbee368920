// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "solve/space/segment_draft.h"
#include "support/joined_graph.h"

namespace sluice {
namespace {

TEST_CASE(
    "segment uses: a root's form follows from who makes it and who needs it later") {
  sluice_test::SpaceCase c(sluice_test::JoinedGraph());
  sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
  Arena arena(&memory);
  SegmentDraft draft(c.problem);
  REQUIRE(InitDraft(&draft, &arena) == Status::kOk);
  const auto form_of = [&](uint32_t first, uint32_t last, Span<const Held> held,
                           uint32_t root) {
    draft.first = first;
    draft.last = last;
    REQUIRE(DescribeSegment(&draft, held, LoopChoice{}));
    ChooseForms(&draft);
    return draft.uses.Of(root).form;
  };
  // Layer 2 reads all of root 3, of which layers 0 and 1 make one half each.
  CHECK(form_of(0, 1, {}, 0) == UseForm::kLoad);
  CHECK(form_of(0, 1, {}, 3) == UseForm::kMadeKeep);
  CHECK(draft.uses.Of(3).made);
  CHECK_FALSE(draft.uses.Of(3).begun);
  CHECK(form_of(0, 3, {}, 3) == UseForm::kMade);
  // Half of it was made before and is in DRAM; the other half goes there too.
  CHECK(form_of(1, 2, {}, 3) == UseForm::kMadeOut);
  CHECK(draft.uses.Of(3).begun);
  CHECK(form_of(2, 3, {}, 3) == UseForm::kLoad);
  CHECK(draft.uses.Of(3).from == 2);
  CHECK(draft.uses.Of(3).to == 2);
  // It was held, and is used or not.
  const Held held[] = {{3, false}};
  CHECK(form_of(2, 3, Span<const Held>(held, 1), 3) == UseForm::kHeld);
  CHECK_FALSE(draft.uses.Of(3).lives);
  const Held other[] = {{0, true}};
  CHECK(form_of(2, 3, Span<const Held>(other, 1), 0) == UseForm::kUnused);
  CHECK(draft.uses.Of(0).stored);
  // The uses of the segment before are forgotten.
  CHECK(form_of(0, 1, {}, 0) == UseForm::kLoad);
  CHECK(draft.uses.count == 2);
}

}  // namespace
}  // namespace sluice
