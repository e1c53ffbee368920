// SPDX-License-Identifier: Apache-2.0
// The cheapest plan with addresses, for graphs whose sums of bytes fit but whose
// buffers do not.
//
// Input   checked graph, capacity, bounds on the bytes: at least `floor` (proved),
//         below `give_up`.
// Output  order and fetch flags of a placeable plan with the fewest bytes; *proved.
// Errors  kInfeasible (no placeable plan below give_up), kStopped, kOutOfMemory.
// Cost    exponential: depth first over orders and all sets that leave after each step,
//         deepening on bytes; a dead end in addresses backtracks to the step that
//         causes it.
// Source  ours; complete over COSMA's model, as in operator_graph.h.
#ifndef SLUICE_SOLVE_PLACEMENT_SPILL_ADDRESS_SEARCH_H_
#define SLUICE_SOLVE_PLACEMENT_SPILL_ADDRESS_SEARCH_H_

#include "base/workspace.h"
#include "solve/placement/spill/joint.h"

namespace sluice {

struct AddressSearchBounds {
  int64_t floor = 0;
  int64_t give_up = INT64_MAX;
  uint64_t max_leaves = 0;  // complete plans tried; 0 = no limit
  uint64_t max_nodes = 0;   // of each offsets search
  uint64_t max_steps = 0;   // operators run, in total; 0 = no limit
};

// The result; the caller allocates the spans, of operators and operands.
struct AddressedOrder {
  Span<uint32_t> order;
  Span<uint8_t> fetch;
  int64_t bytes = 0;
};

Status SearchAddresses(const OperatorGraph& graph, const JointOptions& options,
                       const AddressSearchBounds& bounds, const Workspace& work,
                       AddressedOrder* out);

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_SPILL_ADDRESS_SEARCH_H_
