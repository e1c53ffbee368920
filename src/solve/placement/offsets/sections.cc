// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/offsets/sections.h"

#include "base/checked.h"
#include "base/sort.h"

namespace sluice {
namespace {

constexpr uint32_t kNoBuffer = 0xffffffffu;
constexpr uint32_t kPairsPerLook = 1 << 16;  // pairs gone through between two polls

// A stretch of time in which one owner uses a fixed set of its bytes.
struct Piece {
  int64_t begin, end;
  int64_t load;      // bytes really used
  uint32_t owner;    // free buffer, or kNoBuffer
  ByteRange closed;  // owner == kNoBuffer: the addresses
  uint32_t begin_section, end_section;
};

struct Event {
  int64_t time;
  uint32_t begins;  // ends sort first: lifetimes are half-open
  uint32_t piece;
};

struct Pair {
  uint32_t a, b;
};

struct Hole {
  uint32_t owner;
  ByteRange range;
};

bool HoleLess(const Hole& a, const Hole& b) {
  if (a.owner != b.owner) return a.owner < b.owner;
  if (a.range.begin != b.range.begin) return a.range.begin < b.range.begin;
  return a.range.end < b.range.end;
}

// Live ranges on their way into sections.
struct Cutter {
  const LiveRangeSet& set;
  Arena* arena;
  Sections* out;
  Vector<Piece> pieces{arena};
  Vector<Pair> pairs{arena};
  Vector<Hole> holes{arena};   // owner: free buffer
  Vector<Hole> closed{arena};  // owner: section
  Span<uint32_t> free_index = {};
};

Status Look(const Cutter& self) {
  return self.arena->memory()->Stop() ? Status::kStopped : Status::kOk;
}

Status PushPiece(Cutter* self, uint32_t source, int64_t begin, int64_t end, int64_t lo,
                 int64_t hi) {
  if (begin >= end || lo >= hi) return Status::kOk;
  const LiveRange& range = self->set.buffers[source];
  Piece piece{begin, end, hi - lo, self->free_index[source], {0, 0}, 0, 0};
  if (piece.owner == kNoBuffer) {
    piece.closed = {range.fixed_offset + lo, range.fixed_offset + hi};
    piece.load = 0;
  }
  return self->pieces.Push(piece);
}

Status MakePieces(Cutter* self) {
  SLUICE_TRY(self->pieces.Reserve(self->set.buffers.size() + 2 * self->set.gaps.size() +
                                  self->set.reserved.size()));
  for (uint32_t i = 0; i < self->set.buffers.size(); ++i) {
    const LiveRange& range = self->set.buffers[i];
    int64_t from = range.begin;
    for (uint32_t g = 0; g < range.gap_count; ++g) {
      const LiveGap& gap = self->set.gaps[range.first_gap + g];
      SLUICE_TRY(PushPiece(self, i, from, gap.begin, 0, range.bytes));
      SLUICE_TRY(PushPiece(self, i, gap.begin, gap.end, gap.first_byte, gap.last_byte));
      if (gap.first_byte < gap.last_byte && self->free_index[i] != kNoBuffer) {
        self->out->conservative = true;
      }
      from = gap.end;
    }
    SLUICE_TRY(PushPiece(self, i, from, range.end, 0, range.bytes));
  }
  for (const ReservedRegion& region : self->set.reserved) {
    if (region.begin >= region.end || region.bytes == 0) continue;
    SLUICE_TRY(self->pieces.Push(Piece{region.begin,
                                       region.end,
                                       0,
                                       kNoBuffer,
                                       {region.offset, region.offset + region.bytes},
                                       0,
                                       0}));
  }
  return Status::kOk;
}

// Two pieces alive together.
Status Meet(Cutter* self, const Piece& a, const Piece& b) {
  if (a.owner == b.owner) return Status::kOk;
  if (self->pairs.size() + self->holes.size() >= kMaxPairs) return Status::kUnsupported;
  if (a.owner == kNoBuffer) return self->holes.Push(Hole{b.owner, a.closed});
  if (b.owner == kNoBuffer) return self->holes.Push(Hole{a.owner, b.closed});
  return self->pairs.Push(Pair{a.owner, b.owner});
}

// Makes sections, pairs, holes and the load bound in one sweep over time.
Status Sweep(Cutter* self) {
  Span<Event> events;
  SLUICE_TRY(self->arena->Allocate(2 * self->pieces.size(), &events));
  for (uint32_t p = 0; p < self->pieces.size(); ++p) {
    events[size_t{2} * p] = Event{self->pieces[p].begin, 1, p};
    events[size_t{2} * p + 1] = Event{self->pieces[p].end, 0, p};
  }
  Sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    if (a.time != b.time) return a.time < b.time;
    if (a.begins != b.begins) return a.begins < b.begins;
    return a.piece < b.piece;
  });
  // Pieces alive: of free buffers, and of fixed and reserved bytes, which never meet
  // each other.
  Span<uint32_t> active[2], slot;
  SLUICE_TRY(self->arena->Allocate(self->pieces.size(), &active[0]));
  SLUICE_TRY(self->arena->Allocate(self->pieces.size(), &active[1]));
  SLUICE_TRY(self->arena->Allocate(self->pieces.size(), &slot));
  uint32_t alive[2] = {0, 0}, section = 0;
  bool open = false;  // something began since the last section closed
  int64_t load = 0;
  uint32_t turn = 0;
  for (const Event& event : events) {
    if (turn++ % 256 == 0) SLUICE_TRY(Look(*self));
    Piece& piece = self->pieces[event.piece];
    const int own = piece.owner == kNoBuffer ? 1 : 0;
    if (event.begins) {
      piece.begin_section = section;
      open = true;
      for (int kind = 0; kind < 2 - own; ++kind) {
        for (uint32_t i = 0; i < alive[kind]; ++i) {
          SLUICE_TRY(Meet(self, self->pieces[active[kind][i]], piece));
        }
      }
      slot[event.piece] = alive[own];
      active[own][alive[own]++] = event.piece;
      load += piece.load;
      self->out->lower_bound = Max(self->out->lower_bound, load);
    } else {
      if (open) ++section;
      open = false;
      piece.end_section = section;
      load -= piece.load;
      const uint32_t last = active[own][--alive[own]];
      active[own][slot[event.piece]] = last;
      slot[last] = slot[event.piece];
    }
  }
  self->out->count = section;
  return Status::kOk;
}

