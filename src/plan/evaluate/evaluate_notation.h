// SPDX-License-Identifier: Apache-2.0
// What a given schedule costs: cycles, energy, scratchpad over time.
//
// Input    a notation of a graph's layers; or a timed schedule, which has tiles and
//          transfers of its own and no graph
// Output   the evaluation, in the caller's arrays as far as they reach
// Errors   kRejected with rule, layer and tile when the schedule is not legal (the
//          evaluation then has the fault too); kBadArgument, kUnsupported as
//          notation_problem.h
// Cost     one mapping per distinct tile, then ResolveNotation (model/evaluate.h)
// Source   SoMa's evaluator
#ifndef SLUICE_PLAN_EVALUATE_EVALUATE_NOTATION_H_
#define SLUICE_PLAN_EVALUATE_EVALUATE_NOTATION_H_

#include "base/memory.h"
#include "model/graph.h"
#include "model/hardware.h"
#include "sluice/experimental.h"

namespace sluice {

struct EvaluationCall {
  const Graph& graph;
  const Hardware& hardware;
  const sluice_notation_t& notation;
  const sluice_schedule_options_t& options;  // scratchpad and tile costs
};

Status EvaluateNotation(const EvaluationCall& call, Arena* arena,
                        sluice_evaluation_t* out, Diagnostic* diagnostic);

Status EvaluateTimedSchedule(const sluice_timed_schedule_t& schedule, Arena* arena,
                             sluice_evaluation_t* out, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_PLAN_EVALUATE_EVALUATE_NOTATION_H_
