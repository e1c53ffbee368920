// SPDX-License-Identifier: Apache-2.0
#include "plan/carry/carried_offsets.h"

#include "base/checked.h"
#include "solve/placement/offsets/offsets.h"

namespace sluice {
namespace {

// Most pairs of a new buffer and any other; beyond, greedy placement takes over.
constexpr size_t kMostPairs = 1 << 20;

// How many buffers a section has, now and before: loads first, then tiles.
struct BufferCounts {
  uint32_t loads, all;  // now
  uint32_t head_loads, tail_loads;
  uint32_t head_tiles, tail_tiles;
  uint32_t loads_before, all_before;
};

// made: by layer of the run, how many buffers its tiles have.
void CountBuffers(const CarriedParts& parts, const Section& section,
                  Span<uint32_t> made, BufferCounts* c) {
  const TileList& list = section.result.list;
  const FusedBuffers& b = section.buffers;
  c->all = static_cast<uint32_t>(b.ranges.size());
  c->loads = list.tiles == 0 ? c->all : b.of_tile[0];
  c->head_loads = c->tail_loads = c->loads;
  for (uint32_t i = list.transfers; i-- > 0;) {
    if (b.of_transfer[i] == kNone) continue;
    if (i >= list.transfers - parts.tail_transfers) c->tail_loads = b.of_transfer[i];
    if (i >= parts.head_transfers) c->head_loads = b.of_transfer[i];
  }
  c->tail_loads = c->loads - c->tail_loads;
  c->head_tiles = c->tail_tiles = 0;
  uint32_t next = c->loads;
  for (uint32_t p = 0; p < list.tiles; ++p) {
    if (b.of_tile[p] < next) continue;
    ++next;
    ++made[list.layer[p]];
    c->head_tiles += p < parts.head_tiles ? 1 : 0;
    c->tail_tiles += p >= list.tiles - parts.tail_tiles ? 1 : 0;
  }
}

// The same for the earlier plan; false when its counts contradict the head and tail.
bool CountBefore(const CarriedCall& call, const CarriedParts& parts,
                 const Section& section, Span<const uint32_t> made, BufferCounts* c) {
  const CarriedSchedule& carried = call.schedule;
  const PlanNotation& notation = *carried.before;
  const uint32_t first = notation.section_buffer[parts.section];
  uint32_t end = static_cast<uint32_t>(notation.buffer.size());
  for (uint32_t other : notation.section_buffer) {
    if (other > first) end = Min(end, other);
  }
  if (first > end) return false;
  c->all_before = end - first;
  if (parts.all) {
    c->loads_before = c->loads;
    return c->all_before == c->all;
  }
  const Positions before = PositionsBefore(carried, parts.section);
  // With equally many transfers between head and tail there are equally many loads.
  if (carried.before->section[parts.section].transfers ==
      section.result.list.transfers) {
    c->loads_before = c->loads;
    return true;
  }
  int64_t tiles = int64_t{c->head_tiles} + c->tail_tiles;
  int64_t tiles_of_group = 1;
  for (size_t i = parts.head; i < before.size() - parts.tail; ++i) {
    if (before.Begins(i)) tiles_of_group = TilesOfGroup(before.tiles[i]);
    const uint32_t layer = carried.after_of[before.order[i]];
    const uint32_t at = layer == kNone ? kNone : call.local[layer];
    const bool here = at < section.run.layer.size() && section.run.layer[at] == layer;
    tiles += here && made[at] == 1 ? 1 : tiles_of_group;
  }
  const int64_t loads = int64_t{c->all_before} - tiles;
  c->loads_before = static_cast<uint32_t>(loads);
  return loads >= int64_t{c->head_loads} + c->tail_loads;
}

// The buffer's number in the earlier plan, or kNone.
uint32_t BufferBefore(const BufferCounts& c, uint32_t b) {
  if (b < c.loads) {
    if (b < c.head_loads) return b;
    return b >= c.loads - c.tail_loads ? c.loads_before - (c.loads - b) : kNone;
  }
  if (b - c.loads < c.head_tiles) return c.loads_before + (b - c.loads);
  return b >= c.all - c.tail_tiles ? c.all_before - (c.all - b) : kNone;
}

// True when the buffer is on chip during tiles that are neither of head nor of tail.
bool Meets(const CarriedParts& parts, const Section& section, const LiveRange& range) {
  return range.end > int64_t{parts.head_tiles} + 1 &&
         range.begin <= int64_t{section.result.list.tiles} - parts.tail_tiles;
}

// Which buffers keep the address they had.
enum Keep : int {
  kAllBuffers,   // all keep theirs
  kHeadAndTail,  // those of head and tail
  kApart,        // of these, buffers never on chip with tiles in between
  kKeeps,
};

// Fixes the buffers that keep their address; returns how many are free.
size_t FixOffsets(const CarriedCall& call, const CarriedParts& parts,
                  const Section& section, const BufferCounts& counts, Keep keep,
                  Span<LiveRange> ranges) {
  const PlanNotation& before = *call.schedule.before;
  const uint32_t base = before.section_buffer[parts.section];
  size_t free = 0;
  for (uint32_t b = 0; b < ranges.size(); ++b) {
    LiveRange* range = &ranges[b];
    const uint32_t old = keep == kAllBuffers ? b : BufferBefore(counts, b);
    range->fixed_offset = kFreeOffset;
    if (old < counts.all_before && !(keep == kApart && Meets(parts, section, *range))) {
      const int64_t at = before.buffer[base + old];
      const bool fits =
          at % range->alignment == 0 && at + range->bytes <= call.capacity;
      if (fits) range->fixed_offset = at;
    }
    free += range->fixed_offset == kFreeOffset ? 1 : 0;
  }
  return free;
}

}  // namespace

Status AdoptOffsets(const CarriedCall& call, const CarriedParts& parts,
                    Section* section, bool* held, bool* crowded) {
  const size_t n = section->buffers.ranges.size();
  Arena* arena = call.arena;
  *held = *crowded = false;
  if (call.schedule.before->section_buffer.empty()) return Status::kOk;
  SLUICE_TRY(arena->Allocate(n, &section->offsets));
  ArenaScope scope(arena);
  Span<uint32_t> made;
  Span<LiveRange> ranges;
  SLUICE_TRY(arena->Allocate(section->run.layer.size(), &made));
  SLUICE_TRY(arena->Allocate(n, &ranges));
  for (size_t b = 0; b < n; ++b) ranges[b] = section->buffers.ranges[b];
  BufferCounts counts = {};
  CountBuffers(parts, *section, made, &counts);
  if (!CountBefore(call, parts, *section, made, &counts)) return Status::kOk;
  for (int keep = parts.all ? kAllBuffers : kHeadAndTail; keep < kKeeps && !*held;
       ++keep) {
    const size_t free =
        FixOffsets(call, parts, *section, counts, static_cast<Keep>(keep), ranges);
    // With many free buffers, greedy placement does as well.
    if (keep != kAllBuffers && free > Min(n / 2, kMostPairs / n)) break;
    if (keep == kAllBuffers && free != 0) continue;
    Diagnostic ignored = {};
    const Status status =
        PlaceAround(ranges, call.capacity, arena, section->offsets, held, &ignored);
    if (status == Status::kBadInput) continue;  // fixed buffers overlap
    SLUICE_TRY(status);
    *crowded = !*held;
  }
  return Status::kOk;
}

}  // namespace sluice
