// SPDX-License-Identifier: Apache-2.0
#include "api/pipeline.h"

#include "api/fused_plan.h"
#include "api/node_program.h"
#include "api/operator_plan.h"
#include "api/plan_notation.h"
#include "api/tile_costs.h"
#include "base/checked.h"
#include "emit/emit.h"
#include "io/read.h"
#include "io/write.h"
#include "model/lowering.h"
#include "model/program.h"
#include "model/report.h"
#include "solve/baseline/layer_by_layer.h"
#include "verify/verify.h"

namespace sluice {

namespace {

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
  if (status == Status::kOk || status == Status::kOutOfMemory) return status;
  diagnostic->status = SLUICE_INTERNAL;
  return Status::kInternal;
}

Status CheckOptions(const sluice_schedule_options_t& options, Diagnostic* diagnostic) {
  if (options.solver > SLUICE_SOLVER_SOMA) {
    return Fail(diagnostic, Status::kBadArgument, "options")
        .Text("unknown solver ")
        .Number(options.solver);
  }
  if (options.granularity > SLUICE_GRANULARITY_OPERATOR) {
    return Fail(diagnostic, Status::kBadArgument, "options")
        .Text("unknown granularity ")
        .Number(options.granularity);
  }
  if (options.energy_exponent > 16 || options.delay_exponent > 16) {
    return Fail(diagnostic, Status::kBadArgument, "options")
        .Text("objective exponents must be at most 16");
  }
  if (options.progress != nullptr) {
    return Fail(diagnostic, Status::kUnsupported, "options")
        .Text("progress callbacks are not supported by this version");
  }
  return Status::kOk;
}

// Streams address one scratchpad that holds every operand.
Status CheckMachine(const Hardware& hardware, Diagnostic* diagnostic) {
  if (hardware.scratchpad().may_hold == 7) return Status::kOk;
  return Fail(diagnostic, Status::kUnsupported, "hardware")
      .Text("the scratchpad may not hold ")
      .Text((hardware.scratchpad().may_hold & 1) == 0   ? "inputs"
            : (hardware.scratchpad().may_hold & 2) == 0 ? "weights"
                                                        : "outputs")
      .Text(": such a machine can be mapped on (sluice_map_layer), not scheduled");
}

// A program with what is known about it.
struct Candidate {
  Candidate(Memory* memory, const Hardware& hardware)
      : places(memory),
        arena(memory),
        program(&arena, hardware.node_cols, hardware.node_rows),
        waits(&arena) {}

  Arena places;  // of the lowering, where it is this candidate's own
  Arena arena;   // of the program and its waits
  Program program;
  ProgramWaits waits;
  Lowering lowering = {};
  PlanNotation notation = {};
  sluice_report_t report = {};
};

// Waits, cycles and report of a program that is written.
Status Complete(const Graph& graph, const Hardware& hardware, Arena* scratch,
                Candidate* c) {
  int64_t cycles = 0;
  SLUICE_TRY(DeriveWaits(c->program, scratch, &c->waits));
  SLUICE_TRY(PredictCycles(graph, hardware, c->program, c->waits, scratch, &cycles));
  return FillReport(graph, hardware, c->lowering, c->program, cycles, scratch,
                    &c->report);
}

// Layers fused, scored by the final numbers. Whatever goes wrong here, the plan that
// exists already stands: the answer is then false, and no memory is kept.
bool FindBetter(const Graph& graph, const Hardware& hardware, int64_t capacity,
                const sluice_schedule_options_t& options, const Candidate& baseline,
                const TileCoster& coster, Budget* budget, Candidate* out) {
  Arena scratch(out->arena.memory());
  Diagnostic ignored = {};
  FusedPlan plan;
  Status status = ScheduleFused(graph, hardware, baseline.lowering, capacity, options,
                                baseline.report, coster, budget, &out->places, &scratch,
                                &out->program, &plan, &ignored);
  out->lowering = plan.lowering;
  out->notation = plan.notation;
  if (status == Status::kOk && plan.fused) {
    status = Complete(graph, hardware, &scratch, out);
    out->report.groups = plan.groups;
    if (status == Status::kOk &&
        PlanCost(options, out->report) < PlanCost(options, baseline.report)) {
      return true;
    }
  }
  out->arena.Rewind(Arena::Mark{});
  return false;
}

// Of the baseline: every layer by itself, in the graph's order.
Status NotePlain(const Lowering& lowering, Arena* scratch, Candidate* c) {
  ArenaScope scope(scratch);
  Vector<uint32_t> layers(scratch);
  for (uint32_t l = 0; l < lowering.is_view.size(); ++l) {
    if (lowering.is_view[l] == 0) SLUICE_TRY(layers.Push(l));
  }
  NotationWriter writer(&c->places);
  SLUICE_TRY(writer.Reserve(1, layers.size(), 0));
  SLUICE_TRY(writer.AddPlain(layers.span()));
  c->notation = writer.notation();
  return Status::kOk;
}

// Layers on all nodes of a mesh. As above: what goes wrong here leaves what stands.
bool FindOnNodes(const Graph& graph, const Hardware& hardware, int64_t capacity,
                 const sluice_schedule_options_t& options, const Candidate& baseline,
                 const TileCoster& coster, Budget* budget, Candidate* out) {
  Arena scratch(out->arena.memory());
  Diagnostic ignored = {};
  NodeProgram plan;
  Status status =
      ScheduleOnNodes(graph, hardware, baseline.lowering, capacity, {}, {}, coster,
                      budget, &out->places, &scratch, &out->program, &plan, &ignored);
  out->lowering = plan.lowering;
  if (status == Status::kOk) status = Complete(graph, hardware, &scratch, out);
  out->report.groups = plan.groups;
  if (status == Status::kOk &&
      PlanCost(options, out->report) < PlanCost(options, baseline.report)) {
    return true;
  }
  out->arena.Rewind(Arena::Mark{});
  return false;
}

// Uses the candidate up: each phase gives back what the next one does not need.
Status WriteAndJudge(const Graph& graph, const Hardware& hardware, int64_t capacity,
                     const sluice_schedule_options_t& options, const Budget& budget,
                     Candidate* c, Arena* arena, Arena* scratch,
                     Span<const uint8_t>* bytes, Diagnostic* diagnostic) {
  if (options.max_block_cycles != 0) {
    const int64_t cycles =
        static_cast<int64_t>(Min<uint64_t>(options.max_block_cycles, INT64_MAX));
    SLUICE_TRY(c->program.CutBlocks(graph, hardware, cycles, scratch));
  }
  Plan plan = {};
  plan.graph_hash = graph.hash;
  plan.hardware_hash = hardware.hash;
  plan.tensors = c->lowering.places;
  plan.notation = c->notation;
  plan.report = c->report;
  plan.report.stop_reason = budget.stop_reason();
  plan.report.iterations = budget.iterations();
  scratch->memory()->EnterPhase(SLUICE_PHASE_EMIT);
  {
    Arena memory(scratch->memory());
    StreamParts parts(&memory);
    SLUICE_TRY(EmitStream(graph, hardware, c->lowering, c->program, c->waits, capacity,
                          scratch, &parts, diagnostic));
    c->arena.Rewind(Arena::Mark{});
    PlanBytes image = {};
    SLUICE_TRY(WritePlan(plan, parts.header.size_bytes, parts.debug_layer.size(), arena,
                         &image, diagnostic));
    WriteStream(parts, image.stream.data());
    for (size_t i = 0; i < image.debug_layer.size(); ++i) {
      image.debug_layer[i] = parts.debug_layer[i];
    }
    *bytes = image.all;
  }
  scratch->memory()->EnterPhase(SLUICE_PHASE_VERIFY);
  return Judge(graph, hardware, *bytes, scratch, diagnostic);
}

}  // namespace

