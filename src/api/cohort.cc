// SPDX-License-Identifier: Apache-2.0
// Several models in one scratchpad: cohorts, their members and turns, preemption
// points.
#include "api/arguments.h"
#include "api/create.h"
#include "api/objects.h"
#include "base/checked.h"
#include "plan/deadline.h"
#include "plan/together/coschedule.h"
#include "plan/together/preemption.h"
#include "verify/together.h"

struct sluice_cohort {
  explicit sluice_cohort(sluice::Memory* memory) : arena(memory) {}
  ~sluice_cohort() {
    for (sluice_plan_t* plan : plans) sluice_plan_destroy(plan);
  }
  sluice::Arena arena;
  sluice::Cohort cohort;
  sluice_plan_t* plans[SLUICE_MODELS_MAX] = {};
};

namespace sluice {
namespace {

constexpr uint32_t kMostPoints = 256;

bool HasGraphs(const sluice_model_t* models, uint32_t n) {
  for (uint32_t m = 0; m < n; ++m) {
    if (models[m].graph == nullptr || models[m].reserved != 0) return false;
  }
  return true;
}

// Creates an empty plan object for each model.
Status CreatePlans(sluice_context_t* context, uint32_t n, sluice_cohort_t* out,
                   MemberPlan plans[SLUICE_MODELS_MAX]) {
  for (uint32_t m = 0; m < n; ++m) {
    sluice_plan_t* plan = Create<sluice_plan_t>(context);
    if (plan == nullptr) return Status::kOutOfMemory;
    out->plans[m] = plan;
    out->cohort.members[m].plan = plan;
    plans[m] = MemberPlan{&plan->arena, &plan->bytes, &plan->plan};
  }
  return Status::kOk;
}

Status ScheduleCohort(sluice_context_t* context, const Hardware& hardware,
                      const sluice_coschedule_options_t& options, sluice_cohort_t* out,
                      Diagnostic* diagnostic) {
  const uint32_t n = options.model_count;
  const Span<const sluice_model_t> models(options.models, n);
  const Graph* graphs[SLUICE_MODELS_MAX];
  for (uint32_t m = 0; m < n; ++m) graphs[m] = &models[m].graph->graph;
  MemberPlan plans[SLUICE_MODELS_MAX];
  SLUICE_TRY(CreatePlans(context, n, out, plans));
  Arena arena(&context->memory);
  Arena scratch(&context->memory);
  CohortProblem problem = {
      hardware,
      Span<const Graph* const>(graphs, n),
      models,
      options,
      &arena,
      &scratch,
      diagnostic,
      TimeForCohort(context->memory.time(), options.deadline_ns, options.cancel),
      hardware.scratchpad().capacity_bytes,
      0,
      {},
      0,
      0};
  if (options.scratchpad_bytes != 0) {
    problem.capacity = static_cast<int64_t>(
        Min(options.scratchpad_bytes, static_cast<uint64_t>(problem.capacity)));
  }
  return CoSchedule(&problem, &out->arena, Span<const MemberPlan>(plans, n),
                    &out->cohort);
}

}  // namespace
}  // namespace sluice

sluice_status_t sluice_coschedule(sluice_context_t* context,
                                  const sluice_hardware_t* hardware,
                                  const sluice_coschedule_options_t* options,
                                  sluice_cohort_t** out_cohort,
                                  sluice_diagnostic_t* diagnostic) {
  sluice::CallReport report(diagnostic);
  sluice_coschedule_options_t own;
  if (out_cohort != nullptr) *out_cohort = nullptr;
  if (context == nullptr || hardware == nullptr || out_cohort == nullptr ||
      !sluice::ReadStruct(options, &own) || own.models == nullptr ||
      own.model_count < 1 || own.model_count > SLUICE_MODELS_MAX ||
      !sluice::HasGraphs(own.models, own.model_count) ||
      own.share > SLUICE_SHARE_TIME || own.points > sluice::kMostPoints) {
    return report.BadArgument(
        "context, hardware, options, models and their graphs must not be null, models "
        "1 to 8, options of a known version, reserved fields 0, points at most 256");
  }
  const sluice::ContextUse use(context);
  if (!use.entered()) return report.InUse();
  return report.Done(sluice::Make(context, out_cohort, [&](sluice_cohort_t* cohort) {
    return sluice::ScheduleCohort(context, hardware->hardware, own, cohort,
                                  report.get());
  }));
}

