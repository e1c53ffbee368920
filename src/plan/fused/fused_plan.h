// SPDX-License-Identifier: Apache-2.0
// A whole program in which runs of layers are fused: choose, place, retry, write.
//
// The graph is cut into runs of layers that may fuse; what lies between, and runs that
// fusing does not make cheaper, stays layer by layer. Every run is constructed, placed
// and measured first; what is left of the budget is then spent on annealing them, and
// the result replaces what was constructed only when the whole plan gets cheaper.
//
// Input    graph, hardware, lowering, scratchpad bytes, options, tile costs; energy and
// cycles of
//          the whole graph layer by layer, as the scale of both.
// Output   the program, its lowering (places differ: fewer tensors are in DRAM), the
//          number of fusion groups (a layer by itself counts as one), whether any run
//          is fused at all.
// Errors   kOutOfMemory, kStopped, kUnsupported: the caller keeps the plan it has.
// Cost     a construction per run; with a limit, or where runs repeat, a second one
//          with annealing.
#ifndef SLUICE_PLAN_FUSED_FUSED_PLAN_H_
#define SLUICE_PLAN_FUSED_FUSED_PLAN_H_

#include "base/budget.h"
#include "model/lowering.h"
#include "model/plan.h"
#include "model/program.h"
#include "model/report.h"
#include "model/tile_cost.h"
#include "solve/baseline/tiling_memo.h"
#include "solve/repair/carry.h"

namespace sluice {

// A program with what is known about it.
struct Candidate {
  Candidate(Memory* memory, const Hardware& hardware)
      : places(memory),
        arena(memory),
        program(&arena, hardware.node_cols, hardware.node_rows),
        waits(&arena) {}

  Arena places;  // of the lowering, where it is this candidate's own
  Arena arena;   // of the program and its waits
  Program program;
  ProgramWaits waits;
  Lowering lowering = {};
  PlanNotation notation = {};
  sluice_report_t report = {};
};

struct FusedPlan {
  Lowering lowering;
  PlanNotation notation;
  uint32_t groups = 0;
  bool fused = false;
};

// Where a plan goes that is whole before the search is over. The candidate, whose program
// is written, is the receiver's; scratch too.
struct PlanSink {
  void* user;
  void (*offer)(void* user, const FusedPlan& plan, Candidate* candidate,
                Arena* scratch);
};

struct FusedCall {
  const Graph& graph;
  const Hardware& hardware;
  const Lowering& lowering;
  int64_t scratchpad_bytes;
  const sluice_schedule_options_t& options;
  const sluice_report_t& baseline;
  const TileCoster& coster;
  // Of the layers that do something, each by itself; empty = not known.
  Span<const BlockCost> alone;
  uint64_t step_ns;      // to write and judge a step, when there is a deadline
  bool in_hand;          // there is a plan already
  PlanSink constructed;  // offer may be NULL
  // What still holds of an earlier schedule: fused sections stay so, what was touched is
  // reworked; `baseline` then is any report that tells the scale of energy and cycles.
  const CarriedSchedule* carried = nullptr;
  TilingMemo* tilings = nullptr;  // layer by layer, of this graph, chip and size
};

// arena: of the plan; program must not allocate from scratch. The budget ends early
// enough for what follows: from then on this keeps track of it.
Status ScheduleFused(const FusedCall& call, Budget* budget, Arena* arena,
                     Arena* scratch, Program* program, FusedPlan* plan,
                     Diagnostic* diagnostic);

// energy^n * cycles^m; both exponents 0 mean 1, 1.
double PlanCost(const sluice_schedule_options_t& options,
                const sluice_report_t& report);

}  // namespace sluice

#endif  // SLUICE_PLAN_FUSED_FUSED_PLAN_H_
