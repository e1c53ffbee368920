// SPDX-License-Identifier: Apache-2.0
#include "plan/fused/fused_plan.h"

#include "base/checked.h"
#include "model/report.h"
#include "plan/carry/carried_section.h"
#include "plan/fused/fused_keep.h"
#include "plan/fused/fused_section.h"
#include "plan/fused/fused_write.h"
#include "plan/fused/fusion_search.h"
#include "plan/fused/fusion_sections.h"
#include "plan/fused/parallel_starts.h"
#include "solve/baseline/layer_by_layer.h"
#include "solve/fusion/fused_program.h"

namespace sluice {
namespace {

constexpr uint32_t kLongSection = 300;     // layers
constexpr uint64_t kRoundsPerLayer = 100;  // of annealing, when there is a limit
// Carried over: evaluations where few layers were touched, by layer where many were.
constexpr uint64_t kReworkEvaluations = 64, kReworkOfLayer = 2;
constexpr uint64_t kManyLayers = 64;  // under a deadline: of 1 / this of the scratchpad
constexpr int64_t kGaps = 16;         // gaps are expected
// Of the time that is left: for the search in a section, at least and at most; then for
// placing it.
constexpr uint32_t kLeastPercent = 10, kMostPercent = 30, kPlacePercent = 60;
constexpr uint32_t kAnnealPercent = 80;  // of the same, shared by sections
// Against the deadline: how often the whole is written and timed behind the search; how
// much longer judging may take than it took for the plain plan; the share of the time
// that the constructed plan may take.
constexpr uint64_t kLooks = 4;
constexpr uint64_t kJudgeMargin = 2;
constexpr uint64_t kOfferShare = 8;
constexpr uint64_t kStartBytes = 256 * 1024;  // of a parallel start, beyond its search

struct Exponents {
  uint32_t energy;
  uint32_t delay;
};

Exponents ExponentsOf(const sluice_schedule_options_t& options) {
  if (options.energy_exponent == 0 && options.delay_exponent == 0) return {1, 1};
  return {options.energy_exponent, options.delay_exponent};
}

class FusedScheduler {
 public:
  FusedScheduler(const FusedCall& call, Budget* budget, Arena* arena)
      : call_(call),
        graph_(call.graph),
        hardware_(call.hardware),
        lowering_(call.lowering),
        capacity_(call.scratchpad_bytes),
        options_(call.options),
        baseline_(call.baseline),
        coster_(call.coster),
        budget_(budget),
        arena_(arena) {}

  // Decides how every section is done: constructed, no annealing.
  Status Choose(bool* any) {
    SLUICE_TRY(CutIntoSections());
    SLUICE_TRY(CutRepetitions());
    *any = false;
    LeaveTime();
    for (uint32_t i = 0; i < section_count_ && !budget_->Exhausted();) {
      Section* section = &sections_[i];
      if (MayFuse(graph_, hardware_, lowering_, order_[section->first], capacity_)) {
        // What does not pay as a whole, or does not fit the memory, may in parts.
        (void)TrySection(section);
        *any = *any || section->fused;
        if (!section->fused && section->last - section->first > 1) {
          Split(i);
          continue;
        }
        LeaveTime();
      }
      ++i;
    }
    return Status::kOk;
  }

  // As Choose, from what an earlier schedule says.
  Status Adopt(bool* any) {
    SLUICE_TRY(CutIntoSections());
    SLUICE_TRY(SortCarried());
    *any = false;
    for (uint32_t i = 0; i < section_count_; ++i) {
      Section* section = &sections_[i];
      if (call_.carried->before->section[CarriedOf(*section)].fused == 0 ||
          !MayFuse(graph_, hardware_, lowering_, order_[section->first], capacity_)) {
        continue;
      }
      Status status = AdoptSection(section);
      if (status != Status::kOk && status != Status::kOutOfMemory) {
        section->start = GroupNotation{};
        if (budget_->Exhausted()) return Status::kStopped;
        status = TrySection(section);
        if (!section->fused && section->last - section->first > 1) Split(i--);
      }
      if (status == Status::kOutOfMemory) return status;
      *any = *any || section->fused;
    }
    return Status::kOk;
  }

