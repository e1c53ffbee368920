// SPDX-License-Identifier: Apache-2.0
// Static placement: buffers with known lifetimes -> offsets within a capacity.
//
// Input   LiveRangeSet (bytes, half-open times), capacity in bytes.
// Output  offsets (no two bytes shared at one time, all limits of LiveRange kept),
//         peak, lower bound; on kInfeasible the buffers that cannot be placed together.
// Errors  kBadInput (names the buffer), kInfeasible (proved), kStopped (limit reached
//         before a fit or a proof; the plan then holds the best peak found, which is
//         above the capacity, or no offsets when not even that exists), kOutOfMemory.
// Cost    heuristics O(orders * pairs log pairs) time, O(buffers + pairs) scratch;
//         exact search exponential, polls the budget and max_nodes.
// Source  Moffitt, MiniMalloc (canonical placements, sections, dominance); branching on
//         the lowest section and failed-state table are ours.
#ifndef SLUICE_SOLVE_PLACEMENT_OFFSETS_OFFSETS_H_
#define SLUICE_SOLVE_PLACEMENT_OFFSETS_OFFSETS_H_

#include <stdint.h>

#include "base/workspace.h"
#include "model/live_range.h"

namespace sluice {

struct OffsetOptions {
  bool exact = true;       // false: heuristics only
  bool swaps = true;       // heuristics: also reorder the buffer at the peak
  bool smallest = false;   // do not stop at a fit: minimise the peak
  bool explain = true;     // name a conflicting set when infeasible
  uint64_t max_nodes = 0;  // of exact search in total; 0 = no limit but the budget
};

struct OffsetPlan {
  Span<int64_t> offsets;    // per buffer; empty when none were found
  int64_t peak = 0;         // highest byte used, fixed and reserved ones included
  int64_t lower_bound = 0;  // no placement has a lower peak
  bool proved = false;      // smallest: peak is the least; infeasible: always
  // Infeasible only, ascending. No placement of these alone (with the reserved regions)
  // exists; irreducible: if any of them is left out, one exists.
  Span<uint32_t> conflict;
  bool irreducible = false;
  uint64_t nodes = 0;  // of exact search
};

// Checks what PlaceOffsets requires of its input; names the first offending buffer.
Status CheckLiveRanges(const LiveRangeSet& set, int64_t capacity, Arena* arena,
                       Diagnostic* diagnostic);

// Reports kStopped, with the peak if the plan has one.
Status StoppedPlacing(const OffsetPlan& plan, int64_t capacity, Diagnostic* diagnostic);

// Reports kInfeasible, with the buffers of the plan's conflict.
Status ExplainPlacing(const OffsetPlan& plan, int64_t capacity, Diagnostic* diagnostic);

// The plan's spans live in work.arena.
Status PlaceOffsets(const LiveRangeSet& set, int64_t capacity,
                    const OffsetOptions& options, const Workspace& work,
                    OffsetPlan* plan);

// The same for buffers of a planner's own: they are valid, have neither gaps nor banks,
// and nothing is explained. kUnsupported: more than 2^25 pairs meet. options.smallest
// has no effect on an exact search.
Status PlacePlain(Span<const LiveRange> buffers, int64_t capacity,
                  const OffsetOptions& options, const Workspace& work,
                  OffsetPlan* plan);

// Places the buffers without a fixed offset around those that have one: the largest
// first, of equal sizes the first, each at its lowest free address. There is no search:
// *placed is false as soon as a buffer ends above the capacity. offsets: of all
// buffers, which have neither gaps nor banks. kBadInput also when two fixed buffers
// overlap.
Status PlaceAround(Span<const LiveRange> buffers, int64_t capacity, Arena* arena,
                   Span<int64_t> offsets, bool* placed, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_OFFSETS_OFFSETS_H_
