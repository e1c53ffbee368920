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
  SLUICE_TRY(
      InitParser(&parser_, arena, problem, memo, {max_tiles, max_transfers}, &list_));
  SLUICE_TRY(InitDmaLister(arena, max_tiles, max_transfers, &lister_));
  SLUICE_TRY(AllocateDraft(arena, problem->layers.size(), &draft));
  SLUICE_TRY(arena->Allocate(max_transfers, &dma_.order));
  SLUICE_TRY(arena->Allocate(max_transfers, &dma_.start));
  SLUICE_TRY(arena->Allocate(max_transfers, &dma_.end));
  SLUICE_TRY(arena->Allocate(max_tiles + 1, &due_));
  SLUICE_TRY(arena->Allocate(max_tiles + 2, &profile_));
  ResetDraft(&draft);
  SaveDraft(&draft);
  return Status::kOk;
}

bool Scheme::CrossesSegments() const {
  if (segment.empty()) return false;
  for (uint32_t i = 1; i < Layers(draft); ++i) {
    if (draft.notation.cut[i] == kCutNone &&
        segment[draft.notation.order[i]] != segment[draft.notation.order[i - 1]]) {
      return true;
    }
  }
  return false;
}

SchemeScore Scheme::Bound() {
  SchemeScore s;
  s.parsed = CrossesSegments() ? ParseResult::kCut
                               : ParseNotation(&parser_, draft.notation, &list_);
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
                               : ParseNotation(&parser_, draft.notation, &list_);
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
    s.latency_cycles =
        ListTransfers(&lister_, list_, problem_->buffer_bytes, draft.policy, &dma_);
    s.minimum_bytes = lister_.minimum_bytes;
    if (s.latency_cycles < 0) return s;
  }
  s.cost = CostOf(s);
  return s;
}

uint32_t Scheme::PeakPosition() const {
  uint32_t peak = 0;
  for (uint32_t p = 0; p < list_.tiles; ++p) {
    if (profile_[p + 1] > profile_[peak + 1]) peak = p;
  }
  uint32_t i = 0;
  while (draft.notation.order[i] != list_.layer[peak]) ++i;
  return i;
}

}  // namespace sluice
