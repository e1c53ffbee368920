// SPDX-License-Identifier: Apache-2.0
#include "plan/space/refine_plan.h"

#include "base/hash.h"
#include "base/rng.h"
#include "plan/better_plan.h"
#include "plan/objective.h"
#include "solve/space/moves.h"
#include "solve/space/prices.h"

namespace sluice {
namespace {

constexpr size_t kFewLayers = 12;       // segments; plans of more are not refined
constexpr uint64_t kMostSteps = 16384;  // of changed plans that are written
// To make a plan's segments takes as long as to write so many steps, to place its
// images as long as to write so many more.
constexpr uint64_t kStepsToMake = 32, kStepsToPlace = 32;
constexpr double kFar = 1.05;  // above the best plan; other orders do not gain so much
constexpr size_t kSeen = 512;  // plans remembered, so that none is priced twice
constexpr double kNoCost = 1e300;  // more than any plan costs
constexpr int kKicks = 8;          // descents from the best plan with random moves
constexpr uint32_t kRandom = 2;    // such moves

struct Seen {  // a plan that was priced
  uint64_t hash;
  double cost;
};

// Of the segments and their loops.
uint64_t HashOf(Span<const KnownSegment> segments) {
  uint64_t hash = 0;
  for (uint32_t p = 0; p < segments.size(); p = segments[p].last) {
    const KnownSegment& s = segments[p];
    const LoopChoice& c = s.choice;
    const int64_t facts[] = {s.last, c.count, c.slice, c.piece};
    hash = Fnv1aWords(facts, sizeof facts, hash);
    hash = Fnv1a(c.cut, static_cast<size_t>(c.count), hash);
    hash = Fnv1aWords(c.trips, sizeof c.trips[0] * static_cast<size_t>(c.count), hash);
  }
  return hash | 1;
}

void Copy(Span<const KnownSegment> from, Span<KnownSegment> to) {
  for (size_t p = 0; p < from.size(); ++p) to[p] = from[p];
}

class Refiner {
 public:
  Refiner(const RefineCall& call, SpaceSchedule* space, Arena* memory)
      : call_(*call.call),
        problem_(space->problem()),
        space_(space),
        memory_(memory),
        prices_(problem_, call.of.search.goal),
        maker_(problem_),
        rng_(call.of.search.seed) {}

  // Plans are told by their segments; all leave the same bytes empty.
  Status Init(Span<int64_t> leave) {
    leave_ = leave;
    const size_t layers = problem_.layer.size();
    SLUICE_TRY(memory_->Allocate(layers, &now_));
    SLUICE_TRY(memory_->Allocate(layers, &draft_));
    SLUICE_TRY(memory_->Allocate(kSeen, &seen_));
    SLUICE_TRY(prices_.Init(memory_));
    maker_.Watch(&call_.search);
    return maker_.Init(memory_);
  }

  // Changes *best, if it is a plan, and other plans; the cheapest one gets *best.
  // True if that costs less than the call's best plan.
  bool Run(Span<KnownSegment> best) {
    least_ = LeastCost(call_);
    const double before = least_;
    best_ = best;
    const uint32_t layers = static_cast<uint32_t>(best.size());
    // Moves end in different plans from different ones: from the plan at hand, from each
    // layer by itself, and from all layers together.
    if (best[0].last != 0) DescendFrom(best);
    for (uint32_t p = 0; p < layers; ++p) draft_[p] = {p + 1, {}};
    DescendFrom(draft_);
    draft_[0] = {layers, {}};
    DescendFrom(draft_);
    for (int kick = 0; kick < kKicks && !IsOver(); ++kick) Kick();
    return least_ < before;
  }

 private:
  bool IsOver() const { return left_ == 0 || call_.search.Exhausted(); }

  // Descends from the best plan with some random moves.
  void Kick() {
    Copy(best_, now_);
    const uint32_t layers = static_cast<uint32_t>(now_.size());
    for (uint32_t k = 0; k < kRandom;) {
      uint32_t at = rng_.Below(layers);
      while (now_[at].last == 0) --at;
      Spend(1);
      if (left_ == 0) return;
      if (!Change(at, static_cast<int>(rng_.Below(kAllMoves)))) continue;
      Copy(draft_, now_);
      ++k;
    }
    DescendFrom(now_);
  }

  // Changes a plan as long as it gets cheaper.
  void DescendFrom(Span<const KnownSegment> start) {
    Copy(start, now_);
    const uint32_t layers = static_cast<uint32_t>(now_.size());
    double cost = Price(now_);
    for (uint32_t at = 0, same = 0; same < layers;) {
      bool better = false;
      for (int move = 0; move < kAllMoves && !better; ++move) {
        if (IsOver()) return;
        if (!Change(at, move)) continue;
        const double changed = Price(draft_);
        better = changed < cost;
        if (!better) continue;
        cost = changed;
        Copy(draft_, now_);
      }
      same = better ? 0 : same + now_[at].last - at;
      if (!better) at = now_[at].last;
      if (at == layers) at = 0;
    }
  }

