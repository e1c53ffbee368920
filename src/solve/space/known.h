// SPDX-License-Identifier: Apache-2.0
// Segments that the caller of a search gives, by the position where they begin.
//
// Input    none: plain data
// Output   which positions begin a segment
// Errors   none
// Cost     constant; Next is linear in the positions passed.
#ifndef SLUICE_SOLVE_SPACE_KNOWN_H_
#define SLUICE_SOLVE_SPACE_KNOWN_H_

#include "model/space_plan.h"

namespace sluice {

// A segment that the caller gives; it begins at the position of its entry. last 0:
// there is none.
struct KnownSegment {
  uint32_t last;
  LoopChoice choice;
};

// The segments that the caller gives.
struct KnownSegments {
  Span<const KnownSegment> at;  // by position, or empty
  uint32_t layers;

  bool Is(uint32_t p) const { return !at.empty() && at[p].last != 0; }
  // The position of the first known segment from p on, or the end.
  uint32_t Next(uint32_t p) const {
    while (p < layers && !Is(p)) ++p;
    return p;
  }
};

}  // namespace sluice

#endif  // SLUICE_SOLVE_SPACE_KNOWN_H_
