// SPDX-License-Identifier: Apache-2.0
// Where the declared cycles and the energy of a plan's tiles come from: the caller's
// table, else the caller's callback, else the mapper.
//
// Input    graph, hardware, lowering, the options that name table and callback
// Output   a TileCoster; status() after scheduling
// Errors   Init: kBadArgument with the row. status(): kBadArgument with the layer when
//          the callback failed or gave no valid cost; kOutOfMemory
// Cost     one call of the callback, and one mapping, per distinct tile; where there is no
//          memory to keep what the callback said, a call each time
#ifndef SLUICE_PLAN_TILE_COSTS_H_
#define SLUICE_PLAN_TILE_COSTS_H_

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
        arena_(arena),
        known_(arena),
        mapper_(hardware, arena) {}
  TileCosts(const TileCosts&) = delete;
  TileCosts& operator=(const TileCosts&) = delete;

  // Reads the table. Nothing else may be called before.
  Status Init(Diagnostic* diagnostic);
  TileCoster coster() { return TileCoster{this, CostOf, from_caller()}; }
  Status status(Diagnostic* diagnostic) const;
  // True when no cost needs a search.
  bool quick() const { return from_caller() || !mapper_.searches(); }

 private:
  bool from_caller() const {
    return options_.tile_cost != nullptr || options_.tile_row_count != 0;
  }
  static bool CostOf(void* user, uint32_t layer, const int32_t extent[4],
                     int32_t channels, TileCost* out);

  // The caller's cost of a tile; cycles 0 = none given. Remembers failures.
  TileCost AskCaller(const sluice_tile_row_t& tile);
  Status GrowIndex();
  size_t SlotOf(const sluice_tile_row_t& tile) const;
  void Keep(Status status, uint32_t layer, int32_t code);

  const Graph& graph_;
  const Hardware& hardware_;
  const Lowering& lowering_;
  const sluice_schedule_options_t& options_;
  Arena* arena_;
  Vector<sluice_tile_row_t> known_;  // costs given by the caller; cycles 0 = none given
  Span<uint32_t> index_;             // open addressing: entry + 1, 0 = free
  bool full_ = false;                // there is no memory for more
  TileMapper mapper_;
  Status status_ = Status::kOk;  // the first failure, of this layer
  uint32_t failed_layer_ = kNone;
  int32_t failed_code_ = 0;
  int64_t failed_cycles_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_PLAN_TILE_COSTS_H_