Status MakeBuffers(Cutter* self) {
  uint32_t n = 0;
  SLUICE_TRY(self->arena->Allocate(self->set.buffers.size(), &self->free_index));
  for (uint32_t i = 0; i < self->set.buffers.size(); ++i) {
    const LiveRange& range = self->set.buffers[i];
    const bool fixed = range.fixed_offset != kFreeOffset;
    self->free_index[i] = fixed ? kNoBuffer : n++;
    if (fixed)
      self->out->fixed_peak =
          Max(self->out->fixed_peak, range.fixed_offset + range.bytes);
  }
  SLUICE_TRY(self->arena->Allocate(n, &self->out->buffers));
  for (uint32_t i = 0; i < self->set.buffers.size(); ++i) {
    if (self->free_index[i] == kNoBuffer) continue;
    const LiveRange& range = self->set.buffers[i];
    SectionedBuffer& b = self->out->buffers[self->free_index[i]];
    b.source = i;
    b.bytes = range.bytes;
    b.alignment = range.alignment;
    b.bank_bytes = range.single_bank ? self->set.bank_bytes : 0;
  }
  return Status::kOk;
}

Status FillRangesAndMembers(Cutter* self) {
  for (const Piece& piece : self->pieces) {
    if (piece.owner != kNoBuffer) ++self->out->buffers[piece.owner].range_count;
  }
  uint32_t first = 0;
  for (SectionedBuffer& b : self->out->buffers) {
    b.first_range = first;
    first += b.range_count;
    b.range_count = 0;
  }
  SLUICE_TRY(self->arena->Allocate(first, &self->out->ranges));
  SLUICE_TRY(self->arena->Allocate(self->out->count + 2, &self->out->member_first));
  for (const Piece& piece : self->pieces) {  // pieces of one buffer come in time order
    for (uint32_t s = piece.begin_section; s < piece.end_section; ++s) {
      if (piece.owner == kNoBuffer) {
        if (self->closed.size() >= kMaxPairs) return Status::kUnsupported;
        SLUICE_TRY(self->closed.Push(Hole{s, piece.closed}));
      } else {
        ++self->out->member_first[s + 2];
      }
    }
    if (piece.owner == kNoBuffer) continue;
    SectionedBuffer& b = self->out->buffers[piece.owner];
    self->out->gapped |= b.range_count != 0;
    if (b.range_count == 0) b.begin_section = piece.begin_section;
    b.end_section = piece.end_section;
    self->out->ranges[b.first_range + b.range_count++] =
        SectionRange{piece.begin_section, piece.end_section};
  }
  for (uint32_t s = 2; s < self->out->count + 2; ++s) {
    self->out->member_first[s] += self->out->member_first[s - 1];
  }
  SLUICE_TRY(Look(*self));
  SLUICE_TRY(self->arena->Allocate(self->out->member_first[self->out->count + 1],
                                   &self->out->members));
  for (uint32_t u = 0; u < self->out->buffers.size(); ++u) {
    for (const SectionRange& r : self->out->RangesOf(self->out->buffers[u])) {
      for (uint32_t s = r.begin; s < r.end; ++s) {
        self->out->members[self->out->member_first[s + 1]++] = u;
      }
    }
  }
  return Status::kOk;
}

