// SPDX-License-Identifier: Apache-2.0
#include "plan/space/schedule_space.h"

#include <algorithm>

#include "base/checked.h"
#include "model/program_order.h"
#include "plan/better_plan.h"
#include "plan/objective.h"
#include "plan/space/measure_images.h"
#include "plan/space/place_images.h"
#include "plan/space/write_space.h"

namespace sluice {
namespace {

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

SpaceCall CallOf(PlanCall* call, const sluice_report_t& scale, Budget* budget) {
  const Exponents exponents = ExponentsOf(call->options);
  SpaceSearch search;
  search.goal.per_pj = exponents.energy / scale.energy_pj;
  search.goal.per_cycle = exponents.delay / static_cast<double>(scale.latency_cycles);
  search.goal.energy_exponent = exponents.energy;
  search.goal.delay_exponent = exponents.delay;
  search.least_pj = call->bound.energy_pj;
  search.least_cycles = call->bound.cycles;
  search.budget = budget;
  return {call->graph,    call->hardware, call->plain.lowering,
          call->capacity, call->coster,   search};
}

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
    int64_t& cycles = busy[run.program.EngineOf(step)];
    cycles += CyclesOfStep(run, step);
    most = Max(most, cycles);
  }
  return latency - most <= latency / kPart;
}

// Writes the plan of an order and takes it if it is better. Of several orders, the
// plans are written for their costs first, unless none can cost much less. No plan is
// held while another is written, because plans are large.
class OrderTaker {
 public:
  OrderTaker(PlanCall* call, SpaceSchedule* space, Arena* memory)
      : call_(call), space_(space), memory_(memory) {}

  // is_last: nothing in `memory` is needed behind.
  Status Take(int order, bool is_last) {
    Candidate candidate(call_->scratch->memory(), call_->hardware);
    if (space_->Write(order, &candidate) != Status::kOk) return Status::kOk;
    const bool better = IsBetter(call_, &candidate, memory_);
    // The judge needs memory too.
    if (is_last) memory_->Rewind({});
    return TakeFound(call_, better, &candidate);
  }

  // Takes the best of all orders.
  Status TakeCheapest() {
    int cheapest = SpaceSchedule::kOrders;
    double least = 0;
    for (int order = 0; order < SpaceSchedule::kOrders; ++order) {
      if (!space_->Has(order)) continue;
      if (cheapest == SpaceSchedule::kOrders && !HasAfter(order))
        return Take(order, true);
      Candidate c(call_->scratch->memory(), call_->hardware);
      if (space_->Write(order, &c) != Status::kOk) continue;
      const bool better = IsBetter(call_, &c, memory_);
      const int64_t latency = static_cast<int64_t>(c.report.latency_cycles);
      if (IsBusy({call_->graph, call_->hardware, c.program}, latency, memory_)) {
        return TakeFound(call_, better, &c);
      }
      const double cost = PlanCost(call_->options, c.report);
      if (cheapest != SpaceSchedule::kOrders && cost >= least) continue;
      cheapest = order;
      least = cost;
    }
    return cheapest == SpaceSchedule::kOrders ? Status::kOk : Take(cheapest, true);
  }

 private:
  bool HasAfter(int order) const {
    while (++order < SpaceSchedule::kOrders) {
      if (space_->Has(order)) return true;
    }
    return false;
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
    SLUICE_TRY(taker.Take(order, false));
  }
  return Status::kOk;
}

}  // namespace

Status SpaceSchedule::Find(Diagnostic* diagnostic) {
  SLUICE_TRY(MakeSpaceProblem({call_.graph, call_.hardware, call_.lowering,
                               call_.coster, call_.scratchpad_bytes},
                              memory_, &problem_));
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
      problem_.slack[p] = call_.known->leave[p];
    }
  }
  const Arena::Mark begin = memory_->mark();
  for (int round = 0;; ++round) {
    memory_->Rewind(begin);
    SLUICE_TRY(Search());
    more_ = call_.scratchpad_bytes / 32 << Min(round / 2, 2);
    const Status placed = PlaceAll();
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
  return MeasureImages({call_.graph, call_.hardware.array, call_.lowering,
                        problem_.alignment, call_.hardware.accumulator_bytes},
                       plan_, memory_);
}

// Places the images in all orders; one in which they fit is enough.
Status SpaceSchedule::PlaceAll() {
  constexpr uint64_t kBytesOfPair = 40;
  bool lies = false;
  Status failed = Status::kInfeasible;
  for (int order = 0; order < kOrders; ++order) {
    // Once the images fit, another order is worth less memory.
    const uint64_t images = plan_.images.size();
    const Status placed = Place(order, lies ? kBytesOfPair * images * images : 0);
    lies = lies || placed == Status::kOk;
    if (lies || placed == Status::kInfeasible) continue;
    if (placed != Status::kOutOfMemory) return placed;
    failed = placed;  // another order may take less memory
  }
  return lies ? Status::kOk : failed;
}

Status SpaceSchedule::Place(int order, uint64_t search_bytes) {
  offsets_[order] = {};
  if (static_cast<PlaceOrder>(order) == PlaceOrder::kEarlier) {
    if (!Restore(static_cast<int>(PlaceOrder::kByLeads))) return Status::kInfeasible;
  }
  SLUICE_TRY(PlaceImages(plan_,
                         {call_.scratchpad_bytes, problem_.alignment,
                          call_.search.budget, problem_.slack, more_, search_bytes},
                         static_cast<PlaceOrder>(order), memory_));
  SLUICE_TRY(memory_->Allocate(plan_.images.size(), &offsets_[order]));
  for (size_t i = 0; i < plan_.images.size(); ++i) {
    offsets_[order][i] = plan_.images[i].offset;
  }
  return Status::kOk;
}

