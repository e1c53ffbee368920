// SPDX-License-Identifier: Apache-2.0
#include "plan/space/schedule_space.h"

#include <algorithm>

#include "base/checked.h"
#include "base/hash.h"
#include "model/program_order.h"
#include "plan/better_plan.h"
#include "plan/objective.h"
#include "plan/space/measure_images.h"
#include "plan/space/write_space.h"
#include "solve/space/improve.h"
#include "solve/space/moves.h"

namespace sluice {
namespace {

constexpr size_t kManyLayers =
    96;  // of a graph, where a round of the search takes long

// Assigns DRAM places to what is loaded or stored, each for the whole run, because the
// order of transfers is not known yet.
Status PlaceTensors(const SpaceCall& call, const SpacePlan& plan, Arena* scratch,
                    Candidate* out) {
  ArenaScope scope(scratch);
  const Graph& graph = call.graph;
  out->lowering = call.lowering;
  SLUICE_TRY(out->places.Allocate(graph.tensors.size(), &out->lowering.places));
  Span<uint32_t> when;
  Span<uint8_t> on_chip;
  SLUICE_TRY(scratch->Allocate(graph.layers.size(), &when));
  SLUICE_TRY(scratch->Allocate(graph.tensors.size(), &on_chip));
  for (uint8_t& chip : on_chip) chip = 1;
  for (const SpaceImage& image : plan.images) {
    if (image.load || image.store != SpaceStore::kNever) on_chip[image.root] = 0;
  }
  for (const SpaceLayer& at : plan.layers) {
    if (!at.alone) continue;
    const Layer& layer = call.lowering.executed[at.layer];
    for (uint32_t t : layer.inputs) {
      if (t != kNone) on_chip[RootOf(call.lowering, t)] = 0;
    }
    for (uint32_t t : layer.outputs) on_chip[RootOf(call.lowering, t)] = 0;
  }
  Diagnostic ignored = {};
  return PlaceInDram(graph, when, on_chip, scratch, &out->lowering, &ignored);
}

// Whether the plan has these segments.
bool IsOf(const SpacePlan& plan, Span<const KnownSegment> segments) {
  for (const SpaceSegment& s : plan.segments) {
    const KnownSegment& known = segments[s.first];
    if (known.last != s.last || !SameLoops(known.choice, s.choice)) return false;
  }
  return true;
}

// The order of layers: an earlier plan's where the graph has the same layers.
[[gnu::cold]] Status FindOrder(const SpaceCall& call, Arena* memory,
                               Span<const uint32_t>* order) {
  *order = call.known != nullptr ? call.known->order : call.order;
  if (call.from.notation == nullptr) return Status::kOk;
  Span<uint32_t> carried;
  SLUICE_TRY(LayersOf(call.from, memory, &carried));
  if (IsOrder(call.graph, call.lowering, carried, memory)) *order = carried;
  return Status::kOk;
}

}  // namespace

double CostOf(const SpaceGoal& goal, const PlanTotal& total) {
  return RatioOf(goal, {1, 1}, total);
}

uint64_t HashOfSegments(Span<const SpaceSegment> segments) {
  uint64_t hash = 0;
  for (const SpaceSegment& s : segments) {
    const LoopChoice& c = s.choice;
    const int64_t facts[] = {s.last, c.count, c.slice, c.piece};
    hash = Fnv1aWords(facts, sizeof facts, hash);
    hash = Fnv1a(c.cut, static_cast<size_t>(c.count), hash);
    hash = Fnv1aWords(c.trips, sizeof c.trips[0] * static_cast<size_t>(c.count), hash);
  }
  return hash;
}

int64_t MostIterations(Span<const SpaceSegment> segments) {
  int64_t most = 1;
  for (const SpaceSegment& s : segments) {
    most = Max(most, s.choice.Iterations());
  }
  return most;
}

[[gnu::cold]] Status SpaceSchedule::MakeProblem() {
  SLUICE_TRY(FindOrder(call_, memory_, &order_));
  return MakeSpaceProblem({call_.graph, call_.hardware, call_.lowering, call_.coster,
                           call_.scratchpad_bytes, order_},
                          memory_, &problem_);
}

Status SpaceSchedule::Find(Diagnostic* diagnostic) {
  SLUICE_TRY(MakeProblem());
  SLUICE_TRY(memory_->Allocate(problem_.slack.size(), &leave_));
  if (call_.from.notation != nullptr) {
    SLUICE_TRY(CarrySegments(call_.from, problem_, memory_, &carried_, diagnostic));
    for (size_t p = 0; p < carried_.leave.size(); ++p) {
      problem_.slack[p] = Min(carried_.leave[p], call_.scratchpad_bytes);
    }
  }
  SLUICE_TRY(memory_->Allocate(problem_.layer.size(), &known_));
  for (size_t p = 0; p < carried_.known.size(); ++p) known_[p] = carried_.known[p];
  // If images do not fit, slack is added where they did not, and the search begins
  // again: in the first rounds for the segments there alone, then for all segments.
  constexpr int kNear = 8, kRounds = kNear + 4;
  if (call_.known != nullptr) {
    for (size_t p = 0; p < known_.size(); ++p) {
      known_[p] = call_.known->segment[p];
      if (known_[p].last != 0) {
        FitLoops(problem_, static_cast<uint32_t>(p), known_[p].last, &known_[p].choice);
      }
      problem_.slack[p] = call_.known->leave[p];
    }
  }
  if (call_.search.lean && !call_.in_turn && call_.graph.layers.size() >= kManyLayers) {
    // A round takes long: with some slack everywhere, images mostly fit in the first.
    for (int64_t& slack : problem_.slack) slack = call_.scratchpad_bytes / 16;
  }
  const Arena::Mark begin = memory_->mark();
  for (int round = 0;; ++round) {
    memory_->Rewind(begin);
    SLUICE_TRY(Search());
    const double cost = CostOf(call_.search.goal, predicted());
    if (call_.most_cost != 0 && cost > call_.most_cost) return Status::kInfeasible;
    more_ = call_.scratchpad_bytes / (call_.soon ? 12 : 32) << Min(round / 2, 2);
    const Status placed = Place(PlaceOrder::kByLeads);
    const bool again = placed == Status::kInfeasible && round < kRounds;
    if (!again || call_.exactly) return placed;
    for (KnownSegment& known : known_) known.last = 0;
    if (round < kNear) KeepElsewhere();
    // In the last rounds every position gets slack.
    const int64_t all = call_.scratchpad_bytes / 8 * (round - kNear);
    for (int64_t& slack : problem_.slack) slack = Max(slack, all);
  }
}

// Keeps the segments whose slack, and whose neighbours' slack, is as it was in the last
// search.
void SpaceSchedule::KeepElsewhere() {
  const Span<const SpaceSegment> all = plan_.segments;
  const auto same = [&](const SpaceSegment& s) {
    for (uint32_t p = s.first; p < s.last; ++p) {
      if (problem_.slack[p] != leave_[p]) return false;
    }
    return true;
  };
  for (size_t i = 0; i < all.size(); ++i) {
    const bool stays = same(all[i]) && (i == 0 || same(all[i - 1])) &&
                       (i + 1 == all.size() || same(all[i + 1]));
    if (stays) known_[all[i].first] = {all[i].last, all[i].choice};
  }
}

Status SpaceSchedule::Search() {
  SpaceSearch search = call_.search;
  search.known = known_;
  search.only_known = call_.exactly && call_.known != nullptr;
  if (search.notes != nullptr) search.found = &found_;
  for (size_t p = 0; p < leave_.size(); ++p) leave_[p] = problem_.slack[p];
  Status found = SearchSpace(problem_, search, memory_, memory_, &plan_);
  if (found == Status::kOutOfMemory) {
    // The states that a full search keeps take most of the memory.
    search.states = 1;
    search.longest = 1;
    found = SearchSpace(problem_, search, memory_, memory_, &plan_);
  }
  SLUICE_TRY(found);
  // What time has cut is a matter of luck: with more time it may be worse.
  const bool cut = search.budget->stop_reason() == SLUICE_STOP_DEADLINE;
  if (cut && call_.from.notation == nullptr) return Status::kStopped;
  return MeasureImages({call_.graph, call_.hardware.array, call_.lowering,
                        problem_.alignment, call_.hardware.accumulator_bytes},
                       plan_, memory_);
}

Status SpaceSchedule::Place(PlaceOrder order) {
  SLUICE_TRY(PlaceImages(
      plan_,
      {call_.scratchpad_bytes, problem_.alignment, call_.budget, problem_.slack, more_,
       call_.soon, call_.in_turn, call_.search.lean && call_.in_turn},
      order, memory_));
  Span<int64_t>* offsets = &offsets_[static_cast<int>(order)];
  SLUICE_TRY(memory_->Allocate(plan_.images.size(), offsets));
  for (size_t i = 0; i < plan_.images.size(); ++i) {
    (*offsets)[i] = plan_.images[i].offset;
  }
  return Status::kOk;
}

Status SpaceSchedule::Note(Arena* arena, KnownPlan* out) const {
  SLUICE_TRY(arena->Allocate(leave_.size(), &out->segment));
  SLUICE_TRY(arena->Allocate(leave_.size(), &out->leave));
  Span<uint32_t> order;
  SLUICE_TRY(arena->Allocate(order_.size(), &order));
  std::copy(order_.begin(), order_.end(), order.begin());
  out->order = order;
  for (size_t p = 0; p < leave_.size(); ++p) {
    out->segment[p].last = 0;
    out->leave[p] = leave_[p];
  }
  for (const SpaceSegment& s : plan_.segments) {
    out->segment[s.first] = {s.last, s.choice};
  }
  return Status::kOk;
}

bool SpaceSchedule::IsWanted() const {
  const bool carries = call_.from.notation != nullptr;
  if (call_.exactly) return (!carries || carried_.all) && IsOf(plan_, known_);
  if (carries) return 2 * size_t{carried_.kept} >= plan_.segments.size();
  return call_.search.keeps_known || !IsOf(plan_, call_.known->segment);
}

bool SpaceSchedule::Has(int order) {
  const Span<const int64_t> leads = offsets_[0];
  if (order == 0) return leads.size() == plan_.images.size();
  if (call_.search.lean) return false;
  if (!moved_) {
    moved_ = true;
    if (!Restore(0) || Place(PlaceOrder::kEarlier) != Status::kOk) return false;
  }
  const Span<const int64_t> own = offsets_[1];
  return own.size() == plan_.images.size() &&
         !std::equal(own.begin(), own.end(), leads.begin());
}

bool SpaceSchedule::Restore(int order) {
  const Span<int64_t> offsets = offsets_[order];
  if (offsets.size() != plan_.images.size()) return false;
  for (size_t i = 0; i < offsets.size(); ++i) plan_.images[i].offset = offsets[i];
  return true;
}

Status SpaceSchedule::Write(int order, Candidate* out) {
  if (!Has(order) || !Restore(order)) return Status::kInfeasible;
  SLUICE_TRY(PlaceTensors(call_, plan_, memory_, out));
  SLUICE_TRY(WriteSpace(
      {call_.graph, call_.hardware, out->lowering, call_.coster, call_.budget}, plan_,
      memory_, &out->program));
  out->groups = static_cast<uint32_t>(plan_.segments.size());
  const Status noted = NoteSpace({plan_, leave_, static_cast<uint32_t>(order) + 1},
                                 &out->places, &out->notation);
  // A plan may lack a notation.
  if (noted != Status::kUnsupported) SLUICE_TRY(noted);
  return OrderTransfers(call_.graph, call_.hardware,
                        {problem_.root_of, out->lowering.places}, memory_,
                        &out->program);
}

}  // namespace sluice
