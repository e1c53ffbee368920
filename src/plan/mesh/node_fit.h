// SPDX-License-Identifier: Apache-2.0
// Tiles and scratchpad addresses of one layer on a region of nodes.
//
// Input    a NodeLayer that is connected to its producers; a range of each scratchpad
// Output   the layer's tiling, the address and the number of its buffers
// Errors   kInfeasible when no tile fits or there are more than 2^20 tiles;
//          kOutOfMemory
// Cost     one ChooseTiling (solve/baseline/tiling.h); then a few boxes per tile for
//          each tiling that is tried
#ifndef SLUICE_PLAN_MESH_NODE_FIT_H_
#define SLUICE_PLAN_MESH_NODE_FIT_H_

#include "plan/mesh/node_layer.h"

namespace sluice {

// Bytes of what lands in `role`, all slots; 0 where nothing lands, -1 where a slice
// needs more than the same slice of the producer.
int64_t SetSlots(NodeLayer* self, int role, int32_t slots);

// Chooses tiles, and addresses of all buffers but landing ones, from `base` up to
// `end`; moves *base past the last.
Status FitTiles(NodeLayer* self, int64_t end, Arena* scratch, int64_t* base);

// The same with one tile for each node's part, or with the pieces of K and C that take
// the least time; kInfeasible where none fit.
Status FitWholeParts(NodeLayer* self, int64_t end, int64_t* base);

// One tile for each node's part of a slice; the bytes of each buffer, but no addresses.
Status MeasureParts(NodeLayer* self);

}  // namespace sluice

#endif  // SLUICE_PLAN_MESH_NODE_FIT_H_
