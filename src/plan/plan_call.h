// SPDX-License-Identifier: Apache-2.0
// Everything that a call of the planner knows while it works: one struct, which the
// steps of pipeline.h read and change.
//
// Input    the request; the limits and the memory of the call.
// Output   the best plan so far, written and judged, in `arena`.
// Errors   none.
#ifndef SLUICE_PLAN_PLAN_CALL_H_
#define SLUICE_PLAN_PLAN_CALL_H_

#include "base/budget.h"
#include "io/write.h"
#include "model/report.h"
#include "plan/candidate.h"
#include "plan/request.h"
#include "plan/space/schedule_space.h"
#include "plan/tile_costs.h"
#include "solve/baseline/tiling_memo.h"

namespace sluice {

// Where results and work go.
struct PlanRoom {
  Arena* arena;    // of the plan that is returned
  Arena* scratch;  // of the same Memory
  Diagnostic* diagnostic;
};

struct PlanCall {
  PlanCall(const PlanRequest& r, const PlanRoom& room, Budget* c, Progress* p)
      : request(r),
        graph(fitted),
        hardware(r.hardware),
        options(r.options),
        capacity(ScratchpadBytes(r)),
        before(r.before),
        minimise(r.minimise_changes),
        arena(room.arena),
        scratch(room.scratch),
        diagnostic(room.diagnostic),
        live_before(room.scratch->memory()->live_bytes()),
        notes(room.scratch->memory()),
        clock(c),
        progress(p),
        search(*c),
        tiling_memory(room.scratch->memory()),
        tilings(&tiling_memory),
        plain(room.scratch->memory(), r.hardware) {}

  bool has_plan() const { return !best.all.empty(); }
  bool on_many_nodes() const { return plain.program.nodes() > 1; }
  bool has_limits() const {
    return options.deadline_ns != 0 || options.max_iterations != 0;
  }
  void EnterPhase(uint32_t phase) { scratch->memory()->EnterPhase(phase); }

  const PlanRequest& request;
  Graph fitted = {};   // the request's, fitted to the machine (model/host.h)
  const Graph& graph;  // `fitted`
  const Hardware& hardware;
  const sluice_schedule_options_t& options;
  const int64_t capacity;  // of the scratchpad, bytes
  const Plan* before;      // its valid parts are kept; NULL = none
  bool minimise;           // keep addresses, orders and blocks wherever they are valid

  Arena* arena;
  Arena* scratch;
  Diagnostic* diagnostic;
  uint64_t live_before;                              // bytes, when the call began
  uint64_t limit_bytes = 0, fusion_limit_bytes = 0;  // of searches (memory_bound.h)
  bool spaced = false;            // a plan of the space was found, better or not
  bool wants_iterations = false;  // its changes were ended by their number
  // A better plan was too large for the memory or for the judge's work.
  bool too_large = false;
  Arena notes;             // of plans of the space
  KnownPlan segments;      // of the best plan; none = it is not of the space
  uint64_t finish_ns = 0;  // to write and judge that plan
  bool soon = false;       // a plan found soon needs no second try
  bool fuses = false;      // a fused plan was found, better or not

  Budget* clock;       // the caller's limits
  bool first = false;  // there is no plan yet, and the plain one may take less time
  bool fits = false;   // most layers fit the scratchpad whole: see pipeline.cc
  uint64_t plain_steps = 0;  // while `first`: about what the plain plan has
  // While `clock` ends early, to leave time for the plain plan: the caller's limits.
  const Budget* later = nullptr;
  Progress* progress;
  Budget search;                // the part of `clock` that searches have
  sluice_change_t change = {};  // against `before`

  TileCosts* costs = nullptr;  // set once the graph is lowered
  TileCoster coster;           // of `costs`
  PlanBound bound = {};        // of all plans of the graph with these costs
  uint64_t bound_ns = 0;       // to find it
  Arena tiling_memory;
  TilingMemo tilings;
  Span<PlanLayerHash> hashes;  // of the graph; empty = not computed yet

  Candidate plain;        // the plan layer by layer; its lowering is that of the graph
  Span<BlockCost> alone;  // each of its layers by itself; empty = not known
  bool lacks_plain = false;          // there is no plain plan to compare with
  size_t most_steps = kJudgedSteps;  // of a program on a mesh
  uint64_t step_ns = 0;  // to write and judge one step; 0 = there is no deadline

  PlanBytes best = {};           // in `arena`; empty = none yet
  double best_cost = 0;          // by PlanCost
  bool proved = false;           // no plan costs less
  Status offered = Status::kOk;  // kInternal: an offered plan was refused by the judge
};

}  // namespace sluice

#endif  // SLUICE_PLAN_PLAN_CALL_H_