  // What follows when the search ends takes time too: writing the plan as it stands and
  // judging it; with `looks`, two looks at the whole before that.
  void LeaveTime(uint64_t looks = 0) {
    const Budget* clock = arena_->memory()->clock();
    if (clock == nullptr) return;
    uint64_t steps = 0;
    for (uint32_t i = 0; i < section_count_; ++i) steps += StepsOf(sections_[i]);
    finish_ns_ = kJudgeMargin * call_.step_ns * steps;
    if (measured_steps_ != 0) {
      finish_ns_ += looks * measured_ns_ * steps / measured_steps_;
    }
    // Where even that is too long, there may be a plan only if much of it gets fused.
    if (most_finish_ns_ == 0) most_finish_ns_ = clock->left_ns() / 2;
    if (!call_.in_hand) finish_ns_ = Min(finish_ns_, most_finish_ns_);
    EndSearch(*clock);
  }

  void EndSearch(const Budget& clock) {
    Budget left = clock.Before(finish_ns_);
    left.Join(*budget_);
    *budget_ = left;
  }

  // A plan in hand, where that takes little of the time that is left.
  Status OfferConstructed() {
    if (call_.constructed.offer == nullptr ||
        (call_.in_hand && budget_->left_ns() < kOfferShare * finish_ns_)) {
      return Status::kOk;
    }
    const uint64_t begin = MonotonicNs();
    Arena memory(arena_->memory());
    Candidate candidate(arena_->memory(), hardware_);
    FusedPlan plan;
    Diagnostic ignored = {};
    plan.fused = true;
    SLUICE_TRY(Note(&candidate.places, &plan.notation));
    SLUICE_TRY(Write(&candidate.places, &candidate.program, &plan, &ignored));
    call_.constructed.offer(call_.constructed.user, plan, &candidate, &memory);
    // That is what it will take again, in a plan of somewhat more tiles.
    const uint64_t took = MonotonicNs() - begin;
    finish_ns_ = Min(finish_ns_, took + took / 4);
    EndSearch(*arena_->memory()->clock());
    offered_ = true;
    return Status::kOk;
  }

  // Spends the rest of the budget on the fused sections. What was chosen stays unless
  // the whole plan gets better. False: there is nothing that was not offered.
  bool Improve() {
    Span<Section> chosen;
    if (arena_->Allocate(section_count_, &chosen) != Status::kOk) return !offered_;
    uint64_t layers = 0;
    for (uint32_t i = 0; i < section_count_; ++i) {
      chosen[i] = sections_[i];
      if (Searched(i)) layers += LayersOf(sections_[i]);
    }
    bool better = false;
    for (uint32_t i = 0; i < section_count_ && !budget_->Exhausted(); ++i) {
      if (!sections_[i].fused || RoundsOf(sections_[i]) == 0) continue;
      const bool searched = Searched(i);
      const uint64_t own = searched ? LayersOf(sections_[i]) : 0;
      const uint32_t percent =
          searched ? Max(static_cast<uint32_t>(kAnnealPercent * own / layers), 1u) : 0;
      if (ImproveSection(i, percent, &better) == Status::kOutOfMemory) break;
      layers -= own;
    }
    // What was offered stays where this turns out to be no better.
    if (offered_) return better;
    if (!better) return true;
    double before = 0;
    double after = 0;
    const bool known = CostOfAll(&after) == Status::kOk;
    Swap(chosen);
    if (known && CostOfAll(&before) == Status::kOk && after < before) Swap(chosen);
    return true;
  }

