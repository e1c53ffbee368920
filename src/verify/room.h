// SPDX-License-Identifier: Apache-2.0
// The judge's own bound on cycles from the size of the scratchpad.
//
// Take a layer, and the layers that depend on it. Of the constants and inputs that only
// these need, no more than the scratchpads hold can be loaded before the layer's first tile
// runs, and none of their results can be stored. All other such bytes pass the DRAM port
// after the tiles that this first tile waits for. Likewise some tiles of each later layer
// depend on the last element of the layer's input, wherever that element lies. The weights
// of these tiles pass the port after it, except what the scratchpads hold.
//
// To find what the first tile waits for, its input box is followed back from layer to
// layer. The first tile may lie anywhere, so the boxes of tiles at both ends of the layer
// are compared, and the smaller extent along each axis counts. A tile that begins a sum
// reads one channel of its input; of a convolution it reads the whole window, and of a
// channelwise convolution its own box. To find what depends on an element, the least number
// of elements along each axis is followed from layer to layer.
//
// Input    the judge's graph and machine; what each layer takes; what is read of each tensor
//          (needed.h); cycles before the first tile.
// Output   cycles, raised to the most that a layer gives, or to what the first one gives
//          that reaches `enough`. Layers that may give most are looked at first.
// Errors   kOutOfMemory, kStopped.
// Cost     layers and tensors for each layer that is looked at; 17 bytes per tensor, 8 per
//          layer.
// Source   as model/room_bound.h and model/spread.h; shares no code with them.
#ifndef SLUICE_VERIFY_ROOM_H_
#define SLUICE_VERIFY_ROOM_H_

#include "verify/bound.h"
#include "verify/needed.h"

namespace sluice {
namespace judge {

struct RoomOfAll {
  Span<const LeastOfLayer> layers;
  const NeededOfAll& needed;
  double first, fits;
  double enough = kMostBound;
};
Status LeastByRoom(const Judge& judge, const RoomOfAll& of, double* least);

}  // namespace judge
}  // namespace sluice

#endif  // SLUICE_VERIFY_ROOM_H_