Status SpaceSchedule::NoteFound(KnownPlan* out) const {
  out->segment = found_;
  SLUICE_TRY(call_.search.notes->Allocate(leave_.size(), &out->leave));
  for (size_t p = 0; p < leave_.size(); ++p) out->leave[p] = leave_[p];
  return Status::kOk;
}

bool SpaceSchedule::IsCarried() const {
  bool same = carried_.all && plan_.segments.size() == carried_.kept;
  for (size_t s = 0; same && s < plan_.segments.size(); ++s) {
    const SpaceSegment& segment = plan_.segments[s];
    const KnownSegment& known = carried_.known[segment.first];
    same = known.last == segment.last && SameLoops(known.choice, segment.choice);
  }
  return same;
}

int64_t SpaceSchedule::most_iterations() const {
  int64_t most = 1;
  for (const SpaceSegment& s : plan_.segments) {
    most = Max(most, s.choice.Iterations());
  }
  return most;
}

bool SpaceSchedule::Has(int order) const {
  const Span<const int64_t> own = offsets_[order];
  for (int before = 0; before < order; ++before) {
    const Span<const int64_t> other = offsets_[before];
    if (other.size() == own.size() && std::equal(own.begin(), own.end(), other.begin()))
      return false;
  }
  return own.size() == plan_.images.size();
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
      {call_.graph, call_.hardware, out->lowering, call_.coster, call_.search.budget},
      plan_, memory_, &out->program));
  out->groups = static_cast<uint32_t>(plan_.segments.size());
  const Status noted = NoteSpace({plan_, leave_, static_cast<uint32_t>(order)},
                                 &out->places, &out->notation);
  // A plan may lack a notation.
  if (noted != Status::kUnsupported) SLUICE_TRY(noted);
  return OrderTransfers(call_.graph, call_.hardware,
                        {problem_.root_of, out->lowering.places}, memory_,
                        &out->program);
}

namespace {

// Takes the plan as it was before the search's last changes, if it is better: what
// changes gain is a prediction.
Status TakeUnchanged(PlanCall* call, const SpaceCall& changed, const KnownPlan& known) {
  SpaceCall of = changed;
  of.known = &known;
  of.search.improving = 0;
  of.search.notes = nullptr;
  of.search.most_iterations = INT64_MAX;
  Arena memory(call->scratch->memory());
  Diagnostic ignored = {};
  SpaceSchedule space(of, &memory);
  if (space.Find(&ignored) != Status::kOk) return TakeFound(call, false, nullptr);
  return TakeOrders(call, &space, &memory);
}

}  // namespace

Status TakeFromSpace(PlanCall* call) {
  if (call->options.solver != SLUICE_SOLVER_DEFAULT || !call->costs->quick()) {
    return Status::kOk;
  }
  // The limit of iterations is for fusion alone.
  Budget endless;
  SpaceCall of = CallOf(call, call->plain.report,
                        call->options.deadline_ns != 0 ? &call->search : &endless);
  constexpr int64_t kFewer = 2;
  const Memory& used = *call->scratch->memory();
  Arena notes(call->scratch->memory());
  of.search.notes = &notes;
  const double before = call->best_cost;
  for (;;) {
    Arena memory(call->scratch->memory());
    Diagnostic ignored = {};
    SpaceSchedule space(of, &memory);
    const bool found = space.Find(&ignored) == Status::kOk;
    call->spaced = call->spaced || found;
    // A fault in the caller's tile costs is reported even if nothing was found.
    if (!found) return TakeFound(call, false, nullptr);
    const uint64_t refusals = used.refusals();
    call->too_large = false;
    of.search.most_iterations = space.most_iterations() / kFewer;
    KnownPlan unchanged;
    const bool noted = space.NoteFound(&unchanged) == Status::kOk;
    SLUICE_TRY(TakeOrders(call, &space, &memory));
    if (noted && !unchanged.segment.empty()) {
      SLUICE_TRY(TakeUnchanged(call, of, unchanged));
    }
    // A plan that does not fit the memory, or that takes the judge more work than it
    // does, is searched again with fewer tiles.
    const bool taken = call->has_plan() && call->best_cost != before;
    const bool large = call->too_large || used.refusals() != refusals;
    if (taken || !large || of.search.most_iterations == 0) {
      return Status::kOk;
    }
  }
}

Status TakeCarriedSpace(PlanCall* call, const Alignment& alignment) {
  if (!IsOfSegments(call->before->notation) || !call->costs->quick()) {
    return Status::kOk;
  }
  Budget endless;
  Arena memory(call->scratch->memory());
  Diagnostic ignored = {};
  SpaceCall of = CallOf(call, call->before->report,
                        call->options.deadline_ns != 0 ? &call->search : &endless);
  of.exactly = !call->before->is_made();
  of.from = {&call->before->notation, &alignment, call->minimise || of.exactly};
  SpaceSchedule space(of, &memory);
  // If fewer than half of the segments are valid, a plan from scratch is better.
  const bool found = space.Find(&ignored) == Status::kOk;
  const bool kept = of.exactly ? space.IsCarried()
                               : 2 * size_t{space.kept()} >= space.segments().size();
  if (!found || !kept) return TakeFound(call, false, nullptr);
  call->spaced = true;
  call->estimated = true;  // there is no plain plan to compare with
  const Status status = TakeOrders(call, &space, &memory);
  call->estimated = false;
  return status;
}

}  // namespace sluice
