// SPDX-License-Identifier: Apache-2.0
// Binds a plan to another range of the scratchpad: changes bindings, header, hash and
// the report's peak. Instructions stay as they are.
//
// Input    bytes of a plan whose stream starts at scratchpad byte 0; the range it gets
// Output   new bytes in `arena`, not yet verified.
// Errors   kOutOfMemory.
// Cost     linear, one copy.
#ifndef SLUICE_PLAN_TOGETHER_RELOCATE_H_
#define SLUICE_PLAN_TOGETHER_RELOCATE_H_

#include "base/memory.h"

namespace sluice {

struct Relocation {
  Span<const uint8_t> plan;
  int64_t offset;       // of the range, a multiple of RangeAlignment
  int64_t range_bytes;  // that the plan may use there
};

Status RelocatePlan(const Relocation& relocation, Arena* arena, Arena* scratch,
                    Span<const uint8_t>* out, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_PLAN_TOGETHER_RELOCATE_H_
