// SPDX-License-Identifier: Apache-2.0
// The time, the buffer profile and the energy of schedules that the caller gives.
#include "api/arguments.h"
#include "api/create.h"
#include "api/objects.h"
#include "plan/evaluate/evaluate_notation.h"
#include "sluice/experimental.h"

sluice_status_t sluice_evaluate(sluice_context_t* context, const sluice_graph_t* graph,
                                const sluice_hardware_t* hardware,
                                const sluice_notation_t* notation,
                                sluice_evaluation_t* evaluation,
                                sluice_diagnostic_t* diagnostic) {
  sluice::CallReport report(diagnostic);
  sluice_notation_t own;
  sluice_schedule_options_t chosen;
  sluice_evaluation_t out;
  if (context == nullptr || graph == nullptr || hardware == nullptr ||
      notation == nullptr || evaluation == nullptr ||
      !sluice::ReadStruct(notation, &own) || !sluice::ReadStruct(evaluation, &out) ||
      !sluice::ReadStruct(out.options, &chosen)) {
    return report.BadArgument(
        "context, graph, hardware, notation and evaluation must not be null, structs "
        "of a known version");
  }
  const sluice::ContextUse use(context);
  if (!use.entered()) return report.InUse();
  sluice::Arena arena(&context->memory);
  const sluice::Status status = sluice::EvaluateNotation(
      {graph->graph, hardware->hardware, own, chosen}, &arena, &out, report.get());
  if (status == sluice::Status::kOk || status == sluice::Status::kRejected) {
    (void)sluice::WriteStruct(out, evaluation);
  }
  return report.Done(status);
}

sluice_status_t sluice_evaluate_timed(sluice_context_t* context,
                                      const sluice_timed_schedule_t* schedule,
                                      sluice_evaluation_t* evaluation,
                                      sluice_diagnostic_t* diagnostic) {
  sluice::CallReport report(diagnostic);
  sluice_timed_schedule_t own;
  sluice_evaluation_t out;
  if (context == nullptr || schedule == nullptr || evaluation == nullptr ||
      !sluice::ReadStruct(schedule, &own) || !sluice::ReadStruct(evaluation, &out)) {
    return report.BadArgument(
        "context, schedule and evaluation must not be null, structs of a known "
        "version");
  }
  const sluice::ContextUse use(context);
  if (!use.entered()) return report.InUse();
  sluice::Arena arena(&context->memory);
  const sluice::Status status =
      sluice::EvaluateTimedSchedule(own, &arena, &out, report.get());
  if (status == sluice::Status::kOk || status == sluice::Status::kRejected) {
    (void)sluice::WriteStruct(out, evaluation);
  }
  return report.Done(status);
}
