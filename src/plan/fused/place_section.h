// SPDX-License-Identifier: Apache-2.0
// Gives addresses to what a section keeps on chip.
//
// Input    the section's run, the scheme found for it, scratchpad bytes.
// Output   buffers and their offsets; where they do not fit, a tighter scheme.
// Errors   kInfeasible and kStopped when none is found; kOutOfMemory.
// Cost     a placement and a list schedule per try; a limited exact search where greedy
//          placement fails.
#ifndef SLUICE_PLAN_FUSED_PLACE_SECTION_H_
#define SLUICE_PLAN_FUSED_PLACE_SECTION_H_

#include "plan/fused/section.h"
#include "solve/placement/offsets/offsets.h"

namespace sluice {

// The result of greedy placement: kOk; or kInfeasible or kStopped, with the offsets of
// the lowest peak found.
struct QuickPlacement {
  Status status = Status::kStopped;
  OffsetPlan plan;
};

// Greedy placement of section->buffers. swaps: as OffsetOptions.
Status PlaceAtOnce(Section* section, int64_t capacity, bool swaps, Budget* budget,
                   Arena* arena, QuickPlacement* out);

// Tightens the scheme until all buffers have addresses. tried: a greedy placement, with
// swaps, of section->buffers as they are; NULL = not tried yet.
Status PlaceOrTighten(Section* section, int64_t capacity, Budget* budget, Arena* arena,
                      const QuickPlacement* tried = nullptr);

}  // namespace sluice

#endif  // SLUICE_PLAN_FUSED_PLACE_SECTION_H_
