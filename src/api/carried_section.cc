// SPDX-License-Identifier: Apache-2.0
#include "api/carried_section.h"

#include "base/checked.h"
#include "solve/placement/fixed_overlap.h"

namespace sluice {
Status StartOfCarried(const CarriedSchedule& carried, const FusionRun& run,
                      Span<const uint32_t> layers, Span<uint32_t> local, Arena* arena,
                      GroupNotation* n, Span<uint8_t>* touched) {
  const size_t size = run.layer.size();
  SLUICE_TRY(arena->Allocate(size, &n->order));
  SLUICE_TRY(arena->Allocate(size, &n->cut));
  SLUICE_TRY(arena->Allocate(size, &n->tiles));
  SLUICE_TRY(arena->Allocate(size, touched));
  for (uint32_t i = 0; i < size; ++i) local[run.layer[i]] = i;
  const CarriedLayer* last = nullptr;
  uint32_t count = 0;
  for (uint32_t layer : layers) {
    const uint32_t at = local[layer];
    if (at >= size || run.layer[at] != layer) continue;  // an append
    const CarriedLayer& c = carried.layer[layer];
    n->order[count] = at;
    n->cut[count] = last == nullptr || last->fusion != c.fusion ? kCutDram
                    : last->group != c.group                    ? kCutFine
                                                                : kCutNone;
    n->tiles[count++] = c.tiles;
    (*touched)[at] = c.touched;
    last = &c;
  }
  return Status::kOk;
}

Status AdoptDram(const CarriedSchedule& carried, uint32_t section, int64_t capacity,
                 Arena* arena, FusionResult* r, bool* adopted) {
  *adopted = false;
  const PlanSection& s = carried.before->section[section];
  const TileList& list = r->list;
  if (carried.whole[section] == 0 || s.transfers != list.transfers) return Status::kOk;
  DmaNotation dma;
  SLUICE_TRY(arena->Allocate(s.transfers, &dma.order));
  SLUICE_TRY(arena->Allocate(s.transfers, &dma.start));
  SLUICE_TRY(arena->Allocate(s.transfers, &dma.end));
  for (uint32_t i = 0; i < s.transfers; ++i) {
    const PlanDramTensor& d = carried.before->dram[s.dram + i];
    if (d.tensor >= s.transfers) return Status::kOk;
    const DramTensor& t = list.transfer[d.tensor];
    const bool store = t.kind == kStore;
    dma.order[i] = d.tensor;
    dma.start[d.tensor] = store ? t.use : d.duration;
    dma.end[d.tensor] = store ? d.duration : t.end;
  }
  ArenaScope scope(arena);
  Span<int32_t> scratch;
  Span<int64_t> bytes;
  SLUICE_TRY(arena->Allocate(Max(s.transfers, list.tiles + 1), &scratch));
  SLUICE_TRY(arena->Allocate(list.tiles + 2, &bytes));
  if (CheckDma(list, dma, scratch) != DmaFault::kLegal ||
      ProfileBuffer(list, dma, bytes) > capacity) {
    return Status::kOk;
  }
  r->dma = dma;
  r->score.latency_cycles = Latency(list, dma, scratch);
  *adopted = true;
  return Status::kOk;
}

Status AdoptOffsets(const CarriedSchedule& carried, uint32_t section, int64_t capacity,
                    Span<const LiveRange> ranges, Arena* arena, Span<int64_t>* offsets,
                    bool* held) {
  const PlanNotation& before = *carried.before;
  *held = false;
  if (carried.whole[section] == 0 || before.section_buffer.empty()) return Status::kOk;
  const size_t first = before.section_buffer[section];
  if (first > before.buffer.size() || ranges.size() > before.buffer.size() - first) {
    return Status::kOk;
  }
  SLUICE_TRY(arena->Allocate(ranges.size(), offsets));
  ArenaScope scope(arena);
  Span<FixedBlock> blocks;
  SLUICE_TRY(arena->Allocate(ranges.size(), &blocks));
  for (uint32_t i = 0; i < ranges.size(); ++i) {
    const LiveRange& r = ranges[i];
    const int64_t offset = before.buffer[first + i];
    if (offset % r.alignment != 0 || offset + r.bytes > capacity) return Status::kOk;
    blocks[i] = FixedBlock{r.begin, r.end, offset, offset + r.bytes, i, false};
    (*offsets)[i] = offset;
  }
  FixedOverlap overlap;
  SLUICE_TRY(FindFixedOverlap(blocks, arena, &overlap));
  *held = !overlap.found;
  return Status::kOk;
}

}  // namespace sluice
