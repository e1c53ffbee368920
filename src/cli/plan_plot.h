// SPDX-License-Identifier: Apache-2.0
// Runs a plan in the simulator and collects the rows, scratchpads and names of its
// pictures.
//
// Input    bytes of a plan and of its graph and hardware
// Errors   Failure: kRejected when the simulator says no, kBadInput for damaged bytes
#ifndef SLUICE_CLI_PLAN_PLOT_H_
#define SLUICE_CLI_PLAN_PLOT_H_

#include <string>
#include <vector>

#include "cli/plan_files.h"
#include "cli/plot.h"
#include "cli/plot_buffer.h"
#include "firmware-sim/sim.h"

namespace sluice::cli {

struct ExecutedPlan {
  std::vector<sluice_sim::TraceEvent> events;  // by start, then engine
  sluice_sim::SimulateResult result;
  BufferHistory history;
};

// `contended`, where it is not nullptr, gets the events of a second run, with busy links.
ExecutedPlan ExecutePlan(const PlanFiles& files,
                         std::vector<sluice_sim::TraceEvent>* contended = nullptr);

// Everything of a plot but its view: rows, scratchpads, names, title.
Plot PlotOf(const PlanFiles& files, const ExecutedPlan& run);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_PLAN_PLOT_H_
