// SPDX-License-Identifier: Apache-2.0
// The layers that a notation names, as a fusion problem, and back.
//
// A notation numbers layers and tensors as the graph does; the evaluator of schedules
// (model/evaluate.h) numbers them as the fusion problem does.
//
// Input    graph, hardware, a notation: order, cuts, tiles, DRAM tensors
// Output   the problem, and the notation in its numbers
// Errors   kBadArgument for arrays that are missing and for numbers that name nothing;
//          kUnsupported for layers that cannot be part of a group
// Cost     linear in layers and transfers, times the inputs of a layer
// Source   SoMa's notation
#ifndef SLUICE_PLAN_EVALUATE_NOTATION_PROBLEM_H_
#define SLUICE_PLAN_EVALUATE_NOTATION_PROBLEM_H_

#include "model/lowering.h"
#include "sluice/experimental.h"
#include "solve/fusion/problem.h"

namespace sluice {

struct NotationProblem {
  const Graph& graph;
  const Hardware& hardware;
  const sluice_notation_t& notation;  // the caller's
  int64_t capacity;                   // bytes of scratchpad
  Arena* arena;
  Diagnostic* diagnostic;
  // Set by MakeNotationProblem:
  Lowering lowering = {};
  FusionRun run = {};
  // Number in the problem, by graph layer; kNone: not in it.
  Span<uint32_t> fusion_of = {};
  sluice_notation_t own = {};  // the notation in the numbers of the problem
};

Status MakeNotationProblem(NotationProblem* problem);

// Replaces numbers of the problem by those of the graph in the caller's arrays.
void TranslateBack(const NotationProblem& problem, sluice_evaluation_t* out);

}  // namespace sluice

#endif  // SLUICE_PLAN_EVALUATE_NOTATION_PROBLEM_H_
