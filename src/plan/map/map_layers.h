// SPDX-License-Identifier: Apache-2.0
// Loop nests for layers of a graph, each distinct layer once.
//
// Input    graph, hardware, which layers, solver and limits as the caller gave them
// Output   for each layer its problem, nest, costs and status; same_as names the
//          earlier layer with the same loops that the answer was taken from
// Errors   kBadArgument for options or tiles; with one layer its own failure; kStopped
//          and kOutOfMemory: mappings before that one are complete, the others are zero
// Cost     one call of the chosen mapper for each distinct layer
#ifndef SLUICE_PLAN_MAP_MAP_LAYERS_H_
#define SLUICE_PLAN_MAP_MAP_LAYERS_H_

#include "base/memory.h"
#include "model/graph.h"
#include "model/hardware.h"
#include "sluice/experimental.h"

namespace sluice {

struct LayerMapCall {
  const Graph& graph;
  const Hardware& hardware;
  Span<const uint32_t> layers;
  const sluice_map_options_t& options;
};

// *mappings: as many as layers, allocated from `arena`.
Status MapGraphLayers(const LayerMapCall& call, Arena* arena,
                      Span<sluice_layer_mapping_t>* mappings, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_PLAN_MAP_MAP_LAYERS_H_