  Status Write(Arena* out, Program* program, FusedPlan* plan, Diagnostic* diagnostic) {
    return WriteSections(call_, order_, sections_.Slice(0, section_count_), out, arena_,
                         program, plan, diagnostic);
  }
  Status Note(Arena* out, PlanNotation* notation) const {
    return NoteSections(order_, sections_.Slice(0, section_count_), out, notation);
  }

 private:
  Status CutIntoSections() {
    SLUICE_TRY(arena_->Allocate(graph_.layers.size(), &order_));
    SLUICE_TRY(arena_->Allocate(graph_.layers.size(), &sections_));
    uint32_t count = 0;
    bool open = false;  // the last section can still grow
    for (uint32_t l = 0; l < graph_.layers.size(); ++l) {
      if (l % 16 == 15 && arena_->memory()->Stop()) return Status::kStopped;
      if (lowering_.is_view[l] != 0) continue;
      if (call_.carried != nullptr && count != 0) {
        const Span<const CarriedLayer> carried = call_.carried->layer;
        open = open && carried[l].section == carried[order_[count - 1]].section;
      }
      bool may = MayFuse(graph_, hardware_, lowering_, l, capacity_);
      if (open) {
        const uint32_t first = sections_[section_count_ - 1].first;
        const Span<const uint32_t> run = order_.Slice(first, count);
        may = may || MayAppend(graph_, lowering_, run, l);
        if (may) open = !ReadsAlias(graph_, lowering_, run, l);
      }
      if (!open || !may) sections_[section_count_++].first = count;
      open = may;
      order_[count++] = l;
      sections_[section_count_ - 1].last = count;
    }
    return Status::kOk;
  }

  // Long sections are cut where they repeat themselves.
  Status CutRepetitions() {
    for (uint32_t i = 0; i < section_count_; ++i) {
      const uint32_t first = sections_[i].first;
      const uint32_t last = sections_[i].last;
      if (last - first <= kLongSection) continue;
      Repetition r;
      SLUICE_TRY(
          FindRepetition(graph_, lowering_, order_.Slice(first, last), arena_, &r));
      for (uint32_t k = 0; k <= r.times && r.times != 0; ++k) {
        const uint32_t at = first + r.first + k * r.period;
        if (at > sections_[i].first && at < last) SplitAt(i++, at);
        sections_[i].repeats = k < r.times;
      }
    }
    return Status::kOk;
  }

  // An equal section shortly before, which is fused; section_count_ = none.
  uint32_t TwinOf(uint32_t i) const {
    const Section& section = sections_[i];
    for (uint32_t k = i; k-- > 0 && k + 4 > i;) {
      const Section& other = sections_[k];
      if (other.fused && LayersOf(other) == LayersOf(section) &&
          SameRun(other.run, section.run)) {
        return k;
      }
    }
    return section_count_;
  }

  // True when an equal section was decided before; its decision holds.
  bool Known(uint32_t i) {
    const uint32_t twin = TwinOf(i);
    if (twin == section_count_) return false;
    Section* section = &sections_[i];
    const Section& other = sections_[twin];
    section->fused = true;
    section->cost = other.cost;
    section->decision = other.decision;
    section->work_bytes = other.work_bytes;
    section->result = other.result;
    section->buffers = other.buffers;
    section->offsets = other.offsets;
    return true;
  }

  void Split(uint32_t i) { SplitAt(i, (sections_[i].first + sections_[i].last) / 2); }

  void SplitAt(uint32_t i, uint32_t middle) {
    for (uint32_t at = section_count_++; at > i + 1; --at) {
      sections_[at] = sections_[at - 1];
    }
    sections_[i + 1] = Section{};
    sections_[i + 1].first = middle;
    sections_[i + 1].last = sections_[i].last;
    sections_[i].last = middle;
  }

  static uint64_t LayersOf(const Section& s) { return s.last - s.first; }

