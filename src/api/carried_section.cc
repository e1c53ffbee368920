// SPDX-License-Identifier: Apache-2.0
#include "api/carried_section.h"

#include "base/checked.h"
#include "base/sort.h"

namespace sluice {
namespace {

constexpr size_t kMostLooks = 1 << 20;  // for free addresses

// A latency above another by 1 / this counts as no slower, or as much slower; and that
// of a list above what was searched for.
constexpr int64_t kAllowance = 50, kMuchSlower = 20, kSearched = 10;

// Of a section as it is now, and as it was.
struct CarriedParts {
  uint32_t section;                         // of the plan before
  uint32_t head, tail;                      // positions of the notation
  uint32_t head_tiles, tail_tiles;          // of the list
  uint32_t head_transfers, tail_transfers;  // likewise
  uint32_t tiles_before;
  bool all;  // transfer by transfer, tile by tile
};

struct Taken {
  int64_t begin, end;
};

// A section's positions in a notation.
struct Positions {
  Span<const uint32_t> order;
  Span<const uint8_t> cut;
  Span<const int32_t> tiles;

  size_t size() const { return order.size(); }
  bool Begins(size_t i) const { return i == size() || i == 0 || cut[i] != kCutNone; }
  // Tiles of the groups that make up [first, last).
  int64_t Tiles(size_t first, size_t last) const {
    int64_t sum = 0;
    int64_t tiles_of_group = 1;
    for (size_t i = first; i < last; ++i) {
      if (Begins(i)) tiles_of_group = TilesOfGroup(tiles[i]);
      sum += tiles_of_group;
    }
    return sum;
  }
};

Positions PositionsBefore(const CarriedSchedule& carried, uint32_t section) {
  const uint32_t first = carried.first[section];
  const uint32_t last = carried.first[section + 1];
  const PlanNotation& b = *carried.before;
  return {b.order.Slice(first, last), b.cut.Slice(first, last),
          b.tiling.Slice(first, last)};
}

// Compares a section with what it was, position by position.
class Matcher {
 public:
  Matcher(const CarriedSchedule& carried, const FusionRun& run, const Positions& before,
          const Positions& now)
      : carried_(carried), run_(run), before_(before), now_(now) {}

  // Positions of whole groups that are alike at the begin, and at the end.
  void Match(uint32_t* head, uint32_t* tail) const {
    const size_t n = Min(before_.size(), now_.size());
    size_t h = 0;
    while (h < n && Alike(h, h)) ++h;
    while (h > 0 && !(before_.Begins(h) && now_.Begins(h))) --h;
    size_t t = 0;
    while (t < n - h && Alike(before_.size() - 1 - t, now_.size() - 1 - t)) ++t;
    while (t > 0 && !now_.Begins(now_.size() - t)) --t;
    *head = static_cast<uint32_t>(h);
    *tail = static_cast<uint32_t>(t);
  }

 private:
  bool Alike(size_t i, size_t j) const {
    const CarriedLayer& layer = carried_.layer[run_.layer[now_.order[j]]];
    return layer.before == before_.order[i] && layer.touched == 0 &&
           before_.cut[i] == now_.cut[j] &&
           (now_.cut[j] == kCutNone ||
            TilesOfGroup(before_.tiles[i]) == TilesOfGroup(now_.tiles[j]));
  }

