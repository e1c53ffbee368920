// SPDX-License-Identifier: Apache-2.0
// Which elements of each tensor somebody reads or takes, so that the judge's bounds count no
// others: windows with a stride may skip rows, slices cut elements off, layers may have no
// reader.
//
// Of each tensor a lattice is known that has all of these elements, and a number that is not
// less than theirs. Where an operator's elements are not followed one by one (permutations,
// reshapes), the lattice has elements that nobody reads.
//
// Input    the judge's graph and machine; who uses each tensor (bound.h).
// Output   per tensor, what must lie on chip at some time, and what the host reads.
// Errors   kOutOfMemory.
// Cost     layers, and up to 256 rows and columns where resizes and gradients skip some;
//          144 bytes per tensor.
// Source   ops.h, stream.h; shares no code with model/needs.
#ifndef SLUICE_VERIFY_NEEDED_H_
#define SLUICE_VERIFY_NEEDED_H_

#include "verify/tile_rules.h"

namespace sluice {
namespace judge {

// Axes of both sides of a reshape that have as many elements, from the innermost on.
struct AxisGroup {
  int from = kAxes, to = kAxes;
  int from_end = 0, to_end = 0;

  bool Next(const int32_t* extents, const int32_t* others);
};

// Windows along an axis over `in` positions.
struct Slide {
  int64_t filter, stride, apart, before;
  int32_t in, out;
};
Slide SlideOf(const Graph& graph, const Layer& layer, int axis);

// Positions first, first + step, ... along an axis.
struct Places {
  int32_t first, step, count;

  int32_t length() const { return (count - 1) * step + 1; }
};

struct Needed {
  Places at[kAxes];
  int32_t many[kAxes];  // as many of these places at most
  int64_t most = 0;     // as many elements at most

  int64_t elements() const;
};

Needed AllOf(const Tensor& tensor);

// Whether a PAD makes the layer's first input, and the layer equals one that adds the PAD's
// pads to its own and reads the PAD's input.
bool TakesPads(const Graph& graph, const Layer& layer);
// Whether the host does the layer in each plan. A PAD that the engines lack is part of the
// convolutions behind it where these can all have it.
bool HostDoes(const Judge& judge, Span<const uint8_t> uses, const Layer& layer);

// What a layer computed by tiles reads to make a part of its output.
struct Reads {
  TileNeeds tile;         // of the part's elements in one piece
  Needed input[5];        // by need of the tile
  int64_t extent[kAxes];  // of the tile
};
// Bytes of its inputs that the price of a tile counts at most, by the extents of its output: pads
// under a window count as read.
double PricedBytes(const Graph& graph, const Layer& layer, const TileNeeds& tile,
                   const int64_t* extent);
void FindReads(const Graph& graph, const Layer& layer, const Needed& made,
               Reads* reads);

// What somebody makes of a tensor: what is on chip, what the host reads, all of what leaves.
struct NeededOfAll {
  Span<Needed> on_chip;      // by tensor
  Span<Needed> host;         // by tensor; also through views
  Span<const uint8_t> uses;  // by tensor

  Needed Made(const Graph& graph, uint32_t tensor) const;
  // Whether nobody may have to make what a PAD makes.
  bool MayBeTaken(const Graph& graph, uint32_t tensor) const;
};
Status FindNeeded(const Judge& judge, Span<const uint8_t> uses, NeededOfAll* of_all);

}  // namespace judge
}  // namespace sluice

#endif  // SLUICE_VERIFY_NEEDED_H_
