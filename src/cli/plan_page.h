// SPDX-License-Identifier: Apache-2.0
// A plan, or two side by side, as one self-contained HTML file.
//
// Input    plans with their graphs and hardware
// Output   HTML text: the same bytes for the same plans; data as JSON inside, which
//          src/cli/page/plan.html draws
// Errors   those of plan_plot.h and of the judge
// Cost     a run in the simulator; the page has at most about 20,000 bars of each engine
#ifndef SLUICE_CLI_PLAN_PAGE_H_
#define SLUICE_CLI_PLAN_PAGE_H_

#include <string>
#include <vector>

#include "cli/plan_plot.h"

namespace sluice::cli {

std::string PlanPage(const std::vector<PlanFiles>& plans);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_PLAN_PAGE_H_
