// SPDX-License-Identifier: Apache-2.0
// Operators that run again, where that costs less than bringing their results back.
//
// Input   graph and options as for joint.h; per operator what running it again costs, in
//         bytes moved (negative: it may run once only).
// Output  a graph that has a run of its own for each repetition, with a result of its own
//         that some of the readers read instead; its plan; which given operator and tensor
//         each one is. The plan's lower_bound is one on bytes and repetitions together.
// Errors  those of PlanJoint and PlanReplacement for the given graph.
// Cost    a joint plan, and one more for each set of repetitions that is tried.
// Source  ours: repetitions are chosen at the gaps of a plan, all that look cheaper than
//         their transfers together and then one by one; a set stays if the new plan is
//         cheaper. That is no search of all sets. Operators with several outputs, or with an
//         edge, run once.
#ifndef SLUICE_SOLVE_PLACEMENT_SPILL_REPEATS_H_
#define SLUICE_SOLVE_PLACEMENT_SPILL_REPEATS_H_

#include "base/workspace.h"
#include "solve/placement/spill/joint.h"

namespace sluice {

struct RepeatedPlan {
  OperatorGraph graph;
  Span<uint32_t> operator_of, tensor_of;  // the given ones
  SpillPlan plan;
  int64_t repeat_bytes = 0;  // what the repetitions cost

  int64_t cost() const { return plan.bytes() + repeat_bytes; }
};

// With options.fixed_order the given operators keep their order.
Status PlanRepeats(const OperatorGraph& graph, Span<const int64_t> again,
                   const JointOptions& options, const Workspace& work,
                   RepeatedPlan* out);

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_SPILL_REPEATS_H_
