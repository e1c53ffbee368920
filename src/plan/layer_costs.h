// SPDX-License-Identifier: Apache-2.0
// What each layer of a plan costs, beside the least that it costs in any plan.
//
// Input    a plan, with the graph and the machine that it was made for.
// Output   a row per layer: tiles, cycles, bytes, energy, which part takes the most of
//          its time, and its lower bounds.
// Errors   those of Verify, which judges the plan first, unless that is done; kOutOfMemory.
// Cost     Verify or CountVerified, then linear in layers and edges.
#ifndef SLUICE_PLAN_LAYER_COSTS_H_
#define SLUICE_PLAN_LAYER_COSTS_H_

#include "base/memory.h"
#include "model/graph.h"
#include "model/hardware.h"
#include "model/plan.h"
#include "sluice/layers.h"

namespace sluice {

struct PlanOfLayers {
  const Graph& graph;  // as the file has it
  const Hardware& hardware;
  const Plan& plan;
  bool judged = false;  // the plan was accepted for this graph and this machine
};

// rows: one for each layer of the graph.
Status CostLayers(const PlanOfLayers& call, Arena* scratch,
                  Span<sluice_layer_cost_t> rows, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_PLAN_LAYER_COSTS_H_
