// SPDX-License-Identifier: Apache-2.0
// One layer on a region of nodes: who computes what, in which tiles, what lies where, and
// the steps of a program that do it.
//
// The output (a slice of the batch of it, when the batch is cut) is dealt out: each node
// has a box and, where the sum over C is dealt out too, a range of channels. All nodes
// walk through their parts in step. What several of them load is loaded once, for
// rectangles of nodes. A sum over nodes goes from node to node: each adds its channels to
// what the one before has forwarded into its accumulator; the last one finishes it.
//
// An input comes from DRAM, tile by tile, or lands whole (of a slice) from the nodes that
// make it, in one of `slots` buffers in turn; an output is stored, sent on, or both.
//
// Input    graph, hardware, lowering with the places of what is stored, tile costs.
// Output   steps in an order that is right when executed one by one.
// Errors   kInfeasible when no tile fits, kUnsupported beyond 2^20 tiles; kStopped.
// Cost     a few boxes per tile; some 700 bytes per node.
// Source   design of streams for meshes; KAPLA section II-B for who shares what.
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

struct NodeContext {
  const Graph& graph;
  const Hardware& hardware;
  const Lowering& lowering;
  const TileCoster& coster;
  Budget* budget;
  Program* program;
  uint32_t nodes;  // that take part
};

class NodeLayer {
 public:
  NodeLayer(const NodeContext& context, uint32_t layer, const NodeRegion& region,
            const NodeDeal& deal, int32_t slices);
  Status Init(Arena* arena);

  // Before Fit: this role's tensor is what `producer` makes. False: it has no room for
  // one consumer more.
  bool Take(int role, NodeLayer* producer);
  uint32_t tensor(int role) const { return roles_[role].tensor; }
  void set_stores(bool stores) { stores_ = stores; }
  // Slices one after the other, with nothing left under way between them; whole: what is
  // sent on in one piece per node, if that fits.
  void set_drains(bool drains, bool whole) {
    drains_ = drains;
    whole_ = drains && whole;
  }

  // Bytes of what lands in `role`, all slots; 0 where nothing does, -1 where a slice
  // needs more than the same slice of the producer.
  int64_t SetSlots(int role, int32_t slots);
  void PlaceLanding(int role, int64_t begin) { roles_[role].begin = begin; }
  // Chooses tiles and addresses of all else from `base` up to `end`; moves *base behind
  // the last.
  Status Fit(int64_t end, Arena* scratch, int64_t* base);
  // The same with one tile for each node's part, or kInfeasible.
  Status FitWhole(int64_t end, int64_t* base);

  bool done() const { return time_ == end_time_ && !pending_; }
  // Whether the next step may be taken: what it reads is there, what it sends has room.
  bool Ready() const;
  Status Step();
  // What is loaded and not yet computed.
  Status Finish();
  // The next slice to its end, for layers that drain. Nothing is in the scratchpad from
  // before but what has landed.
  Status RunSlice();

  uint32_t layer() const { return index_; }
  const NodeRegion& region() const { return region_; }
  int64_t tiles() const { return per_slice_ * slices_; }

 private:
  struct Share {
    Box box;
    int32_t c_begin, c_end;
    int32_t link;   // position in the chain that sums over C
    uint32_t next;  // node that goes on with the sum, kNone: the last
    bool used;
  };
  struct Tile {
    Box box;
    int32_t c_begin, c_end;
    bool starts, ends;      // the node's part of a sum
    int64_t slice, number;  // number: of the output tile
  };
  struct Turn {                   // what a node is about
    int32_t current[kTileRoles];  // buffer in use, -1: none yet
    Box loaded[kTileRoles];
    bool comes;  // a next tile
    Tile next;
    TileBoxes boxes;  // of it
    bool pending;     // a tile at hand
    Tile tile;
    TileStep step;
    bool loads, lands;  // for ForRectangles
    Box landing;
  };
  struct Role {
    uint32_t tensor;
    NodeLayer* producer;  // or nullptr
    bool many;            // loaded more than once
    int32_t count;        // buffers
    int64_t bytes;        // of one
    int64_t begin;
  };
  struct Sink {
    NodeLayer* consumer;
    int role;
  };

  uint32_t NodeAt(uint32_t i) const {
    return (region_.begin[kRows] + i / cols_) * context_.hardware.node_cols +
           region_.begin[kColumns] + i % cols_;
  }
  uint32_t Digits(uint32_t i, int32_t index[kNodeLoops]) const;
  void DealOut();
  bool TileAt(uint32_t i, int64_t time, Tile* tile) const;
  TileBoxes BoxesAt(const Box& box, int32_t c_begin, int32_t c_end) const;
  Box Landing(uint32_t i, int role, int64_t slice) const;
  Status Measure(int64_t* bytes);
  bool Shrink(int axes);
  Status WholeParts(int64_t room);
  Status ShrinkTo(int64_t room, int axes);
  void Place(int64_t* base);
  int64_t Alignment() const;

  bool Unfinished(int64_t slice, const Box& box) const;
  int64_t FinishedSlices() const;
  BufferRange RangeOf(int role, int32_t number) const;
  BufferBox BoxIn(int role, int32_t number, const Box& box) const;
  BufferBox InLanding(uint32_t i, int role, int64_t slice, const Box& box) const;
  BufferBox Accumulator(const Tile& tile) const;
  template <typename Same, typename Send>
  Status ForRectangles(Same same, Send send);
  Status Load(int role);
  Status Describe(uint32_t i);
  Status Compute(uint32_t i);
  Status Deliver(uint32_t i);
  Status Land(int role, const Tile& tile, uint32_t from, const BufferBox& out,
              uint32_t layer);

  const NodeContext& context_;
  const Layer& layer_;
  uint32_t index_;
  NodeRegion region_;
  uint32_t cols_, nodes_;
  NodeDeal deal_;
  int32_t slices_;
  int32_t channels_;
  int32_t extent_[kNodeLoops];  // of a slice
  int32_t unit_[kNodeLoops];
  int32_t share_[kNodeLoops];
  int32_t trips_[kNodeLoops];
  int32_t links_ = 1;
  Tiling tiling_ = {};
  Role roles_[kTileRoles];
  Sink sinks_[8];
  uint32_t sink_count_ = 0;
  bool stores_ = true;
  bool sums_ = false;
  bool drains_ = false, whole_ = false;
  int32_t accumulators_ = 0;
  int64_t accumulator_bytes_ = 0, accumulator_begin_ = 0;
  int64_t per_slice_ = 0;  // tiles of the node that has most
  int64_t time_ = 0, end_time_ = 0;
  bool pending_ = false;
  Span<Share> shares_;
  Span<Turn> turns_;
  Span<uint8_t> covered_;
};

}  // namespace sluice

#endif  // SLUICE_PLAN_MESH_NODE_LAYER_H_
