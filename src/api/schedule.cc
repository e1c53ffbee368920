// SPDX-License-Identifier: Apache-2.0
// Scheduling and rescheduling one graph, and the memory that a schedule takes.
#include "api/arguments.h"
#include "api/create.h"
#include "api/objects.h"
#include "io/read.h"
#include "plan/check_options.h"
#include "plan/compare_streams.h"
#include "plan/memory_bound.h"
#include "plan/pipeline.h"

namespace sluice {
namespace {

// The plan to resume from lies in a C object that the planner does not know.
PlanRequest RequestOf(const sluice_graph_t& graph, const sluice_hardware_t& hardware,
                      const sluice_schedule_options_t& options) {
  PlanRequest request = {graph.graph, hardware.hardware, options};
  if (options.resume != nullptr) {
    request.resume = &options.resume->plan;
    request.resume_bytes = options.resume->bytes.size();
  }
  return request;
}

// One call of sluice_schedule, or of sluice_reschedule if `before` is set.
struct ScheduleCall {
  const sluice_graph_t& graph;
  const sluice_hardware_t& hardware;
  const sluice_schedule_options_t& options;
  const sluice_plan_t* before = nullptr;
  bool minimise_changes = false;
  sluice_change_t* change = nullptr;
};

Status ScheduleInto(sluice_context_t* context, const ScheduleCall& call,
                    sluice_plan_t* plan, Diagnostic* diagnostic) {
  Memory* memory = &context->memory;
  Arena scratch(memory);
  PlanRequest request = RequestOf(call.graph, call.hardware, call.options);
  if (call.before != nullptr) request.before = &call.before->plan;
  request.minimise_changes = call.minimise_changes;
  SLUICE_TRY(
      MakePlan(request, &plan->arena, &scratch, &plan->bytes, call.change, diagnostic));
  SLUICE_TRY(ReadPlan(plan->bytes.data(), plan->bytes.size(), &plan->arena, &plan->plan,
                      diagnostic));
  plan->judged = true;
  plan->plan.report.missing_components = MissingComponents(call.hardware.hardware);
  uint64_t* peaks = plan->plan.report.phase_peak_bytes;
  for (uint32_t p = 0; p < SLUICE_PHASE_COUNT; ++p) {
    peaks[p] = memory->phase_peak_bytes(p);
  }
  peaks[SLUICE_PHASE_READ] = call.graph.read_peak_bytes > call.hardware.read_peak_bytes
                                 ? call.graph.read_peak_bytes
                                 : call.hardware.read_peak_bytes;
  if (call.before != nullptr) {
    CompareStreams(call.before->plan, plan->plan, call.change);
  }
  return Status::kOk;
}

}  // namespace
}  // namespace sluice

sluice_status_t sluice_schedule(sluice_context_t* context, const sluice_graph_t* graph,
                                const sluice_hardware_t* hardware,
                                const sluice_schedule_options_t* options,
                                sluice_plan_t** out_plan,
                                sluice_diagnostic_t* diagnostic) {
  sluice_schedule_options_t own;
  if (graph == nullptr || hardware == nullptr || !sluice::ReadStruct(options, &own)) {
    if (out_plan != nullptr) *out_plan = nullptr;
    return sluice::CallReport(diagnostic)
        .BadArgument(
            "graph and hardware must not be null, options must be of a known version");
  }
  return sluice::CreateFrom(
      context, graph, out_plan, diagnostic,
      [&](sluice_plan_t* plan, sluice::Diagnostic* d) {
        return sluice::ScheduleInto(context, {*graph, *hardware, own}, plan, d);
      });
}

sluice_status_t sluice_reschedule(sluice_context_t* context,
                                  const sluice_graph_t* graph,
                                  const sluice_hardware_t* hardware,
                                  const sluice_reschedule_options_t* options,
                                  sluice_plan_t** out_plan,
                                  sluice_diagnostic_t* diagnostic) {
  sluice_reschedule_options_t own;
  sluice_schedule_options_t schedule;
  sluice_change_t change = {};
  change.struct_size = sizeof change;
  if (graph == nullptr || hardware == nullptr || !sluice::ReadStruct(options, &own) ||
      own.previous == nullptr || !sluice::ReadStruct(own.schedule, &schedule)) {
    if (out_plan != nullptr) *out_plan = nullptr;
    return sluice::CallReport(diagnostic)
        .BadArgument(
            "graph, hardware, options and the previous plan must not be null, options "
            "must be of a known version");
  }
  const sluice_status_t status = sluice::CreateFrom(
      context, graph, out_plan, diagnostic,
      [&](sluice_plan_t* plan, sluice::Diagnostic* d) {
        const sluice::ScheduleCall call = {
            *graph, *hardware, schedule, own.previous, own.minimise_changes != 0,
            &change};
        return sluice::ScheduleInto(context, call, plan, d);
      });
  if (own.change != nullptr) (void)sluice::WriteStruct(change, own.change);
  return status;
}

sluice_status_t sluice_schedule_memory_bound(sluice_context_t* context,
                                             const sluice_graph_t* graph,
                                             const sluice_hardware_t* hardware,
                                             const sluice_schedule_options_t* options,
                                             uint64_t* out_bytes,
                                             sluice_diagnostic_t* diagnostic) {
  sluice::CallReport report(diagnostic);
  sluice_schedule_options_t own;
  if (context == nullptr || graph == nullptr || hardware == nullptr ||
      out_bytes == nullptr || !sluice::ReadStruct(options, &own)) {
    return report.BadArgument(
        "context, graph, hardware and out_bytes must not be null, options must be of a "
        "known version");
  }
  const sluice::ContextUse use(context);
  if (!use.entered()) return report.InUse();
  sluice::Arena scratch(&context->memory);
  return report.Done(sluice::BoundMemory(sluice::RequestOf(*graph, *hardware, own),
                                         &scratch, out_bytes, report.get()));
}
