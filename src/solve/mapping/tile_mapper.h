// SPDX-License-Identifier: Apache-2.0
// The cost of a tile whose operands lie in the scratchpad, and the loop nest that has
// it.
//
// Input    hardware; tiles as mapping problems
// Output   cycles and energy (without leakage) of a nest from the scratchpad down,
//          whose energy x cycles is within 5 % of the least; on a core array those of
//          the best partitioning
// Errors   Cost returns false when the hardware describes no level below the scratchpad
//          or no nest was found; Map says why
// Cost     a look-up for a tile that is known. A new tile takes some microseconds on a
//          core array, else as conv_exact.h says. About 200 bytes of the arena for each
//          distinct tile, up to a part of the memory that is free at first
// Source   SoMa section VI-A for core arrays; KAPLA's space for the others
#ifndef SLUICE_SOLVE_MAPPING_TILE_MAPPER_H_
#define SLUICE_SOLVE_MAPPING_TILE_MAPPER_H_

#include "base/budget.h"
#include "base/sequence.h"
#include "model/core_array.h"
#include "model/hardware_view.h"
#include "solve/mapping/conv/conv_exact.h"

namespace sluice {

// Whether tiles of this machine are mapped by a search (SLUICE_COMPONENT_MAPPERS).
bool NeedsMappers(const Hardware& hardware);

class TileMapper {
 public:
  // The hardware outlives the mapper.
  TileMapper(const Hardware& hardware, Arena* arena);

  bool Cost(const MappingProblem& tile, TileCost* out);
  // Whether a new tile costs a search for a nest rather than a few sums.
  bool searches() const { return described_; }

  // The nest of a tile. kUnsupported on core arrays, which have none.
  Status Map(const MappingProblem& tile, Budget* budget, MappedNest* mapped,
             Diagnostic* diagnostic);
  const Hardware& below() const { return view_.hardware; }
  // kOutOfMemory when a search for a nest had too little memory.
  Status status() const { return status_; }

 private:
  struct Entry {
    MappingProblem tile;
    TileCost cost;  // cycles 0 = no mapping
  };
  TileCost Compute(const MappingProblem& tile);
  Status Grow();
  size_t SlotOf(const MappingProblem& tile) const;

  const Hardware& hardware_;
  Arena* arena_;
  Sequence<Entry> entries_;
  Span<uint32_t> index_;  // open addressing: entry + 1, 0 = free
  HardwareView view_;
  CoreArray array_ = {};
  bool described_ = false;  // levels below the scratchpad
  bool full_ = false;       // there is no memory to remember more tiles
  Status status_ = Status::kOk;
};

}  // namespace sluice

#endif  // SLUICE_SOLVE_MAPPING_TILE_MAPPER_H_
