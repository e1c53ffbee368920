// SPDX-License-Identifier: Apache-2.0
// Where the declared cycles and the energy of a plan's tiles come from: the caller's
// callback, the caller's table, the mapper; in this order, the first that knows.
//
// Input    graph, hardware, lowering, the options that name callback and table
// Output   a TileCoster; status() after scheduling
// Errors   status(): kBadArgument when the callback failed, with layer and box;
//          kOutOfMemory
// Cost     one call of the callback, and one mapping, per distinct tile of a layer
#ifndef SLUICE_API_TILE_COSTS_H_
#define SLUICE_API_TILE_COSTS_H_

#include "model/lowering.h"
#include "model/tile_cost.h"
#include "solve/mapping/tile_mapper.h"

namespace sluice {

class TileCosts {
 public:
  TileCosts(const Graph& graph, const Hardware& hardware, const Lowering& lowering,
            const sluice_schedule_options_t& options, Arena* arena)
      : graph_(graph),
        hardware_(hardware),
        lowering_(lowering),
        options_(options),
        mapper_(hardware, arena) {}
  TileCosts(const TileCosts&) = delete;
  TileCosts& operator=(const TileCosts&) = delete;

  TileCoster coster() { return TileCoster{this, CostOf}; }
  Status status(Diagnostic* diagnostic) const;

 private:
  static bool CostOf(void* user, uint32_t layer, const int32_t extent[4],
                     int32_t channels, TileCost* out);

  const Graph& graph_;
  const Hardware& hardware_;
  const Lowering& lowering_;
  const sluice_schedule_options_t& options_;
  TileMapper mapper_;
};

}  // namespace sluice

#endif  // SLUICE_API_TILE_COSTS_H_
