// SPDX-License-Identifier: Apache-2.0
// A whole program in which runs of layers are fused: choose, place, retry, write.
//
// The graph is cut into sections: runs of layers that may fuse. Layers between them,
// and sections that fusing does not make cheaper, run one by one. Every section is
// constructed, placed and measured first. The rest of the budget goes into annealing
// them; the result replaces the constructed plan only when the whole plan gets cheaper.
//
// Input    graph, hardware, lowering, scratchpad bytes, options, tile costs; energy and
//          cycles of the whole graph layer by layer, as the scale of both.
// Output   the program, its lowering (places differ: fewer tensors are in DRAM), its
//          notation, the number of fusion groups (a layer by itself counts as one),
//          whether any section is fused at all.
// Errors   kOutOfMemory, kStopped, kUnsupported: the caller keeps the plan it has.
// Cost     a construction per section; with a limit, or where sections repeat, a second
//          one with annealing.
#ifndef SLUICE_PLAN_FUSED_FUSED_PLAN_H_
#define SLUICE_PLAN_FUSED_FUSED_PLAN_H_

#include "base/budget.h"
#include "model/report.h"
#include "model/tile_cost.h"
#include "plan/candidate.h"
#include "plan/carry/carry.h"
#include "solve/baseline/tiling_memo.h"

namespace sluice {

// Receives a complete plan before the search is over. The receiver may consume the
// candidate, whose program is written, and scratch.
struct PlanSink {
  void* user;
  void (*offer)(void* user, Candidate* candidate, Arena* scratch);
};

struct FusedCall {
  const Graph& graph;
  const Hardware& hardware;
  const Lowering& lowering;
  int64_t scratchpad_bytes;
  const sluice_schedule_options_t& options;
  const sluice_report_t& baseline;  // the scale of energy and cycles
  const TileCoster& coster;
  // Costs of the layers that are not views, each by itself; empty = not known.
  Span<const BlockCost> alone;
  uint64_t step_ns;      // to write and judge a step, when there is a deadline
  bool in_hand;          // there is a plan already
  PlanSink constructed;  // offer may be NULL
  // The valid parts of an earlier schedule: fused sections stay, touched ones are
  // reworked. NULL = none.
  const CarriedSchedule* carried = nullptr;
  TilingMemo* tilings = nullptr;  // layer by layer, of this graph, chip and size
};

// Ends the budget early enough to write and judge the plan. out: its memory is not that
// of `scratch`. *fused: some section is fused; if none is, only a carried plan is
// written.
Status ScheduleFused(const FusedCall& call, Budget* budget, Arena* scratch,
                     Candidate* out, bool* fused, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_PLAN_FUSED_FUSED_PLAN_H_
