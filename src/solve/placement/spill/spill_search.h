// SPDX-License-Identifier: Apache-2.0
// Operator order and spills, by sums of bytes only (no addresses).
//
// Input   checked graph, capacity, charge; optionally a fixed order.
// Output  order; per input operand slot whether it is fetched for that read (first load
//         or retrieve); bytes; a lower bound on the bytes of any plan.
// Errors  kUnsupported above kMaxSpillItems operators or tensors, kOutOfMemory. An
//         operator that exceeds the capacity is no error: `found` is then false. A
//         limit is no error either: `complete` is then false.
// Cost    layers of states (executed, resident, copied); a state is expanded once.
//         Exact without width, exponential at worst; width w: O(ops * w * ready).
// Source  COSMA (1)-(8), (12), (16) with the capacity sum; dominance is ours.
#ifndef SLUICE_SOLVE_PLACEMENT_SPILL_SPILL_SEARCH_H_
#define SLUICE_SOLVE_PLACEMENT_SPILL_SPILL_SEARCH_H_

#include "base/budget.h"
#include "solve/placement/spill/operator_graph.h"

namespace sluice {

constexpr size_t kMaxSpillItems = 1024;  // bits of the widest set

struct SpillDecisions {
  bool found = false;
  bool complete = false;  // lower_bound proves the result, or that none exists below
  int64_t bytes = 0;
  int64_t lower_bound = 0;
  int64_t beyond = 0;        // nothing found below give_up: no plan has fewer bytes
  int64_t window_bytes = 0;  // of the base plan in the window
  uint64_t states = 0;
  Span<uint32_t> order;
  Span<uint8_t> fetch;  // per slot of OperatorGraph::operands, inputs only
};

// Steps [begin, end) of a plan, searched again while the rest stays. Bytes then count
// the window only: from departures after step begin - 1 to those before the end.
struct SpillWindow {
  uint32_t begin = 0, end = 0;           // equal: no window, the whole plan
  const SpillDecisions* base = nullptr;  // spans not shared with the result
};

struct SpillSearchOptions {
  SpillCharge charge = SpillCharge::kHost;
  int64_t capacity = 0;
  int64_t target = 0;  // below capacity: limit for operators that need less
  Span<const uint32_t> fixed_order;  // empty: free
  int64_t give_up = INT64_MAX;       // only plans below this are wanted
  uint32_t width = 0;                // states kept per layer; 0 = all
  uint32_t shares = 0;  // of the width, for states that ran other large operators
  uint32_t large = 12;  // sixteenths of the capacity that a large operator needs
  uint32_t max_evictions = 0;  // sets tried per state and operator; 0 = all
  uint64_t max_states = 0;     // 0 = no limit
  SpillWindow window;
};

// The spans of *out must have been allocated: operators, operands.
Status SearchSpills(const OperatorGraph& graph, const SpillSearchOptions& options,
                    Budget* budget, Arena* arena, SpillDecisions* out);

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_SPILL_SPILL_SEARCH_H_
