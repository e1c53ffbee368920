// SPDX-License-Identifier: Apache-2.0
// The layers of a plan as a table, and a sentence on what causes the plan's gap to its
// bound.
//
// Input    rows of sluice_plan_layers, the plan's report, the graph's bytes for names
// Output   CSV with a line of headings, the same as JSON; text
// Errors   none
#ifndef SLUICE_CLI_LAYER_TABLE_H_
#define SLUICE_CLI_LAYER_TABLE_H_

#include <string>
#include <vector>

#include "cli/failure.h"
#include "cli/files.h"
#include "cli/hardware_files.h"
#include "sluice/experimental.h"

namespace sluice::cli {

struct LayerTable {
  const Bytes& graph;
  const HardwareFacts& hardware;
  const sluice_report_t& report;
  uint32_t nodes;
  bool of_energy, of_latency;  // what the objective counts
  std::vector<sluice_layer_cost_t> rows;
  std::vector<uint32_t> segments;  // SegmentOfLayers
};

// Leaves out views: layers that take no time because their output is a part of another
// tensor.
Json LayersAsJson(const LayerTable& table);
std::string LayersAsCsv(const LayerTable& table);

// Whether GapSentence says more with the rows than without: not where the plan is at its
// bounds.
bool GapNeedsRows(const LayerTable& table);
// Names what keeps the plan above those of its bounds that the objective counts, and the
// layer with the largest share.
std::string GapSentence(const LayerTable& table);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_LAYER_TABLE_H_
