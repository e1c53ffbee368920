// SPDX-License-Identifier: Apache-2.0
// The judge's own bound on cycles from the size of the scratchpad.
//
// Before a layer's first tile, only what fits into the scratchpads has been loaded of what
// that layer and those that depend on it alone need, and none of their results are stored:
// the rest passes the port behind all tiles that the first one waits for. Behind the last
// element of a layer's input, wherever it lies, tiles run that depend on it; weights that
// such tiles need of each layer pass the port then, but for what fits.
//
// What a tile waits for is followed as boxes, from the boxes that tiles at both ends of a
// layer read: of these, the smaller extent along each axis. A tile that begins a sum reads
// one channel of its input, of a convolution all of the window; one of a channelwise
// convolution reads its box. What depends on an element is followed as a count along
// each axis.
//
// Input    the judge's graph and machine; what each layer takes; who uses each tensor
//          (bound.h); cycles before the first tile.
// Output   cycles, raised to the most that a layer gives, or to what the first one gives
//          that reaches `enough`.
// Errors   kOutOfMemory, kStopped.
// Cost     layers and tensors for each of 24 layers at most; 17 bytes per tensor.
// Source   as model/room_bound.h and model/spread.h; shares no code with them.
#ifndef SLUICE_VERIFY_ROOM_H_
#define SLUICE_VERIFY_ROOM_H_

#include "verify/bound.h"

namespace sluice {
namespace judge {

struct RoomOfAll {
  Span<const LeastOfLayer> layers;
  Span<const uint8_t> uses;
  double first, fits;
  double enough = kMostBound;
};
Status LeastByRoom(const Judge& judge, const RoomOfAll& of, double* least);

}  // namespace judge
}  // namespace sluice

#endif  // SLUICE_VERIFY_ROOM_H_
