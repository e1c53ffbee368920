// SPDX-License-Identifier: Apache-2.0
// DRAM order and living durations of a section of a carried schedule.
//
// The head and the tail of a section are its leading and trailing fine-grained groups
// that have not changed. They keep their tiles and transfers, counted from the
// section's begin and end. Transfers between them are new: a list schedule gives their
// times and their places in the order. If the result does not fit, loads start later.
//
// Input    the valid parts of the earlier plan; a section with its list.
// Output   a legal DRAM schedule within the scratchpad, or none.
// Errors   kOutOfMemory.
// Cost     linear, and n log n in new transfers; O(tiles * transfers) if it does not
//          fit at first.
#ifndef SLUICE_PLAN_CARRY_CARRIED_DRAM_H_
#define SLUICE_PLAN_CARRY_CARRIED_DRAM_H_

#include "plan/carry/carried_call.h"
#include "plan/fused/section.h"

namespace sluice {

// Which parts of a section are as in the earlier plan.
struct CarriedParts {
  uint32_t section;                         // of the plan before
  uint32_t head, tail;                      // positions of the notation
  uint32_t head_tiles, tail_tiles;          // of the list
  uint32_t head_transfers, tail_transfers;  // likewise
  uint32_t tiles_before;
  bool all;    // every tile and transfer is unchanged
  bool tight;  // living durations had to be shortened to fit
};

// A section's positions in a notation.
struct Positions {
  Span<const uint32_t> order;
  Span<const uint8_t> cut;
  Span<const int32_t> tiles;

  size_t size() const { return order.size(); }
  bool Begins(size_t i) const { return i == size() || i == 0 || cut[i] != kCutNone; }
  // Tiles of the groups that make up [first, last).
  int64_t Tiles(size_t first, size_t last) const {
    int64_t sum = 0;
    int64_t tiles_of_group = 1;
    for (size_t i = first; i < last; ++i) {
      if (Begins(i)) tiles_of_group = TilesOfGroup(tiles[i]);
      sum += tiles_of_group;
    }
    return sum;
  }
};

Positions PositionsBefore(const CarriedSchedule& carried, uint32_t section);

// Replaces the DRAM schedule of section->result. listed: schedule of the new transfers;
// may be empty when there are none. eighths: of the scratchpad, kept free around the
// new part.
Status AdoptDram(const CarriedCall& call, const DmaNotation& listed, int eighths,
                 Section* section, CarriedParts* parts, bool* adopted);

}  // namespace sluice

#endif  // SLUICE_PLAN_CARRY_CARRIED_DRAM_H_
