// SPDX-License-Identifier: Apache-2.0
// One section of a carried schedule in the numbers of its fusion run.
//
// Input    a section's layers, by graph order and by the ranks carried over; its run;
//          what a search that starts from the notation found.
// Output   that start and which layers are touched; DRAM order, living durations and
//          addresses of the plan before, where they are legal here; between head and
//          tail those of a list schedule, and free addresses.
// Errors   kOutOfMemory. What does not hold any more is left out, without an error.
// Cost     linear; addresses O(buffers * buffers on chip at a time), and a placement of
//          those that are new.
#ifndef SLUICE_PLAN_CARRY_CARRIED_SECTION_H_
#define SLUICE_PLAN_CARRY_CARRIED_SECTION_H_

#include "base/budget.h"
#include "plan/carry/carried_call.h"
#include "plan/fused/section.h"

namespace sluice {

constexpr uint32_t kFewLayers = 8;  // touched: little of what was searched for is lost

// layers: as the run has them, in any order, appends to states among them. local: by
// graph layer; becomes the number in the run of those that it has. touched: any is.
Status StartOfCarried(const CarriedSchedule& carried, Span<const uint32_t> layers,
                      Span<uint32_t> local, Arena* arena, Section* section,
                      bool* touched);

// Whether section->result, of which only the list is set, may run as it did before; then
// its DRAM schedule, buffers and addresses are set.
Status HoldTimes(const CarriedCall& call, Section* section, bool* held);

// DRAM order, living durations and addresses for section->result, which a list gave its
// times: those of the plan before where they hold, those of the list where they are
// better and have addresses.
Status AdoptTimes(const CarriedCall& call, Budget* budget, Section* section);

}  // namespace sluice

#endif  // SLUICE_PLAN_CARRY_CARRIED_SECTION_H_
