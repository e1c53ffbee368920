// SPDX-License-Identifier: Apache-2.0
#include "solve/fusion/stretch.h"

#include "base/checked.h"

namespace sluice {

namespace {

// Room for the tiles of a stretch beyond those that it has: moves add tiles.
constexpr uint32_t kTilesPerLayer = 32;
constexpr uint32_t kTilesBeside = 512;

}  // namespace

void AlignToGroups(const Scheme& whole, uint32_t* first, uint32_t* last) {
  const uint32_t n = static_cast<uint32_t>(whole.layers());
  const Span<uint8_t> cut = whole.notation().cut;
  while (cut[*first] == kCutNone) --*first;
  while (*last < n && cut[*last] == kCutNone) ++*last;
}

Status OpenStretch(const Scheme& whole, uint32_t first, uint32_t last,
                   WindowIndex* index, Arena* arena, Stretch* out) {
  const GroupNotation& notation = whole.notation();
  const uint32_t n = static_cast<uint32_t>(notation.order.size());
  for (uint32_t i = 0; i < n; ++i) index->position[notation.order[i]] = i;
  out->first = first;
  out->last = last;
  SLUICE_TRY(
      OpenWindow(WindowPlace{whole.problem(), whole.memo(), notation, first, last},
                 index, arena, &out->window));
  const uint32_t length = last - first;
  uint32_t tiles = kTilesPerLayer * length + kTilesBeside;
  for (uint32_t i = first, now = 1; i < last; ++i) {
    if (notation.cut[i] != kCutNone) now = static_cast<uint32_t>(notation.tiles[i]);
    tiles += now;
  }
  out->memo = TileMemo();
  out->scheme = Scheme();
  SLUICE_TRY(out->memo.Init(arena, out->window.model, 32 * size_t{length}));
  SLUICE_TRY(out->scheme.Init(arena, &out->window.problem, &out->memo,
                              whole.objective(), tiles, 2 * tiles));
  if (!whole.segment.empty()) {
    Span<uint32_t> segment;
    SLUICE_TRY(arena->Allocate(length, &segment));
    for (uint32_t i = 0; i < length; ++i) {
      segment[i] = whole.segment[out->window.layer[i]];
    }
    out->scheme.segment = segment;
  }
  out->scheme.draft.policy = whole.draft.policy;
  LoadDraft(&out->scheme.draft, out->window.notation);
  return Status::kOk;
}

SchemeRest RestOf(const Scheme& whole, const SchemeScore& whole_score,
                  const Scheme& part, const SchemeScore& part_score) {
  SchemeRest rest = whole.rest;
  rest.energy_pj += whole_score.energy_pj - part_score.energy_pj;
  rest.compute_cycles += whole.list().compute_cycles - part.list().compute_cycles;
  rest.dram_cycles += whole.list().dram_cycles - part.list().dram_cycles;
  rest.latency_cycles += whole_score.latency_cycles - part_score.latency_cycles;
  return rest;
}

void WriteBack(const Stretch& stretch, Scheme* whole) {
  const GroupNotation& from = stretch.scheme.notation();
  for (uint32_t i = 0; i < from.order.size(); ++i) {
    const uint32_t at = stretch.first + i;
    SetPlace(&whole->draft, at,
             {stretch.window.layer[from.order[i]],
              i == 0 ? whole->notation().cut[at] : from.cut[i], from.tiles[i]});
  }
}

}  // namespace sluice