  uint64_t StepsOf(const Section& s) const {
    if (s.fused) return 2 * uint64_t{s.result.list.transfers} + s.result.list.tiles;
    if (call_.alone.empty()) return 4 * LayersOf(s);
    uint64_t steps = 0;
    for (uint32_t l = s.first; l < s.last; ++l) steps += call_.alone[l].steps;
    return steps;
  }

  // Of the time until the search ends, so that later sections get theirs; as published,
  // nothing is improved later.
  uint32_t PercentOf(const Section& s) const {
    const uint64_t rest = order_.size() - s.first;
    const uint64_t most = Published() ? kAnnealPercent : kMostPercent;
    return static_cast<uint32_t>(Min(most, kLeastPercent + most * LayersOf(s) / rest));
  }

  bool Published() const {
    return options_.solver == SLUICE_SOLVER_COCCO ||
           options_.solver == SLUICE_SOLVER_SOMA;
  }

  // Whether Improve has work there beyond taking over what a twin got.
  bool Searched(uint32_t i) const {
    return sections_[i].fused && RoundsOf(sections_[i]) != 0 &&
           TwinOf(i) == section_count_;
  }

  // Of the iterations asked for.
  uint64_t Share(const Section& section) const {
    return Max<uint64_t>(1,
                         options_.max_iterations / order_.size() * LayersOf(section));
  }

  // Of annealing, beyond construction.
  uint64_t RoundsOf(const Section& section) const {
    if (Published()) return 0;
    if (options_.max_iterations != 0) return Share(section);
    if (options_.deadline_ns == 0 && !section.repeats) return 0;
    return kRoundsPerLayer * LayersOf(section);
  }

  // Number of the section in the plan before.
  uint32_t CarriedOf(const Section& section) const {
    return call_.carried->layer[order_[section.first]].section;
  }

  // carried_order_: like order_, but each section by the ranks carried over.
  Status SortCarried() {
    Span<uint32_t> place, next;  // by layer: section; by section: next free place
    SLUICE_TRY(arena_->Allocate(graph_.layers.size(), &local_));
    SLUICE_TRY(arena_->Allocate(graph_.layers.size(), &place));
    SLUICE_TRY(arena_->Allocate(order_.size(), &carried_order_));
    SLUICE_TRY(arena_->Allocate(section_count_, &next));
    for (uint32_t i = 0; i < section_count_; ++i) {
      const Section& s = sections_[i];
      next[i] = s.first;
      for (uint32_t l = s.first; l < s.last; ++l) place[order_[l]] = i;
    }
    for (uint32_t layer : call_.carried->order) {
      if (lowering_.is_view[layer] == 0) carried_order_[next[place[layer]]++] = layer;
    }
    return Status::kOk;
  }

  uint64_t EvaluationsOf(const Section& section) const {
    if (call_.carried->minimise) return 0;
    if (call_.carried->touched <= kFewLayers) return kReworkEvaluations;
    return kReworkOfLayer * LayersOf(section);
  }

  // A section that nothing has changed about, on the same machine: as it was, without
  // a look at anything else.
  Status TakeOver(Section* section, bool* held) {
    FusionSearch search = SearchOf(*section, 0);
    const uint32_t before = CarriedOf(*section);
    search.list_transfers = call_.carried->before->section[before].transfers;
    *held = false;
    if (search.list_transfers == 0) return Status::kOk;
    const Arena::Mark mark = arena_->mark();
    const Status status = Solve(section, search, budget_, arena_);
    if (status == Status::kOutOfMemory) return status;
    if (status == Status::kOk) {
      SLUICE_TRY(
          HoldTimes(*call_.carried, before, local_, capacity_, arena_, section, held));
    }
    if (!*held) arena_->Rewind(mark);
    return Status::kOk;
  }

