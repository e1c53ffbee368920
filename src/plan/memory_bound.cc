// SPDX-License-Identifier: Apache-2.0
#include "plan/memory_bound.h"

#include "base/checked.h"
#include "model/host.h"
#include "model/lowering.h"
#include "model/program.h"
#include "plan/check_options.h"
#include "plan/fused/parallel_starts.h"
#include "plan/pipeline.h"
#include "plan/space/take_space.h"
#include "plan/tile_costs.h"
#include "solve/baseline/layer_by_layer.h"

namespace sluice {
namespace {

// The most that a call allocates before it plans.
constexpr uint64_t kObjectBytes = 1024;
// What a search of the space may take; it is refused more. In total: arenas that are used at
// the same time. Per layer: notes. Per pair of layers that may share a segment: the segment's
// cost and its tiles. Per step of the plan: places and waits.
constexpr uint64_t kSearchBytes = 384 << 10, kLayerBytes = 12 << 10;
// Small graphs: plans of fused layers, and those of many more steps than the plain plan.
constexpr uint64_t kTriedBytes = 448 << 10;
constexpr uint64_t kToldBytes = 128 << 10;  // for each layer
constexpr uint64_t kPairBytes = 256, kPairsOfLayer = 112, kStepBytes = 256;

uint64_t NodeCount(const Hardware& hardware) {
  return uint64_t{hardware.node_cols} * hardware.node_rows;
}

// Steps of the plain plan, and whether a search of the space may follow it.
struct PlainCounts {
  uint64_t steps = 0;
  bool quick = false;
};

Status CountSteps(const PlanRequest& request, Arena* scratch, PlainCounts* counts,
                  Diagnostic* diagnostic) {
  const Hardware& hardware = request.hardware;
  Graph graph;
  SLUICE_TRY(FitToMachine(request.graph, hardware, scratch, &graph, diagnostic));
  Lowering lowering = {};
  SLUICE_TRY(Lower(graph, hardware, scratch, &lowering, diagnostic));
  Arena memory(scratch->memory());
  TileCosts costs(graph, hardware, lowering, request.options, &memory);
  SLUICE_TRY(costs.Init(diagnostic));
  Budget unlimited;
  const LayerCall call = {graph,          hardware,  lowering, ScratchpadBytes(request),
                          costs.coster(), &unlimited};
  counts->quick = costs.quick();
  for (uint32_t l = 0; l < graph.layers.size(); ++l) {
    if (lowering.is_view[l] != 0) continue;
    Arena one(scratch->memory());
    Program program(&one, hardware);
    const Status status = AppendLayer(call, l, scratch, &program);
    // On a mesh a plain plan that is too long is not written to its end.
    const bool long_on_mesh = status == Status::kUnsupported && NodeCount(hardware) > 1;
    if (!long_on_mesh) SLUICE_TRY(status);
    counts->steps += program.size();
  }
  return Status::kOk;
}

// The most bytes that are live while the plan without a search is made, written and
// judged. They are measured by making that plan: how much the judge keeps of contents
// depends on how tiles cut each other's boxes, which cannot be derived from counts.
Status MeasurePlain(const PlanRequest& request, Arena* scratch, uint64_t* bytes,
                    Diagnostic* diagnostic) {
  Memory* memory = scratch->memory();
  sluice_schedule_options_t options = request.options;
  options.solver = SLUICE_SOLVER_BASELINE;
  options.deadline_ns = 0;
  options.cancel = nullptr;
  options.progress = nullptr;
  const PlanRequest plain = {request.graph, request.hardware, options};
  const uint64_t live = memory->live_bytes();
  // Peaks are recorded per call. MakePlan below counts as one, so clear them.
  memory->ClearPhases();
  const uint32_t phase = memory->EnterPhase(SLUICE_PHASE_LOWER);
  Status status = Status::kOk;
  {
    Arena plan(memory), work(memory);
    Span<const uint8_t> image;
    status = MakePlan(plain, &plan, &work, &image, nullptr, diagnostic);
  }
  uint64_t peak = live;
  for (uint32_t p = 0; p < SLUICE_PHASE_COUNT; ++p) {
    peak = Max(peak, memory->phase_peak_bytes(p));
  }
  memory->EnterPhase(phase);
  *bytes = peak - live;
  return status;
}

}  // namespace

uint64_t PlainBytes(const PlanRequest& request, uint64_t steps) {
  const uint64_t layers = request.graph.layers.size();
  const uint64_t nodes = NodeCount(request.hardware);
  const uint64_t one = uint64_t{160} * 1024 + 4096 * layers + 200 * steps;
  if (nodes == 1) return one;
  // Each step has an entry per engine, and each block a list per engine.
  return one + (24 << 20) + 64 * nodes * layers;
}

uint64_t SearchBytes(const PlanRequest& request, uint64_t steps, bool quick) {
  const sluice_schedule_options_t& options = request.options;
  const uint64_t layers = request.graph.layers.size();
  // A search on many nodes writes long plans; it is refused more.
  if (NodeCount(request.hardware) > 1) {
    return PlainBytes(request, steps) + (uint64_t{640} << 20);
  }
  if (options.solver == SLUICE_SOLVER_DEFAULT && quick && request.before == nullptr &&
      request.resume == nullptr && options.deadline_ns == 0 &&
      options.max_iterations == 0) {
    // Who may end the call early has the plain plan in hand during the search.
    const bool in_hand = options.cancel != nullptr || options.progress != nullptr;
    // What a callback says of tiles; more of them are asked for again.
    const uint64_t told = options.tile_cost != nullptr ? layers * kToldBytes : 0;
    const uint64_t tried = layers <= kSmallGraph ? kTriedBytes : 0;
    return kSearchBytes + told + tried + kStepBytes * steps +
           layers * (kLayerBytes + kPairBytes * Min(layers, kPairsOfLayer)) +
           (in_hand ? PlainBytes(request, steps) : 0);
  }
  return FusionBytes(request, steps) + uint64_t{64} * 1024 * layers;
}

uint64_t FusionBytes(const PlanRequest& request, uint64_t steps) {
  const uint64_t layers = request.graph.layers.size();
  const uint64_t one = uint64_t{2} * 1024 * 1024 + uint64_t{16} * 1024 * layers;
  // Each parallel start is a search with memory of its own.
  const bool parallel = request.options.runner != nullptr;
  return PlainBytes(request, steps) +
         one * (parallel ? 2 + 3 * ParallelStarts::kStarts : 1) + 128 * steps +
         (request.resume != nullptr ? 2 * request.resume_bytes : 0);
}

Status BoundMemory(const PlanRequest& request, Arena* scratch, uint64_t* bytes,
                   Diagnostic* diagnostic) {
  SLUICE_TRY(CheckOptions(request.options, diagnostic));
  SLUICE_TRY(CheckMachine(request.hardware, diagnostic));
  ArenaScope scope(scratch);
  PlainCounts counts;
  SLUICE_TRY(CountSteps(request, scratch, &counts, diagnostic));
  const bool nodes = NodeCount(request.hardware) > 1;
  uint64_t plain = 0;
  if (!nodes) SLUICE_TRY(MeasurePlain(request, scratch, &plain, diagnostic));
  if (nodes || request.options.solver != SLUICE_SOLVER_BASELINE) {
    plain = Max(plain, SearchBytes(request, counts.steps, counts.quick));
  }
  *bytes = kObjectBytes + plain;
  return Status::kOk;
}

Status RefuseMemory(const PlanRequest& request, Arena* scratch,
                    Diagnostic* diagnostic) {
  const uint64_t live = scratch->memory()->live_bytes();
  const uint64_t cap = scratch->memory()->max_bytes();
  PlainCounts counts;
  Diagnostic ignored = {};
  bool counted = false;
  {
    ArenaScope scope(scratch);
    counted = CountSteps(request, scratch, &counts, &ignored) == Status::kOk;
  }
  uint64_t required = live + PlainBytes(request, counts.steps);
  // A cap that has just proved too small is not named as enough.
  if (required <= cap) required = 2 * cap;
  Fail fail(diagnostic, Status::kOutOfMemory, "memory");
  fail.Text(counted ? "the plain plan needs a context of "
                    : "counting the plain plan's steps needs a context of ");
  fail.Say("# bytes", required);
  if (cap != 0) fail.Say("; its cap is #", cap);
  return fail.Bytes(required, cap);
}

}  // namespace sluice
