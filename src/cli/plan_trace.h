// SPDX-License-Identifier: Apache-2.0
// A run as a trace for Perfetto and chrome://tracing.
//
// Input    a plan with its graph and hardware, the events of a run and its result
//          of one run, or of several of the plan
// Output   JSON of the trace-event format. Times are microseconds by the machine's clock, to
//          the nanosecond. A process per node, and one for shared engines; in each a
//          thread per engine; a slice per instruction, named by its layer. Counters:
//          bytes in use of each scratchpad, bytes per cycle of DRAM. An arrow leads
//          from an instruction to one on another engine that waited for it and started
//          when it ended. Of several runs each has processes of its own
// Errors   Failure(kBadInput) when the stream's tables do not hold what they index
// Cost     O(events log events + waits)
// Source   "Trace Event Format", Google, 2016: phases M, X, C, s and f
#ifndef SLUICE_CLI_PLAN_TRACE_H_
#define SLUICE_CLI_PLAN_TRACE_H_

#include <string>
#include <vector>

#include "cli/plan_plot.h"

namespace sluice::cli {

// Events in any order; the name stands before those of the processes, where it is not
// empty.
struct TracedRun {
  std::string name;
  std::vector<sluice_sim::TraceEvent> events;
};

// Without counters and arrows where the run did not end well.
std::string TraceOf(const PlanFiles& files, std::vector<TracedRun> runs,
                    const sluice_sim::SimulateResult& result);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_PLAN_TRACE_H_
