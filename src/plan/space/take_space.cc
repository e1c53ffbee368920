// SPDX-License-Identifier: Apache-2.0
#include "plan/space/take_space.h"

#include "base/checked.h"
#include "plan/better_plan.h"
#include "plan/deadline.h"
#include "plan/fused/take_fused.h"
#include "plan/objective.h"
#include "plan/operators/layer_order.h"
#include "plan/space/refine_plan.h"
#include "plan/space/schedule_space.h"

namespace sluice {
namespace {

// A search for a plan found soon: layers of segments tried from a border, layers of a
// segment.
constexpr uint64_t kQuickWork = 60;
constexpr uint32_t kQuickLength = 8;
constexpr int64_t kFirstIterations = 1024;  // of a segment: more take long to write
constexpr int64_t kQuickIterations =
    64;  // if layers fit whole and there is no plan yet
// Work of the first round of random changes: with a number of iterations, and for each
// layer without one. Later rounds have twice the work of the one before.
constexpr uint64_t kLeastWork = 16, kWorkOfLayer = 16;
constexpr uint64_t kMostWorkOfLayer = 1 << 15;  // of the last round
// A plan's cost over its bound's. Below kNear it is not refined; below kFirstLoads little
// but the first loads is left to gain.
constexpr double kNear = 129.0 / 128, kFirstLoads = 1.1;
constexpr int64_t kLeastShare = 4;  // of the scratchpad, for such plans
constexpr size_t kFewSteps = 4096;  // layer by layer: to search twice takes little time

// True if an engine works nearly all the time: other offsets of the images, which only
// let loads begin earlier or later, change nothing then.
bool IsBusy(const ProgramRun& run, int64_t latency, Arena* scratch) {
  constexpr int64_t kPart = 128;  // part of the latency; less idle time is none
  ArenaScope scope(scratch);
  Span<int64_t> busy;
  if (scratch->Allocate(run.program.engines().count(), &busy) != Status::kOk) {
    return false;
  }
  int64_t most = 0;
  for (size_t i = 0; i < run.program.size(); ++i) {
    const Step step = run.program.step(i);
    int64_t& cycles = busy[EngineOf(run.program, step)];
    cycles += CyclesOfStep(run, step);
    most = Max(most, cycles);
  }
  return latency - most <= latency / kPart;
}

// Writes the plan of an order and takes it if it is better. No plan is held while
// another is written, because plans are large.
class OrderTaker {
 public:
  OrderTaker(PlanCall* call, SpaceSchedule* space, Arena* memory)
      : call_(call), space_(space), memory_(memory) {}

  Status Take(int order) {
    Candidate candidate(call_->scratch->memory(), call_->hardware);
    const uint64_t begin = call_->clock->spent_ns();
    if (space_->Write(order, &candidate) != Status::kOk) return Status::kOk;
    const bool better = IsBetter(call_, &candidate, memory_);
    const bool longer = candidate.program.size() > call_->plain_steps;
    const uint64_t written_ns = call_->clock->spent_ns() - begin;
    const bool sure = IsSure(candidate.program.size(), written_ns);
    if (better && call_->lacks_plain && call_->first && longer && !sure) {
      return Status::kOk;
    }
    if (better && call_->later != nullptr && sure) *call_->clock = *call_->later;
    SLUICE_TRY(TakeFound(call_, better, &candidate));
    // Without the plain plan, costs are weighed against those of the first one.
    if (better && call_->first && call_->lacks_plain) {
      call_->plain.report = candidate.report;
    }
    if (better) call_->finish_ns = call_->clock->spent_ns() - begin;
    return Status::kOk;
  }

  // Takes the best of both orders. The second one is tried only if it may cost less.
  // It empties `memory` before it takes a plan.
  Status TakeCheapest() {
    double first = 0;
    {
      Candidate c(call_->scratch->memory(), call_->hardware);
      if (space_->Write(0, &c) == Status::kOk) {
        const bool better = IsBetter(call_, &c, memory_);
        const int64_t latency = static_cast<int64_t>(c.report.latency_cycles);
        const ProgramRun run = {call_->graph, call_->hardware, c.program};
        if (IsBusy(run, latency, memory_) || !space_->Has(1)) {
          return TakeLast(better, &c);
        }
        first = PlanCost(call_->options, c.report);
      }
    }
    {
      Candidate c(call_->scratch->memory(), call_->hardware);
      if (space_->Write(1, &c) == Status::kOk) {
        const bool better = IsBetter(call_, &c, memory_);
        if (first == 0 || PlanCost(call_->options, c.report) < first) {
          return TakeLast(better, &c);
        }
      }
    }
    Candidate again(call_->scratch->memory(), call_->hardware);
    if (first == 0 || space_->Write(0, &again) != Status::kOk) return Status::kOk;
    return TakeLast(IsBetter(call_, &again, memory_), &again);
  }

