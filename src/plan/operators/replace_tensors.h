// SPDX-License-Identifier: Apache-2.0
// Order of operators, spills, retrievals and addresses, in the structs of the C
// interface.
//
// Input    a graph, or operators with their tensors; capacity, alignment, options
// Output   the order, when each tensor is on chip and where, and what that moves
// Errors   kBadInput naming the operator or tensor; those of PlanJoint, PlanReplacement
//          and PlanFootprint, with the tensor as the caller numbers it
// Cost     those three (solve/placement/spill); linear otherwise
// Source   COSMA
#ifndef SLUICE_PLAN_OPERATORS_REPLACE_TENSORS_H_
#define SLUICE_PLAN_OPERATORS_REPLACE_TENSORS_H_

#include "base/memory.h"
#include "model/graph.h"
#include "sluice/experimental.h"

namespace sluice {

struct ReplacementCall {
  const sluice_replacement_options_t& options;
  Arena* arena;  // of the answer
  Arena* scratch;
  Diagnostic* diagnostic;
};

struct Replacement {
  Span<uint32_t> order;
  Span<sluice_residence_t> residences;
  sluice_replacement_summary_t report = {};
};

struct Footprint {
  uint32_t* order;  // the caller's, one for each operator
  int64_t peak_bytes;
  bool proved;
};

Status ReplaceInGraph(const Graph& graph, const ReplacementCall& call,
                      Replacement* out);
Status ReplaceInOperators(const sluice_operator_graph_t& operators,
                          const ReplacementCall& call, Replacement* out);

// The order that needs the least memory when nothing is spilled.
Status FindMinimumFootprint(const sluice_operator_graph_t& operators,
                            const ReplacementCall& call, Footprint* out);

}  // namespace sluice

#endif  // SLUICE_PLAN_OPERATORS_REPLACE_TENSORS_H_
