// SPDX-License-Identifier: Apache-2.0
// Estimates of what each layer costs by itself, before its program is written.
//
// Input    graph, hardware, lowering; what tiles cost, asked once per layer.
// Output   per layer that is not a view, in the graph's order: every operand moved once
//          and kMore percent on top; as many steps as plans of the zoo have on average.
// Errors   kStopped when the memory's clock has run out: a tile's cost is a search.
// Cost     constant per layer.
// Source   own; kMore and kSteps measured over the zoo.
#ifndef SLUICE_SOLVE_BASELINE_ESTIMATE_H_
#define SLUICE_SOLVE_BASELINE_ESTIMATE_H_

#include "model/lowering.h"
#include "model/report.h"
#include "model/tile_cost.h"

namespace sluice {

// costs: one for each layer that is not a view.
Status EstimateAlone(const Graph& graph, const Hardware& hardware,
                     const Lowering& lowering, const TileCoster& coster,
                     const Memory& memory, Span<BlockCost> costs);

}  // namespace sluice

#endif  // SLUICE_SOLVE_BASELINE_ESTIMATE_H_
