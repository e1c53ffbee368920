// SPDX-License-Identifier: Apache-2.0
// A whole program for several nodes: segments of layers, each on its region of the
// mesh.
//
// Layers of one segment work at the same time, slice of the batch after slice; a tensor
// that one layer makes and another reads goes from node to node, and is stored only if
// a layer outside of the segment needs it too. Of segments whose buffers do not fit,
// layers that take turns are written in as large parts as fit, others layer by layer,
// each on all nodes; layers that cannot be dealt out,
// copies, gathers, appends and host calls run as in the plain plan, on node 0.
//
// Input    graph, hardware, lowering; segments (none: layer by layer), capacity of a
//          node's scratchpad, what tiles cost.
// Output   the program, its lowering (places for what is stored), the segments written.
// Errors   kInfeasible with layer and bytes when a layer fits no node; kStopped,
//          kUnsupported, kOutOfMemory.
// Cost     a few hundred tilings per layer; see node_layer.h.
#ifndef SLUICE_PLAN_MESH_NODE_PROGRAM_H_
#define SLUICE_PLAN_MESH_NODE_PROGRAM_H_

#include "plan/mesh/node_groups.h"

namespace sluice {

struct NodeProgram {
  Lowering lowering;
  uint32_t groups = 0;     // segments as written
  uint32_t pipelined = 0;  // of them: several layers at once
};

Status ScheduleOnNodes(const NodeCall& call, Program* program, NodeProgram* out,
                       Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_PLAN_MESH_NODE_PROGRAM_H_
