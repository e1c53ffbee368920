// SPDX-License-Identifier: Apache-2.0
// A whole program for several nodes: segments of layers, each on its region of the mesh.
//
// Layers of one segment work at the same time, slice of the batch after slice; what one
// makes and another takes goes from node to node and is stored only where a layer outside
// of the segment needs it too. Segments whose buffers do not fit are written layer by
// layer instead, each on all nodes; layers that no deal fits, copies, gathers, appends
// and host calls by the plain plan, on node 0.
//
// Input    graph, hardware, lowering; segments (none: layer by layer), capacity of a
//          node's scratchpad, what tiles cost.
// Output   the program, its lowering (places for what is stored), the segments written.
// Errors   kInfeasible with layer and bytes when a layer fits no node; kStopped,
//          kUnsupported, kOutOfMemory.
// Cost     a few hundred tilings per layer; see node_layer.h.
#ifndef SLUICE_PLAN_MESH_NODE_PROGRAM_H_
#define SLUICE_PLAN_MESH_NODE_PROGRAM_H_

#include "model/segment.h"
#include "plan/mesh/node_layer.h"

namespace sluice {

struct NodeProgram {
  Lowering lowering;
  uint32_t groups = 0;     // segments as written
  uint32_t pipelined = 0;  // of them: several layers at once
};

// places: arena of the lowering's places; program must not allocate from scratch. An
// empty schedule: layer by layer. whole: where layers take turns on a region, what one
// leaves to another is made and sent in one piece per node, if that fits: fewer
// instructions, less overlap.
Status ScheduleOnNodes(const Graph& graph, const Hardware& hardware,
                       const Lowering& lowering, int64_t capacity,
                       const SegmentSchedule& schedule, bool whole,
                       const TileCoster& coster, Budget* budget, Arena* places,
                       Arena* scratch, Program* program, NodeProgram* out,
                       Diagnostic* diagnostic);

// What solve/segments makes of the graph for the options' objective. kUnsupported: some
// layer is not among them, or a state's readers must keep their order.
Status FindSegments(const Graph& graph, const Hardware& hardware,
                    const Lowering& lowering, int64_t capacity,
                    const sluice_schedule_options_t& options, Budget* budget,
                    Arena* arena, SegmentSchedule* schedule, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_PLAN_MESH_NODE_PROGRAM_H_
