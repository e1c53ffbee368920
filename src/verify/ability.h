// SPDX-License-Identifier: Apache-2.0
// Who does a layer: an engine where a row of the machine allows the layer, the host
// where no row does, and neither in place of the other.
//
// Input    a layer of the original graph, or a HOST call of it
// Output   kOk
// Errors   kRejected
// Cost     rows of the machine; nothing for a machine without rows
// Source   OpSupport and Host of hardware.fbs, ops.h; independent of the planners'
//          (model/host.h)
#ifndef SLUICE_VERIFY_ABILITY_H_
#define SLUICE_VERIFY_ABILITY_H_

#include "verify/tile_rules.h"

namespace sluice {
namespace judge {

// The most cycles of a HOST call, and of each of the parts that add up to them.
constexpr int64_t kMostHostCycles = int64_t{1} << 50;

// The least that a HOST call of a layer takes: cycles, then bytes of DRAM, which hold its
// port for so many cycles more (-1: they do not use the port).
struct HostCost {
  uint64_t cycles, read, written;
  int64_t hold;
};
HostCost CostOnHost(const Judge& judge, const Layer& layer);

// MACs of a layer that the host does because no row allows it; 0 where it counts no
// MACs.
uint64_t MacsOnHost(const Judge& judge, const Layer& layer);

// The needs of one tile with all of its sum: a box of these extents at the begin of a
// computed layer's output or, with `end`, at its end.
void NeedsOfBox(const Graph& graph, const Layer& layer, const int32_t* box, bool end,
                TileNeeds* needs);
// The same for a box anywhere in the output.
void NeedsOfPart(const Graph& graph, const Layer& layer, const int64_t* origin,
                 const int64_t* extent, TileNeeds* needs);
// The needs of one tile that is all of the layer.
void NeedsOfLayer(const Graph& graph, const Layer& layer, TileNeeds* needs);

// True if the engines can do the layer, or the layer is not for engines.
bool IsAble(const Judge& judge, const Layer& layer);

// True if the engines compute the layer.
bool HasTiles(const Judge& judge, const Layer& layer);

// A row allows the layer of a tile or of an indexed load.
Status CheckAble(const Judge& judge, const Layer& layer);

// The layer is the host's (an OPAQUE one, or no row allows it for the reason that the
// call states), and the call declares no fewer cycles than it takes.
Status CheckHostCall(const Judge& judge, uint32_t layer,
                     const sluice_host_call_t& call);

}  // namespace judge
}  // namespace sluice

#endif  // SLUICE_VERIFY_ABILITY_H_
