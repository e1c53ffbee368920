// SPDX-License-Identifier: Apache-2.0
#include "plan/pipeline.h"

#include "base/checked.h"
#include "emit/emit.h"
#include "io/read.h"
#include "io/write.h"
#include "model/lowering.h"
#include "model/program.h"
#include "model/report.h"
#include "plan/carry/compare_streams.h"
#include "plan/check_options.h"
#include "plan/fused/fused_plan.h"
#include "plan/fused/parallel_starts.h"
#include "plan/mesh/node_program.h"
#include "plan/operators/operator_plan.h"
#include "plan/plan_notation.h"
#include "plan/tile_costs.h"
#include "solve/baseline/estimate.h"
#include "solve/baseline/layer_by_layer.h"
#include "solve/repair/carry.h"
#include "solve/repair/layer_hash.h"
#include "verify/verify.h"

namespace sluice {

namespace {

// Of the time, when layers are not tiled: what is left after the search writes the plan.
constexpr uint32_t kWholePercent = 75;
// For what the plan before says; the same, where it does not fit any more.
constexpr uint32_t kAgainPercent = 75, kTighterPercent = 30;
// To write and judge a step, where no plan of this call has told it yet.
constexpr uint64_t kStepNs = 2000;
// What a call has taken before a plan is made, at most.
constexpr uint64_t kObjectBytes = 1024;
// The plain plan comes first when it takes no more than one part in so many of the time;
// how long it takes by layer, measured over the zoo.
constexpr uint64_t kPlainShare = 4, kPlainNs = 12000;

// Verifies the very bytes that are handed out.
Status Judge(const Graph& graph, const Hardware& hardware, Span<const uint8_t> bytes,
             Arena* scratch, Diagnostic* diagnostic) {
  ArenaScope scope(scratch);
  Plan plan = {};
  VerifiedCounts counts = {};
  Status status = ReadPlan(bytes.data(), bytes.size(), scratch, &plan, diagnostic);
  if (status == Status::kOk) {
    status = Verify(graph, hardware, plan, scratch, &counts, diagnostic);
  }
  // kUnsupported: right or wrong, it cannot be told in the work that verify takes.
  if (status == Status::kOk || status == Status::kOutOfMemory ||
      status == Status::kStopped || status == Status::kUnsupported) {
    return status;
  }
  diagnostic->status = SLUICE_INTERNAL;
  return Status::kInternal;
}

// Waits, cycles and report of a program that is written.
Status Complete(const Graph& graph, const Hardware& hardware, Arena* scratch,
                Candidate* c, Span<int64_t> block_cycles = {}) {
  int64_t cycles = 0;
  SLUICE_TRY(DeriveWaits(c->program, scratch, &c->waits));
  SLUICE_TRY(PredictCycles(graph, hardware, c->program, c->waits, scratch, &cycles,
                           block_cycles));
  return FillReport(graph, hardware, c->lowering, c->program, cycles, scratch,
                    &c->report);
}

uint64_t NodeCount(const Hardware& hardware) {
  return uint64_t{hardware.node_cols} * hardware.node_rows;
}

// What the plain plan takes, with its lowering, its waits and its judge. Measured over the
// zoo, with a quarter to spare.
uint64_t PlainBytes(const Graph& graph, const Hardware& hardware, uint64_t steps) {
  const uint64_t layers = graph.layers.size();
  const uint64_t one = 160 * 1024 + 4096 * layers + 200 * steps;
  if (NodeCount(hardware) == 1) return one;
  // What steps know of all engines; every engine has a list in every block.
  return one + (24 << 20) + 64 * NodeCount(hardware) * layers;
}

// What is added while better ones are searched for; the search does with that.
uint64_t SearchBytes(const PlanRequest& request, uint64_t steps) {
  const Graph& graph = request.graph;
  const Hardware& hardware = request.hardware;
  const sluice_schedule_options_t& options = request.options;
  // Plans for many nodes are as long as judges take them (node_layer.cc).
  if (NodeCount(hardware) > 1) return uint64_t{256} << 20;
  if (options.solver == SLUICE_SOLVER_BASELINE) return 0;
  const uint64_t one = 2 * 1024 * 1024 + 16 * 1024 * uint64_t{graph.layers.size()};
  // A handed plan or the plain one beside it, and copies of the search.
  return one * (options.runner != nullptr ? 2 + 3 * ParallelStarts::kStarts : 1) +
         128 * steps + (request.resume != nullptr ? 2 * request.resume_bytes : 0);
}

bool HasFused(const PlanNotation& notation) {
  for (const PlanSection& section : notation.section) {
    if (section.fused != 0) return true;
  }
  return false;
}

// Everything until the plan's bytes.
class PlanMaker {
 public:
  PlanMaker(const PlanRequest& request, sluice_change_t* change, Budget* clock,
            Progress* progress, Arena* arena, Arena* scratch, Diagnostic* diagnostic)
      : request_(request),
        graph_(request.graph),
        hardware_(request.hardware),
        options_(request.options),
        before_(request.before),
        minimise_(request.minimise_changes),
        change_(change),
        clock_(clock),
        progress_(progress),
        search_(*clock),
        arena_(arena),
        scratch_(scratch),
        diagnostic_(diagnostic),
        live_before_(scratch->memory()->live_bytes()),
        tiling_memory_(scratch->memory()),
        tilings_(&tiling_memory_),
        baseline_(scratch->memory(), request.hardware) {
    capacity_ = hardware_.scratchpad().capacity_bytes;
    if (options_.scratchpad_bytes != 0) {
      capacity_ = static_cast<int64_t>(
          Min<uint64_t>(options_.scratchpad_bytes, static_cast<uint64_t>(capacity_)));
    }
  }