  // Sets draft_ to now_ with a move of the segment at a position; false if there is no
  // such move.
  bool Change(uint32_t at, int move) {
    const uint32_t behind = now_[at].last;
    const bool joins = behind < now_.size();
    const SegmentAt next = {behind, joins ? now_[behind].last : 0,
                            now_[joins ? behind : at].choice};
    SegmentChange change;
    if (!DraftChange({at, behind, now_[at].choice}, joins ? &next : nullptr, move,
                     &change)) {
      return false;
    }
    Copy(now_, draft_);
    if (change.replaced == 2) draft_[behind].last = 0;
    for (size_t k = 0; k < change.made; ++k) {
      KnownSegment* made = &draft_[change.border[k]];
      *made = {change.border[k + 1], change.loops[k]};
      FitLoops(problem_, change.border[k], made->last, &made->choice);
    }
    return true;
  }

  // What a plan costs, exactly; kNoCost if it cannot be made, or if it is predicted to
  // cost much more than the best one.
  double Price(Span<const KnownSegment> plan) {
    const uint64_t hash = HashOf(plan);
    Spend(1);
    Seen* const seen = &seen_[hash / 2 % kSeen];
    if (seen->hash != hash) {
      *seen = {hash, PriceNew(plan)};
      if (seen->cost < least_) {
        least_ = seen->cost;
        Copy(plan, best_);
      }
    }
    return seen->cost;
  }

  double PriceNew(Span<const KnownSegment> plan) {
    Spend(kStepsToMake);
    PlanTotal total;
    if (space_->Unroll(plan, leave_, prices_, &maker_, &total) != Status::kOk) {
      return kNoCost;
    }
    sluice_report_t predicted = {};
    predicted.energy_pj = total.energy_pj;
    predicted.latency_cycles = static_cast<uint64_t>(total.cycles);
    const double guess = PlanCost(call_.options, predicted);
    if (guess > kFar * least_) return guess;
    Spend(kStepsToPlace);
    if (space_->Lay() != Status::kOk) return kNoCost;
    double cost = kNoCost;
    for (int order = 0; order < SpaceSchedule::kOrders; ++order) {
      Candidate c(call_.scratch->memory(), call_.hardware);
      if (!space_->Has(order) || space_->Write(order, &c) != Status::kOk) continue;
      Spend(c.program.size());
      if (CompleteCandidate({call_.graph, call_.hardware, call_.bound}, call_.scratch,
                            &c) != Status::kOk) {
        continue;
      }
      const double of = PlanCost(call_.options, c.report);
      cost = Min(cost, of);
      if (of > kFar * least_ && guess >= least_) break;
    }
    return cost;
  }

  void Spend(uint64_t steps) { left_ -= Min(left_, steps); }

  PlanCall& call_;
  const SpaceProblem& problem_;
  SpaceSchedule* space_;
  Arena* memory_;
  Prices prices_;
  SegmentMaker maker_;
  Rng rng_;
  Span<int64_t> leave_;
  Span<KnownSegment> best_;         // the cheapest plan so far
  Span<KnownSegment> now_, draft_;  // the plan that is changed; one with a change
  Span<Seen> seen_;
  double least_ = 0;            // cost of the best plan
  uint64_t left_ = kMostSteps;  // to write
};

}  // namespace

Status RefinePlan(const RefineCall& call, Arena* arena, KnownPlan* plan, bool* better) {
  *better = false;
  size_t layers = 0;
  for (const uint8_t view : call.of.lowering.is_view) layers += view == 0 ? 1 : 0;
  if (layers > kFewLayers || layers == 0) return Status::kOk;
  SpaceCall of = call.of;
  of.exactly = true;
  Arena memory(arena->memory()), tables(arena->memory());
  SpaceSchedule space(of, &memory);
  SLUICE_TRY(space.Prepare());
  KnownPlan refined = *plan;
  SLUICE_TRY(arena->Allocate(layers, &refined.segment));
  if (plan->segment.empty()) SLUICE_TRY(arena->Allocate(layers, &refined.leave));
  if (!plan->segment.empty()) Copy(plan->segment, refined.segment);
  Refiner refiner(call, &space, &tables);
  SLUICE_TRY(refiner.Init(refined.leave));
  *better = refiner.Run(refined.segment);
  *plan = refined;
  return Status::kOk;
}

}  // namespace sluice
