// SPDX-License-Identifier: Apache-2.0
// Programs that are written for their price alone: of steps that are like each other some
// are written, each in a block that counts as often as there are such steps.
//
// Of each loop of a layer's tiles the first step, one in the middle and, if it is smaller,
// the last one are written; of a sum that goes from node to node, its beginning, one step
// of the outermost loop while all nodes are at work, and its end; of slices of layers that
// take turns the first two and the last one. A pipeline of layers is written until it runs
// steadily, for a few slices more, and to its end.
//
// Input    layers with tiles and addresses
// Output   shown loops; NodeContext::weights, if these are wanted
// Errors   kOutOfMemory
// Cost     constant for each block
#ifndef SLUICE_PLAN_MESH_NODE_PRICE_H_
#define SLUICE_PLAN_MESH_NODE_PRICE_H_

#include "plan/mesh/node_layer.h"

namespace sluice {

constexpr int32_t kShownSlices = 3;  // of layers that take turns

// Begins a block that counts `weight` times.
Status BeginWeighted(const NodeContext& context, double weight);

// How many steps like it a shown one stands for.
inline int32_t StandsFor(int32_t step, int32_t shown, int32_t trips) {
  return step == 1 && shown < trips ? trips - shown + 1 : 1;
}

// Before what a layer does at a time.
Status BeginTime(const NodeLayer& self, int64_t time);

// Leaves out what is like other steps of the layer, which has one slice or takes turns.
void ShowSteps(NodeLayer* self);

// Slices of a pipeline that count for others like them, once its last layer has made
// `begin` of them, until it has made `end`; begin 0: none.
struct SteadySlices {
  int32_t begin = 0, end = 0;
  double weight = 1;
};

// Leaves out slices of layers that run beside each other.
SteadySlices ShowSlices(Span<NodeLayer*> layers);

}  // namespace sluice

#endif  // SLUICE_PLAN_MESH_NODE_PRICE_H_
