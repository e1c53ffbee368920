// SPDX-License-Identifier: Apache-2.0
// Buffers placed so far, and what that leaves for the others.
//
// Input    sections; places of buffers, one after the other
// Output   the least offset that each other buffer may still have, and by section the
//          lowest of these, so that what cannot be covered any more is seen early
// Errors   kInfeasible: some buffer never fits; kOutOfMemory
// Cost     a place: members of the sections that the buffer and its neighbours touch;
//          undone at the same cost
// Source   canonical placements as in MiniMalloc; the least offsets are our own
#ifndef SLUICE_SOLVE_PLACEMENT_OFFSETS_PARTIAL_PLACEMENT_H_
#define SLUICE_SOLVE_PLACEMENT_OFFSETS_PARTIAL_PLACEMENT_H_

#include "solve/placement/offsets/sections.h"

namespace sluice {

enum class PlacedChange : uint32_t { kLeast, kFloor, kTop, kPlaced };

struct PlacedUndo {
  int64_t old;
  uint32_t index;
  PlacedChange change;
  uint32_t candidates;  // kFloor only
};

struct PartialPlacement {
  PartialPlacement(const Sections& the_sections, int64_t the_capacity, Arena* arena,
                   Span<int64_t> offsets)
      : sections(the_sections),
        capacity(the_capacity),
        offset(offsets),
        undo(arena),
        dirty(arena) {}
  const Sections& sections;
  const int64_t capacity;
  Span<int64_t> offset;       // per buffer, -1 = unplaced
  Span<int64_t> least;        // per buffer: least offset; kNowhere when placed
  Span<int64_t> floor;        // per section: lowest `least` of unplaced members
  Span<uint32_t> candidates;  // per section: members whose `least` is the floor
  Span<int64_t> top;          // per section: top of what was placed
  Span<int64_t> load;         // per section: bytes not placed yet
  Span<uint32_t> crossing;    // unplaced buffers on both sides of the border below s
  Vector<PlacedUndo> undo;    // its size is a mark for UndoTo
  // Sections to count again; each is there once, as its stamp says.
  Vector<uint32_t> dirty;
  Span<uint32_t> stamp;
  uint32_t epoch = 0;
  uint32_t looks = 0;  // at buffers, since the search has polled
};

Status AllocatePartial(Arena* arena, PartialPlacement* p);
// No buffer is placed, except those that use no bytes.
Status StartPartial(PartialPlacement* p);

// Both set *ok to false where the others no longer fit: undo the change then.
Status PlaceBuffer(PartialPlacement* p, uint32_t u, int64_t at, bool* ok);
// Leaves the lowest free byte of the section uncovered. Each buffer that could cover it
// must then lie on top of another buffer, whose own least offset holds too. spare: what
// is pushed is taken off again.
Status LeaveUncovered(PartialPlacement* p, uint32_t section, Vector<uint32_t>* spare,
                      bool* ok);
void UndoTo(PartialPlacement* p, size_t mark);

// In a canonical placement no buffer can be moved down. A buffer above wasted bytes
// would repeat a placement of an earlier branch.
bool RestsOnSomething(const PartialPlacement& p, uint32_t u, int64_t at);

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_OFFSETS_PARTIAL_PLACEMENT_H_