  Status Make() {
    EnterPhase(SLUICE_PHASE_LOWER);
    SLUICE_TRY(Lower(graph_, hardware_, scratch_, &baseline_.lowering, diagnostic_));
    EnterPhase(SLUICE_PHASE_SCHEDULE);
    Arena tile_memory(scratch_->memory());
    TileCosts costs(graph_, hardware_, baseline_.lowering, options_, &tile_memory);
    SLUICE_TRY(costs.Init(diagnostic_));
    const TileCoster coster = costs.coster();
    bool again = before_ != nullptr;
    if (request_.resume != nullptr) {
      SLUICE_TRY(TakeResumed());
      // A plain plan says nothing about what to fuse.
      again = HasFused(request_.resume->notation);
      if (again) before_ = request_.resume;
    }
    if (again) SLUICE_TRY(MakeAgain(costs, coster));
    const Status status = again && !best_.all.empty() ? Status::kOk
                          : options_.granularity == SLUICE_GRANULARITY_OPERATOR
                              ? MakeWhole(costs, coster)
                              : MakeTiled(costs, coster);
    if (status != Status::kOk || best_.all.empty()) return status;
    // Only now it is known how the search ended.
    const uint32_t reason = clock_->stop_reason() != SLUICE_STOP_COMPLETE
                                ? clock_->stop_reason()
                                : search_.stop_reason();
    NoteEnd(reason, search_.iterations(), &best_);
    return Status::kOk;
  }

  Span<const uint8_t> bytes() const { return best_.all; }

  // Steps of the plain plan; layer by layer, so that little memory is used.
  Status CountSteps(uint64_t* steps) {
    SLUICE_TRY(Lower(graph_, hardware_, scratch_, &baseline_.lowering, diagnostic_));
    Arena memory(scratch_->memory());
    TileCosts costs(graph_, hardware_, baseline_.lowering, options_, &memory);
    SLUICE_TRY(costs.Init(diagnostic_));
    Budget unlimited;
    *steps = 0;
    for (uint32_t l = 0; l < graph_.layers.size(); ++l) {
      if (baseline_.lowering.is_view[l] != 0) continue;
      Arena one(scratch_->memory());
      Program program(&one, hardware_.node_cols, hardware_.node_rows);
      SLUICE_TRY(AppendLayer(graph_, hardware_, baseline_.lowering, l, capacity_,
                             costs.coster(), &unlimited, scratch_, &program));
      *steps += program.size();
    }
    return Status::kOk;
  }

 private:
  void EnterPhase(uint32_t phase) { scratch_->memory()->EnterPhase(phase); }