Status FillNear(Cutter* self) {
  uint32_t turn = 0;
  for (const Pair& pair : self->pairs) {
    if (++turn % kPairsPerLook == 0) SLUICE_TRY(Look(*self));
    ++self->out->buffers[pair.a].near_count;
    ++self->out->buffers[pair.b].near_count;
  }
  uint32_t first = 0;
  for (SectionedBuffer& b : self->out->buffers) {
    b.first_near = first;
    first += b.near_count;
    b.near_count = 0;
  }
  SLUICE_TRY(Look(*self));
  SLUICE_TRY(self->arena->Allocate(first, &self->out->near));
  for (const Pair& pair : self->pairs) {
    if (++turn % kPairsPerLook == 0) SLUICE_TRY(Look(*self));
    SectionedBuffer& a = self->out->buffers[pair.a];
    SectionedBuffer& b = self->out->buffers[pair.b];
    self->out->near[a.first_near + a.near_count++] = pair.b;
    self->out->near[b.first_near + b.near_count++] = pair.a;
  }
  return Status::kOk;
}

Status AddBankHoles(Cutter* self) {
  for (uint32_t i = 0; i < self->set.buffers.size(); ++i) {
    const uint64_t banks = self->set.buffers[i].banks;
    if (banks == 0 || self->free_index[i] == kNoBuffer) continue;
    for (int64_t bank = 0; bank < 64; ++bank) {
      if ((banks >> bank & 1) != 0) continue;
      SLUICE_TRY(self->holes.Push(
          Hole{self->free_index[i],
               {bank * self->set.bank_bytes, (bank + 1) * self->set.bank_bytes}}));
    }
    SLUICE_TRY(self->holes.Push(
        Hole{self->free_index[i], {64 * self->set.bank_bytes, kNowhere}}));
  }
  return Status::kOk;
}

// Sorts by owner and address and joins adjacent holes.
void JoinHoles(Vector<Hole>* list) {
  if (list->size() == 0) return;
  Sort(list->begin(), list->end(), HoleLess);
  size_t kept = 0;
  for (size_t i = 1; i < list->size(); ++i) {
    Hole& last = (*list)[kept];
    const Hole& next = (*list)[i];
    if (next.owner == last.owner && next.range.begin <= last.range.end) {
      last.range.end = Max(last.range.end, next.range.end);
    } else {
      (*list)[++kept] = next;
    }
  }
  list->Truncate(kept + 1);
}

