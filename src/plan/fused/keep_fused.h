// SPDX-License-Identifier: Apache-2.0
// Copies the result of a fusion search, so that the search's memory can be freed.
//
// Input    a result with its buffers and their offsets, wherever they live.
// Output   the same in `arena`, cut to the used lengths; without the scheme, so that
//          Tighten is no longer possible.
// Errors   kOutOfMemory.
// Cost     linear.
#ifndef SLUICE_PLAN_FUSED_KEEP_FUSED_H_
#define SLUICE_PLAN_FUSED_KEEP_FUSED_H_

#include "solve/fusion/fused_program.h"

namespace sluice {

Status KeepFused(Arena* arena, FusionResult* result, FusedBuffers* buffers,
                 Span<int64_t>* offsets);

}  // namespace sluice

#endif  // SLUICE_PLAN_FUSED_KEEP_FUSED_H_
