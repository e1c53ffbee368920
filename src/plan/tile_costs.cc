// SPDX-License-Identifier: Apache-2.0
#include "plan/tile_costs.h"

#include "base/hash.h"

namespace sluice {

namespace {

bool IsValid(const sluice_tile_cost_t& cost) {
  return cost.cycles >= 1 && cost.cycles <= INT64_C(0xffffffff) &&
         cost.energy_pj >= 0 && cost.energy_pj < 1e300 && cost.scratchpad_pj >= 0 &&
         cost.scratchpad_pj <= cost.energy_pj;
}

bool SameTile(const sluice_tile_row_t& a, const sluice_tile_row_t& b) {
  bool same = a.layer == b.layer && a.channels == b.channels;
  for (int i = 0; i < kAxes; ++i) same = same && a.extent[i] == b.extent[i];
  return same;
}

TileCost CostIn(const sluice_tile_row_t& row) {
  return TileCost{row.cost.cycles, row.cost.energy_pj, row.cost.scratchpad_pj};
}

Fail BadRow(uint64_t row, Diagnostic* diagnostic) {
  Fail fail(diagnostic, Status::kBadArgument, "options");
  fail.Say("tile cost row #", row);
  return fail;
}

}  // namespace

size_t TileCosts::SlotOf(const sluice_tile_row_t& tile) const {
  uint64_t hash = Fnv1a(tile.extent, sizeof tile.extent, tile.layer);
  hash = Fnv1a(&tile.channels, sizeof tile.channels, hash);
  size_t slot = (hash ^ hash >> 32) & (index_.size() - 1);
  while (index_[slot] != 0 && !SameTile(known_[index_[slot] - 1], tile)) {
    slot = (slot + 1) & (index_.size() - 1);
  }
  return slot;
}

Status TileCosts::GrowIndex() {
  if (2 * (known_.size() + 1) <= index_.size()) return Status::kOk;
  SLUICE_TRY(arena_->Allocate(index_.size() == 0 ? 64 : 2 * index_.size(), &index_));
  for (size_t i = 0; i < known_.size(); ++i) {
    index_[SlotOf(known_[i])] = static_cast<uint32_t>(i + 1);
  }
  return Status::kOk;
}

Status TileCosts::Init(Diagnostic* diagnostic) {
  if (options_.tile_row_count > UINT32_MAX / 4 ||
      (options_.tile_rows == nullptr && options_.tile_row_count != 0)) {
    return Fail(diagnostic, Status::kBadArgument, "options")
        .Text("tile_rows must point at tile_row_count rows, at most 2^30");
  }
  for (uint64_t i = 0; i < options_.tile_row_count; ++i) {
    const sluice_tile_row_t& row = options_.tile_rows[i];
    if (row.layer >= graph_.layers.size()) {
      return BadRow(i, diagnostic).Say(": there is no layer #", row.layer);
    }
    if (!IsValid(row.cost)) {
      return BadRow(i, diagnostic)
          .Layer(row.layer)
          .Text(
              ": cycles must be 1 to 2^32 - 1, energies finite and not negative, "
              "scratchpad_pj part of energy_pj");
    }
    SLUICE_TRY(GrowIndex());
    const size_t slot = SlotOf(row);
    if (index_[slot] != 0) {
      return BadRow(i, diagnostic)
          .Layer(row.layer)
          .Say(" is for the same tile as row #",
               static_cast<int64_t>(index_[slot]) - 1);
    }
    SLUICE_TRY(known_.Push(row));
    index_[slot] = static_cast<uint32_t>(known_.size());
  }
  return Status::kOk;
}

void TileCosts::Keep(Status status, uint32_t layer, int32_t code) {
  if (status_ != Status::kOk) return;
  status_ = status;
  failed_layer_ = layer;
  failed_code_ = code;
}

TileCost TileCosts::AskCaller(const sluice_tile_row_t& tile) {
  // Where there is no memory to keep more, the callback is asked again each time.
  full_ = full_ || GrowIndex() != Status::kOk;
  const size_t slot = index_.empty() ? 0 : SlotOf(tile);
  if (!index_.empty() && index_[slot] != 0) return CostIn(known_[index_[slot] - 1]);
  if (options_.tile_cost == nullptr || status_ != Status::kOk) return TileCost{0, 0};
  sluice_tile_row_t row = tile;
  row.cost = sluice_tile_cost_t{};
  const int32_t code = options_.tile_cost(options_.tile_cost_user, tile.layer,
                                          tile.extent, tile.channels, &row.cost);
  if (code < 0 || (code > 0 && !IsValid(row.cost))) {
    Keep(Status::kBadArgument, tile.layer, code);
    failed_cycles_ = row.cost.cycles;
    return TileCost{0, 0};
  }
  if (code == 0) row.cost = sluice_tile_cost_t{};
  full_ = full_ || known_.Push(row) != Status::kOk;
  if (!full_) index_[slot] = static_cast<uint32_t>(known_.size());
  return CostIn(row);
}

bool TileCosts::CostOf(void* user, uint32_t layer, const int32_t extent[4],
                       int32_t channels, TileCost* out) {
  TileCosts& costs = *static_cast<TileCosts*>(user);
  if (costs.index_.size() != 0 || costs.options_.tile_cost != nullptr) {
    sluice_tile_row_t tile = {};
    tile.layer = layer;
    for (int i = 0; i < kAxes; ++i) tile.extent[i] = extent[i];
    tile.channels = channels;
    *out = costs.AskCaller(tile);
    if (out->cycles > 0) return true;
  }
  MappingProblem tile;
  Diagnostic ignored = {};
  const Status status =
      ProblemOfTile(costs.graph_, {costs.lowering_.executed[layer], extent, channels},
                    costs.hardware_.accumulator_bytes, &tile, &ignored);
  return status == Status::kOk && costs.mapper_.Cost(tile, out);
}

Status TileCosts::status(Diagnostic* diagnostic) const {
  if (status_ == Status::kBadArgument) {
    Fail fail(diagnostic, status_, "options");
    fail.Layer(failed_layer_).Text("the tile cost callback ");
    if (failed_code_ < 0) return fail.Say("returned #", failed_code_);
    return fail.Say(
        "gave a cost out of range, with # cycles: cycles must be 1 to 2^32 - 1, "
        "energies "
        "finite and not negative, scratchpad_pj part of energy_pj",
        failed_cycles_);
  }
  return status_ != Status::kOk ? status_ : mapper_.status();
}

}  // namespace sluice