  Status MakeWhole(const TileCosts& costs, const TileCoster& coster) {
    Candidate whole(scratch_->memory(), hardware_);
    Arena memory(scratch_->memory());
    search_ = clock_->Part(kWholePercent);
    SLUICE_TRY(ScheduleOperators(graph_, hardware_, baseline_.lowering, capacity_,
                                 coster, &search_, &whole.places, &memory,
                                 &whole.program, &whole.lowering, diagnostic_));
    SLUICE_TRY(costs.status(diagnostic_));
    SLUICE_TRY(Complete(graph_, hardware_, scratch_, &whole));
    whole.report.groups = whole.report.layers;
    return Take(&whole);
  }

  // From the plan before. Whatever it is worth, no plan here is no failure.
  Status MakeAgain(const TileCosts& costs, const TileCoster& coster) {
    Arena memory(scratch_->memory());
    Alignment alignment;
    CarriedSchedule carried;
    SLUICE_TRY(HashLayers(graph_, scratch_, &hashes_));
    SLUICE_TRY(Align(before_->layer_hash, hashes_, &memory, &alignment));
    change_->layers_kept = alignment.kept;
    change_->layers_changed = alignment.changed;
    change_->layers_inserted = alignment.inserted;
    change_->layers_removed = alignment.removed;
    change_->from_scratch = 1;
    Candidate found(scratch_->memory(), hardware_);
    // Notations are of one node's fused layers.
    if (found.program.nodes() > 1 || options_.granularity != SLUICE_GRANULARITY_TILE) {
      return Status::kOk;
    }
    Diagnostic ignored = {};
    Status status =
        Carry(before_->notation, alignment, graph_, &memory, &carried, &ignored);
    if (status != Status::kOk) {
      return status == Status::kOutOfMemory ? status : Status::kOk;
    }
    carried.minimise = minimise_;
    carried.same_machine =
        before_->hardware_hash == hardware_.hash && BudgetOf(*before_) >= capacity_;
    if (clock_->watched()) step_ns_ = kStepNs;
    FusedCall call = {graph_,
                      hardware_,
                      baseline_.lowering,
                      capacity_,
                      options_,
                      before_->report,
                      coster,
                      {},
                      step_ns_,
                      true,
                      {this, OfferAgain},
                      &carried,
                      &tilings_};
    if (!clock_->watched()) call.constructed.offer = nullptr;
    FusedPlan plan;
    // Where nothing comes of it, the rest is for the plain plan. That is likely where
    // the plan before does not fit.
    const bool fits =
        before_->report.peak_buffer_bytes <= static_cast<uint64_t>(capacity_);
    if (clock_->left_ns() != UINT64_MAX) {
      search_ = clock_->Part(fits ? kAgainPercent : kTighterPercent);
    }
    status = ScheduleFused(call, &search_, &found.places, &memory, &found.program,
                           &plan, &ignored);
    if (status == Status::kOk) status = Finish(plan, &found, &memory);
    if (best_.all.empty() && status != Status::kInfeasible &&
        status != Status::kStopped) {
      SLUICE_TRY(status);
    }
    if (!best_.all.empty()) {
      change_->from_scratch = 0;
      if (clock_->stop_reason() != SLUICE_STOP_COMPLETE) return Status::kOk;
    }
    return costs.status(diagnostic_);
  }

  // Takes what the plan before has led to, unless what is in hand is better.
  Status Finish(const FusedPlan& plan, Candidate* c, Arena* scratch) {
    c->lowering = plan.lowering;
    c->notation = plan.notation;
    SLUICE_TRY(Complete(graph_, hardware_, scratch, c));
    c->report.groups = plan.groups;
    if (!best_.all.empty() && PlanCost(options_, c->report) >= cost_) {
      return Status::kOk;
    }
    return Take(c);
  }

  static void OfferAgain(void* user, const FusedPlan& plan, Candidate* c,
                         Arena* scratch) {
    PlanMaker* maker = static_cast<PlanMaker*>(user);
    (void)maker->Finish(plan, c, scratch);
    maker->EnterPhase(SLUICE_PHASE_SCHEDULE);
  }

  // Whether the plain plan is likely to take much of the time: then layers are fused
  // first, against estimates, and it is not made at all where that leads to a plan. But
  // where it is likely to take all of it, nothing else is tried before.
  bool Hurries(const TileCosts& costs) const {
    const uint64_t plain_ns = kPlainNs * graph_.layers.size();
    const uint64_t left_ns = clock_->left_ns();
    return best_.all.empty() && before_ == nullptr &&
           options_.solver != SLUICE_SOLVER_BASELINE && costs.quick() &&
           NodeCount(hardware_) == 1 && left_ns / kPlainShare < plain_ns &&
           left_ns - left_ns / 10 > plain_ns;
  }