Status MakePlan(const Graph& graph, const Hardware& hardware,
                const sluice_schedule_options_t& options, Arena* arena, Arena* scratch,
                Span<const uint8_t>* bytes, Diagnostic* diagnostic) {
  SLUICE_TRY(CheckOptions(options, diagnostic));
  SLUICE_TRY(CheckMachine(hardware, diagnostic));
  ArenaScope scope(scratch);
  Budget budget(options.deadline_ns, options.max_iterations, options.cancel);
  int64_t capacity = hardware.scratchpad().capacity_bytes;
  if (options.scratchpad_bytes != 0) {
    capacity = static_cast<int64_t>(
        Min<uint64_t>(options.scratchpad_bytes, static_cast<uint64_t>(capacity)));
  }
  Candidate baseline(scratch->memory(), hardware);
  scratch->memory()->EnterPhase(SLUICE_PHASE_LOWER);
  SLUICE_TRY(Lower(graph, hardware, scratch, &baseline.lowering, diagnostic));
  scratch->memory()->EnterPhase(SLUICE_PHASE_SCHEDULE);
  Arena tile_memory(scratch->memory());
  TileCosts costs(graph, hardware, baseline.lowering, options, &tile_memory);
  SLUICE_TRY(costs.Init(diagnostic));
  const TileCoster coster = costs.coster();
  if (options.granularity == SLUICE_GRANULARITY_OPERATOR) {
    Candidate whole(scratch->memory(), hardware);
    Arena memory(scratch->memory());
    SLUICE_TRY(ScheduleOperators(graph, hardware, baseline.lowering, capacity, coster,
                                 &budget, &whole.places, &memory, &whole.program,
                                 &whole.lowering, diagnostic));
    SLUICE_TRY(costs.status(diagnostic));
    SLUICE_TRY(Complete(graph, hardware, scratch, &whole));
    whole.report.groups = whole.report.layers;
    return WriteAndJudge(graph, hardware, capacity, options, budget, &whole, arena,
                         scratch, bytes, diagnostic);
  }
  SLUICE_TRY(ScheduleLayerByLayer(graph, hardware, baseline.lowering, capacity, coster,
                                  &budget, scratch, &baseline.program, diagnostic));
  SLUICE_TRY(costs.status(diagnostic));
  SLUICE_TRY(Complete(graph, hardware, scratch, &baseline));
  baseline.report.groups = baseline.report.layers;
  Candidate fused(scratch->memory(), hardware);
  bool better = false;
  if (baseline.program.nodes() > 1) {
    better = FindOnNodes(graph, hardware, capacity, options, baseline, coster, &budget,
                         &fused);
  } else if (options.solver != SLUICE_SOLVER_BASELINE) {
    better = FindBetter(graph, hardware, capacity, options, baseline, coster, &budget,
                        &fused);
  }
  SLUICE_TRY(costs.status(diagnostic));
  if (better) {
    const Status status = WriteAndJudge(graph, hardware, capacity, options, budget,
                                        &fused, arena, scratch, bytes, diagnostic);
    if (status != Status::kOutOfMemory) return status;
    fused.arena.Rewind(Arena::Mark{});  // the plain plan may still fit
  }
  SLUICE_TRY(NotePlain(baseline.lowering, scratch, &baseline));
  return WriteAndJudge(graph, hardware, capacity, options, budget, &baseline, arena,
                       scratch, bytes, diagnostic);
}

}  // namespace sluice
