// SPDX-License-Identifier: Apache-2.0
// Lower bounds that hold for every plan of a graph on a machine, and the terms that they add up.
//
// Cycles. A node computes one tile at a time. However a layer is cut, its tiles
// together take at least LayerBound.cycles: the array works in whole granules, and the tiles
// of a layer fill at least as many granules as the uncut layer does. All bytes that
// needs.h counts pass DRAM's port at least once. A load comes before the first tile and a
// store after the last one. Each input and each constant takes a LOAD of its own, and the
// latencies of an engine's transfers add up. What matrix products load again
// (reuse_bound.h) passes the port too, or MACs are repeated instead. Six bounds follow: for
// tiles, DRAM's port, the host, latencies, products, and the room on chip (room_bound.h).
// The largest one counts.
//
// Energy. Every tile reads its operands from the scratchpad and writes its output
// there; transfers read and write the scratchpad too. On a core array each operand
// passes the cores' buffers as often as units cannot share it.
//
// A certificate lists the terms of both by layer, so that verify/certificate.h can check them.
//
// Input    a graph fitted to the machine; who says what tiles cost.
// Output   bounds per layer and in all. No plan of ours, and no stream that the judge
//          accepts, costs less.
// Errors   kOutOfMemory; kBadArgument: what the caller says of a layer is out of range.
// Cost     linear in layers and edges; 40 bytes per layer, scratch as needs.h.
// Source   own. Why tiles fill at least as many granules as the layer: mark one point in each
//          granule of the uncut layer, at equal distances. Each point lies in some tile, and a
//          tile has at least one granule for each point in it.
#ifndef SLUICE_MODEL_BOUNDS_H_
#define SLUICE_MODEL_BOUNDS_H_

#include "model/hardware.h"
#include "model/needs.h"
#include "sluice/sluice.h"

namespace sluice {

// Who says what a tile costs.
enum class PricedBy : uint8_t {
  kMachine,  // tile_cycles.h, or the core array
  kCaller,  // a cost model of the caller: all that is sure is that no tile is faster than
            // work / peak; for a whole layer the caller may vouch for more
};

// Who says it, the caller's function for the least that all tiles of a layer take, if any,
// and how many bytes of each node's scratchpad a plan may use, if not all.
struct BoundPrices {
  BoundPrices(PricedBy who) : by(who) {}
  BoundPrices(PricedBy who, sluice_tile_cost_fn function, void* handed)
      : by(who), least(function), user(handed) {}

  PricedBy by;
  sluice_tile_cost_fn least = nullptr;
  void* user = nullptr;
  int64_t share = INT64_MAX;
};

// All tiles of a layer.
struct LayerBound {
  int64_t cycles;
  double energy_pj;  // from the scratchpad down
  int64_t macs;
};

struct PlanBound {
  int64_t cycles;
  double energy_pj;
  Traffic traffic;
  sluice_certificate_t certificate;
};

// A lower bound on all tiles together that compute these parts of a layer's output.
LayerBound BoundOfParts(const Graph& graph, const Hardware& hardware,
                        const Layer& layer, const Parts& parts, PricedBy prices);
// The same for all parts of the layer's output that the graph needs.
LayerBound BoundOfLayer(const Graph& graph, const Hardware& hardware,
                        const Needs& needs, uint32_t layer, PricedBy prices);

// The certificate's layers stay in `arena`.
Status FindBound(const Graph& graph, const Hardware& hardware,
                 const BoundPrices& prices, Arena* arena, PlanBound* bound);

}  // namespace sluice

#endif  // SLUICE_MODEL_BOUNDS_H_
