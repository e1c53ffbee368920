// SPDX-License-Identifier: Apache-2.0
// Layers on several nodes at the same time: where their buffers lie, and their steps.
//
// Landing buffers lie at the upper end of the scratchpads, all others at the lower end.
// Layers on one region take turns, slice after slice; others run as soon as they can.
//
// Input    a group of a NodeSchedule
// Output   steps in the schedule's program; or only whether the group fits
// Errors   kInfeasible when the layers do not fit beside each other; kStopped,
//          kUnsupported, kOutOfMemory; kInternal when no layer can take its next step
// Cost     see node_fit.h and node_steps.h
#ifndef SLUICE_PLAN_MESH_NODE_TOGETHER_H_
#define SLUICE_PLAN_MESH_NODE_TOGETHER_H_

#include "plan/mesh/node_groups.h"

namespace sluice {

// The layers of a segment. write false: only whether they fit.
Status WriteTogether(NodeSchedule* self, const NodeGroup& group, bool write);

// Writes layers that are fitted, or what shows their price; each takes its next step as
// soon as it can.
Status Interleave(NodeSchedule* self, Span<NodeLayer*> layers);

}  // namespace sluice

#endif  // SLUICE_PLAN_MESH_NODE_TOGETHER_H_