 private:
  // Whether a plan will be judged in time.
  bool IsSure(size_t steps, uint64_t written_ns) const {
    const bool many = steps > kManySteps * call_->graph.layers.size();
    if (call_->later == nullptr) return SureToFinish(*call_->clock, written_ns, many);
    if (SureToFinish(*call_->later, written_ns, many)) return true;
    // It takes no longer than for a plain plan of more steps, which still has the time.
    return many && steps <= call_->plain.program.size() && call_->clock->left_ns() != 0;
  }

  Status TakeLast(bool better, Candidate* candidate) {
    memory_->Rewind({});  // the judge needs memory too
    return TakeFound(call_, better, candidate);
  }

  PlanCall* call_;
  SpaceSchedule* space_;
  Arena* memory_;
};

// Under a deadline each better plan is judged at once; otherwise only the best one is.
Status TakeOrders(PlanCall* call, SpaceSchedule* space, Arena* memory) {
  OrderTaker taker(call, space, memory);
  if (call->options.deadline_ns == 0) return taker.TakeCheapest();
  for (int order = 0; order < SpaceSchedule::kOrders; ++order) {
    SLUICE_TRY(taker.Take(order));
  }
  return Status::kOk;
}

bool IsSmall(const PlanCall& call, size_t most_steps) {
  // A call that has remade an earlier plan has no plan layer by layer.
  const bool remade = call.before != nullptr && call.plain.program.size() == 0;
  const size_t steps =
      remade ? call.before->report.instructions : call.plain.program.size();
  return call.graph.layers.size() <= kSmallGraph && steps <= most_steps;
}

bool IsNearBound(const PlanCall& call, double factor = kNear) {
  sluice_report_t least = {};
  least.energy_pj = call.bound.energy_pj;
  least.latency_cycles = static_cast<uint64_t>(call.bound.cycles);
  return LeastCost(call) <= PlanCost(call.options, least) * factor;
}

SpaceSearch SearchFor(const PlanCall& call, const sluice_report_t& scale) {
  const Exponents exponents = ExponentsOf(call.options);
  SpaceSearch search;
  search.goal.per_pj = exponents.energy / scale.energy_pj;
  search.goal.per_cycle = exponents.delay / static_cast<double>(scale.latency_cycles);
  search.goal.energy_exponent = exponents.energy;
  search.goal.delay_exponent = exponents.delay;
  search.least_pj = call.bound.energy_pj;
  search.least_cycles = call.bound.cycles;
  search.seed = call.options.seed;
  return search;
}

double CostOf(const PlanCall& call, const PlanTotal& total) {
  sluice_report_t predicted = {};
  predicted.energy_pj = total.energy_pj;
  predicted.latency_cycles = static_cast<uint64_t>(total.cycles);
  return PlanCost(call.options, predicted);
}

// Finds plans of the space, one after the other, and takes those that are better.
class SpaceTaker {
 public:
  // Costs are relative to scale: another plan's report or the graph's bounds.
  SpaceTaker(PlanCall* call, const sluice_report_t& scale)
      : call_(call), search_(SearchFor(*call, scale)), best_(&call->segments) {}

  Status TakeQuick() {
    SpaceCall of = CallOf(search_);
    of.search.states = 1;
    of.search.most_work = kQuickWork;
    of.search.longest = kQuickLength;
    of.search.lean = of.soon = true;
    of.in_turn = call_->fits;
    of.search.most_iterations =
        call_->fits && call_->lacks_plain ? kQuickIterations : kFirstIterations;
    if (call_->lacks_plain) of.budget = call_->clock;
    SLUICE_TRY(Take(of, 100));
    call_->soon = !best_->segment.empty();
    return Status::kOk;
  }

  // Changes the plan found soon where that pays: a search from scratch takes longer.
  Status ImproveQuick() {
    SpaceCall of = CallOf(search_);
    of.search.keeps_known = false;
    of.search.annealing = 0;
    const KnownPlan from = *best_;
    of.known = &from;
    of.soon = true;
    of.in_turn = call_->fits;
    // No finer loops: plans of many tiles take long to write and to judge.
    int64_t most = 1;
    for (const KnownSegment& known : from.segment) {
      if (known.last != 0) most = Max(most, known.choice.Iterations());
    }
    of.search.most_iterations = most;
    return from.segment.empty() ? Status::kOk : Take(of);
  }

