// SPDX-License-Identifier: Apache-2.0
#include "plan/memory_bound.h"

#include "model/host.h"
#include "model/lowering.h"
#include "model/program.h"
#include "plan/check_options.h"
#include "plan/fused/parallel_starts.h"
#include "plan/tile_costs.h"
#include "solve/baseline/layer_by_layer.h"

namespace sluice {
namespace {

// The most that a call allocates before it plans.
constexpr uint64_t kObjectBytes = 1024;

uint64_t NodeCount(const Hardware& hardware) {
  return uint64_t{hardware.node_cols} * hardware.node_rows;
}

// Steps of the plain plan.
Status CountSteps(const PlanRequest& request, Arena* scratch, uint64_t* steps,
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
  *steps = 0;
  for (uint32_t l = 0; l < graph.layers.size(); ++l) {
    if (lowering.is_view[l] != 0) continue;
    Arena one(scratch->memory());
    Program program(&one, hardware);
    SLUICE_TRY(AppendLayer(call, l, scratch, &program));
    *steps += program.size();
  }
  return Status::kOk;
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

uint64_t SearchBytes(const PlanRequest& request, uint64_t steps) {
  // Plans for many nodes may be as long as the judges accept (mesh/node_steps.cc).
  if (NodeCount(request.hardware) > 1) return uint64_t{640} << 20;
  if (request.options.solver == SLUICE_SOLVER_BASELINE) return 0;
  return FusionBytes(request, steps) +
         uint64_t{64} * 1024 * request.graph.layers.size();
}

uint64_t FusionBytes(const PlanRequest& request, uint64_t steps) {
  const uint64_t layers = request.graph.layers.size();
  const uint64_t one = uint64_t{2} * 1024 * 1024 + uint64_t{16} * 1024 * layers;
  // Each parallel start is a search with memory of its own.
  const bool parallel = request.options.runner != nullptr;
  return one * (parallel ? 2 + 3 * ParallelStarts::kStarts : 1) + 128 * steps +
         (request.resume != nullptr ? 2 * request.resume_bytes : 0);
}

Status BoundMemory(const PlanRequest& request, Arena* scratch, uint64_t* bytes,
                   Diagnostic* diagnostic) {
  SLUICE_TRY(CheckOptions(request.options, diagnostic));
  SLUICE_TRY(CheckMachine(request.hardware, diagnostic));
  ArenaScope scope(scratch);
  uint64_t steps = 0;
  SLUICE_TRY(CountSteps(request, scratch, &steps, diagnostic));
  *bytes = kObjectBytes + PlainBytes(request, steps) + SearchBytes(request, steps);
  return Status::kOk;
}

Status RefuseMemory(const PlanRequest& request, Arena* scratch,
                    Diagnostic* diagnostic) {
  const uint64_t live = scratch->memory()->live_bytes();
  const uint64_t cap = scratch->memory()->max_bytes();
  uint64_t steps = 0;
  Diagnostic ignored = {};
  bool counted = false;
  {
    ArenaScope scope(scratch);
    counted = CountSteps(request, scratch, &steps, &ignored) == Status::kOk;
  }
  const uint64_t required = live + PlainBytes(request, steps);
  Fail fail(diagnostic, Status::kOutOfMemory, "memory");
  fail.Text(counted ? "the plain plan needs a context of "
                    : "counting the plain plan's steps needs a context of ");
  fail.Number(static_cast<int64_t>(required)).Text(" bytes");
  if (cap != 0) fail.Text("; its cap is ").Number(static_cast<int64_t>(cap));
  return fail.Bytes(required, cap);
}

}  // namespace sluice
