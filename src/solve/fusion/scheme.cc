// SPDX-License-Identifier: Apache-2.0
#include "solve/fusion/scheme.h"

#include "base/checked.h"

namespace sluice {

double Cost(const Objective& objective, double energy_pj, int64_t cycles) {
  double cost = 1;
  for (uint32_t i = 0; i < objective.energy_exponent; ++i) cost *= energy_pj;
  for (uint32_t i = 0; i < objective.delay_exponent; ++i) {
    cost *= static_cast<double>(cycles);
  }
  return cost;
}

Status Scheme::Init(Arena* arena, const FusionProblem* problem, TileMemo* memo,
                    const Objective& objective, uint32_t max_tiles,
                    uint32_t max_transfers) {
  problem_ = problem;
  memo_ = memo;
  objective_ = objective;
  target_bytes = problem->buffer_bytes;
  const size_t n = problem->layers.size();
  SLUICE_TRY(
      InitParser(&parser_, arena, problem, memo, {max_tiles, max_transfers}, &list_));
  SLUICE_TRY(lister_.Init(arena, max_tiles, max_transfers));
  GroupNotation* const notations[] = {&notation_, &best_};
  for (GroupNotation* g : notations) {
    SLUICE_TRY(arena->Allocate(n, &g->order));
    SLUICE_TRY(arena->Allocate(n, &g->cut));
    SLUICE_TRY(arena->Allocate(n, &g->tiles));
  }
  SLUICE_TRY(arena->Allocate(max_transfers, &dma_.order));
  SLUICE_TRY(arena->Allocate(max_transfers, &dma_.start));
  SLUICE_TRY(arena->Allocate(max_transfers, &dma_.end));
  SLUICE_TRY(arena->Allocate(max_tiles + 1, &due_));
  SLUICE_TRY(arena->Allocate(max_tiles + 2, &profile_));
  SLUICE_TRY(arena->Allocate(3 * n + 16, &log_));
  Reset();
  Save();
  return Status::kOk;
}

void Scheme::Reset() {
  for (uint32_t i = 0; i < layers(); ++i) {
    notation_.order[i] = i;
    notation_.cut[i] = i == 0 ? kCutDram : kCutFine;
    notation_.tiles[i] = 1;
  }
  policy = 0;
  Keep();
}

bool Scheme::CrossesSegments() const {
  if (segment.empty()) return false;
  for (uint32_t i = 1; i < layers(); ++i) {
    if (notation_.cut[i] == kCutNone &&
        segment[notation_.order[i]] != segment[notation_.order[i - 1]]) {
      return true;
    }
  }
  return false;
}

SchemeScore Scheme::Bound() {
  SchemeScore s;
  s.parsed = CrossesSegments() ? ParseResult::kCut
                               : ParseNotation(&parser_, notation_, &list_);
  if (s.parsed != ParseResult::kOk) return s;
  s.energy_pj = Energy(*problem_, list_);
  s.latency_cycles = Max(list_.compute_cycles, list_.dram_cycles);
  const int64_t cycles = Max(list_.compute_cycles + rest.compute_cycles,
                             list_.dram_cycles + rest.dram_cycles);
  s.cost = Cost(objective_, s.energy_pj + rest.energy_pj, cycles);
  s.minimum_bytes = ProfileMinimum(list_, profile_);
  if (s.minimum_bytes <= target_bytes) return s;
  const double buffer = static_cast<double>(target_bytes);
  for (uint32_t p = 0; p < list_.tiles; ++p) {
    const int64_t over = profile_[p + 1] - target_bytes;
    if (over <= 0) continue;
    s.excess += static_cast<double>(over) / buffer *
                static_cast<double>(Max(list_.cycles[p], int64_t{1}));
  }
  s.excess /= static_cast<double>(cycles);
  return s;
}

SchemeScore Scheme::Score(double limit) {
  SchemeScore s;
  s.parsed = CrossesSegments() ? ParseResult::kCut
                               : ParseNotation(&parser_, notation_, &list_);
  if (s.parsed != ParseResult::kOk) return s;
  s.energy_pj = Energy(*problem_, list_);
  s.latency_cycles = Max(list_.compute_cycles, list_.dram_cycles);
  if (CostOf(s) > limit) return s;
  if (double_buffer) {
    DoubleBuffer(list_, &dma_);
    s.minimum_bytes = ProfileBuffer(list_, dma_, profile_);
    if (s.minimum_bytes > problem_->buffer_bytes) return s;
    s.latency_cycles = Latency(list_, dma_, due_);
  } else {
    s.latency_cycles = lister_.List(list_, problem_->buffer_bytes, policy, &dma_);
    s.minimum_bytes = lister_.minimum_bytes();
    if (s.latency_cycles < 0) return s;
  }
  s.cost = CostOf(s);
  return s;
}

void Scheme::Log(uint32_t i) {
  SLUICE_ASSERT(log_size_ < log_.size());
  log_[log_size_++] =
      Change{i, notation_.order[i], notation_.tiles[i], notation_.cut[i]};
}

void Scheme::Undo() {
  while (log_size_ != 0) {
    const Change& c = log_[--log_size_];
    notation_.order[c.position] = c.order;
    notation_.tiles[c.position] = c.tiles;
    notation_.cut[c.position] = c.cut;
  }
  policy = kept_policy_;
}

void Scheme::MoveLayer(uint32_t from, uint32_t to) {
  const uint32_t layer = notation_.order[from];
  const int step = from < to ? 1 : -1;
  for (uint32_t i = from; i != to; i += static_cast<uint32_t>(step)) {
    Log(i);
    notation_.order[i] = notation_.order[i + static_cast<uint32_t>(step)];
  }
  Log(to);
  notation_.order[to] = layer;
}

uint32_t Scheme::PeakPosition() const {
  uint32_t peak = 0;
  for (uint32_t p = 0; p < list_.tiles; ++p) {
    if (profile_[p + 1] > profile_[peak + 1]) peak = p;
  }
  uint32_t i = 0;
  while (notation_.order[i] != list_.layer[peak]) ++i;
  return i;
}

uint32_t Scheme::GroupFirst(uint32_t i) const {
  while (notation_.cut[i] == kCutNone) --i;
  return i;
}

uint32_t Scheme::GroupLast(uint32_t i) const {
  const uint32_t n = static_cast<uint32_t>(layers());
  for (++i; i < n && notation_.cut[i] == kCutNone;) ++i;
  return i;
}

void Scheme::MakeGroup(uint32_t first, uint32_t last, int32_t tiles) {
  if (last < layers() && notation_.cut[last] == kCutNone) {
    const int32_t outside = notation_.tiles[GroupFirst(last)];
    Log(last);
    notation_.cut[last] = kCutFine;
    notation_.tiles[last] = outside;
  }
  for (uint32_t i = first + 1; i < last; ++i) {
    if (notation_.cut[i] != kCutNone) SetCut(i, kCutNone);
  }
  Log(first);
  if (notation_.cut[first] == kCutNone) notation_.cut[first] = kCutFine;
  notation_.tiles[first] = tiles;
}

namespace {

void Copy(const GroupNotation& from, GroupNotation* to) {
  const size_t n = from.order.size();
  memcpy(to->order.data(), from.order.data(), n * sizeof(uint32_t));
  memcpy(to->cut.data(), from.cut.data(), n);
  memcpy(to->tiles.data(), from.tiles.data(), n * sizeof(int32_t));
}

}  // namespace

void Scheme::Load(const GroupNotation& notation) {
  Copy(notation, &notation_);
  Keep();
}

void Scheme::Save() {
  Copy(notation_, &best_);
  best_policy_ = policy;
}

void Scheme::Restore() {
  Copy(best_, &notation_);
  policy = best_policy_;
  Keep();
}

}  // namespace sluice