  const CarriedSchedule& carried_;
  const FusionRun& run_;
  const Positions& before_;
  const Positions& now_;
};

Positions PositionsNow(const FusionResult& result) {
  const GroupNotation& n = result.notation;
  return {n.order, n.cut, n.tiles};
}

// False when the notation before is none that a list can be compared with.
bool FindParts(const CarriedSchedule& carried, const Section& section,
               CarriedParts* parts) {
  const TileList& list = section.result.list;
  const Positions before = PositionsBefore(carried, parts->section);
  const Positions now = PositionsNow(section.result);
  Matcher(carried, section.run, before, now).Match(&parts->head, &parts->tail);
  const int64_t tiles = before.Tiles(0, before.size());
  if (tiles > INT32_MAX) return false;
  parts->tiles_before = static_cast<uint32_t>(tiles);
  parts->head_tiles = static_cast<uint32_t>(now.Tiles(0, parts->head));
  parts->tail_tiles =
      static_cast<uint32_t>(now.Tiles(now.size() - parts->tail, now.size()));
  uint32_t i = 0;
  const auto until = [&](uint32_t tile) {
    while (i < list.transfers && static_cast<uint32_t>(list.transfer[i].use) < tile) {
      ++i;
    }
    return i;
  };
  parts->head_transfers = until(parts->head_tiles);
  parts->tail_transfers = list.transfers - until(list.tiles - parts->tail_tiles);
  const uint32_t transfers = carried.before->section[parts->section].transfers;
  parts->all = carried.whole[parts->section] != 0 && transfers == list.transfers &&
               parts->tiles_before == list.tiles;
  return parts->all || (parts->head_transfers + parts->tail_transfers != 0 &&
                        parts->head_transfers + parts->tail_transfers <= transfers);
}

// A position of the list, by what it was. Between head and tail as near as there is.
int32_t Moved(const CarriedParts& parts, const TileList& list, int32_t position) {
  if (parts.all || position <= static_cast<int32_t>(parts.head_tiles)) return position;
  const int32_t begin = static_cast<int32_t>(list.tiles - parts.tail_tiles);
  const int32_t shift =
      static_cast<int32_t>(list.tiles) - static_cast<int32_t>(parts.tiles_before);
  return position + shift >= begin ? position + shift : Min(position, begin);
}

// The transfers of head and tail, in the order before; false when they are none.
bool CarryDram(const CarriedSchedule& carried, const CarriedParts& parts,
               const TileList& list, DmaNotation* dma, uint32_t* count) {
  const PlanSection& s = carried.before->section[parts.section];
  const uint32_t tail = s.transfers - parts.tail_transfers;
  *count = 0;
  for (uint32_t i = 0; i < s.transfers; ++i) {
    const PlanDramTensor& d = carried.before->dram[s.dram + i];
    if (d.tensor >= s.transfers || d.duration < -1 ||
        d.duration > static_cast<int32_t>(parts.tiles_before)) {
      return false;
    }
    uint32_t id = d.tensor;
    if (!parts.all && id >= parts.head_transfers) {
      if (id < tail) continue;
      id += list.transfers - s.transfers;
    }
    const DramTensor& t = list.transfer[id];
    const int32_t duration = Moved(parts, list, d.duration);
    const bool store = t.kind == kStore;
    dma->start[id] = store ? t.use : Min(duration, t.use);
    dma->end[id] = store ? Max(duration, t.end) : t.end;
    if (*count == list.transfers) return false;
    dma->order[(*count)++] = id;
  }
  return true;
}

// Puts what lies between head and tail in, by start, as `listed` has it.
bool MergeDram(const CarriedParts& parts, const TileList& list,
               const DmaNotation& listed, uint32_t carried, Span<int32_t> scratch,
               DmaNotation* dma) {
  if (carried == list.transfers) return true;
  if (listed.order.empty()) return false;
  for (uint32_t i = 0; i < carried; ++i) {
    scratch[i] = static_cast<int32_t>(dma->order[i]);
  }
  uint32_t at = 0;
  uint32_t n = 0;
  for (uint32_t i = 0; i < list.transfers; ++i) {
    const uint32_t id = listed.order[i];
    if (id < parts.head_transfers || id >= list.transfers - parts.tail_transfers) {
      continue;
    }
    dma->start[id] = listed.start[id];
    dma->end[id] = listed.end[id];
    for (; at < carried; ++at) {
      const uint32_t other = static_cast<uint32_t>(scratch[at]);
      if (dma->start[other] > dma->start[id]) break;
      dma->order[n++] = other;
    }
    if (n == list.transfers) return false;
    dma->order[n++] = id;
  }
  for (; at < carried && n < list.transfers; ++at) {
    dma->order[n++] = static_cast<uint32_t>(scratch[at]);
  }
  return n == list.transfers && at == carried;
}

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
bool CountBefore(const CarriedSchedule& carried, const CarriedParts& parts,
                 const Section& section, Span<const uint32_t> local,
                 Span<const uint32_t> made, BufferCounts* c) {
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
  int64_t tiles = int64_t{c->head_tiles} + c->tail_tiles;
  int64_t tiles_of_group = 1;
  for (size_t i = parts.head; i < before.size() - parts.tail; ++i) {
    if (before.Begins(i)) tiles_of_group = TilesOfGroup(before.tiles[i]);
    const uint32_t layer = carried.after_of[before.order[i]];
    const uint32_t at = layer == kNone ? kNone : local[layer];
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

// Replaces the DRAM schedule of section->result, which a list gave; that may be empty
// where nothing lies between head and tail.
Status AdoptDram(const CarriedSchedule& carried, uint32_t before, int64_t capacity,
                 Arena* arena, Section* section, CarriedParts* parts, bool* adopted) {
  *adopted = false;
  *parts = CarriedParts{};
  parts->section = before;
  FusionResult* r = &section->result;
  const TileList& list = r->list;
  if (!FindParts(carried, *section, parts)) return Status::kOk;
  DmaNotation dma;
  SLUICE_TRY(arena->Allocate(list.transfers, &dma.order));
  SLUICE_TRY(arena->Allocate(list.transfers, &dma.start));
  SLUICE_TRY(arena->Allocate(list.transfers, &dma.end));
  ArenaScope scope(arena);
  Span<int32_t> scratch;
  Span<int64_t> bytes;
  SLUICE_TRY(arena->Allocate(Max(list.transfers, list.tiles + 1), &scratch));
  SLUICE_TRY(arena->Allocate(list.tiles + 2, &bytes));
  uint32_t count = 0;
  if (!CarryDram(carried, *parts, list, &dma, &count) ||
      !MergeDram(*parts, list, r->dma, count, scratch, &dma) ||
      CheckDma(list, dma, scratch) != DmaFault::kLegal ||
      ProfileBuffer(list, dma, bytes) > capacity) {
    return Status::kOk;
  }
  r->dma = dma;
  r->score.latency_cycles = Latency(list, dma, scratch);
  *adopted = true;
  return Status::kOk;
}

// Addresses for section->buffers; *held is false when there are none near those before.
Status AdoptOffsets(const CarriedSchedule& carried, const CarriedParts& parts,
                    Span<const uint32_t> local, int64_t capacity, Arena* arena,
                    Section* section, bool* held) {
  const PlanNotation& before = *carried.before;
  const Span<const LiveRange> ranges = section->buffers.ranges;
  *held = false;
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
  if (!CountBefore(carried, parts, *section, local, made, &c)) return Status::kOk;
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
    *held = !AnyMeet(ranges, offsets, first, next, open) &&
            PlaceFree(ranges, capacity, open, taken, offsets);
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

Status HoldTimes(const CarriedSchedule& carried, uint32_t before,
                 Span<const uint32_t> local, int64_t capacity, Arena* arena,
                 Section* section, bool* held) {
  CarriedParts parts;
  section->result.dma = DmaNotation{};
  *held = false;
  SLUICE_TRY(AdoptDram(carried, before, capacity, arena, section, &parts, held));
  if (!*held) return Status::kOk;
  SLUICE_TRY(BuffersOfFused(section->run, section->result, arena, &section->buffers));
  return AdoptOffsets(carried, parts, local, capacity, arena, section, held);
}

Status AdoptTimes(const CarriedSchedule& carried, uint32_t before,
                  Span<const uint32_t> local, int64_t capacity, Budget* budget,
                  Arena* arena, Section* section) {
  FusionResult* r = &section->result;
  const DmaNotation listed = r->dma;
  const int64_t listed_cycles = r->score.latency_cycles;
  bool adopted = false;
  bool held = false;
  CarriedParts parts;
  SLUICE_TRY(AdoptDram(carried, before, capacity, arena, section, &parts, &adopted));
  QuickPlacement placed;
  if (adopted) {
    SLUICE_TRY(BuffersOfFused(section->run, *r, arena, &section->buffers));
    SLUICE_TRY(AdoptOffsets(carried, parts, local, capacity, arena, section, &held));
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
  const bool searched = carried.same_machine && carried.touched <= kFewLayers;
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
