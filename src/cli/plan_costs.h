// SPDX-License-Identifier: Apache-2.0
// What a session's plan costs, and what other plans of its graph would.
#ifndef SLUICE_CLI_PLAN_COSTS_H_
#define SLUICE_CLI_PLAN_COSTS_H_

#include <vector>

#include "cli/session.h"

namespace sluice::cli {

// By layer, of the session's plan.
std::vector<sluice_layer_cost_t> LayersOf(const Session& session);
// Fills the arrays of `evaluation`, if it has any.
sluice_evaluation_t EvaluateNotation(const Session& session,
                                     const sluice_notation_t& notation,
                                     const sluice_schedule_options_t& options,
                                     sluice_evaluation_t evaluation);
std::vector<sluice_curve_point_t> CurveOf(const Session& session,
                                          const sluice_schedule_options_t& options,
                                          uint32_t points);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_PLAN_COSTS_H_
