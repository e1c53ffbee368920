// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/tile_mapper.h"

#include "base/components.h"

namespace sluice {

namespace {

constexpr double kGap = 0.05;  // between cost and bound, at which a search ends
// Bytes per entry, including outgrown arrays, which stay in the arena.
constexpr uint64_t kEntryBytes = 256;

// True when the scratchpad feeds all units: the hierarchy of the exact search.
bool IsFlat(const Hardware& below) {
  for (const Fanout& fanout : below.fanouts) {
    if (fanout.extent > 1 && fanout.level != 1) return false;
  }
  return below.levels.size() == 2;
}

// Takes the levels below the scratchpad, if the search can map tiles on them.
bool ViewOf(const Hardware& hardware, HardwareView* view) {
  Diagnostic ignored = {};
  return hardware.cores.rows == 0 &&
         ViewBelowScratchpad(hardware, view, &ignored) == Status::kOk &&
         IsFlat(view->hardware);
}

}  // namespace

bool NeedsMappers(const Hardware& hardware) {
  HardwareView view;
  return ViewOf(hardware, &view);
}

TileMapper::TileMapper(const Hardware& hardware, Arena* arena)
    : hardware_(hardware), arena_(arena), entries_(arena) {
  if (hardware.cores.rows > 0) array_ = CoreArrayOf(hardware);
  described_ = Has(SLUICE_COMPONENT_MAPPERS) && ViewOf(hardware, &view_);
}

Status TileMapper::Map(const MappingProblem& tile, Budget* budget, MappedNest* mapped,
                       Diagnostic* diagnostic) {
  if (!described_) {
    return Fail(diagnostic, Status::kUnsupported, "mapping")
        .Text("the hardware describes no array below its scratchpad to map tiles on");
  }
  MapConstraints constraints;
  constraints.energy_exponent = constraints.delay_exponent = 1;
  constraints.bypass = constraints.quick = true;
  constraints.gap = kGap;
  return MapConvExact({tile, view_.hardware, constraints}, budget, arena_, mapped,
                      diagnostic);
}

TileCost TileMapper::Compute(const MappingProblem& tile) {
  if (hardware_.cores.rows > 0) {
    CoreCost cost = {};
    if (!CoreTileCost(array_, tile, &cost)) return TileCost{0, 0};
    return TileCost{cost.cycles, cost.energy_pj, cost.scratchpad_pj};
  }
  Diagnostic ignored = {};
  Budget unlimited;
  Budget* clock = arena_->memory()->clock();
  MappedNest mapped;
  const Status status =
      Map(tile, clock != nullptr ? clock : &unlimited, &mapped, &ignored);
  if (status == Status::kOutOfMemory || status == Status::kStopped) status_ = status;
  if (status != Status::kOk) return TileCost{0, 0};
  const LayerCost& cost = mapped.cost;
  return TileCost{cost.cycles, cost.energy_pj - cost.leakage_pj,
                  cost.level_pj[view_.hardware.levels.size() - 1] + cost.transfer_pj};
}

size_t TileMapper::SlotOf(const MappingProblem& tile) const {
  size_t slot = HashProblem(tile) & (index_.size() - 1);
  while (index_[slot] != 0 && !SameProblem(entries_[index_[slot] - 1].tile, tile)) {
    slot = (slot + 1) & (index_.size() - 1);
  }
  return slot;
}

Status TileMapper::Grow() {
  // A search for a nest takes so long that nearly all memory is for what it found. Limits
  // change during a call, so each time the memory that is left decides.
  const uint64_t share = described_ ? 2 : 4;
  const uint64_t held = entries_.size() * kEntryBytes;  // will be twice as many
  if (held * (2 * share - 1) > arena_->memory()->free_bytes()) {
    return Status::kOutOfMemory;
  }
  const size_t size = index_.empty() ? 64 : 2 * index_.size();
  Span<uint32_t> index;
  SLUICE_TRY(arena_->Allocate(size, &index));
  index_ = index;
  for (size_t i = 0; i < entries_.size(); ++i) {
    index_[SlotOf(entries_[i].tile)] = static_cast<uint32_t>(i + 1);
  }
  return Status::kOk;
}

bool TileMapper::Cost(const MappingProblem& tile, TileCost* out) {
  if (!described_ && hardware_.cores.rows == 0) return false;
  if (!full_ && 2 * entries_.size() >= index_.size()) full_ = Grow() != Status::kOk;
  const size_t slot = index_.empty() ? 0 : SlotOf(tile);
  if (!index_.empty() && index_[slot] != 0) {
    *out = entries_[index_[slot] - 1].cost;
    return out->cycles > 0;
  }
  *out = Compute(tile);
  // A tile that there is no memory to remember is mapped again when it is asked for.
  if (!full_ && entries_.Push(Entry{tile, *out}) == Status::kOk) {
    index_[slot] = static_cast<uint32_t>(entries_.size());
  } else {
    full_ = true;
  }
  return out->cycles > 0;
}

}  // namespace sluice
