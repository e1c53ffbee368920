// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_costs.h"

#include "cli/answers.h"

namespace sluice::cli {

std::vector<sluice_layer_cost_t> LayersOf(const Session& session) {
  sluice_diagnostic_t diagnostic = EmptyDiagnostic();
  sluice_layer_list_t list = {};
  list.struct_size = sizeof list;
  const auto ask = [&] {
    return sluice_plan_layers(session.context(), session.graph(), session.hardware(),
                              session.plan(), &list, &diagnostic);
  };
  const sluice_status_t asked = ask();
  if (asked != SLUICE_BUFFER_TOO_SMALL) session.Check(asked, diagnostic);
  std::vector<sluice_layer_cost_t> costs(list.count);
  if (costs.empty()) return costs;
  list.costs = costs.data();
  list.capacity = list.count;
  session.Check(ask(), diagnostic);
  return costs;
}

sluice_evaluation_t EvaluateNotation(const Session& session,
                                     const sluice_notation_t& notation,
                                     const sluice_schedule_options_t& options,
                                     sluice_evaluation_t evaluation) {
  sluice_diagnostic_t diagnostic = EmptyDiagnostic();
  evaluation.struct_size = sizeof evaluation;
  evaluation.options = &options;
  session.Check(sluice_evaluate(session.context(), session.graph(), session.hardware(),
                                &notation, &evaluation, &diagnostic),
                diagnostic);
  evaluation.options = nullptr;
  return evaluation;
}

std::vector<sluice_curve_point_t> CurveOf(const Session& session,
                                          const sluice_schedule_options_t& options,
                                          uint32_t points) {
  sluice_diagnostic_t diagnostic = EmptyDiagnostic();
  std::vector<sluice_curve_point_t> curve(points);
  sluice_curve_list_t list = {};
  list.struct_size = sizeof list;
  list.count = points;
  list.points = curve.data();
  session.Check(sluice_curve(session.context(), session.graph(), session.hardware(),
                             &options, &list, &diagnostic),
                diagnostic);
  curve.resize(list.count);
  return curve;
}

}  // namespace sluice::cli
