// SPDX-License-Identifier: Apache-2.0
// Carries one section of an earlier schedule over to its fusion run.
//
// Input    a section's layers, by graph order and by the ranks carried over; its run;
//          what a search that starts from the notation found.
// Output   that start and which layers are touched; DRAM order, living durations and
//          addresses of the plan before, where they are legal here; between head and
//          tail those of a list schedule, and free addresses.
// Errors   kOutOfMemory. Parts that are no longer legal are left out, without an error.
// Cost     linear; addresses O(buffers * buffers on chip at a time), and a placement of
//          the new buffers.
#ifndef SLUICE_PLAN_CARRY_CARRIED_SECTION_H_
#define SLUICE_PLAN_CARRY_CARRIED_SECTION_H_

#include "base/budget.h"
#include "plan/carry/carried_call.h"
#include "plan/fused/section.h"

namespace sluice {

constexpr uint32_t kFewLayers = 8;  // touched: most of the searched schedule stays

// layers: as the run has them, in any order, appends to states among them. local: by
// graph layer; becomes the number in the run of those that it has. *touched: some layer
// is touched.
Status StartOfCarried(const CarriedSchedule& carried, Span<const uint32_t> layers,
                      Span<uint32_t> local, Arena* arena, Section* section,
                      bool* touched);

// *held: the section may run as before; then DRAM schedule, buffers and addresses of
// section->result are set. Only its list is read.
Status HoldTimes(const CarriedCall& call, Section* section, bool* held);

// Chooses DRAM order, living durations and addresses for section->result, which holds a
// list schedule: those of the earlier plan where they are legal, or those of the list
// where they are better and can be placed.
Status AdoptTimes(const CarriedCall& call, Budget* budget, Section* section);

}  // namespace sluice

#endif  // SLUICE_PLAN_CARRY_CARRIED_SECTION_H_
