// SPDX-License-Identifier: Apache-2.0
// Layers of a fused plan that are decided together, and what was decided: whether they are fused,
// and how.
//
// Input    nothing: this is data, filled by cut_sections.h, decide_section.h and
//          carry/carried_section.h.
// Output   nothing.
// Errors   none.
#ifndef SLUICE_PLAN_FUSED_SECTION_H_
#define SLUICE_PLAN_FUSED_SECTION_H_

#include "solve/fusion/fused_program.h"

namespace sluice {

struct Section {
  uint32_t first;  // layers [first, last) of the plan's order
  uint32_t last;
  bool fused;         // false: the plan has these layers one by one
  bool repeats;       // a repeated block: worth a longer search
  double cost;        // of these layers alone, if fused; as a share of the whole plan's
  uint32_t decision;  // equal for sections that share one result
  uint64_t work_bytes;  // memory that the search used
  FusionRun run;
  FusionResult result;
  FusedBuffers buffers;
  Span<int64_t> offsets;  // by buffer
  Span<int64_t> more;     // by layer of the run: scratch of PlaceOrTighten
  GroupNotation start;    // carried over from an earlier plan; empty = none
  Span<uint8_t> touched;  // with start, by layer of the run
};

inline uint64_t LayersOf(const Section& s) { return s.last - s.first; }

}  // namespace sluice

#endif  // SLUICE_PLAN_FUSED_SECTION_H_