  Status TakeThorough() {
    SpaceSearch search = search_;
    const double before = call_->best_cost;
    for (;;) {
      call_->too_large = false;
      found_ = {};
      search.notes = &call_->notes;
      SLUICE_TRY(Take(CallOf(search)));
      search.most_iterations = iterations_ / 2;
      if (!found_.segment.empty()) SLUICE_TRY(TakeUnchanged());
      // A plan that does not fit the memory, or that takes the judge more work than it
      // does, is searched again with fewer tiles.
      const bool taken = call_->has_plan() && call_->best_cost != before;
      if (taken || !call_->too_large || search.most_iterations == 0) break;
    }
    return Status::kOk;
  }

  // Searches again with the layers in an order in which whole tensors move fewer bytes,
  // where there is one.
  Status TakeOtherOrder() {
    Span<uint32_t> order;
    const Status status = OrderLayers(
        {call_->graph, call_->plain.lowering, call_->capacity, &call_->search},
        &call_->notes, &order);
    if (status != Status::kOk || order.empty()) return Status::kOk;
    order_ = order;
    SLUICE_TRY(TakeThorough());
    order_ = best_->order;
    return Status::kOk;
  }

  // Looks for a plan that leaves all but 1 / share of the scratchpad empty. A search with
  // less room tries finer loops, whose first loads are shorter.
  Status TakeSmaller(int64_t share) {
    KnownPlan smaller;
    {
      SpaceCall of = CallOf(search_);
      of.scratchpad_bytes /= share;
      of.search.budget = &call_->search;
      Arena memory(call_->scratch->memory());
      Diagnostic ignored = {};
      SpaceSchedule space(of, &memory);
      if (space.Find(&ignored) != Status::kOk) return Status::kOk;
      SLUICE_TRY(space.Note(&call_->notes, &smaller));
    }
    const int64_t used = call_->capacity / share;
    for (int64_t& leave : smaller.leave) leave += call_->capacity - used;
    return TakeExactly(smaller);
  }

  // Plans of few layers: changes them, priced exactly.
  Status Refine() {
    if (best_->segment.empty() || IsNearBound(*call_)) return Status::kOk;
    KnownPlan refined = *best_;
    SLUICE_TRY(RefinePlan({call_, CallOf(search_)}, &call_->notes, &refined));
    if (refined.segment.data() == best_->segment.data()) return Status::kOk;
    return TakeExactly(refined);
  }

  // Keeps the valid segments of an earlier plan. If fewer than half are valid, a plan
  // from scratch is better.
  Status TakeCarried(const CarriedFrom& from, bool exactly) {
    SpaceCall of = CallOf(search_);
    of.from = from;
    of.exactly = exactly;
    return Take(of);
  }

  // Changes the best plan at random until the limits of the call end that, or rounds
  // have become long.
  Status GoOn() {
    const uint64_t layers = call_->graph.layers.size();
    const bool counted = call_->options.max_iterations != 0;
    uint64_t work = counted ? kLeastWork : kWorkOfLayer * layers;
    Budget rounds = call_->search.Part(counted ? kPercentForChanges : 100);
    SpaceSearch search = search_;
    search.keeps_known = false;
    for (; work <= kMostWorkOfLayer * layers && !best_->segment.empty(); work *= 2) {
      if (rounds.Spend(work)) break;
      search.seed += 1;
      search.annealing = work;
      const KnownPlan from = *best_;
      SLUICE_TRY(Take(CallOf(search, &from)));
    }
    call_->wants_iterations = rounds.stop_reason() == SLUICE_STOP_ITERATIONS;
    call_->search.Join(rounds);
    return Status::kOk;
  }

 private:
  SpaceCall CallOf(const SpaceSearch& search, const KnownPlan* known = nullptr) {
    SpaceCall of = {call_->graph,    call_->hardware, call_->plain.lowering,
                    call_->capacity, call_->coster,   search,
                    &call_->search};
    of.order = order_;
    of.known = known;
    return of;
  }

  Status TakeExactly(const KnownPlan& known) {
    SpaceCall of = CallOf(search_, &known);
    of.search.improving = 0;
    of.exactly = true;
    return Take(of);
  }

