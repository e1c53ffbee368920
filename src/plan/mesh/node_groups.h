// SPDX-License-Identifier: Apache-2.0
// Which layers of a program for several nodes are written together.
//
// Layers of one group work at the same time, each on its region of the mesh. A group of
// one layer works by itself.
//
// Input    graph, lowering, the order of layers, segments
// Output   groups; what has to be stored because another group reads it
// Errors   kOutOfMemory
// Cost     linear in the layers and their inputs for each question
#ifndef SLUICE_PLAN_MESH_NODE_GROUPS_H_
#define SLUICE_PLAN_MESH_NODE_GROUPS_H_

#include "model/segment.h"
#include "plan/mesh/node_layer.h"

namespace sluice {

// Layers next to each other in the order that take turns, slice after slice, all dealt
// out alike over a region: each node computes its part of a slice in one tile, and what
// layers send to each other comes mostly from the node itself or from its neighbours.
// Constants stay on the nodes.
struct NodeRun {
  uint32_t first, layers;  // in NodeSchedule::order
  int32_t slices;
  NodeRegion region;
  NodeDeal deal;  // of every layer, as far as it can be divided
};

struct NodeGroup {
  uint32_t first;  // in NodeSchedule::order
  uint32_t layers;
  const Segment* segment;  // nullptr: a layer without one, or a run
  const NodeRun* run = nullptr;
};

// How a layer is to be written; of layers of one segment the first one's way counts.
struct LayerWay {
  bool together;                 // as its segment says, else by itself
  bool whole;                    // NodeCall::whole
  NodeRegion nodes;              // by itself
  const NodeRun* run = nullptr;  // which begins with this layer
};

// What is known of a layer by itself on the nodes of a call whose `weights` are wanted.
struct LayerTry {
  uint32_t alike;  // the first layer that costs the same; others are not written
  bool made;       // in an earlier call on these nodes, so that the rest is known
  bool same;       // out: again with these tiles, so that it is not written
  NodeDeal deal;
  Tiling tiling;
};

// What ScheduleOnNodes is asked for.
struct NodeCall {
  const Graph& graph;
  const Hardware& hardware;
  const Lowering& lowering;
  int64_t capacity;                 // of a node's scratchpad
  const SegmentSchedule& schedule;  // empty: layer by layer
  NodeRegion nodes;                 // of layers by themselves
  // Layers that take turns on a region make and send their outputs to each other in one
  // piece per node, if that fits: fewer instructions, less overlap.
  bool whole;
  const TileCoster& coster;
  Budget* budget;
  Arena* places;   // of the new lowering's places
  Arena* scratch;  // the program must not allocate from it
  // By layer of the graph; empty: segments wherever they fit, all of them `whole` or
  // not, layers by themselves on `nodes`.
  Span<const LayerWay> ways = {};
  Span<LayerTry> tries = {};  // by layer of the graph, with `weights` and no `ways`
  // Unless nullptr: as in NodeContext, and what is neither a run nor of a segment is left out
  // where there are any.
  Vector<double>* weights = nullptr;
  size_t most_steps = kJudgedSteps;  // of the program; longer ones are kUnsupported
  // Out, unless empty: by position in the order, layers of the group that begins there.
  Span<uint32_t> sizes = {};
};

// A program that is being written. `context` refers to `lowering`: not to be copied.
struct NodeSchedule {
  NodeSchedule(const NodeCall& call, Arena* scratch, Program* program)
      : graph(call.graph),
        capacity(call.capacity),
        budget(call.budget),
        arena(scratch),
        lowering(call.lowering),
        context{call.graph,
                call.hardware,
                lowering,
                call.coster,
                call.budget,
                program,
                static_cast<uint32_t>(NodesOf(call.nodes)),
                call.most_steps,
                call.weights},
        way{true, call.whole, call.nodes},
        ways(call.ways),
        tries(call.tries),
        groups(scratch) {}
  NodeSchedule(const NodeSchedule&) = delete;
  NodeSchedule& operator=(const NodeSchedule&) = delete;

  const Graph& graph;
  int64_t capacity;
  Budget* budget;
  Arena* arena;
  Lowering lowering;
  NodeContext context;
  LayerWay way;  // of every layer, where `ways` is empty
  Span<const LayerWay> ways;
  Span<LayerTry> tries;
  Span<const uint32_t> order;
  Span<uint32_t> group_of;  // by layer; kNone: views
  Vector<NodeGroup> groups;
};

// How layer l is written.
inline const LayerWay& WayOf(const NodeSchedule& self, uint32_t l) {
  return self.ways.empty() ? self.way : self.ways[l];
}

// Sets the order, the given one or that of the graph, and puts no layer into a group.
Status StartGroups(NodeSchedule* self, Span<const uint32_t> order);

// Marks the layers of a group as those of the next group.
void MarkGroup(NodeSchedule* self, const NodeGroup& group);

// Adds a group of one layer.
Status AddAlone(NodeSchedule* self, uint32_t at, const Segment* segment);

// Whether the output of layer l goes to DRAM: not if all its readers are in its group.
bool IsStored(const NodeSchedule& self, uint32_t l);

// Whether a layer of the group makes a part of tensor t; views are looked through.
// Without `through`, only the tensors that t is a view of count, not t itself.
bool ComesFrom(const NodeSchedule& self, uint32_t t, uint32_t group, bool through);

}  // namespace sluice

#endif  // SLUICE_PLAN_MESH_NODE_GROUPS_H_
