// SPDX-License-Identifier: Apache-2.0
// A depth-first order of operators: what an operator reads is made directly before it, that
// first which needs most room while it is made and holds least afterwards.
//
// Input   checked graph
// Output  an order of all operators, in the given span
// Errors  kOutOfMemory
// Cost    O((operators + operands) * log)
// Source  Sethi and Ullman (1970), with sizes as Liu (1987) orders the children of a tree's
//         node; exact for trees whose operators run depth first. What several operators
//         read counts for each of them and is made for the first.
#ifndef SLUICE_SOLVE_PLACEMENT_SPILL_DEPTH_FIRST_H_
#define SLUICE_SOLVE_PLACEMENT_SPILL_DEPTH_FIRST_H_

#include "solve/placement/spill/operator_graph.h"

namespace sluice {

Status DepthFirst(const OperatorGraph& graph, Arena* arena, Span<uint32_t> order);

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_SPILL_DEPTH_FIRST_H_
