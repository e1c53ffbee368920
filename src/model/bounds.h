// SPDX-License-Identifier: Apache-2.0
// Lower bounds that hold for every plan of a graph on a machine, and what they are made
// of.
//
// Cycles. A node computes one tile at a time. However a layer is cut, its tiles
// together take at least LayerBound.cycles: passes of the array are counted in whole
// granules, and tiles that cover a layer fill at least as many granules as the layer
// does. DRAM's port moves what needs.h says at least once. A load comes before the
// first tile and a store after the last. Each input and constant takes a LOAD of its own,
// and an engine's transfers wait for their latencies one after the other. What matrix
// products load again (reuse_bound.h) passes the port, or its MACs are done again. The
// largest of the sums for compute, port, host, latencies, products and room counts.
//
// Energy. Every tile reads its operands from the scratchpad and writes its output
// there; transfers read and write the scratchpad too. On a core array each operand
// passes the cores' buffers as often as units cannot share it.
//
// A certificate says what both are made of, by layer, for verify/certificate.h.
//
// Input    a graph fitted to the machine; who says what tiles cost.
// Output   bounds per layer and in all. No plan of ours, and no stream that the judge
//          accepts, costs less.
// Errors   kOutOfMemory; kBadArgument: what the caller says of a layer is out of range.
// Cost     linear in layers and edges; 40 bytes per layer, scratch as needs.h.
// Source   own. Passes, sums: a tile's count of granules is at least that of the sample
//          points in it that lie a granule apart, so that any tiles together have at
//          least as many as the whole layer.
#ifndef SLUICE_MODEL_BOUNDS_H_
#define SLUICE_MODEL_BOUNDS_H_

#include "model/hardware.h"
#include "model/needs.h"
#include "sluice/sluice.h"

namespace sluice {

// Who says what a tile costs.
enum class PricedBy : uint8_t {
  kMachine,  // tile_cycles.h, or the core array
  kCaller,   // anyone: no tile is faster than work / peak, and none need take energy;
             // tiles of a layer together may take more, if the caller vouches for it
};

// The same, and what the caller says that the tiles of a layer take at least.
struct BoundPrices {
  BoundPrices(PricedBy who) : by(who) {}
  BoundPrices(PricedBy who, sluice_tile_cost_fn function, void* handed)
      : by(who), least(function), user(handed) {}

  PricedBy by;
  sluice_tile_cost_fn least = nullptr;
  void* user = nullptr;
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

// The least that tiles take which compute these parts of a layer's output.
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
