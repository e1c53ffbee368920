// SPDX-License-Identifier: Apache-2.0
#include "plan/space/refine_plan.h"

#include "base/hash.h"
#include "plan/objective.h"
#include "solve/space/moves.h"

namespace sluice {
namespace {

constexpr size_t kFewLayers = 12;
// Of plans with more layers, segments are changed that take at least 1 / kLongShare of the
// time, if the plan costs kWrong times as much as predicted: then another one may cost
// less. Changed plans are written that are predicted to cost at most kMayPay times as much.
constexpr int64_t kLongShare = 8;
constexpr double kWrong = 1.01, kMayPay = 1.05;
constexpr uint64_t kMostSteps = 8192;    // of changed plans that are written
constexpr uint64_t kMostOfMany = 32768;  // where they have many layers
constexpr uint64_t kStepsOfTry = 64;     // a changed plan takes as long as so many more
constexpr double kFar = 1.05;  // above the best plan; other orders do not gain so much
constexpr size_t kSeen = 64;   // plans remembered, so that none is priced twice
constexpr double kNoCost = 1e300;  // more than any plan costs

struct Seen {  // a plan that was priced
  uint64_t hash;
  double cost;
};

class Refiner {
 public:
  Refiner(const RefineCall& call, Arena* arena, KnownPlan* plan)
      : call_(*call.call), of_(call.of), arena_(arena), best_(plan) {
    of_.search.improving = 0;
    of_.search.states = of_.search.longest = 1;
    of_.search.budget = of_.budget;
    of_.exactly = true;
  }

  Status Run() {
    const Span<KnownSegment> given = best_->segment;
    const uint32_t layers = static_cast<uint32_t>(given.size());
    SLUICE_TRY(arena_->Allocate(layers, &spare_));
    SLUICE_TRY(arena_->Allocate(layers, &best_->segment));
    for (uint32_t p = 0; p < layers; ++p) best_->segment[p] = given[p];
    double least = call_.best_cost;
    bool changes = layers <= kFewLayers;
    if (!changes) SLUICE_TRY(FindLong(&changes));
    if (changes) SLUICE_TRY(Descend(best_, &least));
    // Moves end in different plans from different ones: from each layer by itself, and
    // from all layers together.
    for (int start = 0; start < 2 && layers <= kFewLayers; ++start) {
      const bool together = start != 0;
      KnownPlan plan = *best_;
      SLUICE_TRY(arena_->Allocate(layers, &plan.segment));
      for (uint32_t p = 0; p < layers && !together; ++p) plan.segment[p].last = p + 1;
      if (together) plan.segment[0].last = layers;
      double cost = kNoCost;
      SLUICE_TRY(Price(plan, &cost));
      SLUICE_TRY(Descend(&plan, &cost));
      if (cost >= least) continue;
      least = cost;
      *best_ = plan;
    }
    if (least >= call_.best_cost) best_->segment = given;
    return Status::kOk;
  }

 private:
  // Changes the plan as long as it gets cheaper.
  Status Descend(KnownPlan* plan, double* least) {
    const uint32_t layers = static_cast<uint32_t>(plan->segment.size());
    for (uint32_t at = 0, same = 0; same < layers;) {
      bool better = false;
      const int moves = long_.empty() || long_[at] != 0 ? kAllMoves : 0;
      for (int move = 0; move < moves && !better; ++move) {
        if (left_ == 0) return Status::kOk;
        KnownPlan changed = *plan;
        changed.segment = spare_;
        if (!ChangeAt(*plan, at, move, &changed)) continue;
        double cost = kNoCost;
        SLUICE_TRY(Price(changed, &cost));
        better = cost < *least;
        if (!better) continue;
        *least = cost;
        spare_ = plan->segment;
        *plan = changed;
      }
      same = better ? 0 : same + plan->segment[at].last - at;
      if (!better) at = plan->segment[at].last;
      if (at == layers) at = 0;
    }
    return Status::kOk;
  }