  Status MakeHurried(const TileCosts& costs, const TileCoster& coster) {
    uint64_t layers = 0;
    for (const uint8_t view : baseline_.lowering.is_view) layers += view == 0 ? 1 : 0;
    SLUICE_TRY(scratch_->Allocate(layers, &alone_));
    SLUICE_TRY(EstimateAlone(graph_, hardware_, baseline_.lowering, coster,
                             *scratch_->memory(), alone_));
    int64_t cycles = 0;
    for (const BlockCost& b : alone_) {
      baseline_.report.energy_pj += b.energy_pj;
      cycles += b.cycles;
    }
    baseline_.report.latency_cycles = static_cast<uint64_t>(Max<int64_t>(cycles, 1));
    step_ns_ = kStepNs;
    hurried_ = true;
    scratch_->memory()->Limit(live_before_ + PlainBytes(graph_, hardware_, 0) +
                              SearchBytes(request_, 0));
    const Status status = TakeFound(nullptr, false, costs, coster);
    scratch_->memory()->Limit(0);
    hurried_ = false;
    search_ = *clock_;
    return status;
  }

  Status MakeTiled(const TileCosts& costs, const TileCoster& coster) {
    if (Hurries(costs)) {
      SLUICE_TRY(MakeHurried(costs, coster));
      if (!best_.all.empty()) return Status::kOk;
    }
    SLUICE_TRY(ScheduleLayerByLayer(graph_, hardware_, baseline_.lowering, capacity_,
                                    coster, clock_, scratch_, &baseline_.program,
                                    diagnostic_, &tilings_));
    SLUICE_TRY(costs.status(diagnostic_));
    const uint64_t begin = clock_->watched() ? MonotonicNs() : 0;
    const uint64_t steps = baseline_.program.size();
    const uint64_t bound = live_before_ + PlainBytes(graph_, hardware_, steps) +
                           SearchBytes(request_, steps);
    SLUICE_TRY(CompleteBaseline());
    const bool nodes = baseline_.program.nodes() > 1;
    const bool searches = nodes || options_.solver != SLUICE_SOLVER_BASELINE;
    if (clock_->watched() && searches) {
      // Whatever ends the search, there is a plan: this one, and its cost in time tells
      // what the next one's will be.
      if (best_.all.empty()) SLUICE_TRY(TakeBaseline());
      const uint64_t ns = MonotonicNs() - begin;
      step_ns_ = ns / Max<uint64_t>(steps, 1) + 1;
      search_ = clock_->Before(2 * ns);
    }
    if (searches) {
      scratch_->memory()->Limit(bound);
      const Status status = TakeBetter(nodes, costs, coster);
      scratch_->memory()->Limit(0);
      SLUICE_TRY(status);
    }
    return best_.all.empty() ? TakeBaseline() : Status::kOk;
  }

  // Its cost, and what each of its layers adds to that.
  Status CompleteBaseline() {
    Span<int64_t> block_cycles;
    const size_t blocks = baseline_.program.block_count();
    if (baseline_.program.nodes() == 1) {
      SLUICE_TRY(scratch_->Allocate(blocks, &block_cycles));
      SLUICE_TRY(scratch_->Allocate(blocks, &alone_));
    }
    SLUICE_TRY(Complete(graph_, hardware_, scratch_, &baseline_, block_cycles));
    SLUICE_TRY(FillBlockCosts(hardware_, baseline_.program, block_cycles,
                              *scratch_->memory(), alone_));
    baseline_.report.groups = baseline_.report.layers;
    return Status::kOk;
  }

