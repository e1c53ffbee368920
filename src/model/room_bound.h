// SPDX-License-Identifier: Apache-2.0
// A lower bound on latency from the size of the scratchpad: of the bytes that later layers
// need, only as many as fit can be loaded before a layer's first tile; the rest is loaded
// after it.
//
// For a layer L: its first tile starts when tiles of earlier layers have made what one
// element of its output needs. Until then no tile of L and of the layers that depend on it
// has run, so of what they load at most the scratchpads' bytes have come, and nothing that
// they make has gone. What is missing passes DRAM's port from there on. Some layers of the
// graph are looked at, the last ones and others at even distances.
//
// Input    a graph fitted to its machine, what it needs, who prices tiles.
// Output   cycles; 0 where no layer says anything.
// Errors   kOutOfMemory, kStopped.
// Cost     layers, edges and tensors, for each of 24 layers at most; scratch some 20 bytes
//          per tensor.
// Source   own.
#ifndef SLUICE_MODEL_ROOM_BOUND_H_
#define SLUICE_MODEL_ROOM_BOUND_H_

#include "model/bounds.h"

namespace sluice {

// What is asked of, and how many cycles go by before any tile starts.
struct RoomQuestion {
  const Graph& graph;
  const Hardware& hardware;
  const Needs& needs;
  Prices prices;
  int64_t first_load;
};
Status BoundByRoom(const RoomQuestion& question, Arena* scratch, int64_t* cycles);

}  // namespace sluice

#endif  // SLUICE_MODEL_ROOM_BOUND_H_
