// SPDX-License-Identifier: Apache-2.0
#include "plan/pipeline.h"

#include "base/watch_scope.h"
#include "model/host.h"
#include "plan/best_plan.h"
#include "plan/better_plan.h"
#include "plan/carried_plan.h"
#include "plan/check_options.h"
#include "plan/compare_streams.h"
#include "plan/deadline.h"
#include "plan/fused/take_fused.h"
#include "plan/memory_bound.h"
#include "plan/objective.h"
#include "plan/operators/operator_plan.h"
#include "plan/plain_plan.h"
#include "plan/space/take_space.h"

namespace sluice {
namespace {

constexpr uint64_t kJudgedFirst = 32768;  // steps
// Steps counted for the plain plan for each layer, above which it is long: to search takes less
// work than to write and judge it. On any machine both are work of the same kind.
constexpr uint64_t kLongPlain = 120;

bool HasFused(const PlanNotation& notation) {
  for (const PlanSection& section : notation.section) {
    if (section.kind == kFusedSection) return true;
  }
  return false;
}

// Plans operators on whole tensors, without tiles, with spills where the scratchpad is
// too small.
Status TakeOperators(PlanCall* call) {
  Candidate whole(call->scratch->memory(), call->hardware);
  Arena memory(call->scratch->memory());
  call->search = TimeForOperators(*call->clock);
  SLUICE_TRY(ScheduleOperators(
      {call->graph, call->hardware, call->plain.lowering, call->capacity,
       call->options.granularity == SLUICE_GRANULARITY_RECOMPUTE, call->coster,
       &call->search, &whole.places, &memory},
      &whole.program, &whole.lowering, call->diagnostic));
  SLUICE_TRY(call->costs->status(call->diagnostic));
  SLUICE_TRY(CompleteCandidate({call->graph, call->hardware, call->bound},
                               call->scratch, &whole));
  return TakePlan(call, &whole);
}

// Runs a search within the memory bound that callers are told. steps: of the plain
// plan. From scratch, searches have as much memory as without an earlier plan, so that
// they do not find another plan for the same task.
Status SearchWithin(PlanCall* call, uint64_t steps, Status (*search)(PlanCall*)) {
  PlanRequest request = call->request;
  if (search == TakeBetter) request.before = nullptr;
  const uint64_t live = call->live_before;
  call->limit_bytes = live + SearchBytes(request, steps, call->costs->quick());
  call->fusion_limit_bytes = live + FusionBytes(request, steps);
  Memory* memory = call->scratch->memory();
  memory->Limit(call->limit_bytes);
  const Status status = search(call);
  memory->Limit(0);
  return status;
}

// Whether nine in ten layers fit two thirds of the scratchpad whole. A plan that is found soon
// then has fewer steps than the plain one, and room for what is loaded ahead.
bool FitsMostly(const PlanCall& call) {
  size_t fit = 0;
  for (const Layer& layer : call.plain.lowering.executed) {
    int64_t bytes = 0;
    for (const uint32_t t : layer.inputs) {
      if (t != kNone) bytes += call.graph.tensors[t].bytes;
    }
    for (const uint32_t t : layer.outputs) bytes += call.graph.tensors[t].bytes;
    fit += bytes <= call.capacity / 3 * 2 ? 1 : 0;
  }
  return fit >= call.graph.layers.size() - call.graph.layers.size() / 10;
}

// Whether a quick search comes before the plain plan is written: where most layers fit whole.
// *is_long: the plain plan has so many steps that to judge it takes longer than a search.
Status ComesSoon(PlanCall* call, bool* soon, bool* is_long) {
  const uint64_t layers = call->graph.layers.size();
  call->fits = FitsMostly(*call);
  // A plan layer by layer loads, computes and stores in each.
  call->plain_steps = 3 * layers;
  if (!call->fits) {
    SLUICE_TRY(CountPlain(call, &call->plain_steps));
    *is_long = call->plain_steps > kLongPlain * layers;
    call->plain_steps *=
        2;  // it has nearly as many loads as it counts tiles and stores
  }
  *soon = call->fits;
  return Status::kOk;
}

// Looks for a plan of segments that is found soon, as long as `time` lasts. The plain plan
// mostly takes longer to judge, and is worse.
Status TakeSoonFirst(PlanCall* call, const Budget& time) {
  call->search = time;
  call->lacks_plain = call->plain.program.size() == 0;
  call->first = true;
  // The plain plan has a step for each layer at least.
  const uint64_t steps = Max(call->graph.layers.size(), call->plain.program.size());
  const Status status = SearchWithin(call, steps, TakeSoonFromSpace);
  call->lacks_plain = call->first = false;
  call->clock->Join(call->search);
  return status;
}

// The same before a plain plan that takes ns to judge. All of it ends while the plain plan can
// still be judged, unless a plan is found that is sure to be judged in time.
Status TakeSoonBefore(PlanCall* call, uint64_t ns) {
  const Budget whole = *call->clock;
  *call->clock = whole.Before(ns);
  call->later = &whole;
  const Status status = TakeSoonFirst(call, *call->clock);
  call->later = nullptr;
  const Budget part = *call->clock;
  *call->clock = whole;
  call->clock->Join(part);
  return status;
}

// On a mesh the plain plan, which is that of one node, is written only where one node may
// do best, or where there is no other plan: it may be longer than all others.
Status TakeNodes(PlanCall* call, uint64_t counted) {
  call->lacks_plain = true;
  const Status searched = SearchWithin(call, counted, TakeBetter);
  call->lacks_plain = false;
  SLUICE_TRY(searched);
  const bool has = call->has_plan();
  if (has && !MayPay(*call, 1)) return Status::kOk;
  Status plain = SchedulePlain(call);
  if (plain == Status::kOk) plain = CompletePlain(call);
  const uint64_t steps = call->plain.program.size();
  if (plain == Status::kOk && has &&
      PlanCost(call->options, call->plain.report) <= call->best_cost) {
    plain = TakePlain(call);
  }
  if (has && (plain == Status::kUnsupported || plain == Status::kOutOfMemory ||
              plain == Status::kStopped)) {
    *call->diagnostic = {};
    return Status::kOk;
  }
  SLUICE_TRY(plain);
  SLUICE_TRY(SearchWithin(call, steps, TakeFromSpace));
  return call->has_plan() ? Status::kOk : TakePlain(call);
}

// Makes the plain plan, without judging it. *ns: what that is likely to take.
Status TimePlain(PlanCall* call, uint64_t* ns) {
  SLUICE_TRY(SchedulePlain(call));
  const uint64_t begin = call->clock->spent_ns();
  SLUICE_TRY(CompletePlain(call));
  const bool is_long =
      call->plain.program.size() > kManySteps * call->graph.layers.size();
  *ns = FinishOfPlain(call->clock->spent_ns() - begin, call->bound_ns, is_long);
  return Status::kOk;
}

Status TakeTiled(PlanCall* call) {
  if (call->on_many_nodes()) {
    uint64_t counted = 0;
    SLUICE_TRY(CountPlain(call, &counted));
    // A caller that may end the call early gets a short plain plan before the search.
    const bool first = call->options.deadline_ns != 0 ||
                       (call->clock->watched() && counted <= kJudgedFirst);
    if (!first) return TakeNodes(call, counted);
  }
  const bool early = call->options.deadline_ns != 0 && !call->has_plan() &&
                     call->before == nullptr && !call->on_many_nodes();
  bool soon = false, is_long = false;
  if (early) SLUICE_TRY(ComesSoon(call, &soon, &is_long));
  if (soon) SLUICE_TRY(TakeSoonFirst(call, TimeForFirst(*call->clock)));
  uint64_t ns = 0;
  const Status timed = TimePlain(call, &ns);
  if (timed == Status::kStopped && call->has_plan()) return Status::kOk;
  SLUICE_TRY(timed);
  const uint64_t steps = call->plain.program.size();
  if (early && !soon && PlainTakesMuch(*call->clock, ns)) {
    SLUICE_TRY(TakeSoonBefore(call, ns));
  } else if (is_long && PlainTakesTooMuch(*call->clock, ns)) {
    SLUICE_TRY(TakeSoonFirst(call, TimeForFirst(*call->clock)));
  }
  if (is_long && call->has_plan()) {
    call->search = TimeForSearch(*call->clock, call->finish_ns);
    return SearchWithin(call, steps, TakeBetter);
  }
  Status plain = Status::kOk;  // kUnsupported: the judge could not follow it to its end
  const bool searches =
      call->on_many_nodes() || call->options.solver != SLUICE_SOLVER_BASELINE;
  if (call->clock->watched() && searches) {
    // From here on there is a plan, whatever ends the search. Its time predicts that of
    // the next plan. Where only a cancel word can end the search, a long plain plan
    // waits: to judge it would take longer than the search.
    const bool first = call->options.deadline_ns != 0 || steps <= kJudgedFirst;
    const bool better = PlanCost(call->options, call->plain.report) < call->best_cost;
    if (first && (better || !call->has_plan())) {
      const uint64_t finish = call->clock->spent_ns();
      plain = TakePlain(call);
      ns = call->clock->spent_ns() - finish;
    }
    if (plain != Status::kOk && plain != Status::kUnsupported) return plain;
    call->step_ns = ns / (steps == 0 ? 1 : steps) + 1;
    call->search =
        TimeForSearch(*call->clock, call->finish_ns != 0 ? call->finish_ns : ns);
    if (early && !call->soon && call->search.left_ns() == 0) {
      // A plan that is found soon may take less to judge than the plain one did.
      SLUICE_TRY(TakeSoonFirst(call, TimeForFirst(*call->clock)));
    }
  }
  if (searches) SLUICE_TRY(SearchWithin(call, steps, TakeBetter));
  if (!call->has_plan()) return plain == Status::kOk ? TakePlain(call) : plain;
  if (plain != Status::kOk) *call->diagnostic = {};
  return Status::kOk;
}

// Takes the earlier plan, then searches. The earlier plan stays unless a cheaper one is
// found: it may have been made for another objective.
Status TakeSame(PlanCall* call) {
  SLUICE_TRY(TakeBefore(call));
  if (!call->has_plan() || call->minimise) return Status::kOk;
  const double cost = call->best_cost;
  SLUICE_TRY(TakeTiled(call));
  call->change.from_scratch = call->best_cost < cost;
  return Status::kOk;
}

// Keeps the valid parts of the earlier plan. Unless these are segments on the same
// machine and scratchpad, the space of plans is then searched from scratch, which takes
// milliseconds.
Status TakeRemade(PlanCall* call) {
  SLUICE_TRY(TakeCarried(call));
  if (call->request.before == nullptr) return Status::kOk;
  if (!call->before->is_made()) {
    if (call->has_plan()) return Status::kOk;
    return Fail(call->diagnostic, Status::kRejected, "notation")
        .Text(
            "the segments are not legal on this graph and machine, or what they keep "
            "does not fit the scratchpad");
  }
  if (IsSameTask(*call)) {
    const bool whole =
        !call->has_plan() && call->options.granularity == SLUICE_GRANULARITY_TILE;
    return whole ? TakeSame(call) : Status::kOk;
  }
  if (!call->has_plan() || call->change.from_scratch != 0 || call->minimise) {
    return Status::kOk;
  }
  if (call->spaced && IsSamePlace(*call)) return Status::kOk;
  // Costs are weighed against those of the earlier plan.
  call->plain.report = call->before->report;
  if (call->clock->watched()) {
    call->search = TimeForSearch(*call->clock, call->clock->spent_ns());
  }
  const double cost = call->best_cost;
  SLUICE_TRY(SearchWithin(call, call->before->report.instructions, TakeFromSpace));
  call->change.from_scratch = call->best_cost < cost;
  return Status::kOk;
}

// Finds what every plan costs at least.
Status BoundPlans(PlanCall* call) {
  const sluice_schedule_options_t& options = call->options;
  BoundPrices prices = PricedBy::kMachine;
  if (call->coster.by_layer) {
    prices = {PricedBy::kCaller, options.tile_bound, options.tile_cost_user};
  }
  if (!call->request.is_moved) prices.share = call->capacity;
  const uint64_t begin = call->clock->spent_ns();
  const Status status =
      FindBound(call->graph, call->hardware, prices, call->scratch, &call->bound);
  call->bound_ns = call->clock->spent_ns() - begin;
  if (status != Status::kBadArgument) return status;
  return Fail(call->diagnostic, status, "options")
      .Text("tile_bound failed, or gave a cost out of range");
}

// Runs all steps up to the plan's bytes, call->best.
Status Make(PlanCall* call) {
  call->EnterPhase(SLUICE_PHASE_LOWER);
  Candidate* plain = &call->plain;
  SLUICE_TRY(FitToMachine(call->request.graph, call->hardware, call->scratch,
                          &call->fitted, call->diagnostic));
  SLUICE_TRY(Lower(call->graph, call->hardware, call->scratch, &plain->lowering,
                   call->diagnostic));
  call->EnterPhase(SLUICE_PHASE_SCHEDULE);
  Arena tile_memory(call->scratch->memory());
  TileCosts costs(call->graph, call->hardware, plain->lowering, call->options,
                  &tile_memory);
  SLUICE_TRY(costs.Init(call->diagnostic));
  call->costs = &costs;
  call->coster = costs.coster();
  SLUICE_TRY(BoundPlans(call));
  bool again = call->before != nullptr;
  if (call->request.resume != nullptr) {
    SLUICE_TRY(TakeWhole(call, *call->request.resume));
    // A plain plan says nothing about what to fuse.
    again = HasFused(call->request.resume->notation);
    if (again) call->before = call->request.resume;
  }
  if (again) SLUICE_TRY(TakeRemade(call));
  if (!again || !call->has_plan()) {
    SLUICE_TRY(call->options.granularity == SLUICE_GRANULARITY_TILE
                   ? TakeTiled(call)
                   : TakeOperators(call));
  }
  if (!call->has_plan()) return Status::kOk;
  // The stop reason is known only when all searches have ended.
  uint32_t reason = call->clock->stop_reason();
  if (reason == SLUICE_STOP_COMPLETE) reason = call->search.stop_reason();
  if (reason == SLUICE_STOP_COMPLETE && call->search.is_cut()) {
    reason = SLUICE_STOP_DEADLINE;
  }
  if (call->proved && reason != SLUICE_STOP_CANCELLED) reason = SLUICE_STOP_PROVED;
  NoteEnd(reason, call->search.iterations(), &call->best);
  return Status::kOk;
}

Status MakeWatched(const PlanRequest& request, const PlanRoom& room,
                   Span<const uint8_t>* bytes, sluice_change_t* change) {
  const sluice_schedule_options_t& options = request.options;
  Progress progress;
  const Clock& time = room.scratch->memory()->time();
  progress.time = time;
  progress.callback = options.progress;
  progress.user = options.progress_user;
  Budget clock(time, options.deadline_ns, options.max_iterations, options.cancel,
               options.progress != nullptr ? &progress : nullptr);
  const WatchScope watch(room.scratch->memory(), &clock);
  ArenaScope scope(room.scratch);
  PlanCall call(request, room, &clock, &progress);
  if (change != nullptr) call.change = *change;
  const Status status = Make(&call);
  *bytes = call.best.all;
  if (change != nullptr) *change = call.change;
  if (status == Status::kOk || clock.stop_reason() == SLUICE_STOP_COMPLETE) {
    return status;
  }
  if (room.diagnostic->status == SLUICE_STOPPED) return Status::kStopped;
  // The clock caused the failure, so report the clock.
  Fail why(room.diagnostic, Status::kStopped, "schedule");
  if (clock.stop_reason() == SLUICE_STOP_DEADLINE) {
    why.Say("the deadline passed, # us after the start,", clock.spent_ns() / 1000);
  } else {
    why.Text("cancelled");
  }
  return why.Text(" before there was a plan");
}

}  // namespace

Status MakePlan(const PlanRequest& request, Arena* arena, Arena* scratch,
                Span<const uint8_t>* bytes, sluice_change_t* change,
                Diagnostic* diagnostic) {
  SLUICE_TRY(CheckOptions(request.options, diagnostic));
  SLUICE_TRY(CheckMachine(request.hardware, diagnostic));
  const Status status =
      MakeWatched(request, PlanRoom{arena, scratch, diagnostic}, bytes, change);
  return status == Status::kOutOfMemory ? RefuseMemory(request, scratch, diagnostic)
                                        : status;
}

}  // namespace sluice