  // The plan that was handed in, once it is judged, if it keeps to the options.
  Status TakeResumed() {
    const Plan& plan = *request_.resume;
    {
      ArenaScope scope(scratch_);
      VerifiedCounts counts = {};
      SLUICE_TRY(Verify(graph_, hardware_, plan, scratch_, &counts, diagnostic_));
    }
    if (plan.report.peak_buffer_bytes > static_cast<uint64_t>(capacity_) ||
        options_.max_block_cycles != 0) {
      return Status::kOk;
    }
    Arena written(scratch_->memory());
    PlanBytes image = {};
    SLUICE_TRY(WritePlan(plan, plan.stream.size(), plan.debug_layer.size(), &written,
                         &image, diagnostic_));
    memcpy(image.stream.data(), plan.stream.data(), plan.stream.size());
    for (size_t i = 0; i < image.debug_layer.size(); ++i) {
      image.debug_layer[i] = plan.debug_layer[i];
    }
    return Hold(image, &written, plan.report);
  }

  // This plan is now the best there is.
  Status Hold(const PlanBytes& image, Arena* written, const sluice_report_t& report) {
    arena_->Swap(written);
    best_ = image;
    cost_ = PlanCost(options_, report);
    progress_->Reach(cost_);
    return Status::kOk;
  }

  Status TakeBaseline() {
    SLUICE_TRY(NotePlain(baseline_.lowering, scratch_, &baseline_.places,
                         &baseline_.notation));
    SLUICE_TRY(Take(&baseline_));
    EnterPhase(SLUICE_PHASE_SCHEDULE);
    return Status::kOk;
  }

  // Layers fused, or dealt out to all nodes of a mesh, scored by the final numbers.
  // Whatever goes wrong here, the plan that exists already stands.
  Status TakeBetter(bool nodes, const TileCosts& costs, const TileCoster& coster) {
    if (!nodes) return TakeFound(nullptr, false, costs, coster);
    // Segments are mostly better, but take longer to find.
    SegmentSchedule schedule = {};
    if (clock_->watched()) SLUICE_TRY(TakeFound(&schedule, false, costs, coster));
    if (options_.solver != SLUICE_SOLVER_BASELINE) {
      Arena memory(scratch_->memory());
      Diagnostic ignored = {};
      const Status status =
          FindSegments(graph_, hardware_, baseline_.lowering, capacity_, options_,
                       &search_, &memory, &schedule, &ignored);
      for (int whole = 1; status == Status::kOk && whole >= 0; --whole) {
        SLUICE_TRY(TakeFound(&schedule, whole != 0, costs, coster));
      }
      schedule = SegmentSchedule{};
    }
    return clock_->watched() ? Status::kOk : TakeFound(&schedule, false, costs, coster);
  }

  // schedule: nullptr for fusion on one node, empty for layer by layer on all.
  Status TakeFound(const SegmentSchedule* schedule, bool whole, const TileCosts& costs,
                   const TileCoster& coster) {
    Candidate found(scratch_->memory(), hardware_);
    const bool better = schedule == nullptr
                            ? FindFused(coster, &found)
                            : FindOnNodes(*schedule, whole, coster, &found);
    SLUICE_TRY(offered_);
    if (clock_->stop_reason() != SLUICE_STOP_COMPLETE) return Status::kOk;
    const Status priced = costs.status(diagnostic_);
    if (priced == Status::kOutOfMemory) return Status::kOk;
    SLUICE_TRY(priced);
    if (!better) return Status::kOk;
    const Status status = Take(&found);
    // The plain plan may still fit, or is there already.
    const bool stands = status == Status::kOutOfMemory || status == Status::kStopped ||
                        status == Status::kUnsupported;
    return stands ? Status::kOk : status;
  }

  bool FindOnNodes(const SegmentSchedule& schedule, bool whole,
                   const TileCoster& coster, Candidate* out) {
    Arena memory(scratch_->memory());
    Diagnostic ignored = {};
    NodeProgram on_nodes;
    const Status status = ScheduleOnNodes(
        graph_, hardware_, baseline_.lowering, capacity_, schedule, whole, coster,
        &search_, &out->places, &memory, &out->program, &on_nodes, &ignored);
    FusedPlan plan;
    plan.lowering = on_nodes.lowering;
    plan.groups = on_nodes.groups;
    return status == Status::kOk && IsBetter(plan, out, &memory);
  }

