// SPDX-License-Identifier: Apache-2.0
// Declared compute cycles of a tile: those of a TileCoster, else those of the MAC array
// in passes; never less than work / peak, and never less than it takes to read and
// write the tile's bytes in the scratchpad once.
//
// Input    a layer, the boxes of one of its tiles, the part of the sum that the tile
//          adds.
// Output   cycles, at least 1; energy, 0 if unknown.
// Errors   none; what would overflow is kManyCycles, longer than any tile may be.
// Cost     constant, plus one call of the TileCoster.
#ifndef SLUICE_MODEL_TILE_CYCLES_H_
#define SLUICE_MODEL_TILE_CYCLES_H_

#include "base/checked.h"
#include "model/hardware.h"
#include "model/tile_cost.h"
#include "model/tile_geometry.h"

namespace sluice {

constexpr int64_t kManyCycles = int64_t{1} << 60;

// What a tile adds to its layer's sum: so many channels (0: the layer has no sum), and
// whether it begins and ends the sum. A tile that does not do both reads or writes
// partial sums.
struct TileSum {
  int32_t channels;
  bool first = true;
  bool last = true;
};

// Cycles of the units alone. The parts of a tile that is cut take together at least as
// many as the whole.
int64_t ArrayCycles(const Hardware& hardware, const Layer& layer,
                    const TileBoxes& boxes, int64_t channels);

// Bytes that a tile reads and writes in the scratchpad when it touches each of them
// once. Rows and columns that strides skip are not read.
int64_t ScratchpadBytes(const Graph& graph, const Layer& layer,
                        uint32_t accumulator_bytes, const TileBoxes& boxes,
                        TileSum sum);

// Cycles that the scratchpad takes for those bytes; 0 where it never limits.
int64_t ScratchpadCycles(const Hardware& hardware, const Graph& graph,
                         const Layer& layer, const TileBoxes& boxes, TileSum sum);

int64_t TileCycles(const Hardware& hardware, const Graph& graph, const Layer& layer,
                   const TileBoxes& boxes, TileSum sum);

// Work / peak: what the judges demand of a tile at least.
int64_t LeastCycles(const Hardware& hardware, const TileBoxes& boxes);

// The fewest cycles that a tile may declare. Costs of a TileCoster are raised to them.
int64_t LeastTileCycles(const Hardware& hardware, const Graph& graph,
                        const Layer& layer, const TileBoxes& boxes, TileSum sum);

// A layer whose tiles are to be priced, and who knows prices.
struct PricedLayer {
  const TileCoster& coster;
  const Hardware& hardware;
  const Graph& graph;
  const Layer& layer;
  uint32_t index;  // in the graph
};

// energy_pj 0: unknown; the report derives it from bytes and work.
TileCost DeclaredCost(const PricedLayer& of, const TileBoxes& boxes, TileSum sum);

}  // namespace sluice

#endif  // SLUICE_MODEL_TILE_CYCLES_H_
