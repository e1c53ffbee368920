// SPDX-License-Identifier: Apache-2.0
// Addresses of the buffers of a section of a carried schedule: buffers keep their earlier
// addresses where these are still legal, and new buffers get free addresses.
//
// Input    the valid parts of the earlier plan; a section with its list and its
//          buffers; its unchanged head and tail.
// Output   section->offsets, or none.
// Errors   kOutOfMemory, kStopped.
// Cost     O(n log n) in buffers; for new ones, O(their number * n).
#ifndef SLUICE_PLAN_CARRY_CARRIED_OFFSETS_H_
#define SLUICE_PLAN_CARRY_CARRIED_OFFSETS_H_

#include "plan/carry/carried_call.h"
#include "plan/carry/carried_dram.h"
#include "plan/fused/section.h"

namespace sluice {

// *held: section->offsets are set. *crowded: they are not set, because the new buffers do not fit
// between the buffers that keep their addresses.
Status AdoptOffsets(const CarriedCall& call, const CarriedParts& parts,
                    Section* section, bool* held, bool* crowded);

}  // namespace sluice

#endif  // SLUICE_PLAN_CARRY_CARRIED_OFFSETS_H_
