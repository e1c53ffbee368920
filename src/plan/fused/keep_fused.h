// SPDX-License-Identifier: Apache-2.0
// What is left of a fusion search when its memory is given back.
//
// Input    a result with its buffers and their offsets, wherever they live.
// Output   the same in `arena`, no longer than they are used; without the scheme, so that
//          nothing can be tightened any more.
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
