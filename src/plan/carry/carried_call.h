// SPDX-License-Identifier: Apache-2.0
// A section of a fused plan and the section of the earlier plan that it comes from.
//
// Input    nothing: this is data.
// Output   nothing.
// Errors   none.
#ifndef SLUICE_PLAN_CARRY_CARRIED_CALL_H_
#define SLUICE_PLAN_CARRY_CARRIED_CALL_H_

#include "plan/carry/carry.h"

namespace sluice {

struct CarriedCall {
  const CarriedSchedule& schedule;  // valid parts of the earlier plan
  uint32_t section;                 // of the earlier plan
  Span<const uint32_t> local;       // by graph layer: its number in the section's run
  int64_t capacity;                 // of the scratchpad, bytes
  Arena* arena;                     // of what is adopted
};

}  // namespace sluice

#endif  // SLUICE_PLAN_CARRY_CARRIED_CALL_H_
