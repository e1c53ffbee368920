// SPDX-License-Identifier: Apache-2.0
// Layers on a mesh over time: which layers run together, on which nodes, and which
// tensors stay on the chip between them.
//
//   layer order   l0 l1 l2 l3 l4 l5 ...        segments cut it into runs, one after the
//                |-----|--------|--|            other; each has the whole mesh
//   segment       spatial         stages on disjoint regions, all at work at once
//                 temporal        one stage on all nodes, layer after layer
//                 single          one layer on all nodes, from and to DRAM
//
// Input    filled by solve/segments, or by hand
// Output   SegmentSchedule: plain data, arrays in the arena of its maker
// Errors   none
// Cost     none
// Source   KAPLA sections III-A, IV-B. Deviations: a stage may hold several layers
//          (pools and sums behind their producer) that take turns on its region; what
//          a layer sends on may be stored as well.
//
// The batch is cut into `top_batch` slices of equal size. A layer runs slice after
// slice; with fine forwarding, each slice runs group after group of channels:
//
//   for slice i in 0..top_batch            images  [i x N / top_batch, ...)
//     for group j in 0..top_ofm (top_ifm)  channels [j x K / top_ofm, ...)
//       the nest, once: its extents are those of one such step (PassOf) of one node
//
// At most one of top_ofm, top_ifm is above 1: outputs leave in groups (the inputs are
// there whole), or inputs arrive in groups (partial sums of the whole output are kept).
//
// Order of execution (nothing else is ordered):
//   1 stage order: the layers of a stage run slice i one after the other, then i+1.
//   2 forwarding: let c take its input from p (both in one segment).
//     coarse (p.top_ofm = 1): c's slice i starts when p's slice i is finished;
//     fine   (p.top_ofm = g > 1, and so is c.top_ifm, or c.top_ofm if c works channel
//            by channel): c's group j of slice i starts when p's is finished.
//   3 room: forwarded data occupies the scratchpads of both sides: p's until it is
//     sent, c's until it is used. p's next step may overwrite its output once it is
//     sent; it is sent once c has used up the step before. So p is one step ahead of c.
//   4 segments: a segment starts when the one before has finished.
// A temporal segment has one region: a layer's output stays on the nodes that made it.
// Before the consumer's step, words go over the links to the other nodes whose parts
// need them.
#ifndef SLUICE_MODEL_SEGMENT_H_
#define SLUICE_MODEL_SEGMENT_H_

#include <stdint.h>

#include "base/array.h"
#include "model/mesh.h"

namespace sluice {

enum class SegmentKind : uint8_t { kSingle = 0, kSpatial, kTemporal };

// pJ by component, in the order of summation; leakage is that of the whole mesh.
struct SegmentCost {
  double operations_pj;
  double registers_pj;  // levels below the scratchpad
  double transfer_pj;   // the array's wires
  double scratchpad_pj;
  double dram_pj;
  double noc_pj;
  double leakage_pj;
  double energy_pj;  // sum of the above
  int64_t cycles;
  int64_t dram_read_bytes;
  int64_t dram_write_bytes;
};

struct LayerOnNodes {
  uint32_t layer;     // of the graph
  uint32_t stage;     // 0, 1, ... within the segment; stages have disjoint regions
  uint32_t producer;  // index in Segment::layers of the layer that makes the input read
                      // on chip; kNone: all inputs come from DRAM
  uint32_t consumers;  // layers of the segment that read this one's output on chip
  bool fetches;        // with a producer: another input still comes from DRAM
  bool stores;         // the output goes to DRAM, also if a layer reads it on chip
  NodeRegion region;   // whole mesh in single and temporal segments
  LayerTerms terms;    // slices and ends: mesh.h
  NodeSplit split;     // how one step is divided over the region
  LoopNest nest;       // of one node's part of a step
  uint32_t kept;       // operands kept whole in the scratchpads: CostOptions::resident
  MappingProblem problem;  // of all steps; one is PassOf(problem, PassesOf(..., terms))
  MeshCost cost;           // of all steps, from EvaluateOnMesh
};

struct Segment {
  SegmentKind kind;
  uint32_t begin;  // position in SegmentSchedule::order of the first layer; the others
                   // follow
  int32_t top_batch;
  uint32_t stages;
  Span<LayerOnNodes> layers;  // in the order of SegmentSchedule::order
  // Cycles of the stages' pipeline (node_cycles) and of DRAM for all stages;
  // cost.cycles is the larger one.
  int64_t node_cycles;
  int64_t dram_cycles;
  SegmentCost cost;
};

struct SegmentSchedule {
  Span<uint32_t> order;  // the graph's layers that need work, producers first
  Span<Segment> segments;
  SegmentCost cost;
  double objective;
  double bound;  // lower bound on the objective over the searched space
};

// Adds b to a, field by field; energy_pj is summed anew.
void AddCost(const SegmentCost& b, SegmentCost* a);

}  // namespace sluice

#endif  // SLUICE_MODEL_SEGMENT_H_
