// SPDX-License-Identifier: Apache-2.0
// A lower bound on latency from the size of the scratchpad: of the bytes that later
// layers need, only as many as fit can be loaded before a layer's first tile; the rest
// is loaded after it.
//
// For a layer L: its first tile starts when tiles of earlier layers have made the
// inputs of one element of its output; of a sum over channels, which tiles may add up in
// parts, those of one channel. Until then no tile of L, or of a layer that depends on L,
// has run. So at most as many bytes of their loads have arrived as the
// scratchpads hold, and none of their results have been stored. All other bytes pass
// DRAM's port after that moment.
//
// For the last element that is made of an input of L, wherever it lies: it is made when
// tiles have made all needed elements of the input. Tiles that depend on it run later,
// and the weights that they need (spread.h) pass the port later too, but for as many
// bytes as the scratchpads hold.
//
// What a layer can give at most follows from sums: all tiles in front of it, and all bytes
// from it on. The layer that can give most is looked at first, and so on until none can give
// more than is known, or 24 have been looked at.
//
// Input    a graph fitted to its machine; its needs (needs.h); where prices of tiles
//          come from.
// Output   cycles; 0 where no layer gives a bound.
// Errors   kOutOfMemory, kStopped.
// Cost     layers, edges and tensors, for each of 24 layers at most; scratch some 32
//          bytes per tensor and 48 per layer.
// Source   own.
#ifndef SLUICE_MODEL_ROOM_BOUND_H_
#define SLUICE_MODEL_ROOM_BOUND_H_

#include "model/bounds.h"

namespace sluice {

// The graph, its machine and needs, the cycles that go by before any tile starts, and what
// each layer takes at least.
struct RoomQuestion {
  const Graph& graph;
  const Hardware& hardware;
  const Needs& needs;
  PricedBy prices;
  int64_t room;   // of all nodes
  int64_t bytes;  // that pass the port for all layers
  int64_t first_load;
  Span<const sluice_layer_least_t> layers;
};
Status BoundByRoom(const RoomQuestion& question, Arena* scratch, int64_t* cycles);

}  // namespace sluice

#endif  // SLUICE_MODEL_ROOM_BOUND_H_
