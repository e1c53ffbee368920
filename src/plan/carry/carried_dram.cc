// SPDX-License-Identifier: Apache-2.0
#include "plan/carry/carried_dram.h"

#include "base/checked.h"
#include "base/sort.h"

namespace sluice {
namespace {

constexpr size_t kMostLooks = 1 << 20;  // most tiles * transfers for Shorten
constexpr int32_t kNearTiles = 16;      // least number of tiles around the new part

// Compares a section with its earlier form, position by position.
class Matcher {
 public:
  Matcher(const CarriedSchedule& carried, const FusionRun& run, const Positions& before,
          const Positions& now)
      : carried_(carried), run_(run), before_(before), now_(now) {}

  // Counts the positions of equal whole groups at the begin and at the end.
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

// False when the earlier notation cannot be compared with the list.
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

// Maps an earlier position to one of the list; between head and tail, to the nearest.
int32_t Moved(const CarriedParts& parts, const TileList& list, int32_t position) {
  if (parts.all || position <= static_cast<int32_t>(parts.head_tiles)) return position;
  const int32_t begin = static_cast<int32_t>(list.tiles - parts.tail_tiles);
  const int32_t shift =
      static_cast<int32_t>(list.tiles) - static_cast<int32_t>(parts.tiles_before);
  return position + shift >= begin ? position + shift : Min(position, begin);
}

// Living durations of all transfers, and the order of the carried ones.
struct CarriedDram {
  DmaNotation dma;
  uint32_t carried;     // entries of dma.order that are set
  Span<uint8_t> apart;  // by transfer: ordered by its start time, not as before
};

// Takes transfers of head and tail from the earlier plan, the others from `listed`;
// false when either lacks them.
bool CarryDram(const CarriedSchedule& carried, const CarriedParts& parts,
               const TileList& list, const DmaNotation& listed, CarriedDram* out) {
  const PlanSection& s = carried.before->section[parts.section];
  const uint32_t tail = s.transfers - parts.tail_transfers;
  DmaNotation* dma = &out->dma;
  for (uint32_t i = 0; i < list.transfers && !parts.all; ++i) {
    if (i < parts.head_transfers || i >= list.transfers - parts.tail_transfers) {
      continue;
    }
    if (listed.order.empty()) return false;
    dma->start[i] = listed.start[i];
    dma->end[i] = listed.end[i];
    out->apart[i] = 1;
  }
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
    if (out->carried == list.transfers) return false;
    dma->order[out->carried++] = id;
  }
  return true;
}

// Bytes kept free during some tiles, so that new buffers find addresses.
struct Spare {
  int64_t bytes;
  int32_t begin, end;  // tiles
};

// Shortens living durations, before a load's use or after a store's tile, until
// everything fits or none is left to shorten; transfers used last go first. bytes: in
// use by position; next: scratch, by transfer.
void Shorten(const TileList& list, int64_t capacity, const Spare& spare,
             Span<const int64_t> bytes, Span<uint32_t> next, CarriedDram* c) {
  DmaNotation* dma = &c->dma;
  for (uint32_t i = 0; i < list.transfers; ++i) {
    if (list.transfer[i].previous != kNone) next[list.transfer[i].previous] = i;
  }
  for (int32_t p = -1; p < static_cast<int32_t>(list.tiles); ++p) {
    int64_t over = bytes[static_cast<size_t>(p + 1)] - capacity;
    if (p >= spare.begin && p < spare.end) over += spare.bytes;
    for (uint32_t i = list.transfers; i-- > 0 && over > 0;) {
      const DramTensor& t = list.transfer[i];
      if (t.kind == kStore) {
        if (dma->end[i] <= p || p < t.end || dma->start[i] > p) continue;
        over -= t.held;
        for (uint32_t s = i; s != kNone && dma->end[s] > p;) {
          dma->end[s] = Max(p, list.transfer[s].end);
          s = list.transfer[s].previous;
        }
        continue;
      }
      for (uint32_t l = i; l != kNone && dma->start[l] <= p && list.transfer[l].use > p;
           l = next[l]) {
        dma->start[l] = p + 1;
        over -= list.transfer[l].held;
        c->apart[l] = 1;
      }
    }
  }
}

// Keeps `eighths` of the scratchpad free around the new part.
Spare SpareOf(const CarriedParts& parts, const TileList& list, int64_t capacity,
              int eighths) {
  const int32_t tiles = static_cast<int32_t>(list.tiles);
  const int32_t begin = static_cast<int32_t>(parts.head_tiles);
  const int32_t end = tiles - static_cast<int32_t>(parts.tail_tiles);
  if (begin >= end) return {capacity / 8 * eighths, -1, tiles};
  const int32_t near = Max(end - begin, kNearTiles);
  return {capacity / 8 * eighths, begin - near, end + near};
}

// A load starts neither before the store it reads nor before the previous load of its
// stream.
void KeepAfterSources(const TileList& list, CarriedDram* c) {
  Span<int32_t> start = c->dma.start;
  for (uint32_t i = 0; i < list.transfers; ++i) {
    const DramTensor& t = list.transfer[i];
    if (t.kind == kStore) continue;
    int32_t least = start[i];
    if (t.after != kNone) least = Max(least, list.transfer[t.after].use);
    if (t.previous != kNone) least = Max(least, start[t.previous]);
    if (least == start[i]) continue;
    start[i] = least;
    c->apart[i] = 1;
  }
}

// Merges the transfers marked `apart` into the order. scratch, kept, done: one entry
// per transfer; done starts at 0.
bool MergeDram(const TileList& list, Span<uint32_t> scratch, Span<uint32_t> kept,
               Span<uint8_t> done, CarriedDram* c) {
  DmaNotation* dma = &c->dma;
  // A store starts after its tile.
  const auto key = [&](uint32_t id) {
    return 2 * int64_t{dma->start[id]} + (list.transfer[id].kind == kStore ? 1 : 0);
  };
  size_t apart = 0;
  size_t carried = 0;
  for (uint32_t i = 0; i < list.transfers; ++i) {
    if (c->apart[i] != 0) scratch[apart++] = i;
  }
  for (uint32_t i = 0; i < c->carried; ++i) {
    if (c->apart[dma->order[i]] == 0) kept[carried++] = dma->order[i];
  }
  if (apart + carried != list.transfers) return false;
  Sort(scratch.begin(), scratch.begin() + apart, [&](uint32_t x, uint32_t y) {
    return key(x) != key(y) ? key(x) < key(y) : x < y;
  });
  uint32_t n = 0;
  // Puts a transfer after the previous one of its stream and after the store it reads.
  const auto put = [&](uint32_t id) {
    while (done[id] == 0) {
      uint32_t next = id;
      for (;;) {
        const DramTensor& t = list.transfer[next];
        if (t.previous != kNone && done[t.previous] == 0) {
          next = t.previous;
        } else if (t.after != kNone && done[t.after] == 0) {
          next = t.after;
        } else {
          break;
        }
      }
      done[next] = 1;
      dma->order[n++] = next;
    }
  };
  size_t at = 0;
  for (size_t i = 0; i < apart; ++i) {
    while (at < carried && key(kept[at]) <= key(scratch[i])) put(kept[at++]);
    put(scratch[i]);
  }
  while (at < carried) put(kept[at++]);
  return true;
}

}  // namespace

Positions PositionsBefore(const CarriedSchedule& carried, uint32_t section) {
  const uint32_t first = carried.first[section];
  const uint32_t last = carried.first[section + 1];
  const PlanNotation& b = *carried.before;
  return {b.order.Slice(first, last), b.cut.Slice(first, last),
          b.tiling.Slice(first, last)};
}

Status AdoptDram(const CarriedCall& call, const DmaNotation& listed, int eighths,
                 Section* section, CarriedParts* parts, bool* adopted) {
  const CarriedSchedule& carried = call.schedule;
  const int64_t capacity = call.capacity;
  Arena* arena = call.arena;
  *adopted = false;
  *parts = CarriedParts{};
  parts->section = call.section;
  FusionResult* r = &section->result;
  const TileList& list = r->list;
  if (!FindParts(carried, *section, parts)) return Status::kOk;
  CarriedDram c = {};
  DmaNotation& dma = c.dma;
  SLUICE_TRY(arena->Allocate(list.transfers, &dma.order));
  SLUICE_TRY(arena->Allocate(list.transfers, &dma.start));
  SLUICE_TRY(arena->Allocate(list.transfers, &dma.end));
  ArenaScope scope(arena);
  Span<int32_t> scratch;
  Span<uint32_t> next, kept;
  Span<uint8_t> done;
  Span<int64_t> bytes;
  SLUICE_TRY(arena->Allocate(Max(list.transfers, list.tiles + 1), &scratch));
  SLUICE_TRY(arena->Allocate(list.tiles + 2, &bytes));
  SLUICE_TRY(arena->Allocate(list.transfers, &c.apart));
  SLUICE_TRY(arena->Allocate(list.transfers, &next));
  SLUICE_TRY(arena->Allocate(list.transfers, &kept));
  SLUICE_TRY(arena->Allocate(list.transfers, &done));
  for (uint32_t& n : next) n = kNone;
  if (!CarryDram(carried, *parts, list, listed, &c)) return Status::kOk;
  KeepAfterSources(list, &c);
  int64_t peak = ProfileBuffer(list, dma, bytes);
  parts->tight = peak > capacity;
  if ((peak > capacity || eighths != 0) &&
      size_t{list.tiles} * list.transfers <= kMostLooks) {
    Shorten(list, capacity, SpareOf(*parts, list, capacity, eighths), bytes, next, &c);
    peak = ProfileBuffer(list, dma, bytes);
  }
  if (peak > capacity) return Status::kOk;
  if (!MergeDram(list, next, kept, done, &c) ||
      CheckDma(list, dma, scratch) != DmaFault::kLegal) {
    return Status::kOk;
  }
  r->dma = dma;
  r->score.latency_cycles = Latency(list, dma, scratch);
  *adopted = true;
  return Status::kOk;
}

}  // namespace sluice
