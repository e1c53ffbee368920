// SPDX-License-Identifier: Apache-2.0
// A run of graph layers as a fusion problem, with the exact geometry of their tiles.
//
// Input    graph, hardware, lowering; the layers of the run, in graph order, all of
//          which MayFuse and none of which reads memory that another layer of the run
//          writes under another tensor's name (ReadsAlias).
// Output   FusionProblem; per layer and per input edge its counterpart in the graph; a
//          TileModel over tile_geometry, tile_cycles and `coster` (halo on both sides).
// Errors   kOutOfMemory.
// Cost     O(layers + edges) and one pass over the graph's layers for outside readers.
#ifndef SLUICE_SOLVE_FUSION_PROBLEM_H_
#define SLUICE_SOLVE_FUSION_PROBLEM_H_

#include "model/lowering.h"
#include "model/notation.h"

namespace sluice {

struct FusionRun {
  const Graph* graph;
  const Hardware* hardware;
  const Lowering* lowering;
  FusionProblem problem;
  Span<uint32_t> layer;        // graph layer, by fusion layer
  Span<uint8_t> role;          // TileRole, by FusionInput
  Span<uint32_t> edge_tensor;  // graph tensor, by FusionInput
  // The tensor as its maker wrote it: edge_tensor may be a RESHAPE of it, which is a
  // view.
  Span<uint32_t> edge_source;  // graph tensor, by FusionInput
  Span<int64_t> reserve;       // FusionProblem::reserve, all 0 at first
  Span<uint32_t> append;       // STATE_APPEND that its ofmap goes to, by fusion layer
  Span<uint8_t> in_dram;       // by fusion layer: its ofmap itself must reach DRAM
  TileCoster coster = {};      // what tiles cost; the caller's to set

  const Layer& executed(uint32_t fusion_layer) const {
    return lowering->executed[layer[fusion_layer]];
  }
};

// True when the layer computes, its weights are constants of which the smallest tile
// needs at most a quarter of the scratchpad, and its tiles need no padding of their
// own.
bool MayFuse(const Graph& graph, const Hardware& hardware, const Lowering& lowering,
             uint32_t layer, int64_t scratchpad_bytes);

// True when `next` reads bytes that a layer of `run` writes as another tensor, or a state to
// which one appends, or when it would make `run` append elements again.
bool ReadsAlias(const Graph& graph, const Lowering& lowering, Span<const uint32_t> run,
                uint32_t next);

// True when tiles of the layer that lie side by side read the same elements: fused, the layers
// in front of it make these elements more than once.
bool SharesElements(const Graph& graph, const Layer& layer);

// True when the layer appends a tensor made by `run` to a state that no layer of `run`
// reads, and no layer behind the tensor's maker makes the run make elements of it again:
// they would be appended again.
bool MayAppend(const Graph& graph, const Lowering& lowering, Span<const uint32_t> run,
               uint32_t layer);

// The tensor that has t's bytes: t itself or, if t is made by a chain of RESHAPEs that are
// views, the tensor that the first of them reads.
uint32_t WrittenTensor(const Graph& graph, const Lowering& lowering, uint32_t t);

// The box of the edge's source that holds `box` of the tensor it reads.
Box SourceBox(const FusionRun& run, uint32_t edge, const Box& box);

// The network that a run is part of, and where it runs.
struct FusionSetting {
  const Graph& graph;
  const Hardware& hardware;
  const Lowering& lowering;
  int64_t scratchpad_bytes;
};

// layers: the run's layers and its appends; the problem has no appends.
Status MakeFusionRun(const FusionSetting& setting, Span<const uint32_t> layers,
                     Arena* arena, FusionRun* run);

// `run` must outlive the model.
TileModel ModelOf(FusionRun* run);

// Boxes of the weight and parameter tensors for the layer's output channels [begin,
// end).
TileBoxes WeightBoxes(const FusionRun& run, uint32_t layer, int32_t begin, int32_t end);

// What a tile computes and moves between scratchpad and array. declared: by the coster;
// energy 0 = to be counted from the rest.
struct TileWork {
  TileCost declared;
  int64_t macs, vector_ops;
  int64_t read_bytes, written_bytes;
};
TileWork WorkOf(const FusionRun& run, uint32_t layer, const Box& output);

Box ToBox(const CutBox& box);

}  // namespace sluice

#endif  // SLUICE_SOLVE_FUSION_PROBLEM_H_
