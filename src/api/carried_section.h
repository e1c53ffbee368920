// SPDX-License-Identifier: Apache-2.0
// One section of a carried schedule in the numbers of its fusion run.
//
// The section's leading and trailing fine-grained groups that are as they were, its head
// and its tail, have the tiles, transfers and buffers they had, counted from the
// section's begin and end. What lies between is new; of the notation before it is known
// how many tiles that had, and from them how many transfers and buffers.
//
// Input    a section's layers, by graph order and by the ranks carried over; its run;
//          what a search that starts from the notation found.
// Output   that start and which layers are touched; DRAM order, living durations and
//          addresses of the plan before, where they are legal here; between head and
//          tail those of a list schedule, and free addresses.
// Errors   kOutOfMemory. What does not hold any more is left out, without an error.
// Cost     linear; addresses O(buffers * buffers on chip at a time), and a placement of
//          those that are new.
#ifndef SLUICE_API_CARRIED_SECTION_H_
#define SLUICE_API_CARRIED_SECTION_H_

#include "api/fused_section.h"
#include "solve/repair/carry.h"

namespace sluice {

// Of a section as it is now, and as it was.
struct CarriedParts {
  uint32_t section;                         // of the plan before
  uint32_t head, tail;                      // positions of the notation
  uint32_t head_tiles, tail_tiles;          // of the list
  uint32_t head_transfers, tail_transfers;  // likewise
  uint32_t tiles_before;
  bool all;  // transfer by transfer, tile by tile
};

// layers: as the run has them, in any order, appends to states among them. local: by
// graph layer; becomes the number in the run of those that it has. touched: any is.
Status StartOfCarried(const CarriedSchedule& carried, Span<const uint32_t> layers,
                      Span<uint32_t> local, Arena* arena, Section* section,
                      bool* touched);

// Replaces the DRAM schedule of section->result, which a list gave; that may be empty
// where nothing lies between head and tail. before: section of the plan before.
Status AdoptDram(const CarriedSchedule& carried, uint32_t before, int64_t capacity,
                 Arena* arena, Section* section, CarriedParts* parts, bool* adopted);

// Addresses for section->buffers; *held is false when there are none near those before.
Status AdoptOffsets(const CarriedSchedule& carried, const CarriedParts& parts,
                    Span<const uint32_t> local, int64_t capacity, Arena* arena,
                    Section* section, bool* held);

}  // namespace sluice

#endif  // SLUICE_API_CARRIED_SECTION_H_
