// SPDX-License-Identifier: Apache-2.0
// The steps of a program that compute one layer on a region of nodes.
//
// Loads of the next tiles are written before the current tiles compute, where there are
// buffers for both.
//
// Input    a NodeLayer with tiles and addresses
// Output   steps in an order that is right when executed one by one
// Errors   kUnsupported beyond NodeContext::most_steps; kStopped
// Cost     a few boxes per tile and node
#ifndef SLUICE_PLAN_MESH_NODE_STEPS_H_
#define SLUICE_PLAN_MESH_NODE_STEPS_H_

#include "plan/mesh/node_layer.h"

namespace sluice {

// True when the next step may be taken: its operands have been made, and its consumers
// have room for its results.
bool MayStep(const NodeLayer& self);

// The slices that are computed to their end.
int64_t FinishedSlices(const NodeLayer& self);

// Loads the next tile of each node and computes the tile before it.
Status WriteStep(NodeLayer* self);

// Computes what is loaded and not yet computed.
Status WritePending(NodeLayer* self);

// Writes all of the next slice, for layers that drain. Before it the scratchpad holds
// only what has landed.
Status WriteSlice(NodeLayer* self);

}  // namespace sluice

#endif  // SLUICE_PLAN_MESH_NODE_STEPS_H_