  Status AdoptSection(Section* section) {
    const CarriedSchedule& carried = *call_.carried;
    SLUICE_TRY(MakeFusionRun(graph_, hardware_, lowering_,
                             order_.Slice(section->first, section->last), capacity_,
                             arena_, &section->run));
    if (Known(static_cast<uint32_t>(section - sections_.data()))) return Status::kOk;
    SLUICE_TRY(arena_->Allocate(section->run.layer.size(), &section->more));
    section->run.coster = coster_;
    bool touched = false;
    bool held = false;
    SLUICE_TRY(StartOfCarried(carried,
                              carried_order_.Slice(section->first, section->last),
                              local_, arena_, section, &touched));
    if (carried.same_machine && !touched && carried.whole[CarriedOf(*section)] != 0) {
      SLUICE_TRY(TakeOver(section, &held));
    }
    if (!held) {
      SLUICE_TRY(Solve(section, SearchOf(*section, 0), budget_, arena_));
      if (section->result.score.cost >= kAnnealRejected) return Status::kInfeasible;
      SLUICE_TRY(AdoptTimes(carried, CarriedOf(*section), local_, capacity_, budget_,
                            arena_, section));
    }
    if (RoundsOf(*section) != 0) SLUICE_TRY(MeasureFused(section));
    section->decision = ++decisions_;
    section->fused = true;
    return Status::kOk;
  }

  FusionSearch SearchOf(const Section& section, uint64_t rounds) const {
    FusionSearch search;
    const Exponents exponents = ExponentsOf(options_);
    search.solver = options_.solver;
    search.objective = Objective{exponents.energy, exponents.delay};
    search.seed = options_.seed;
    search.rounds = rounds;
    if (!section.start.order.empty()) {
      search.solver = SLUICE_SOLVER_FUSION;
      search.start = &section.start;
      search.touched = section.touched;
      search.evaluations = EvaluationsOf(section);
    }
    return search;
  }

  // What a scheme may use. Many buffers rarely lie without gaps, and to find that out
  // takes time.
  int64_t BufferOf(const Section& section) const {
    const bool tight = options_.deadline_ns == 0 || LayersOf(section) < kManyLayers;
    return tight ? capacity_ : capacity_ - capacity_ / kGaps;
  }

  Status Solve(Section* section, const FusionSearch& search, Budget* budget,
               Arena* work) {
    const uint64_t before = work->memory()->live_bytes();
    section->run.problem.buffer_bytes = BufferOf(*section);
    Diagnostic ignored = {};
    const Status status =
        SearchFusion(section->run.problem, ModelOf(&section->run), search, budget, work,
                     &ignored, &section->result);
    section->work_bytes = work->memory()->live_bytes() - before;
    return status;
  }

  Status Report(const Program& program, sluice_report_t* report) {
    Arena arena(arena_->memory());
    ProgramWaits waits(&arena);
    int64_t cycles = 0;
    SLUICE_TRY(DeriveWaits(program, &arena, &waits));
    SLUICE_TRY(PredictCycles(graph_, hardware_, program, waits, &arena, &cycles));
    SLUICE_TRY(FillCosts(hardware_, program, cycles, *arena.memory(), report));
    report->latency_cycles = cycles;
    return Status::kOk;
  }

  // What a program costs by itself, in shares of the whole graph layer by layer.
  Status Measure(const Program& program, double* cost) {
    sluice_report_t report = {};
    SLUICE_TRY(Report(program, &report));
    *cost = CostOf(report.energy_pj, static_cast<int64_t>(report.latency_cycles));
    return Status::kOk;
  }

  double CostOf(double energy_pj, int64_t cycles) const {
    const Exponents exponents = ExponentsOf(options_);
    return exponents.energy * energy_pj / baseline_.energy_pj +
           exponents.delay * static_cast<double>(cycles) /
               static_cast<double>(baseline_.latency_cycles);
  }

  Status TrySection(Section* section) {
    const Arena::Mark mark = arena_->mark();
    const Status status = DecideSection(section);
    if (status != Status::kOk) section->fused = false;
    if (!section->fused) arena_->Rewind(mark);
    return status;
  }