Status FillHoles(Cutter* self) {
  SLUICE_TRY(AddBankHoles(self));
  JoinHoles(&self->holes);
  JoinHoles(&self->closed);
  SLUICE_TRY(Look(*self));
  SLUICE_TRY(self->arena->Allocate(self->holes.size(), &self->out->holes));
  for (uint32_t i = 0; i < self->holes.size(); ++i) {
    SectionedBuffer& b = self->out->buffers[self->holes[i].owner];
    if (b.hole_count++ == 0) b.first_hole = i;
    self->out->holes[i] = self->holes[i].range;
  }
  SLUICE_TRY(self->arena->Allocate(self->out->count + 1, &self->out->closed_first));
  SLUICE_TRY(self->arena->Allocate(self->closed.size(), &self->out->closed));
  for (uint32_t i = 0; i < self->closed.size(); ++i) {
    ++self->out->closed_first[self->closed[i].owner + 1];
    self->out->closed[i] = self->closed[i].range;
  }
  for (uint32_t s = 0; s < self->out->count; ++s) {
    self->out->closed_first[s + 1] += self->out->closed_first[s];
  }
  return Status::kOk;
}

}  // namespace

// First aligned offset >= at whose bytes stay in one bank. With powers of two one step
// is enough; odd bank sizes may need more, and never more than kBankSteps.
static int64_t LowestInOneBank(const SectionedBuffer& b, int64_t at) {
  constexpr int kBankSteps = 64;
  for (int step = 0; step < kBankSteps && b.bytes <= b.bank_bytes; ++step) {
    if (at / b.bank_bytes == (at + b.bytes - 1) / b.bank_bytes) return at;
    at = RoundUpTo((at / b.bank_bytes + 1) * b.bank_bytes, b.alignment);
  }
  return kNowhere;
}

int64_t Sections::Lowest(const SectionedBuffer& b, int64_t from) const {
  if (from >= kNowhere) return kNowhere;
  int64_t at = RoundUpTo(from, b.alignment);
  const ByteRange* hole = holes.data() + b.first_hole;
  const ByteRange* const last = hole + b.hole_count;
  for (;;) {
    if (b.bank_bytes != 0) at = LowestInOneBank(b, at);
    if (at >= kNowhere) return kNowhere;
    while (hole != last && hole->end <= at) ++hole;
    if (hole == last || at + b.bytes <= hole->begin) return at;
    if (hole->end >= kNowhere) return kNowhere;
    at = RoundUpTo(hole->end, b.alignment);
  }
}

int64_t Sections::ClosedAbove(uint32_t section, int64_t from) const {
  int64_t bytes = 0;
  for (uint32_t i = closed_first[section]; i < closed_first[section + 1]; ++i) {
    bytes += Max<int64_t>(0, closed[i].end - Max(closed[i].begin, from));
  }
  return bytes;
}

// The peak if the section's free buffers filled the space between its closed bytes
// without waste.
static int64_t SectionPeak(const Sections& sections, uint32_t s) {
  int64_t left = 0, at = 0;
  for (uint32_t u : sections.MembersOf(s)) left += sections.buffers[u].bytes;
  for (uint32_t i = sections.closed_first[s]; i < sections.closed_first[s + 1]; ++i) {
    const int64_t gap = sections.closed[i].begin - at;
    if (left <= gap) break;
    left -= gap;
    at = sections.closed[i].end;
  }
  return at + left;
}

Status CutSections(const LiveRangeSet& set, Arena* arena, Sections* out) {
  *out = Sections();
  Cutter cutter = {set, arena, out};
  SLUICE_TRY(MakeBuffers(&cutter));
  SLUICE_TRY(MakePieces(&cutter));
  SLUICE_TRY(Sweep(&cutter));
  SLUICE_TRY(Look(cutter));
  SLUICE_TRY(FillRangesAndMembers(&cutter));
  SLUICE_TRY(Look(cutter));
  SLUICE_TRY(FillNear(&cutter));
  SLUICE_TRY(Look(cutter));
  SLUICE_TRY(FillHoles(&cutter));
  for (const SectionedBuffer& b : out->buffers) {
    // Holes of partial gaps close more than they need to: no bound.
    const int64_t lowest = out->conservative ? 0 : out->Lowest(b, 0);
    out->lower_bound = Max(out->lower_bound, lowest + b.bytes);
  }
  out->lower_bound = Max(out->lower_bound, out->fixed_peak);
  for (uint32_t s = 0; s < out->count && !out->conservative; ++s) {
    out->lower_bound = Max(out->lower_bound, SectionPeak(*out, s));
  }
  return Status::kOk;
}

}  // namespace sluice
