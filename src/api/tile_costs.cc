// SPDX-License-Identifier: Apache-2.0
#include "api/tile_costs.h"

namespace sluice {

bool TileCosts::CostOf(void* user, uint32_t layer, const int32_t extent[4],
                       int32_t channels, TileCost* out) {
  TileCosts& costs = *static_cast<TileCosts*>(user);
  MappingProblem tile;
  Diagnostic ignored = {};
  const Status status =
      ProblemOfTile(costs.graph_, costs.lowering_.executed[layer], extent, channels,
                    costs.hardware_.accumulator_bytes, &tile, &ignored);
  return status == Status::kOk && costs.mapper_.Cost(tile, out);
}

Status TileCosts::status(Diagnostic* diagnostic) const {
  (void)diagnostic;
  return mapper_.status();
}

}  // namespace sluice
