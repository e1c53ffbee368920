// SPDX-License-Identifier: Apache-2.0
// Exact placement when buffers use only some of their bytes for a while.
//
// Input   live ranges, their sections, capacity, node limit.
// Output  offsets of the free buffers.
// Errors  kInfeasible (proved), kStopped, kOutOfMemory.
// Cost    ExactOffsets with gaps taken as fully used; if that finds nothing and some
//         gap keeps bytes, an exponential search whose node costs O(pairs).
// Source  ours: two buffers alive together forbid some distances between their offsets;
//         the search excludes one forbidden distance after the other, upwards or
//         downwards, and the least offsets that obey all choices so far show which is
//         still violated.
#ifndef SLUICE_SOLVE_PLACEMENT_OFFSETS_PARTIAL_GAPS_H_
#define SLUICE_SOLVE_PLACEMENT_OFFSETS_PARTIAL_GAPS_H_

#include "base/workspace.h"
#include "solve/placement/offsets/exact_offsets.h"

namespace sluice {

Status ExactWithGaps(const LiveRangeSet& set, const Sections& sections,
                     int64_t capacity, const ExactLimits& limits, const Workspace& work,
                     Span<int64_t> offsets);

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_OFFSETS_PARTIAL_GAPS_H_
