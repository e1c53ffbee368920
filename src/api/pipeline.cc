// SPDX-License-Identifier: Apache-2.0
#include "api/pipeline.h"

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
  if (options.solver > SLUICE_SOLVER_BASELINE) {
    return Fail(diagnostic, Status::kBadArgument, "options")
        .Text("unknown solver ")
        .Number(options.solver);
  }
  if (options.energy_exponent > 16 || options.delay_exponent > 16) {
    return Fail(diagnostic, Status::kBadArgument, "options")
        .Text("objective exponents must be at most 16");
  }
  return Status::kOk;
}

}  // namespace

Status MakePlan(const Graph& graph, const Hardware& hardware,
                const sluice_schedule_options_t& options, Arena* arena, Arena* scratch,
                Span<const uint8_t>* bytes, Diagnostic* diagnostic) {
  SLUICE_TRY(CheckOptions(options, diagnostic));
  ArenaScope scope(scratch);
  Budget budget(options.deadline_ns, options.max_iterations, options.cancel);
  int64_t capacity = hardware.scratchpad().capacity_bytes;
  if (options.scratchpad_bytes != 0) {
    capacity = static_cast<int64_t>(
        Min<uint64_t>(options.scratchpad_bytes, static_cast<uint64_t>(capacity)));
  }
  Lowering lowering = {};
  SLUICE_TRY(Lower(graph, hardware, scratch, &lowering, diagnostic));
  Program program(scratch);
  SLUICE_TRY(ScheduleLayerByLayer(graph, hardware, lowering, capacity, &budget, scratch,
                                  &program, diagnostic));
  ProgramWaits waits = {};
  int64_t cycles = 0;
  SLUICE_TRY(DeriveWaits(program, scratch, &waits));
  SLUICE_TRY(PredictCycles(graph, hardware, program, waits, scratch, &cycles));

  Plan plan = {};
  plan.graph_hash = graph.hash;
  plan.hardware_hash = hardware.hash;
  plan.tensors = lowering.places;
  SLUICE_TRY(
      FillReport(graph, hardware, lowering, program, cycles, scratch, &plan.report));
  plan.report.groups = plan.report.layers;
  plan.report.stop_reason = budget.stop_reason();
  plan.report.iterations = budget.iterations();
  Arena stream(scratch->memory());
  SLUICE_TRY(EmitStream(graph, hardware, lowering, program, waits, capacity, &stream,
                        scratch, &plan.stream, &plan.debug_layer, diagnostic));
  SLUICE_TRY(WritePlan(plan, arena, bytes, diagnostic));
  return Judge(graph, hardware, *bytes, scratch, diagnostic);
}

}  // namespace sluice
