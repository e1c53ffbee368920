// SPDX-License-Identifier: Apache-2.0
// The steps [begin, end) of a plan as a graph of their own, small enough for narrow sets.
//
// Input   checked graph, charge, a plan's decisions, the steps.
// Output  a graph: the operators of these steps in the plan's order, and where tensors are
//         read later one more operator that reads them all and never runs; what is held and
//         copied before and behind these steps; what the plan moves in them.
// Errors  kOutOfMemory.
// Cost    O(operands + edges).
// Source  ours.
#ifndef SLUICE_SOLVE_PLACEMENT_SPILL_SPILL_WINDOW_H_
#define SLUICE_SOLVE_PLACEMENT_SPILL_SPILL_WINDOW_H_

#include "solve/placement/spill/spill_search.h"

namespace sluice {

// Of a tensor between two steps.
enum : uint8_t { kHeldBefore = 1, kCopiedBefore = 2, kHeldAfter = 4, kCopiedAfter = 8 };

struct WindowPart {
  OperatorGraph graph;
  uint32_t steps = 0;        // operators that may run: the first of the graph
  Span<uint32_t> slots;      // by operand of the graph: the whole graph's, inputs only
  Span<uint32_t> tensor_of;  // by tensor: the whole graph's
  Span<uint8_t> state;       // by tensor
  Span<uint8_t> held;        // by tensor: behind the last step of what was found
  int64_t bytes = 0;
};

Status CutWindow(const OperatorGraph& graph, SpillCharge charge,
                 const SpillWindow& window, Arena* arena, WindowPart* part);

// Puts decisions for the part, with what they hold behind it, in the plan's place. Tensors
// that the plan holds there, and the part does not, are fetched for their next use.
Status PasteWindow(const OperatorGraph& graph, const SpillWindow& window,
                   const WindowPart& part, const SpillDecisions& decisions,
                   Arena* arena, SpillDecisions* out);

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_SPILL_SPILL_WINDOW_H_