  Status DecideSection(Section* section) {
    const Span<const uint32_t> layers = order_.Slice(section->first, section->last);
    SLUICE_TRY(MakeFusionRun(graph_, hardware_, lowering_, layers, capacity_, arena_,
                             &section->run));
    if (Known(static_cast<uint32_t>(section - sections_.data()))) return Status::kOk;
    SLUICE_TRY(arena_->Allocate(section->run.layer.size(), &section->more));
    section->run.coster = coster_;
    Arena work(arena_->memory());
    // As published counts its own rounds, or as many as are asked for.
    const uint64_t rounds =
        Published() && options_.max_iterations != 0 ? Share(*section) : 0;
    const bool timed = options_.deadline_ns != 0;
    Budget part = timed ? budget_->Part(PercentOf(*section)) : *budget_;
    FusionSearch search = SearchOf(*section, rounds);
    search.quick = timed;
    SLUICE_TRY(Solve(section, search, &part, &work));
    Spent(part);
    // What cannot be placed soon is better tried in halves.
    part = timed ? budget_->Part(kPlacePercent) : *budget_;
    const Status placed = PlaceOrTighten(section, capacity_, &part, &work);
    Spent(part);
    SLUICE_TRY(placed);
    SLUICE_TRY(MeasureFused(section));
    double alone = 0;
    SLUICE_TRY(MeasureAlone(*section, &alone));
    section->fused = section->cost < alone;
    return section->fused ? Keep(section) : Status::kOk;
  }

  // What was found outlasts the memory it was found in.
  Status Keep(Section* section) {
    section->decision = ++decisions_;
    return KeepFused(arena_, &section->result, &section->buffers, &section->offsets);
  }

  Status MeasureAlone(const Section& section, double* cost) {
    if (!call_.alone.empty()) {
      double energy_pj = 0;
      int64_t cycles = 0;
      for (const BlockCost& b : call_.alone.Slice(section.first, section.last)) {
        energy_pj += b.energy_pj;
        cycles += b.cycles;
      }
      *cost = CostOf(energy_pj, cycles);
      return Status::kOk;
    }
    Arena programs(arena_->memory());
    Program alone(&programs);
    Budget unlimited;
    for (uint32_t l : order_.Slice(section.first, section.last)) {
      SLUICE_TRY(AppendLayer(graph_, hardware_, lowering_, l, capacity_, coster_,
                             &unlimited, arena_, &alone, call_.tilings));
    }
    return Measure(alone, cost);
  }

  Status MeasureFused(Section* section) {
    Arena memory(arena_->memory());
    Program fused(&memory);
    const bool timed = arena_->memory()->clock() != nullptr;
    const uint64_t begin = timed ? MonotonicNs() : 0;
    SLUICE_TRY(AppendFused(section->run, lowering_, section->result, section->buffers,
                           section->offsets, arena_, &fused));
    SLUICE_TRY(Measure(fused, &section->cost));
    measured_ns_ += timed ? MonotonicNs() - begin : 0;
    measured_steps_ += fused.size();
    return Status::kOk;
  }

  // Anneals a section that is fused already; *better when that has brought something.
  Status ImproveSection(uint32_t i, uint32_t percent, bool* better) {
    if (Known(i)) return Status::kOk;
    Section* section = &sections_[i];
    const Arena::Mark mark = arena_->mark();
    Section next = *section;
    const Status status = Anneal(&next, percent, section->cost);
    if (status != Status::kOk || next.cost >= section->cost) {
      arena_->Rewind(mark);
      return status;
    }
    *section = next;
    *better = true;
    return Status::kOk;
  }

