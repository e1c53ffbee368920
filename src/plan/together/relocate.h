// SPDX-License-Identifier: Apache-2.0
// A plan bound to another place in the scratchpad: bindings, header, hash and the
// report's peak; instructions stay as they are.
//
// Input    bytes of a plan whose stream starts at scratchpad byte 0; where it is to lie
//          (a multiple of the range alignment) and how many bytes it may use there.
// Output   new bytes in `arena`, not yet verified.
// Errors   kOutOfMemory.
// Cost     linear, one copy.
#ifndef SLUICE_PLAN_TOGETHER_RELOCATE_H_
#define SLUICE_PLAN_TOGETHER_RELOCATE_H_

#include "base/memory.h"

namespace sluice {

Status RelocatePlan(Span<const uint8_t> bytes, int64_t offset, int64_t range_bytes,
                    Arena* arena, Arena* scratch, Span<const uint8_t>* out,
                    Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_PLAN_TOGETHER_RELOCATE_H_