void sluice_cohort_destroy(sluice_cohort_t* cohort) { sluice::Destroy(cohort); }

sluice_status_t sluice_cohort_report(const sluice_cohort_t* cohort,
                                     sluice_cohort_summary_t* out_summary) {
  return cohort == nullptr ? SLUICE_BAD_ARGUMENT
                           : sluice::WriteStruct(cohort->cohort.summary, out_summary);
}

sluice_status_t sluice_cohort_member(const sluice_cohort_t* cohort, uint32_t model,
                                     sluice_member_t* out_member) {
  return cohort == nullptr || model >= cohort->cohort.summary.models
             ? SLUICE_BAD_ARGUMENT
             : sluice::WriteStruct(cohort->cohort.members[model], out_member);
}

sluice_status_t sluice_cohort_turns(const sluice_cohort_t* cohort,
                                    const sluice_turn_t** out_turns,
                                    uint32_t* out_count) {
  if (cohort == nullptr || out_turns == nullptr || out_count == nullptr) {
    return SLUICE_BAD_ARGUMENT;
  }
  *out_turns = cohort->cohort.turns.data();
  *out_count = static_cast<uint32_t>(cohort->cohort.turns.size());
  return SLUICE_OK;
}

sluice_status_t sluice_preemption_points(sluice_context_t* context,
                                         const sluice_graph_t* graph,
                                         const sluice_hardware_t* hardware,
                                         const sluice_plan_t* plan,
                                         sluice_preemption_list_t* list,
                                         sluice_diagnostic_t* diagnostic) {
  sluice::CallReport report(diagnostic);
  sluice_preemption_list_t out;
  if (context == nullptr || graph == nullptr || hardware == nullptr ||
      plan == nullptr || list == nullptr || !sluice::ReadStruct(list, &out)) {
    return report.BadArgument(
        "context, graph, hardware, plan and list must not be null, the list of a known "
        "version");
  }
  const sluice::ContextUse use(context);
  if (!use.entered()) return report.InUse();
  sluice::Arena scratch(&context->memory);
  const sluice::Status status =
      sluice::FindPreemptionPoints({graph->graph, hardware->hardware, plan->plan},
                                   &scratch, out.points, &out.count, report.get());
  (void)sluice::WriteStruct(out, list);
  return report.Done(status);
}

sluice_status_t sluice_verify_together(sluice_context_t* context,
                                       const sluice_hardware_t* hardware,
                                       const sluice_turn_list_t* list,
                                       sluice_diagnostic_t* diagnostic) {
  sluice::CallReport report(diagnostic);
  sluice_turn_list_t in;
  bool good = context != nullptr && hardware != nullptr &&
              sluice::ReadStruct(list, &in) && in.graphs != nullptr &&
              in.plans != nullptr && in.model_count >= 1 &&
              in.model_count <= SLUICE_MODELS_MAX &&
              (in.turns != nullptr || in.turn_count == 0);
  sluice::JudgedStream streams[SLUICE_MODELS_MAX];
  for (uint32_t m = 0; good && m < in.model_count; ++m) {
    good = in.graphs[m] != nullptr && in.plans[m] != nullptr;
    if (good) streams[m] = {&in.graphs[m]->graph, &in.plans[m]->plan};
  }
  if (!good) {
    return report.BadArgument(
        "context, hardware, list, its graphs, plans and turns must not be null, models "
        "1 to 8, the list of a known version");
  }
  const sluice::ContextUse use(context);
  if (!use.entered()) return report.InUse();
  sluice::Arena scratch(&context->memory);
  return report.Done(sluice::VerifyTogether(
      sluice::Span<const sluice::JudgedStream>(streams, in.model_count),
      hardware->hardware, sluice::Span<const sluice_turn_t>(in.turns, in.turn_count),
      &scratch, report.get()));
}
