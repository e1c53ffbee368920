// SPDX-License-Identifier: Apache-2.0
#include "plan/best_plan.h"

#include <string.h>

#include "base/checked.h"
#include "emit/emit.h"
#include "io/read.h"
#include "plan/objective.h"
#include "plan/plain_plan.h"
#include "solve/repair/layer_hash.h"
#include "verify/verify.h"

namespace sluice {
namespace {

// Verifies the bytes that the caller gets.
Status Judge(const PlanCall& call, Span<const uint8_t> bytes) {
  ArenaScope scope(call.scratch);
  Plan plan = {};
  VerifiedCounts counts = {};
  Status status =
      ReadPlan(bytes.data(), bytes.size(), call.scratch, &plan, call.diagnostic);
  if (status == Status::kOk) {
    status = Verify(call.request.graph, call.hardware, plan, call.scratch, &counts,
                    call.diagnostic);
  }
  // kUnsupported: the judge reached its own limit of work and could not decide.
  if (status == Status::kOk || status == Status::kOutOfMemory ||
      status == Status::kStopped || status == Status::kUnsupported) {
    return status;
  }
  call.diagnostic->status = SLUICE_INTERNAL;
  return Status::kInternal;
}

// Makes this plan the best one so far.
void Hold(PlanCall* call, const PlanBytes& image, Arena* written,
          const sluice_report_t& report) {
  call->arena->Swap(written);
  call->best = image;
  call->best_cost = PlanCost(call->options, report);
  call->proved = IsProved(call->options, report);
  call->progress->Reach(call->best_cost);
}

Status CutLongBlocks(const PlanCall& call, Program* program) {
  if (call.options.max_block_cycles == 0) return Status::kOk;
  const int64_t cycles =
      static_cast<int64_t>(Min<uint64_t>(call.options.max_block_cycles, INT64_MAX));
  return CutBlocks(call.graph, call.hardware, cycles, call.scratch, program);
}

// Writes the plan's bytes into `written`.
Status Write(PlanCall* call, Candidate* c, Arena* written, PlanBytes* image) {
  Plan plan = {};
  plan.graph_hash = call->graph.hash;
  plan.hardware_hash = call->hardware.hash;
  plan.tensors = c->lowering.places;
  plan.notation = c->notation;
  plan.layer_hash = call->hashes;
  plan.report = c->report;
  plan.certificate = call->bound.certificate;
  Arena memory(call->scratch->memory());
  StreamParts parts(&memory);
  if (call->minimise) parts.before = call->before->stream;
  SLUICE_TRY(EmitStream(
      {call->graph, call->hardware, c->lowering, c->program, c->waits, call->capacity},
      call->scratch, &parts, call->diagnostic));
  c->arena.Rewind(Arena::Mark{});
  SLUICE_TRY(WritePlan(plan, parts.header.size_bytes, parts.debug_layer.size(), written,
                       image, call->diagnostic));
  SLUICE_TRY(WriteStream(parts, image->stream.data()));
  for (size_t i = 0; i < image->debug_layer.size(); ++i) {
    image->debug_layer[i] = parts.debug_layer[i];
  }
  return Status::kOk;
}

}  // namespace

Status TakePlan(PlanCall* call, Candidate* candidate) {
  const sluice_report_t& r = candidate->report;
  if (call->options.tile_bound != nullptr &&
      (r.bound_latency_cycles > r.latency_cycles || r.bound_energy_pj > r.energy_pj)) {
    return Fail(call->diagnostic, Status::kBadArgument, "options")
        .Text("tile_bound: there is a plan that takes less");
  }
  if (call->hashes.empty()) {
    SLUICE_TRY(HashLayers(call->graph, call->scratch, &call->hashes));
  }
  SLUICE_TRY(CutLongBlocks(*call, &candidate->program));
  call->EnterPhase(SLUICE_PHASE_EMIT);
  Arena written(call->scratch->memory());
  PlanBytes image = {};
  SLUICE_TRY(Write(call, candidate, &written, &image));
  call->EnterPhase(SLUICE_PHASE_VERIFY);
  SLUICE_TRY(Judge(*call, image.all));
  Hold(call, image, &written, candidate->report);
  return Status::kOk;
}

Status TakePlain(PlanCall* call) {
  Candidate* plain = &call->plain;
  SLUICE_TRY(NotePlain(plain->lowering, &plain->places, &plain->notation));
  SLUICE_TRY(TakePlan(call, plain));
  call->EnterPhase(SLUICE_PHASE_SCHEDULE);
  return Status::kOk;
}

Status TakeWhole(PlanCall* call, const Plan& plan) {
  {
    ArenaScope scope(call->scratch);
    VerifiedCounts counts = {};
    SLUICE_TRY(Verify(call->request.graph, call->hardware, plan, call->scratch, &counts,
                      call->diagnostic));
  }
  if (plan.report.peak_buffer_bytes > static_cast<uint64_t>(call->capacity) ||
      call->options.max_block_cycles != 0) {
    return Status::kOk;
  }
  Arena written(call->scratch->memory());
  PlanBytes image = {};
  SLUICE_TRY(WritePlan(plan, plan.stream.size(), plan.debug_layer.size(), &written,
                       &image, call->diagnostic));
  memcpy(image.stream.data(), plan.stream.data(), plan.stream.size());
  for (size_t i = 0; i < image.debug_layer.size(); ++i) {
    image.debug_layer[i] = plan.debug_layer[i];
  }
  Hold(call, image, &written, plan.report);
  return Status::kOk;
}

}  // namespace sluice
