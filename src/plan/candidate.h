// SPDX-License-Identifier: Apache-2.0
// A plan that is not written yet: a program with what is known about it.
//
// Input    the program and its lowering, from any planner.
// Output   its waits, its predicted cycles and its report.
// Errors   kOutOfMemory, kStopped.
// Cost     linear in the program's steps.
#ifndef SLUICE_PLAN_CANDIDATE_H_
#define SLUICE_PLAN_CANDIDATE_H_

#include "model/bounds.h"
#include "model/lowering.h"
#include "model/plan.h"
#include "model/program.h"

namespace sluice {

struct Candidate {
  Candidate(Memory* memory, const Hardware& hardware)
      : places(memory), arena(memory), program(&arena, hardware), waits(&arena) {}

  Arena places;  // of the lowering, where it is this candidate's own
  Arena arena;   // of the program and its waits
  Program program;
  ProgramWaits waits;
  Lowering lowering = {};
  PlanNotation notation = {};
  uint32_t groups = 0;  // of layers that run together; 0: every layer by itself
  sluice_report_t report = {};
};

// The graph and the machine that all candidates of a call are plans for.
struct PlannedGraph {
  const Graph& graph;
  const Hardware& hardware;
  const PlanBound& bound;
};

// Fills waits and report of a program that is written. block_cycles: as PredictCycles.
Status CompleteCandidate(const PlannedGraph& of, Arena* scratch, Candidate* candidate,
                         Span<int64_t> block_cycles = {});

}  // namespace sluice

#endif  // SLUICE_PLAN_CANDIDATE_H_
