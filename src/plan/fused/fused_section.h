// SPDX-License-Identifier: Apache-2.0
// A run of layers of a fused plan, and addresses for what is on chip in it.
//
// Input    the run, the scheme found for it, scratchpad bytes.
// Output   buffers and their offsets; where they do not lie, a tighter scheme.
// Errors   kInfeasible and kStopped when none is found; kOutOfMemory.
// Cost     a placement and a list schedule per try; exact search for a while where the
//          quick orders of placement fail.
#ifndef SLUICE_PLAN_FUSED_FUSED_SECTION_H_
#define SLUICE_PLAN_FUSED_FUSED_SECTION_H_

#include "solve/fusion/fused_program.h"
#include "solve/placement/offsets/offsets.h"

namespace sluice {

// Layers [first, last) of the plan's order, and how they are done.
struct Section {
  uint32_t first;
  uint32_t last;
  bool fused;
  bool repeats;         // worth a longer search
  double cost;          // when fused, by itself
  uint32_t decision;    // equal for those that have one result
  uint64_t work_bytes;  // that finding it took
  FusionRun run;
  FusionResult result;
  FusedBuffers buffers;
  Span<int64_t> offsets;
  Span<int64_t> more;   // by layer of the run: scratch of PlaceOrTighten
  GroupNotation start;  // carried over; empty = none
  Span<uint8_t> touched;
};

// Addresses by the quick orders only: kOk, or kInfeasible or kStopped with what they
// came to.
struct QuickPlacement {
  Status status = Status::kStopped;
  OffsetPlan plan;
};

// For section->buffers. swaps: as OffsetOptions.
Status PlaceAtOnce(Section* section, int64_t capacity, bool swaps, Budget* budget,
                   Arena* arena, QuickPlacement* out);

// Tightens what was found until all buffers have addresses. tried: with swaps, of
// section->buffers as they are, or NULL.
Status PlaceOrTighten(Section* section, int64_t capacity, Budget* budget, Arena* arena,
                      const QuickPlacement* tried = nullptr);

}  // namespace sluice

#endif  // SLUICE_PLAN_FUSED_FUSED_SECTION_H_
