// SPDX-License-Identifier: Apache-2.0
// Exact placement of the free buffers within a capacity: a fit or the proof of none.
//
// Input   sections, capacity, node limit (0 = none).
// Output  offsets of the free buffers.
// Errors  kInfeasible (the search space is exhausted), kStopped, kOutOfMemory.
// Cost    exponential; a node costs O(members of the sections touched). Scratch
//         O(buffers + members) plus a table of failed states of fixed size.
// Source  canonical placements as in MiniMalloc. Ours: the branch is "what covers the
//         lowest free byte of the tightest lowest section, or nothing does"; failed
//         (unplaced set, least offsets) states are remembered.
#ifndef SLUICE_SOLVE_PLACEMENT_OFFSETS_EXACT_OFFSETS_H_
#define SLUICE_SOLVE_PLACEMENT_OFFSETS_EXACT_OFFSETS_H_

#include "base/budget.h"
#include "solve/placement/offsets/sections.h"

namespace sluice {

struct ExactLimits {
  uint64_t max_nodes = 0;
  uint64_t* nodes = nullptr;  // counted up; may be null
};

Status ExactOffsets(const Sections& sections, int64_t capacity,
                    const ExactLimits& limits, Budget* budget, Arena* arena,
                    Span<int64_t> offsets);

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_OFFSETS_EXACT_OFFSETS_H_
