// SPDX-License-Identifier: Apache-2.0
// Operator orders of low peak, without spills; counts sums of bytes only.
//
// Input   checked graph; a capacity for OrderWithin.
// Output  MinimumPeak: the order with the least largest sum of live bytes; proved
//         unless a limit stopped it. OrderWithin: any order that keeps within the
//         capacity.
// Errors  kUnsupported above kMaxSpillItems operators or tensors, kOutOfMemory. A limit
//         is not an error.
// Cost    exponential at worst, a node per executed set; an operator that frees at
//         least what it makes and fits runs at once, without alternatives.
// Source  COSMA (13)-(15). Depth first below the best known, then best first by peak.
//         The reduction is ours: running such an operator earlier never raises the peak
//         of an order.
#ifndef SLUICE_SOLVE_PLACEMENT_SPILL_LEAST_PEAK_H_
#define SLUICE_SOLVE_PLACEMENT_SPILL_LEAST_PEAK_H_

#include "base/workspace.h"
#include "solve/placement/spill/operator_graph.h"

namespace sluice {

Status MinimumPeak(const OperatorGraph& graph, uint64_t max_nodes,
                   const Workspace& work, Span<uint32_t> order, int64_t* peak,
                   bool* proved);

struct OrderLimits {
  int64_t capacity;
  uint64_t max_nodes;
};

// *found: `order` is set. *none: no such order exists, which is proved.
Status OrderWithin(const OperatorGraph& graph, const OrderLimits& limits,
                   const Workspace& work, Span<uint32_t> order, bool* found,
                   bool* none);

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_SPILL_LEAST_PEAK_H_
