// SPDX-License-Identifier: Apache-2.0
#include "plan/carry/carried_section.h"

#include "base/checked.h"
#include "base/sort.h"
#include "plan/carry/carried_dram.h"
#include "plan/fused/place_section.h"

namespace sluice {
namespace {

constexpr size_t kMostLooks = 1 << 20;  // at buffers, for addresses of what is new
constexpr int kMostEighths = 3;         // of the scratchpad, spared for that
// A latency above another by 1 / this counts as no slower, or as much slower; and that
// of a list above what was searched for.
constexpr int64_t kAllowance = 50, kMuchSlower = 20, kSearched = 10;

struct Taken {
  int64_t begin, end;
};

// Where the buffers of a section begin that have parts.
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

// The same of the plan before; false when it cannot be.
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
  // Where as many transfers lie between, as many loads do.
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

// The number a buffer had, or kNone.
uint32_t BufferBefore(const BufferCounts& c, uint32_t b) {
  if (b < c.loads) {
    if (b < c.head_loads) return b;
    return b >= c.loads - c.tail_loads ? c.loads_before - (c.loads - b) : kNone;
  }
  if (b - c.loads < c.head_tiles) return c.loads_before + (b - c.loads);
  return b >= c.all - c.tail_tiles ? c.all_before - (c.all - b) : kNone;
}

// True when any two of the ranges that have an offset meet. order, open: scratch, as
// many as ranges.
bool AnyMeet(Span<const LiveRange> ranges, Span<const int64_t> offsets,
             Span<uint32_t> first, Span<uint32_t> next, Span<uint32_t> open) {
  for (uint32_t& f : first) f = kNone;
  for (uint32_t b = static_cast<uint32_t>(ranges.size()); b-- > 0;) {
    if (offsets[b] == kFreeOffset) continue;
    const size_t begin = static_cast<size_t>(ranges[b].begin);
    next[b] = first[begin];
    first[begin] = b;
  }
  size_t count = 0;
  for (size_t time = 0; time < first.size(); ++time) {
    if (first[time] == kNone) continue;
    size_t kept = 0;
    for (size_t i = 0; i < count; ++i) {
      if (ranges[open[i]].end > static_cast<int64_t>(time)) open[kept++] = open[i];
    }
    count = kept;
    for (uint32_t b = first[time]; b != kNone; b = next[b]) {
      for (size_t i = 0; i < count; ++i) {
        const uint32_t o = open[i];
        if (offsets[b] < offsets[o] + ranges[o].bytes &&
            offsets[o] < offsets[b] + ranges[b].bytes) {
          return true;
        }
      }
      open[count++] = b;
    }
  }
  return false;
}

// The lowest offset at which b misses all that have one; kFreeOffset: none.
int64_t LowestFree(Span<const LiveRange> ranges, Span<const int64_t> offsets,
                   uint32_t b, int64_t capacity, Span<Taken> taken) {
  const LiveRange& range = ranges[b];
  size_t count = 0;
  for (uint32_t o = 0; o < ranges.size(); ++o) {
    if (offsets[o] == kFreeOffset || ranges[o].begin >= range.end ||
        range.begin >= ranges[o].end) {
      continue;
    }
    taken[count++] = Taken{offsets[o], offsets[o] + ranges[o].bytes};
  }
  Sort(taken.begin(), taken.begin() + count,
       [](const Taken& x, const Taken& y) { return x.begin < y.begin; });
  int64_t at = 0;
  for (size_t i = 0; i < count && at + range.bytes > taken[i].begin; ++i) {
    at = Max(at, RoundUpTo(taken[i].end, range.alignment));
  }
  return at + range.bytes <= capacity ? at : kFreeOffset;
}

// True when the buffer is on chip during tiles that are neither of head nor of tail.
bool Meets(const CarriedParts& parts, const Section& section, const LiveRange& range) {
  return range.end > int64_t{parts.head_tiles} + 1 &&
         range.begin <= int64_t{section.result.list.tiles} - parts.tail_tiles;
}

// The others at free addresses, largest first; false when one finds none.
bool PlaceFree(Span<const LiveRange> ranges, int64_t capacity, Span<uint32_t> order,
               Span<Taken> taken, Span<int64_t> offsets) {
  size_t count = 0;
  for (uint32_t b = 0; b < ranges.size(); ++b) {
    if (offsets[b] == kFreeOffset) order[count++] = b;
  }
  Sort(order.begin(), order.begin() + count, [&](uint32_t x, uint32_t y) {
    return ranges[x].bytes != ranges[y].bytes ? ranges[x].bytes > ranges[y].bytes
                                              : x < y;
  });
  for (size_t i = 0; i < count; ++i) {
    const uint32_t b = order[i];
    offsets[b] = LowestFree(ranges, offsets, b, capacity, taken);
    if (offsets[b] == kFreeOffset) return false;
  }
  return true;
}

// Addresses for section->buffers; *held is false when there are none near those before;
// *crowded: because what is new finds no room.
Status AdoptOffsets(const CarriedCall& call, const CarriedParts& parts,
                    Section* section, bool* held, bool* crowded) {
  const CarriedSchedule& carried = call.schedule;
  const int64_t capacity = call.capacity;
  Arena* arena = call.arena;
  const PlanNotation& before = *carried.before;
  const Span<const LiveRange> ranges = section->buffers.ranges;
  *held = *crowded = false;
  if (before.section_buffer.empty()) return Status::kOk;
  SLUICE_TRY(arena->Allocate(ranges.size(), &section->offsets));
  const Span<int64_t> offsets = section->offsets;
  ArenaScope scope(arena);
  Span<uint32_t> made, first, next, open;
  Span<Taken> taken;
  SLUICE_TRY(arena->Allocate(section->run.layer.size(), &made));
  SLUICE_TRY(arena->Allocate(size_t{section->result.list.tiles} + 2, &first));
  SLUICE_TRY(arena->Allocate(ranges.size(), &next));
  SLUICE_TRY(arena->Allocate(ranges.size(), &open));
  SLUICE_TRY(arena->Allocate(ranges.size(), &taken));
  BufferCounts c = {};
  CountBuffers(parts, *section, made, &c);
  if (!CountBefore(call, parts, *section, made, &c)) return Status::kOk;
  const uint32_t base = before.section_buffer[parts.section];
  // All as they were, where that can be; then those of head and tail; then, of those,
  // what the others do not meet.
  for (int part = parts.all ? 0 : 1; part < 3 && !*held; ++part) {
    uint32_t free = 0;
    for (uint32_t b = 0; b < ranges.size(); ++b) {
      const uint32_t old = part == 0 ? b : BufferBefore(c, b);
      offsets[b] = kFreeOffset;
      if (old < c.all_before && !(part == 2 && Meets(parts, *section, ranges[b]))) {
        const int64_t at = before.buffer[base + old];
        const bool fits =
            at % ranges[b].alignment == 0 && at + ranges[b].bytes <= capacity;
        if (fits) offsets[b] = at;
      }
      free += offsets[b] == kFreeOffset ? 1 : 0;
    }
    // Many are as well off with the quick orders.
    if (part != 0 && free > Min(ranges.size() / 2, kMostLooks / ranges.size())) break;
    if (part == 0 && free != 0) continue;
    if (AnyMeet(ranges, offsets, first, next, open)) continue;
    *held = PlaceFree(ranges, capacity, open, taken, offsets);
    *crowded = !*held;
  }
  return Status::kOk;
}

}  // namespace

Status StartOfCarried(const CarriedSchedule& carried, Span<const uint32_t> layers,
                      Span<uint32_t> local, Arena* arena, Section* section,
                      bool* touched) {
  const FusionRun& run = section->run;
  GroupNotation* n = &section->start;
  const size_t size = run.layer.size();
  SLUICE_TRY(arena->Allocate(size, &n->order));
  SLUICE_TRY(arena->Allocate(size, &n->cut));
  SLUICE_TRY(arena->Allocate(size, &n->tiles));
  SLUICE_TRY(arena->Allocate(size, &section->touched));
  for (uint32_t i = 0; i < size; ++i) local[run.layer[i]] = i;
  const CarriedLayer* last = nullptr;
  uint32_t count = 0;
  *touched = false;
  for (uint32_t layer : layers) {
    const uint32_t at = local[layer];
    if (at >= size || run.layer[at] != layer) continue;  // an append
    const CarriedLayer& c = carried.layer[layer];
    n->order[count] = at;
    n->cut[count] = last == nullptr || last->fusion != c.fusion ? kCutDram
                    : last->group != c.group                    ? kCutFine
                                                                : kCutNone;
    n->tiles[count++] = c.tiles;
    section->touched[at] = c.touched;
    *touched = *touched || c.touched != 0;
    last = &c;
  }
  return Status::kOk;
}

Status HoldTimes(const CarriedCall& call, Section* section, bool* held) {
  CarriedParts parts;
  section->result.dma = DmaNotation{};
  *held = false;
  SLUICE_TRY(AdoptDram(call, DmaNotation{}, 0, section, &parts, held));
  *held = *held && !parts.tight;
  if (!*held) return Status::kOk;
  SLUICE_TRY(
      BuffersOfFused(section->run, section->result, call.arena, &section->buffers));
  bool crowded = false;
  return AdoptOffsets(call, parts, section, held, &crowded);
}

Status AdoptTimes(const CarriedCall& call, Budget* budget, Section* section) {
  const CarriedSchedule& carried = call.schedule;
  const int64_t capacity = call.capacity;
  Arena* arena = call.arena;
  FusionResult* r = &section->result;
  const DmaNotation listed = r->dma;
  const int64_t listed_cycles = r->score.latency_cycles;
  bool adopted = false;
  bool held = false;
  CarriedParts parts;
  // What is near the new may be loaded later, so that there is room; not much later.
  int64_t first = 0;
  bool crowded = true;
  for (int eighths = 0; eighths <= kMostEighths && crowded; ++eighths) {
    SLUICE_TRY(AdoptDram(call, listed, eighths, section, &parts, &adopted));
    if (!adopted) break;
    if (eighths == 0) first = r->score.latency_cycles;
    SLUICE_TRY(BuffersOfFused(section->run, *r, arena, &section->buffers));
    if (r->score.latency_cycles > first + first / kAllowance) break;
    SLUICE_TRY(AdoptOffsets(call, parts, section, &held, &crowded));
  }
  QuickPlacement placed;
  if (adopted) {
    if (!held) {
      SLUICE_TRY(PlaceAtOnce(section, capacity, false, budget, arena, &placed));
      held = placed.status == Status::kOk;
    }
    const int64_t cycles = r->score.latency_cycles;
    if (held &&
        (carried.minimise || cycles <= listed_cycles + listed_cycles / kAllowance)) {
      return Status::kOk;
    }
  }
  const Section kept = *section;
  r->dma = listed;
  r->score.latency_cycles = listed_cycles;
  // Much slower than it could be: worth the longer way to addresses. But a list knows
  // nothing of addresses; what was searched for on this machine need not be near it.
  const bool searched =
      carried.same_machine && carried.touched <= kFewLayers && !parts.tight;
  const int64_t slow =
      listed_cycles + listed_cycles / (searched ? kSearched : kMuchSlower);
  const bool stays =
      held && (carried.minimise || kept.result.score.latency_cycles <= slow);
  SLUICE_TRY(BuffersOfFused(section->run, *r, arena, &section->buffers));
  SLUICE_TRY(PlaceAtOnce(section, capacity, !stays, budget, arena, &placed));
  if (placed.status == Status::kOk) return Status::kOk;
  if (!stays) return PlaceOrTighten(section, capacity, budget, arena, &placed);
  *section = kept;
  return Status::kOk;
}

}  // namespace sluice
