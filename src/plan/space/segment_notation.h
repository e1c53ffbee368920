// SPDX-License-Identifier: Apache-2.0
// Writes a plan of the space as its notation, and reads it back: segments with their
// loops, from which the rest of the plan follows.
//
// Input    a plan, the bytes that were left empty at each position, the order of
//          placing; or a notation (untrusted), its problem, and which layers of the two
//          are equal.
// Output   the notation, in the arena; or, by position, the segments that are still
//          valid.
// Errors   kUnsupported: a number is too large for the notation; kBadInput: it is not
//          the notation of a plan of segments; kOutOfMemory.
// Cost     linear.
#ifndef SLUICE_PLAN_SPACE_SEGMENT_NOTATION_H_
#define SLUICE_PLAN_SPACE_SEGMENT_NOTATION_H_

#include "model/plan.h"
#include "solve/repair/align.h"
#include "solve/space/search.h"

namespace sluice {

struct NotedSpace {
  const SpacePlan& plan;
  Span<const int64_t> leave;  // by position
  uint32_t placing;
};

Status NoteSpace(const NotedSpace& noted, Arena* arena, PlanNotation* notation);

bool IsOfSegments(const PlanNotation& notation);

struct CarriedSegments {
  Span<KnownSegment> known;  // by position
  Span<int64_t> leave;       // by position
  uint32_t kept = 0;         // how many are known
  bool all = false;          // every layer is in one of them
};

struct CarriedFrom {
  const PlanNotation* notation = nullptr;  // NULL: nothing is carried
  // Pairs the notation's layers with those of the problem; NULL: they are the same.
  const Alignment* alignment = nullptr;
  bool near = false;  // segments next to those with changes are kept too
};

// The layers of the problem in the notation's order, in `arena`, as far as they are paired.
Status LayersOf(const CarriedFrom& from, Arena* arena, Span<uint32_t>* order);

Status CarrySegments(const CarriedFrom& from, const SpaceProblem& problem, Arena* arena,
                     CarriedSegments* out, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_PLAN_SPACE_SEGMENT_NOTATION_H_
