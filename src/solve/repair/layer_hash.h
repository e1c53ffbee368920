// SPDX-License-Identifier: Apache-2.0
// Hashes a layer, to find it again in an edited graph.
//
// Input    graph.
// Output   two hashes per layer. kind: its operator and arity; shape: that, and its
//          attributes, shapes, types and the operators it reads from.
// Errors   kOutOfMemory.
// Cost     O(layers + operands), some 100 bytes hashed per layer.
#ifndef SLUICE_SOLVE_REPAIR_LAYER_HASH_H_
#define SLUICE_SOLVE_REPAIR_LAYER_HASH_H_

#include "base/memory.h"
#include "model/plan.h"

namespace sluice {

Status HashLayers(const Graph& graph, Arena* arena, Span<PlanLayerHash>* hashes);

}  // namespace sluice

#endif  // SLUICE_SOLVE_REPAIR_LAYER_HASH_H_
