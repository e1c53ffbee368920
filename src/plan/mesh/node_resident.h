// SPDX-License-Identifier: Apache-2.0
// Layers that take turns on a region, each node with one tile per slice, while constants
// stay on the nodes.
//
// All loads of the first slice are written first, in the order of the layers; those of
// the next slice follow the tile that has used the buffers. So DRAM works ahead of the
// nodes by up to a slice.
//
// Input    connected layers on one region (NodeRun)
// Output   addresses of their buffers; steps in the schedule's program
// Errors   kInfeasible when the buffers do not fit; those of WriteStep
// Cost     O(buffers^2) to place them; see node_steps.h
#ifndef SLUICE_PLAN_MESH_NODE_RESIDENT_H_
#define SLUICE_PLAN_MESH_NODE_RESIDENT_H_

#include "plan/mesh/node_groups.h"

namespace sluice {

// Buffers that give time to transfers get as much room as there is: outputs that are
// stored, then inputs that come from DRAM.
Status ArrangeResident(NodeSchedule* self, Span<NodeLayer*> layers);

Status TakeTurnsAhead(NodeSchedule* self, Span<NodeLayer*> layers, int32_t slices);

}  // namespace sluice

#endif  // SLUICE_PLAN_MESH_NODE_RESIDENT_H_