  // Finds a plan, writes it and takes it if it is better.
  Status Take(SpaceCall of, uint32_t percent = kPercentForSegments) {
    Budget searching = call_->search.Part(percent);
    of.search.budget = &searching;
    Arena memory(call_->scratch->memory());
    Diagnostic ignored = {};
    SpaceSchedule space(of, &memory);
    const bool found = space.Find(&ignored) == Status::kOk;
    call_->search.Join(searching);
    if (of.from.notation == nullptr) call_->spaced = call_->spaced || found;
    // A fault in the caller's tile costs is reported even if nothing was found.
    if (!found || !space.IsWanted()) return TakeFound(call_, false, nullptr);
    iterations_ = MostIterations(space.segments());
    return TakeOrdersOf(&space, &memory);
  }

  // Takes the plan as it was before the search's last changes, if it is better: what
  // changes gain is a prediction. A plan hardly costs less than predicted, so the changed
  // one stands if it does cost less than that.
  Status TakeUnchanged() {
    if (call_->has_plan() && call_->best_cost <= CostOf(*call_, unchanged_)) {
      return Status::kOk;
    }
    SpaceSearch search = search_;
    search.improving = 0;
    const KnownPlan unchanged = found_;
    return Take(CallOf(search, &unchanged));
  }

  Status TakeOrdersOf(SpaceSchedule* space, Arena* memory) {
    const uint64_t refusals = call_->scratch->memory()->refusals();
    const double before = call_->best_cost;
    KnownPlan plan;
    const bool noted = space->Note(&call_->notes, &plan) == Status::kOk;
    if (noted && !space->found().segment.empty()) {
      found_ = {space->found().segment, plan.leave, plan.order};
      unchanged_ = space->found().total;
    }
    SLUICE_TRY(TakeOrders(call_, space, memory));
    if (call_->scratch->memory()->refusals() != refusals) call_->too_large = true;
    if (noted && call_->best_cost != before) *best_ = plan;
    return Status::kOk;
  }

  PlanCall* call_;
  SpaceSearch search_;
  Span<const uint32_t> order_;  // of layers; empty: the graph's
  KnownPlan* const best_;       // of the call
  KnownPlan found_;             // those before changes
  PlanTotal unchanged_ = {};    // predicted for them
  int64_t iterations_ = 0;      // of a segment's loops, in the last plan
};

bool Searches(const PlanCall& call) {
  return call.options.solver == SLUICE_SOLVER_DEFAULT && call.costs->quick();
}

}  // namespace

Status TakeSoonFromSpace(PlanCall* call) {
  if (!Searches(*call)) return Status::kOk;
  if (!call->lacks_plain) return SpaceTaker(call, call->plain.report).TakeQuick();
  sluice_report_t least = {};  // there is no other scale yet
  least.energy_pj = Max(call->bound.energy_pj, 1.0);
  least.latency_cycles = static_cast<uint64_t>(Max<int64_t>(call->bound.cycles, 1));
  return SpaceTaker(call, least).TakeQuick();
}

Status TakeFromSpace(PlanCall* call) {
  if (!Searches(*call)) return Status::kOk;
  SpaceTaker taker(call, call->plain.report);
  if (call->options.deadline_ns != 0 && !call->soon) SLUICE_TRY(taker.TakeQuick());
  if (call->options.deadline_ns != 0) SLUICE_TRY(taker.ImproveQuick());
  SLUICE_TRY(taker.TakeThorough());
  if (!IsNearBound(*call)) SLUICE_TRY(taker.TakeOtherOrder());
  SLUICE_TRY(taker.Refine());
  if (call->has_limits()) return taker.GoOn();
  if (IsSmall(*call, kFewSteps) && IsNearBound(*call, kFirstLoads)) {
    for (int64_t share = 2; share <= kLeastShare && !IsNearBound(*call); share *= 2) {
      SLUICE_TRY(taker.TakeSmaller(share));
    }
  }
  const bool fuses = IsSmall(*call, kSmallSteps) && !IsNearBound(*call);
  return fuses ? TakeFused(call) : Status::kOk;
}

Status TakeCarriedSpace(PlanCall* call, const Alignment& alignment) {
  if (!IsOfSegments(call->before->notation) || !call->costs->quick()) {
    return Status::kOk;
  }
  const bool exactly = !call->before->is_made();
  const double before = call->best_cost;
  SpaceTaker taker(call, call->before->report);
  call->lacks_plain = true;
  const Status status = taker.TakeCarried(
      {&call->before->notation, &alignment, call->minimise || exactly}, exactly);
  call->lacks_plain = false;
  SLUICE_TRY(status);
  if (call->best_cost != before) call->spaced = true;
  if (call->has_limits() && !exactly && !call->minimise) SLUICE_TRY(taker.GoOn());
  call->segments = {};  // another search begins anew
  return Status::kOk;
}

}  // namespace sluice
