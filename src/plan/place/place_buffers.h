// SPDX-License-Identifier: Apache-2.0
// Static placement of buffers with given lifetimes, in the structs of the C interface.
//
// Input    buffers, gaps, reserved regions and options as the caller gave them
// Output   an offset for each buffer, or a set of buffers that cannot all be placed
// Errors   kBadArgument, kBadInput naming the buffer; those of PlaceOffsets
// Cost     PlaceOffsets (solve/placement/offsets/offsets.h); linear otherwise
#ifndef SLUICE_PLAN_PLACE_PLACE_BUFFERS_H_
#define SLUICE_PLAN_PLACE_PLACE_BUFFERS_H_

#include "base/memory.h"
#include "sluice/experimental.h"

namespace sluice {

struct BufferCall {
  const sluice_placement_problem_t& problem;
  const sluice_placement_options_t& options;
  int64_t* offsets;    // one for each buffer
  uint32_t* conflict;  // as many; may be null
};

// *out is filled for kOk, kInfeasible and kStopped.
Status PlaceBuffers(const BufferCall& call, Arena* arena, sluice_placement_t* out,
                    Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_PLAN_PLACE_PLACE_BUFFERS_H_
