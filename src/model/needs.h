// SPDX-License-Identifier: Apache-2.0
// What every plan of a graph must compute and move, for lower bounds.
//
// A walk backwards from outputs and states finds which elements of each tensor must lie
// in a scratchpad for some tile, some transfer to an output or some append. Only what
// is certain counts: where the elements that a layer needs form no lattice (rows that
// dilated windows skip, pieces of rows behind a reshape), the walk takes a lattice
// among them.
//
// Input    a checked graph, fitted to its machine (host.h).
// Output   per tensor: all of it, or a few disjoint lattices of its elements; DRAM
//          bytes.
// Errors   kOutOfMemory.
// Cost     linear in layers and edges; scratch 9 bytes per tensor, 200 for one of which
//          only a part is needed.
// Source   own; stream.h and ops.h for what a tile reads.
#ifndef SLUICE_MODEL_NEEDS_H_
#define SLUICE_MODEL_NEEDS_H_

#include "base/memory.h"
#include "model/tile_geometry.h"

namespace sluice {

// Positions first, first + step, ... along one axis; the step of a single one is 1.
struct Progression {
  int32_t first, step, count;

  int32_t last() const { return first + (count - 1) * step; }
};

// The elements at all combinations of one position from each axis.
struct Lattice {
  Progression axis[kAxes];

  int64_t elements() const {
    return int64_t{axis[0].count} * axis[1].count * axis[2].count * axis[3].count;
  }
};
Lattice WholeLattice(const Tensor& tensor);

constexpr uint32_t kMostParts = 4;  // of more, the largest ones count

// Disjoint parts of a tensor.
struct Parts {
  uint32_t count = 0;
  Lattice lattice[kMostParts];

  int64_t elements() const {
    int64_t sum = 0;
    for (uint32_t i = 0; i < count; ++i) sum += lattice[i].elements();
    return sum;
  }
};

struct Needs {
  explicit Needs(Arena* arena) : parts(arena) {}

  Span<uint8_t> flags;   // by tensor
  Span<uint32_t> index;  // by tensor: of `parts` + 1; 0 = none
  Span<uint32_t> host;   // the same of what the host reads of it through slices
  Vector<Parts> parts;
};

Status FindNeeds(const Graph& graph, Arena* arena, Needs* needs);

// The elements of a tensor that every plan has in a scratchpad at some time.
Parts PartsOnChip(const Graph& graph, const Needs& needs, uint32_t tensor);
// The elements of a tensor that a layer must make: those of PartsOnChip, and those that
// the host or an output takes from DRAM.
Parts PartsMade(const Graph& graph, const Needs& needs, uint32_t tensor);

// What elements `out` of a layer's output need of input `input`, or a part of it; no
// elements where nothing is known.
Lattice NeededOfInput(const Graph& graph, const Layer& layer, size_t input,
                      const Lattice& out);

// Whether the host writes a part of the tensor.
bool IsHostMade(const Needs& needs, uint32_t tensor);

// Whether nobody may have to make what a PAD makes, because a convolution takes over its pads.
bool MayBeTaken(const Graph& graph, const Needs& needs, uint32_t tensor);

// Axes [in_begin, in_end) of a reshape's input and [out_begin, out_end) of its output
// that have the same number of elements. Groups are listed from the innermost axes on;
// at most 8.
struct AxisGroup {
  int in_begin, in_end, out_begin, out_end;
};
uint32_t GroupsOfReshape(const int32_t* in, const int32_t* out, AxisGroup* groups);

// DRAM bytes that the transfers of every plan move at least.
struct Traffic {
  int64_t read, written;
  int64_t constants;  // of what is read
  int64_t loads;      // inputs and constants, each of which takes a LOAD of its own
};
// Those of one layer: of tensors that no layer before it has `taken` (by tensor), and of
// what it makes. To be asked for all layers in order.
Traffic TrafficOfLayer(const Graph& graph, const Needs& needs, const Layer& layer,
                       Span<uint8_t> taken);

}  // namespace sluice

#endif  // SLUICE_MODEL_NEEDS_H_