  bool FindFused(const TileCoster& coster, Candidate* out) {
    Arena memory(scratch_->memory());
    FusedCall call = {graph_,
                      hardware_,
                      baseline_.lowering,
                      capacity_,
                      options_,
                      baseline_.report,
                      coster,
                      alone_,
                      step_ns_,
                      !best_.all.empty(),
                      {this, Offer},
                      nullptr,
                      &tilings_};
    if (!clock_->watched()) call.constructed.offer = nullptr;
    Diagnostic ignored = {};
    FusedPlan plan;
    const Status status = ScheduleFused(call, &search_, &out->places, &memory,
                                        &out->program, &plan, &ignored);
    return status == Status::kOk && plan.fused && IsBetter(plan, out, &memory);
  }

  // Completes what is written; true when it beats the best there is.
  bool IsBetter(const FusedPlan& plan, Candidate* c, Arena* scratch) {
    c->lowering = plan.lowering;
    c->notation = plan.notation;
    if (Complete(graph_, hardware_, scratch, c) != Status::kOk) return false;
    c->report.groups = plan.groups;
    if (best_.all.empty() && hurried_) return true;
    return PlanCost(options_, c->report) <
           (best_.all.empty() ? PlanCost(options_, baseline_.report) : cost_);
  }

  // A plan that is whole before the search goes on.
  static void Offer(void* user, const FusedPlan& plan, Candidate* c, Arena* scratch) {
    PlanMaker* maker = static_cast<PlanMaker*>(user);
    Status status = Status::kOk;
    if (maker->IsBetter(plan, c, scratch)) status = maker->Take(c);
    if (status == Status::kInternal) maker->offered_ = status;
    maker->EnterPhase(SLUICE_PHASE_SCHEDULE);
  }

  // Writes and judges; then this plan is the best there is. Uses the candidate up: each
  // phase gives back what the next one does not need.
  Status Take(Candidate* c) {
    Plan plan = {};
    plan.graph_hash = graph_.hash;
    plan.hardware_hash = hardware_.hash;
    plan.tensors = c->lowering.places;
    plan.notation = c->notation;
    if (hashes_.empty()) SLUICE_TRY(HashLayers(graph_, scratch_, &hashes_));
    plan.layer_hash = hashes_;
    plan.report = c->report;
    if (options_.max_block_cycles != 0) {
      const int64_t cycles =
          static_cast<int64_t>(Min<uint64_t>(options_.max_block_cycles, INT64_MAX));
      SLUICE_TRY(c->program.CutBlocks(graph_, hardware_, cycles, scratch_));
    }
    EnterPhase(SLUICE_PHASE_EMIT);
    Arena written(scratch_->memory());
    PlanBytes image = {};
    {
      Arena memory(scratch_->memory());
      StreamParts parts(&memory);
      if (minimise_) parts.before = before_->stream;
      SLUICE_TRY(EmitStream(graph_, hardware_, c->lowering, c->program, c->waits,
                            capacity_, scratch_, &parts, diagnostic_));
      c->arena.Rewind(Arena::Mark{});
      SLUICE_TRY(WritePlan(plan, parts.header.size_bytes, parts.debug_layer.size(),
                           &written, &image, diagnostic_));
      SLUICE_TRY(WriteStream(parts, image.stream.data()));
      for (size_t i = 0; i < image.debug_layer.size(); ++i) {
        image.debug_layer[i] = parts.debug_layer[i];
      }
    }
    EnterPhase(SLUICE_PHASE_VERIFY);
    SLUICE_TRY(Judge(graph_, hardware_, image.all, scratch_, diagnostic_));
    return Hold(image, &written, c->report);
  }

  const PlanRequest& request_;
  const Graph& graph_;
  const Hardware& hardware_;
  const sluice_schedule_options_t& options_;
  const Plan* before_;  // or nullptr
  bool minimise_;
  Span<PlanLayerHash> hashes_;  // of graph_; empty = not yet
  sluice_change_t* change_;     // with before_
  Budget* clock_;
  Progress* progress_;
  Budget search_;
  Arena* arena_;
  Arena* scratch_;
  Diagnostic* diagnostic_;
  int64_t capacity_;
  uint64_t live_before_;
  Arena tiling_memory_;
  TilingMemo tilings_;
  Candidate baseline_;
  PlanBytes best_ = {};  // in arena_; empty = none yet
  double cost_ = 0;      // of it
  Status offered_ = Status::kOk;
  Span<BlockCost> alone_;  // of the baseline's layers
  bool hurried_ = false;   // those are estimates
  uint64_t step_ns_ = 0;   // to write and judge one step; 0 = nobody waits
};

// The clock of a call, for as long as it lasts.
class WatchScope {
 public:
  WatchScope(Memory* memory, Budget* clock) : memory_(memory) { memory->Watch(clock); }
  ~WatchScope() { memory_->Watch(nullptr); }
  WatchScope(const WatchScope&) = delete;
  WatchScope& operator=(const WatchScope&) = delete;

