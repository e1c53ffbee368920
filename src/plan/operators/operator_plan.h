// SPDX-License-Identifier: Apache-2.0
// A whole program for accelerators that take whole tensors: order, spills, retrieves.
//
// Runs of computing layers become operator graphs; tensors that the scratchpad cannot
// hold are spilled and retrieved. Copies, gathers, appends and host calls go through
// DRAM between the runs. A reshape is its input under another name. With `repeats` a layer
// may run more than once, where that takes less energy and fewer cycles than a transfer.
//
// Input    graph, hardware, lowering, scratchpad bytes, what tiles cost.
// Output   the program, its lowering (places for the order chosen).
// Errors   kInfeasible with the layer whose operands do not fit together and the
//          smallest scratchpad that does; kStopped, kUnsupported, kOutOfMemory.
// Cost     one joint placement per run (solve/placement/spill/joint.h).
// Source   COSMA; runs and streams are ours.
#ifndef SLUICE_PLAN_OPERATORS_OPERATOR_PLAN_H_
#define SLUICE_PLAN_OPERATORS_OPERATOR_PLAN_H_

#include "base/budget.h"
#include "model/lowering.h"
#include "model/program.h"
#include "model/tile_cost.h"

namespace sluice {

struct OperatorCall {
  const Graph& graph;
  const Hardware& hardware;
  const Lowering& lowering;
  int64_t scratchpad_bytes;
  bool repeats;
  const TileCoster& coster;
  Budget* budget;
  Arena* places;   // of the new lowering's places
  Arena* scratch;  // the program must not allocate from it
};

// *out: the lowering with the new places.
Status ScheduleOperators(const OperatorCall& call, Program* program, Lowering* out,
                         Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_PLAN_OPERATORS_OPERATOR_PLAN_H_
