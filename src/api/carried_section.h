// SPDX-License-Identifier: Apache-2.0
// One section of a carried schedule in the numbers of its fusion run.
//
// Input    a section's layers, by graph order and by the ranks carried over; its run;
//          what a search that starts from the notation found.
// Output   that start and which layers are touched; DRAM order, living durations and
//          addresses of the plan before, where they are legal here.
// Errors   kOutOfMemory. What does not hold any more is left out, without an error.
// Cost     linear; addresses n log n.
#ifndef SLUICE_API_CARRIED_SECTION_H_
#define SLUICE_API_CARRIED_SECTION_H_

#include "solve/fusion/fused_program.h"
#include "solve/repair/carry.h"

namespace sluice {

// layers: as `run` has them, in any order, appends to states among them. local: scratch,
// by graph layer.
Status StartOfCarried(const CarriedSchedule& carried, const FusionRun& run,
                      Span<const uint32_t> layers, Span<uint32_t> local, Arena* arena,
                      GroupNotation* start, Span<uint8_t>* touched);

// Replaces the DRAM schedule that a list gave. section: of the plan before.
Status AdoptDram(const CarriedSchedule& carried, uint32_t section, int64_t capacity,
                 Arena* arena, FusionResult* result, bool* adopted);

// Addresses for the buffers of what was found; *held is false where they overlap.
Status AdoptOffsets(const CarriedSchedule& carried, uint32_t section, int64_t capacity,
                    Span<const LiveRange> ranges, Arena* arena, Span<int64_t>* offsets,
                    bool* held);

}  // namespace sluice

#endif  // SLUICE_API_CARRIED_SECTION_H_