  // From what was constructed; kept when it costs less than `limit`.
  Status Anneal(Section* section, uint32_t percent, double limit) {
    Arena work(arena_->memory());
    ParallelStarts starts(arena_->memory());
    FusionSearch search = SearchOf(*section, RoundsOf(*section));
    const GroupNotation start = section->result.notation;
    // Repeated blocks are better constructed again: annealed short, then stamped.
    if (section->result.repeats.runs == 0) {
      search.start = &start;
      search.touched = Span<uint8_t>();
      search.sweep = options_.deadline_ns != 0;
    }
    Budget part = options_.deadline_ns != 0 ? budget_->Part(percent) : *budget_;
    Status status = Status::kOutOfMemory;
    if (options_.runner != nullptr) {
      section->run.problem.buffer_bytes = BufferOf(*section);
      status =
          starts.Run(section->run, options_, search,
                     2 * section->work_bytes + kStartBytes, &part, &section->result);
    }
    // Without room for several starts, one.
    if (status == Status::kOutOfMemory) status = Solve(section, search, &part, &work);
    Spent(part);
    SLUICE_TRY(status);
    SLUICE_TRY(PlaceOrTighten(section, capacity_, budget_, &work));
    SLUICE_TRY(MeasureFused(section));
    return section->cost < limit ? Keep(section) : Status::kOk;
  }

  void Spent(const Budget& part) {
    if (options_.deadline_ns != 0) {
      budget_->Join(part);
    } else {
      *budget_ = part;
    }
  }

  void Swap(Span<Section> other) {
    for (uint32_t i = 0; i < section_count_; ++i) {
      const Section s = sections_[i];
      sections_[i] = other[i];
      other[i] = s;
    }
  }

  // The objective of the plan as it stands.
  Status CostOfAll(double* cost) {
    Arena memory(arena_->memory());
    Program program(&memory);
    FusedPlan plan;
    Diagnostic ignored = {};
    sluice_report_t report = {};
    SLUICE_TRY(Write(&memory, &program, &plan, &ignored));
    SLUICE_TRY(Report(program, &report));
    *cost = PlanCost(options_, report);
    return Status::kOk;
  }

  const FusedCall& call_;
  const Graph& graph_;
  const Hardware& hardware_;
  const Lowering& lowering_;
  int64_t capacity_;
  const sluice_schedule_options_t& options_;
  const sluice_report_t& baseline_;
  const TileCoster& coster_;
  Budget* budget_;
  Arena* arena_;
  Span<uint32_t> order_;  // layers that do something, in graph order
  Span<Section> sections_;
  uint32_t section_count_ = 0;
  Span<uint32_t> carried_order_, local_;  // when an earlier schedule is carried over
  uint32_t decisions_ = 0;
  bool offered_ = false;                           // what was constructed
  uint64_t measured_ns_ = 0, measured_steps_ = 0;  // by MeasureFused
  // What follows the search, at most; at most at first.
  uint64_t finish_ns_ = 0, most_finish_ns_ = 0;
};

}  // namespace

double PlanCost(const sluice_schedule_options_t& options,
                const sluice_report_t& report) {
  const Exponents exponents = ExponentsOf(options);
  double cost = 1;
  for (uint32_t i = 0; i < exponents.energy; ++i) cost *= report.energy_pj;
  for (uint32_t i = 0; i < exponents.delay; ++i) {
    cost *= static_cast<double>(report.latency_cycles);
  }
  return cost;
}

Status ScheduleFused(const FusedCall& call, Budget* budget, Arena* arena,
                     Arena* scratch, Program* program, FusedPlan* plan,
                     Diagnostic* diagnostic) {
  FusedScheduler scheduler(call, budget, scratch);
  SLUICE_TRY(call.carried != nullptr ? scheduler.Adopt(&plan->fused)
                                     : scheduler.Choose(&plan->fused));
  if (!plan->fused && call.carried == nullptr) return Status::kOk;
  scheduler.LeaveTime(kLooks);
  SLUICE_TRY(scheduler.OfferConstructed());
  if (!scheduler.Improve() && call.carried == nullptr) {
    plan->fused = false;
    return Status::kOk;
  }
  SLUICE_TRY(scheduler.Note(arena, &plan->notation));
  return scheduler.Write(arena, program, plan, diagnostic);
}

}  // namespace sluice