 private:
  Memory* memory_;
};

Status MakeWatched(const PlanRequest& request, Arena* arena, Arena* scratch,
                   Span<const uint8_t>* bytes, sluice_change_t* change,
                   Diagnostic* diagnostic) {
  const sluice_schedule_options_t& options = request.options;
  Progress progress;
  progress.callback = options.progress;
  progress.user = options.progress_user;
  Budget clock(options.deadline_ns, options.max_iterations, options.cancel,
               options.progress != nullptr ? &progress : nullptr);
  const WatchScope watch(scratch->memory(), &clock);
  ArenaScope scope(scratch);
  PlanMaker maker(request, change, &clock, &progress, arena, scratch, diagnostic);
  const Status status = maker.Make();
  *bytes = maker.bytes();
  if (status == Status::kOk || clock.stop_reason() == SLUICE_STOP_COMPLETE) {
    return status;
  }
  if (diagnostic->status == SLUICE_STOPPED) return Status::kStopped;  // with a message
  // Whatever failed did so because it was told to stop.
  return Fail(diagnostic, Status::kStopped, "schedule")
      .Text(clock.stop_reason() == SLUICE_STOP_DEADLINE ? "the deadline passed, "
                                                        : "cancelled, ")
      .Number(static_cast<int64_t>(clock.spent_ns() / 1000))
      .Text(" us after the start, before there was a plan");
}

// There was not even room for the plain plan: how much would be.
Status RefuseMemory(const PlanRequest& request, Arena* scratch,
                    Diagnostic* diagnostic) {
  const uint64_t live = scratch->memory()->live_bytes();
  const uint64_t cap = scratch->memory()->max_bytes();
  Progress progress;
  Budget clock;
  uint64_t steps = 0;
  Diagnostic ignored = {};
  bool counted = false;
  {
    ArenaScope scope(scratch);
    PlanMaker maker(request, nullptr, &clock, &progress, nullptr, scratch, &ignored);
    counted = maker.CountSteps(&steps) == Status::kOk;
  }
  const uint64_t required = live + PlainBytes(request.graph, request.hardware, steps);
  Fail fail(diagnostic, Status::kOutOfMemory, "memory");
  fail.Text(counted ? "the plain plan needs a context of "
                    : "to know what the plain plan needs takes a context of ");
  fail.Number(static_cast<int64_t>(required)).Text(" bytes");
  if (cap != 0) fail.Text(", it may have ").Number(static_cast<int64_t>(cap));
  return fail.Bytes(required, cap);
}

}  // namespace

Status BoundMemory(const PlanRequest& request, Arena* scratch, uint64_t* bytes,
                   Diagnostic* diagnostic) {
  SLUICE_TRY(CheckOptions(request.options, diagnostic));
  SLUICE_TRY(CheckMachine(request.hardware, diagnostic));
  ArenaScope scope(scratch);
  Progress progress;
  Budget clock;
  PlanMaker maker(request, nullptr, &clock, &progress, nullptr, scratch, diagnostic);
  uint64_t steps = 0;
  SLUICE_TRY(maker.CountSteps(&steps));
  *bytes = kObjectBytes + PlainBytes(request.graph, request.hardware, steps) +
           SearchBytes(request, steps);
  return Status::kOk;
}

Status MakePlan(const PlanRequest& request, Arena* arena, Arena* scratch,
                Span<const uint8_t>* bytes, sluice_change_t* change,
                Diagnostic* diagnostic) {
  SLUICE_TRY(CheckOptions(request.options, diagnostic));
  SLUICE_TRY(CheckMachine(request.hardware, diagnostic));
  sluice_change_t unread = {};
  const Status status = MakeWatched(request, arena, scratch, bytes,
                                    change == nullptr ? &unread : change, diagnostic);
  return status == Status::kOutOfMemory ? RefuseMemory(request, scratch, diagnostic)
                                        : status;
}

}  // namespace sluice
