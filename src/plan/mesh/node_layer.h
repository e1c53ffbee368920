// SPDX-License-Identifier: Apache-2.0
// One layer on a region of nodes: which node computes what, in which tiles, with which
// buffers.
//
// The output (a slice of its batch, when the batch is cut) is dealt out: each node has
// a box and, where the sum over C is dealt out too, a range of channels. All nodes walk
// through their parts in step. Data that several nodes need are loaded once, for
// rectangles of nodes. A sum over nodes goes from node to node: each node adds its
// channels to the partial sum that the node before has forwarded into its accumulator;
// the last one finishes the sum.
//
// An input comes from DRAM, tile by tile, or lands, a whole slice at a time, from the
// nodes that make it, in one of `count` buffers in turn; an output is stored, sent on,
// or both.
//
//   MakeNodeLayer -> Connect -> SetSlots, PlaceLanding -> FitTiles (node_fit.h)
//                 -> WriteStep or WriteSlice until IsDone (node_steps.h)
//
// Input    graph, hardware, lowering with the places of what is stored, tile costs
// Output   the state of one layer, and the tile of each node at each time
// Errors   kOutOfMemory
// Cost     some 700 bytes per node; TileAt takes constant time
// Source   own; KAPLA section II-B for which nodes share data
#ifndef SLUICE_PLAN_MESH_NODE_LAYER_H_
#define SLUICE_PLAN_MESH_NODE_LAYER_H_

#include "base/budget.h"
#include "model/lowering.h"
#include "model/mesh.h"
#include "model/program.h"
#include "model/tile_cost.h"
#include "plan/mesh/node_deal.h"
#include "solve/baseline/tiling.h"

namespace sluice {

constexpr int kLoopC = kAxes;  // of kNodeLoops
constexpr uint32_t kMostSinks = 8;

struct NodeContext {
  const Graph& graph;
  const Hardware& hardware;
  const Lowering& lowering;
  const TileCoster& coster;
  Budget* budget;
  Program* program;
  uint32_t nodes;                    // that take part
  size_t most_steps = kJudgedSteps;  // of the program
  // Where only a price is asked for, steps that are like others are not written: out, for
  // each block how many times it counts; blocks behind the last one count once.
  Vector<double>* weights = nullptr;
};

// What a node computes in all.
struct NodeShare {
  Box box;
  int32_t c_begin, c_end;
  int32_t link;   // position in the chain that sums over C
  uint32_t next;  // node that continues the sum, kNone: the last
  bool used;
};

struct NodeTile {
  Box box;
  int32_t c_begin, c_end;
  bool starts, ends;      // the node's part of a sum
  int64_t slice, number;  // number: of the output tile
};

// What a node does at the moment: one tile that is loaded and not yet computed, and the
// next one.
struct NodeTurn {
  int32_t current[kTileRoles];  // buffer in use, -1: none yet
  Box loaded[kTileRoles];
  bool comes;  // there is a next tile
  NodeTile next;
  TileBoxes boxes;  // of `next`
  bool pending;     // there is a current tile
  NodeTile tile;    // the current tile
  TileStep step;
  bool loads, lands;  // for ForRectangles
  Box landing;        // in `landing_role`, of slice `landing_slice`; -1: not known
  int64_t landing_slice = -1;
  int landing_role = 0;
};

struct NodeLayer;

struct NodeRole {
  uint32_t tensor;
  NodeLayer* producer;  // that makes the tensor in the same segment, or nullptr
  bool many;            // loaded more than once
  int32_t count;        // buffers
  int64_t bytes;        // of one
  int64_t begin;
};

struct NodeSink {
  NodeLayer* consumer;
  int role;
};

struct NodeLayer {
  const NodeContext* context;
  const Layer* layer;
  uint32_t index;  // of the layer in the graph
  NodeRegion region;
  uint32_t cols, nodes;  // of the region
  NodeDeal deal;
  int32_t slices;
  int32_t channels;
  int32_t extent[kNodeLoops];  // of a slice
  int32_t unit[kNodeLoops];
  int32_t share[kNodeLoops];  // of a node, at most
  int32_t trips[kNodeLoops];  // tiles of a node
  int32_t shown[kNodeLoops];  // of them, that are written (node_price.h)
  int32_t links = 1;          // nodes in a chain that sums over C
  Tiling tiling = {};
  NodeRole roles[kTileRoles];
  NodeSink sinks[kMostSinks];
  uint32_t sink_count = 0;
  bool stores = true;        // the output goes to DRAM
  bool sums = false;         // tiles need an accumulator
  bool turns_taken = false;  // its nodes run other layers between its slices
  // Slices run one after the other, with nothing under way between them.
  bool drains = false;
  // With `turns_taken`: what is sent on goes in one piece per node, if that fits.
  bool whole = false;
  bool weighted = false;  // each time of it is a block that counts as often as it says
  double slice_weight = 1;
  // Of so many pieces of a sum over nodes, from the first one on.
  double round_weight = 1;
  int64_t first_round = 0, rounds = 0;
  int32_t accumulators = 0;
  int64_t accumulator_bytes = 0, accumulator_begin = 0;
  int64_t per_slice = 0;  // tiles of the node that has most
  int64_t time = 0, end_time = 0;
  bool pending = false;  // a tile of some node is loaded and not yet computed
  Span<NodeShare> shares;
  Span<NodeTurn> turns;
  Span<uint8_t> covered;
};

struct NodeLayerRequest {
  uint32_t layer;
  NodeRegion region;
  NodeDeal deal;
  int32_t slices;        // of the batch
  uint32_t lands = 0;    // bits: roles that other layers of the segment make
  bool ordered = false;  // parts lie as the deal says, else so that loads are few
};

// The context must outlive the layer.
Status MakeNodeLayer(const NodeContext& context, const NodeLayerRequest& request,
                     Arena* arena, NodeLayer** out);

// Before tiles are fitted: `producer` makes the tensor of this role. False: the
// producer has no room for one more consumer.
bool Connect(NodeLayer* self, int role, NodeLayer* producer);

// The number on the whole mesh of the region's node i.
uint32_t NodeAt(const NodeLayer& self, uint32_t i);

// The k-th loop of a node's tiles, from the innermost one.
inline int LoopAt(const NodeLayer& self, int k) {
  static constexpr int kOuterK[] = {4, 2, 1, 0, 3};
  static constexpr int kInnerK[] = {4, 3, 2, 1, 0};
  return self.tiling.k_outer ? kOuterK[k] : kInnerK[k];
}

// Of a loop of more steps than are shown: the first one, and one in the middle that stands
// for all that are not shown; of three, the last one; of more, the first ones and the last.
inline int32_t ShownStep(int32_t step, int32_t shown, int32_t trips) {
  if (shown == trips || step == 0) return step;
  if (shown > 2 && step == shown - 1) return trips - 1;
  return shown <= 3 ? trips / 2 : step;
}

// What node i computes at a time; false: nothing.
bool TileAt(const NodeLayer& self, uint32_t i, int64_t time, NodeTile* tile);

TileBoxes BoxesAt(const NodeLayer& self, const Box& box, int32_t c_begin,
                  int32_t c_end);

// What lands at node i of a slice: all that its part reads.
Box LandingBox(const NodeLayer& self, uint32_t i, int role, int64_t slice);

inline bool IsDone(const NodeLayer& self) {
  return self.time == self.end_time && !self.pending;
}

}  // namespace sluice

#endif  // SLUICE_PLAN_MESH_NODE_LAYER_H_
