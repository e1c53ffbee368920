// SPDX-License-Identifier: Apache-2.0
// Explains a plan segment by segment: what was chosen, how long it takes, what limits
// it, and what the plan would cost with the next best change of the segment.
//
// A change is one more or one fewer part of a loop, twice or half as many, a loop more
// or less, the segment divided, or joined with the next one. For each the whole plan is
// made again and judged, so the costs are those of plans that exist.
//
// Input    graph and hardware, their plan, the options that it was made with
// Output   rows; as text and JSON
// Errors   Failure: the plan has no segments
// Cost     a plan for each change; of long networks only the segments that take longest
//          are changed
#ifndef SLUICE_CLI_EXPLAIN_H_
#define SLUICE_CLI_EXPLAIN_H_

#include <string>
#include <vector>

#include "cli/segment_notation.h"
#include "cli/session.h"

namespace sluice::cli {

struct ExplainedSegment {
  NotedSegment segment;
  uint64_t cycles = 0;     // from the end of what came before to its own end
  const char* limit = "";  // what takes these cycles
  std::string change;      // the next best; empty: none was possible, or none was tried
  double ratio = 0;        // cost of the plan with the change, over the plan's
  uint32_t tried = 0;      // changes
};

struct ExplainCall {
  const Bytes& graph;
  const Bytes& hardware;
  const Bytes& plan;
  const sluice_schedule_options_t& options;
  const std::vector<sluice_layer_cost_t>& costs;  // of the plan, by layer
};

std::vector<ExplainedSegment> Explain(const ExplainCall& call);
std::string ExplainedAsText(const std::vector<ExplainedSegment>& rows,
                            const Bytes& graph);
Json ExplainedAsJson(const std::vector<ExplainedSegment>& rows, const Bytes& graph);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_EXPLAIN_H_
