// SPDX-License-Identifier: Apache-2.0
// What every plan of a graph must compute and move, for lower bounds.
//
// Input    a checked graph.
// Output   per tensor: needed whole, or at least at the positions of a lattice; DRAM
//          bytes; MACs and vector operations.
// Errors   kOutOfMemory.
// Cost     linear in layers and edges; scratch some 40 bytes per tensor.
// Source   own. The walk goes backwards from outputs and states and counts only what is
//          certain: if two lattices of one tensor are needed, it counts the larger one.
#ifndef SLUICE_MODEL_NEEDS_H_
#define SLUICE_MODEL_NEEDS_H_

#include "base/memory.h"
#include "model/tile_geometry.h"

namespace sluice {

// A lattice: positions first, first + step, ... along N, H and W, all channels of each.
struct NeededPositions {
  int32_t first[3];
  int32_t step[3];
  int32_t count[3];  // 0 = none is known to be needed

  int64_t total() const { return int64_t{count[0]} * count[1] * count[2]; }
};

struct Needs {
  Span<uint8_t> flags;         // by tensor
  Span<NeededPositions> part;  // by tensor, where it is not needed whole
};

Status FindNeeds(const Graph& graph, Arena* arena, Needs* needs);

// DRAM bytes every plan must move.
int64_t CompulsoryBytes(const Graph& graph, const Needs& needs);

void CompulsoryWork(const Graph& graph, const Needs& needs, int64_t* macs,
                    int64_t* vector_ops);

}  // namespace sluice

#endif  // SLUICE_MODEL_NEEDS_H_
