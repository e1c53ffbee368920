// SPDX-License-Identifier: Apache-2.0
// Layers of a graph as segments on a mesh of nodes.
#include "api/arguments.h"
#include "api/create.h"
#include "api/objects.h"
#include "plan/mesh/segment_answer.h"
#include "sluice/experimental.h"

sluice_status_t sluice_segments(sluice_context_t* context, const sluice_graph_t* graph,
                                const sluice_hardware_t* hardware,
                                const sluice_segment_options_t* options,
                                sluice_segment_schedule_t* schedule,
                                sluice_diagnostic_t* diagnostic) {
  sluice::CallReport report(diagnostic);
  sluice_segment_options_t own;
  sluice_segment_schedule_t out;
  if (context == nullptr || graph == nullptr || hardware == nullptr ||
      schedule == nullptr || !sluice::ReadStruct(schedule, &out) ||
      !sluice::ReadStruct(options, &own)) {
    return report.BadArgument(
        "context, graph, hardware and schedule must not be null, structs of a known "
        "version");
  }
  const sluice::ContextUse use(context);
  if (!use.entered()) return report.InUse();
  sluice::Arena arena(&context->memory);
  const sluice::Status status = sluice::ScheduleSegments(
      {graph->graph, hardware->hardware, own}, &arena, &out, report.get());
  if (status != sluice::Status::kOk) return report.Done(status);
  return report.Done(static_cast<sluice::Status>(sluice::WriteStruct(out, schedule)));
}