  // The plan with a move of the segment at a position; false if there is no such move.
  bool ChangeAt(const KnownPlan& from, uint32_t at, int move, KnownPlan* plan) {
    const Span<const KnownSegment> now = from.segment;
    const uint32_t behind = now[at].last;
    const bool joins = behind < now.size();
    const SegmentAt next = {behind, joins ? now[behind].last : 0,
                            now[joins ? behind : at].choice};
    SegmentChange change;
    if (!DraftChange({at, behind, now[at].choice}, joins ? &next : nullptr, move,
                     &change)) {
      return false;
    }
    for (size_t p = 0; p < now.size(); ++p) plan->segment[p] = now[p];
    if (change.replaced == 2) plan->segment[behind].last = 0;
    for (size_t k = 0; k < change.made; ++k) {
      plan->segment[change.border[k]] = {change.border[k + 1], change.loops[k]};
    }
    return true;
  }

  // *cost: of the plan, exactly; kNoCost if it cannot be made.
  Status Price(const KnownPlan& known, double* cost) {
    if (of_.budget->Exhausted()) {
      left_ = 0;
      return Status::kOk;
    }
    of_.known = &known;
    Arena memory(call_.scratch->memory());
    Diagnostic ignored = {};
    SpaceSchedule space(of_, &memory);
    left_ -= Min(left_, kStepsOfTry * (1 + known.segment.size() / kFewLayers));
    if (space.Find(&ignored) != Status::kOk || !space.IsWanted()) return Status::kOk;
    Seen* const seen = EntryOf(HashOfSegments(space.segments()));
    for (int order = 0; seen->cost == 0 && order < SpaceSchedule::kOrders; ++order) {
      Candidate c(call_.scratch->memory(), call_.hardware);
      if (!space.Has(order) || space.Write(order, &c) != Status::kOk) continue;
      left_ -= Min(left_, uint64_t{c.program.size()});
      if (CompleteCandidate({call_.graph, call_.hardware, call_.bound}, &memory, &c) !=
          Status::kOk) {
        continue;
      }
      const double of = PlanCost(call_.options, c.report);
      *cost = Min(*cost, of);
      if (of > kFar * call_.best_cost) break;
    }
    if (seen->cost == 0) seen->cost = *cost;
    *cost = seen->cost;
    return Status::kOk;
  }

  // Marks the segments of the best plan that take long. *is_wrong: whether there are any,
  // and the plan costs more than predicted.
  Status FindLong(bool* is_wrong) {
    of_.known = best_;
    Arena memory(call_.scratch->memory());
    Diagnostic ignored = {};
    SpaceSchedule space(of_, &memory);
    if (space.Find(&ignored) != Status::kOk || !space.IsWanted()) return Status::kOk;
    SLUICE_TRY(arena_->Allocate(best_->segment.size(), &long_));
    const PlanTotal total = space.predicted();
    of_.most_cost = kMayPay * CostOf(of_.search.goal, total);
    sluice_report_t report = {};
    report.energy_pj = total.energy_pj;
    report.latency_cycles = static_cast<uint64_t>(total.cycles);
    if (call_.best_cost < kWrong * PlanCost(call_.options, report)) return Status::kOk;
    int64_t begin = 0;
    for (const SpaceSegment& s : space.segments()) {
      long_[s.first] = (s.end - begin) * kLongShare >= total.cycles;
      *is_wrong = *is_wrong || long_[s.first] != 0;
      begin = s.end;
    }
    left_ = kMostOfMany;
    return Status::kOk;
  }

  // The entry of a plan; its cost is 0 if the plan was not priced.
  Seen* EntryOf(uint64_t hash) {
    for (Seen& seen : seen_) {
      if (seen.hash == hash) return &seen;
    }
    Seen* const fresh = &seen_[next_++ % kSeen];
    *fresh = {hash, 0};
    return fresh;
  }

  const PlanCall& call_;
  SpaceCall of_;
  Arena* arena_;
  KnownPlan* best_;
  Span<KnownSegment> spare_;  // of the plan that is tried
  Span<uint8_t> long_;        // by position: whether to change the segment; empty: all
  uint64_t left_ = kMostSteps;  // to write
  Seen seen_[kSeen] = {};
  size_t next_ = 0;
};

}  // namespace

Status RefinePlan(const RefineCall& call, Arena* arena, KnownPlan* plan) {
  const bool is_long = plan->segment.size() > kFewLayers;
  // Under a deadline random changes take the time.
  if (is_long && call.call->options.deadline_ns != 0) return Status::kOk;
  KnownPlan refined = *plan;
  const Status status = Refiner(call, arena, &refined).Run();
  if (status == Status::kOk) *plan = refined;
  const bool ended = status == Status::kStopped || status == Status::kOutOfMemory;
  return ended ? Status::kOk : status;
}

}  // namespace sluice
