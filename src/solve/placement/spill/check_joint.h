// SPDX-License-Identifier: Apache-2.0
// Checks a joint problem and rounds its sizes for a solver.
//
// Input   a graph and options, not checked; an order of operators.
// Output  the graph with sizes rounded up to the alignment, the capacity rounded down.
// Errors  kBadInput with what is wrong in the graph or the fixed order, kBadArgument
//         with the option; kInfeasible where the operands of an operator do not fit
//         together in any order, with the operator and its bytes; kOutOfMemory.
// Cost    linear; orders with extra edges: operators times edges.
#ifndef SLUICE_SOLVE_PLACEMENT_SPILL_CHECK_JOINT_H_
#define SLUICE_SOLVE_PLACEMENT_SPILL_CHECK_JOINT_H_

#include "solve/placement/spill/joint.h"

namespace sluice {

// *good: `order` runs every operator once, after what it reads. Otherwise *at is the
// first step that is wrong.
Status CheckOrder(const OperatorGraph& graph, Span<const uint32_t> order, Arena* arena,
                  bool* good, uint32_t* at);

// kInfeasible: the operator needs more than the capacity.
Status DoNotFit(uint32_t o, int64_t bytes, int64_t capacity, Diagnostic* diagnostic);

struct RoundedJoint {
  OperatorGraph graph;  // may share spans with the graph that was checked
  JointOptions options;
};

// Checks graph, order and options; rounds the sizes up and the capacity down to the
// alignment.
Status CheckJoint(const OperatorGraph& graph, const JointOptions& options, Arena* arena,
                  RoundedJoint* rounded, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_SPILL_CHECK_JOINT_H_
