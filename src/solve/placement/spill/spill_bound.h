// SPDX-License-Identifier: Apache-2.0
// A lower bound on the bytes that any order with any spills moves.
//
// Input   checked graph, capacity, charge; decisions, whose order is divided into windows.
// Output  *bound: no plan moves fewer bytes. The bound counts sums of bytes; plans that
//         also need addresses move at least as many.
// Errors  kOutOfMemory. A limit that is reached is no error: the bound is then lower.
// Cost    a beam and an exact search per window, of at most max_states states together.
// Source  ours. A plan, restricted to the operators of a window, is a plan of these
//         operators. A tensor's moves are counted only in the window that touches it
//         first; in other windows the tensor takes room while an operator uses it, and
//         its moves are free. So the sum of the windows' optima is a bound. Neighbouring
//         windows are joined while this raises the sum; equal windows are solved once.
#ifndef SLUICE_SOLVE_PLACEMENT_SPILL_SPILL_BOUND_H_
#define SLUICE_SOLVE_PLACEMENT_SPILL_SPILL_BOUND_H_

#include "base/workspace.h"
#include "solve/placement/spill/spill_search.h"

namespace sluice {

struct SpillBoundOptions {
  SpillCharge charge = SpillCharge::kHost;
  int64_t capacity = 0;
  int64_t enough = INT64_MAX;      // stops there
  uint64_t max_states = 1 << 16;   // of all windows
  uint32_t least = 12, most = 40;  // steps of a window, at first
  uint32_t ahead = 40;             // steps behind it that are looked at as well
};

Status BoundSpills(const OperatorGraph& graph, const SpillBoundOptions& options,
                   const SpillDecisions& plan, const Workspace& work, int64_t* bound);

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_SPILL_SPILL_BOUND_H_
