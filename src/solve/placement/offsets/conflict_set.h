// SPDX-License-Identifier: Apache-2.0
// Why buffers do not fit: a set of them that cannot be placed together, none
// superfluous.
//
// Input   checked LiveRangeSet that has no placement within the capacity.
// Output  buffer indices, ascending; irreducible unless a limit stopped a test.
// Errors  kOutOfMemory.
// Cost    O(k log n + k) exact searches for k buffers in the set; polls the budget.
// Source  deletion filter (Chinneck) with halving chunks; overloaded sections directly.
#ifndef SLUICE_SOLVE_PLACEMENT_OFFSETS_CONFLICT_SET_H_
#define SLUICE_SOLVE_PLACEMENT_OFFSETS_CONFLICT_SET_H_

#include "solve/placement/offsets/offsets.h"

namespace sluice {

Status FindConflict(const LiveRangeSet& set, int64_t capacity, uint64_t max_nodes,
                    Budget* budget, Arena* arena, OffsetPlan* plan);

// The moment with the most bytes, or the fixed buffer that ends highest:
// plan->lower_bound, and, if that is above the capacity, a conflict by sizes alone, or
// that buffer. O(n log n), however many buffers meet.
Status FindOverload(const LiveRangeSet& set, int64_t capacity, Arena* arena,
                    OffsetPlan* plan);

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_OFFSETS_CONFLICT_SET_H_
