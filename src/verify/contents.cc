// SPDX-License-Identifier: Apache-2.0
#include "verify/contents.h"

#include <string.h>

#include <new>

#include "base/checked.h"
#include "base/sort.h"

namespace sluice {
namespace judge {

namespace {

// Bytes of a scratchpad that are looked at one by one, at most.
constexpr uint64_t kMostPainted = 512 << 10;
constexpr uint32_t kFewCovered = 64;  // pieces: not worth a look
constexpr int64_t kPolledBytes = 64 << 10;

// Marks the bytes that a piece may show of runs of this length, the first one at `at`,
// the others along the frame from its dim d on; false if all were marked before.
bool Paint(const Piece& piece, const Frame& frame, uint32_t d, int64_t length,
           int64_t at, Span<uint8_t> painted) {
  if (d < frame.dims) {
    bool fresh = false;
    for (int64_t i = 0; i < frame.count[d]; ++i) {
      fresh |= Paint(piece, frame, d + 1, length, at + i * frame.stride[d], painted);
    }
    return fresh;
  }
  // A later write may have divided the piece: then both parts have the whole frame.
  const int64_t end = Min(at + length, piece.end);
  int64_t byte = Max(at, piece.begin);
  while (byte < end && painted[static_cast<size_t>(byte)] != 0) ++byte;
  if (byte >= end) return false;
  memset(&painted[static_cast<size_t>(byte)], 1, static_cast<size_t>(end - byte));
  return true;
}

// The same for all bytes that a piece may show. *rows: runs of bytes that it has.
bool Paint(const Piece& piece, Span<uint8_t> painted, int64_t* rows) {
  Frame frame = piece.frame;
  int64_t length = frame.width;
  while (frame.dims > 0 && frame.stride[frame.dims - 1] == length) {
    length *= frame.count[--frame.dims];
  }
  *rows = 1;
  for (uint32_t d = 0; d < frame.dims; ++d) *rows *= frame.count[d];
  return Paint(piece, frame, 0, length, frame.base, painted);
}

}  // namespace

Status InitContents(Contents* c) {
  const size_t memories = c->judge->stream.nodes + SLUICE_REGION_COUNT;
  c->first_partial = 2 * static_cast<uint32_t>(c->judge->graph.tensors.size());
  SLUICE_TRY(c->judge->arena->Allocate(memories, &c->writes));
  SLUICE_TRY(c->judge->arena->Allocate(memories, &c->reads));
  SLUICE_TRY(c->judge->arena->Allocate(memories, &c->recent));
  SLUICE_TRY(c->judge->arena->Allocate(memories, &c->covered));
  SLUICE_TRY(c->judge->arena->Allocate(memories, &c->most_covered));
  for (uint32_t& most : c->most_covered) most = kFewCovered;
  SLUICE_TRY(c->judge->arena->Allocate(c->judge->stream.engines, &c->dropped));
  const uint64_t bytes = c->judge->stream.region_limit[SLUICE_REGION_GBUF];
  if (bytes <= kMostPainted) {
    SLUICE_TRY(c->judge->arena->Allocate(static_cast<size_t>(bytes), &c->painted));
  }
  const uint32_t nodes = c->judge->stream.nodes;
  for (size_t m = nodes; m < memories; ++m) {
    SLUICE_TRY(c->recent[m].Init(c->judge->arena, Max(8u, 2 * nodes)));
  }
  for (size_t m = 0; m < 2 * memories; ++m) {
    void* raw = c->judge->arena->AllocateBytes(sizeof(MemoryMap), alignof(MemoryMap));
    if (raw == nullptr) return Status::kOutOfMemory;
    MemoryMap* map = new (raw) MemoryMap(c->judge->arena);
    (m < memories ? c->writes[m] : c->reads[m - memories]) = map;
  }
  return Status::kOk;
}

// Whether one engine alone accesses the memory, DRAM, in the order of its list.
static bool InDmaOrder(const Contents& c, uint32_t memory) {
  return memory >= c.judge->stream.nodes && c.judge->stream.dram_engines <= 1;
}

static bool IsReadOnly(const Contents& c, uint32_t memory) {
  return memory == MemoryOf(c, SLUICE_REGION_CONST, 0) ||
         memory == MemoryOf(c, SLUICE_REGION_INPUT, 0);
}

static void DropWrite(Contents* c, uint32_t memory, Piece* piece) {
  c->recent[memory].Forget(piece);
  c->writes[memory]->Remove(piece);
  c->pool.Give(piece);
}

static void DropReplaced(Contents* c) {
  if (c->replaced != nullptr) DropWrite(c, c->replaced_in, c->replaced);
  c->replaced = nullptr;
}

void EnterStep(Contents* c, const Step& step, const uint32_t* clock) {
  DropReplaced(c);
  c->step = step;
  c->clock = clock;
  c->judge->step = step;
  c->judge->has_step = true;
}

static bool Before(const Contents& c, const Piece& piece) {
  if (piece.engine == kNone || c.at_end) return true;
  if (piece.engine == c.step.engine) return piece.position < c.step.position;
  return c.clock[piece.engine] >= piece.position;
}

static Status Conflict(Contents* c, const Piece& piece, const char* doing) {
  return Reject(*c->judge, "order")
      .Text(doing)
      .Say(
          " not ordered after instruction # of engine column #, which touches the same "
          "bytes",
          piece.position, piece.engine);
}

Status PutPreset(Contents* c, uint32_t memory, const Part& part, int64_t base,
                 const int64_t* stride, bool* fresh) {
  Piece* piece;
  SLUICE_TRY(c->pool.Take(&piece));
  *fresh = MakeFrame(base, part.width, part.extent, stride, &piece->frame);
  if (!*fresh) return Status::kOk;
  piece->box = BoxOf(piece->frame);
  piece->rows = RowsOf(piece->box);
  piece->begin = base;
  piece->end = piece->box.end();
  piece->root = part.root;
  for (int a = 0; a < kAxes; ++a) piece->origin[a] = part.origin[a];
  piece->sequence = 0;
  piece->covered = false;
  piece->settled = true;
  piece->engine = kNone;
  piece->position = 0;
  c->found.Truncate(0);
  SLUICE_TRY(c->writes[memory]->Collect(c->judge, base, piece->end, &c->found));
  for (const Piece* other : c->found) {
    bool overlap;
    SLUICE_TRY(
        Overlap(c->judge, other->box, other->rows, piece->box, piece->rows, &overlap));
    if (overlap) *fresh = false;
  }
  return c->writes[memory]->Insert(piece);
}

// Keeps of `found` only pieces that share a byte with the box, newest first: the newest
// piece is the visible one.
static Status KeepOverlapping(Contents* c, const Box& box) {
  const Rows rows = RowsOf(box);
  size_t kept = 0;
  for (size_t i = 0; i < c->found.size(); ++i) {
    bool overlap;
    SLUICE_TRY(
        Overlap(c->judge, box, rows, c->found[i]->box, c->found[i]->rows, &overlap));
    if (overlap) c->found[kept++] = c->found[i];
  }
  c->found.Truncate(kept);
  if (kept > 1) {
    Sort(c->found.begin(), c->found.end(), [](const Piece* a, const Piece* b) {
      return a->sequence != b->sequence ? a->sequence > b->sequence
                                        : a->box.base < b->box.base;
    });
  }
  return Status::kOk;
}

static Status Missing(Contents* c, const Box& box) {
  return Reject(*c->judge, "content")
      .Say("reads bytes that were never written, from # on", box.base);
}

static Status Leave(Contents* c, const Box& box) {
  SLUICE_TRY(c->remaining.Push(box));
  return c->remaining_rows.Push(RowsOf(box));
}

// Reads the box from the pieces in `found`.
static Status ReadPieces(Contents* c, const Box& box, Vector<Part>* parts) {
  c->remaining.Truncate(0);
  c->remaining_rows.Truncate(0);
  SLUICE_TRY(Leave(c, box));
  for (size_t i = 0; i < c->found.size() && c->remaining.size() != 0; ++i) {
    const Piece& piece = *c->found[i];
    for (size_t r = 0; r < c->remaining.size();) {
      bool overlap;
      SLUICE_TRY(Overlap(c->judge, c->remaining[r], c->remaining_rows[r], piece.box,
                         piece.rows, &overlap));
      if (!overlap) {
        ++r;
        continue;
      }
      if (!Before(*c, piece)) return Conflict(c, piece, "reads");
      Box rest = c->remaining[r];
      if (!RunsAlong(rest, piece.frame)) rest = Joined(rest, piece.frame);
      c->remaining[r] = c->remaining[c->remaining.size() - 1];
      c->remaining_rows[r] = c->remaining_rows[c->remaining.size() - 1];
      c->remaining.Pop();
      c->remaining_rows.Pop();
      bool aligned = rest.width == piece.frame.width;
      c->inside.Truncate(0);
      c->outside.Truncate(0);
      if (aligned) {
        SLUICE_TRY(Cut(rest, piece.frame,
                       {c->judge, &c->todo, &c->inside, &c->outside, &aligned}));
      }
      if (!aligned) {
        return Reject(*c->judge, "content")
            .Text("reads across element borders of the content");
      }
      for (const Box& outside : c->outside) SLUICE_TRY(Leave(c, outside));
      for (const Inside& in : c->inside) SLUICE_TRY(parts->Push(PartOf(piece, in)));
    }
  }
  return c->remaining.size() == 0 ? Status::kOk : Missing(c, c->remaining[0]);
}

// Drops the part of a piece that a later write with this frame covers. Any write over
// the covered bytes is ordered after that later write, hence after the piece.
static Status HideWrite(Contents* c, uint32_t memory, Piece* piece, const Frame& frame,
                        const Rows& rows) {
  if (Contains(frame, piece->frame)) {
    DropWrite(c, memory, piece);
    return Status::kOk;
  }
  if (memory < c->judge->stream.nodes && !piece->covered && !c->painted.empty()) {
    ++c->covered[memory];
  }
  piece->covered = true;
  if (rows.count != 1) return Status::kOk;
  c->recent[memory].Forget(piece);
  bool gone;
  SLUICE_TRY(
      c->writes[memory]->Clip(c->judge, piece, frame.base, frame.end, &c->pool, &gone));
  if (gone) c->pool.Give(piece);
  return Status::kOk;
}

// Makes one piece of pieces that continue each other, so that a finished tensor is one
// box however many tiles it came in. The piece is not in the map; those that it takes over
// leave it. Whether it took over any.
static bool Join(Contents* c, uint32_t memory, Piece* piece) {
  RecentPieces* recent = &c->recent[memory];
  bool grown = false;
  for (size_t i = 0; i < recent->size() && recent->At(i) != nullptr;) {
    Piece* older = recent->At(i);
    if (!TryMerge(*older, piece)) {
      ++i;
      continue;
    }
    piece->sequence = Max(piece->sequence, older->sequence);
    piece->position = Max(piece->position, older->position);
    DropWrite(c, memory, older);
    grown = true;
    i = 0;
  }
  return grown;
}

// Drops what a piece that took others over covers. No piece was newer than any of them
// where it lies, so what lies there besides is older.
static Status HideCovered(Contents* c, uint32_t memory, const Piece& piece) {
  c->found.Truncate(0);
  SLUICE_TRY(c->writes[memory]->Collect(c->judge, piece.begin, piece.end, &c->found));
  for (Piece* other : c->found) {
    if (other == &piece) continue;
    if (piece.rows.count == 1 || Contains(piece.frame, other->frame)) {
      SLUICE_TRY(HideWrite(c, memory, other, piece.frame, piece.rows));
    }
  }
  return Status::kOk;
}

// Joins those of the pieces found that this step knows to be written. Other engines
// may know less: they are asked for all of a joined piece, and a stream that is refused is
// judged again without joining (verify.cc).
static Status JoinKnown(Contents* c, uint32_t memory, int64_t begin, int64_t end) {
  Piece* last = nullptr;
  for (Piece* piece : c->found) {
    if (piece->settled || piece->covered || !Before(*c, *piece)) continue;
    piece->settled = true;
    c->writes[memory]->Remove(piece);
    if (Join(c, memory, piece)) last = piece;
    SLUICE_TRY(c->writes[memory]->Insert(piece));
    c->recent[memory].Add(piece);
  }
  if (last == nullptr) return Status::kOk;
  SLUICE_TRY(HideCovered(c, memory, *last));
  c->judge->joined = true;
  c->found.Truncate(0);
  return c->writes[memory]->Collect(c->judge, begin, end, &c->found);
}

// True if the box lies in the piece, perhaps as a run of its bytes.
static bool Shows(const Piece& piece, const Box& box, Part* part) {
  return Within(box, piece, part) || (!RunsAlong(box, piece.frame) &&
                                      Within(Joined(box, piece.frame), piece, part));
}

// The piece among those found that no later write covers: no other one matters.
static const Piece* TopPiece(const Contents& c, const Box& box, int64_t end,
                             Part* part) {
  for (const Piece* piece : c.found) {
    if (piece->covered || box.base < piece->begin || end > piece->end) continue;
    if (Shows(*piece, box, part)) return piece;
  }
  return nullptr;
}

Status FindPiece(Contents* c, uint32_t memory, const Box& box, Part* part,
                 const Piece** piece) {
  const int64_t end = box.end();
  c->found.Truncate(0);
  SLUICE_TRY(c->writes[memory]->Collect(c->judge, box.base, end, &c->found));
  *piece = TopPiece(*c, box, end, part);
  return Status::kOk;
}

Status ReadParts(Contents* c, uint32_t memory, const Box& box, bool record,
                 Vector<Part>* parts) {
  const int64_t end = box.end();
  c->found.Truncate(0);
  SLUICE_TRY(c->writes[memory]->Collect(c->judge, box.base, end, &c->found));
  if (memory >= c->judge->stream.nodes && c->judge->joins && !InDmaOrder(*c, memory)) {
    SLUICE_TRY(JoinKnown(c, memory, box.base, end));
  }
  Part part;
  const Piece* top = TopPiece(*c, box, end, &part);
  if (top == nullptr) {
    SLUICE_TRY(KeepOverlapping(c, box));
    if (c->found.size() == 0) return Missing(c, box);
    top = c->found[0];
    if (!Shows(*top, box, &part)) {
      SLUICE_TRY(ReadPieces(c, box, parts));
      return record ? RecordRead(c, memory, box) : Status::kOk;
    }
  }
  if (!Before(*c, *top)) return Conflict(c, *top, "reads");
  SLUICE_TRY(parts->Push(part));
  return record ? RecordRead(c, memory, box) : Status::kOk;
}

// Drops the bytes [begin, end) of earlier reads by the engine that reads them all now:
// who is ordered after this read is ordered after those. Otherwise buffers that share
// bytes by turns would collect the reads of all of them.
static Status DropImplied(Contents* c, uint32_t memory, int64_t begin, int64_t end) {
  c->found.Truncate(0);
  SLUICE_TRY(c->reads[memory]->Collect(c->judge, begin, end, &c->found));
  for (Piece* piece : c->found) {
    bool gone = false;
    if (piece->engine != c->step.engine) continue;
    SLUICE_TRY(c->reads[memory]->Clip(c->judge, piece, begin, end, &c->pool, &gone));
    if (gone) c->pool.Give(piece);
  }
  return Status::kOk;
}

Status RecordRead(Contents* c, uint32_t memory, const Box& box) {
  if (InDmaOrder(*c, memory) || IsReadOnly(*c, memory)) return Status::kOk;
  const int64_t end = box.end();
  SLUICE_TRY(Spend(c->judge, 1));
  // Replaces an earlier read of the same bytes by the same engine: the later one
  // implies it.
  Piece* piece = c->reads[memory]->Find(box.base, end, [&](const Piece& other) {
    return other.engine == c->step.engine && SameBytes(other.box, box);
  });
  if (piece == nullptr) {
    const Rows rows = RowsOf(box);
    if (rows.count == 1) SLUICE_TRY(DropImplied(c, memory, box.base, end));
    SLUICE_TRY(c->pool.Take(&piece));
    piece->box = box;
    piece->rows = rows;
    piece->begin = box.base;
    piece->end = end;
    piece->engine = c->step.engine;
    SLUICE_TRY(c->reads[memory]->Insert(piece));
  }
  piece->position = c->step.position;
  return Status::kOk;
}

namespace {

bool FrameOf(const Box& box, Frame* frame) {
  int64_t extent[kAxes] = {1, 1, 1, 1}, stride[kAxes] = {};
  if (box.dims > kAxes) return false;
  for (uint32_t d = 0; d < box.dims; ++d) {
    extent[d] = box.dim[d].count;
    stride[d] = box.dim[d].stride;
  }
  return MakeFrame(box.base, box.width, extent, stride, frame);
}

// True if every stride of the box with fewer dims is a stride of the other.
bool Alike(const Box& a, const Box& b) {
  if (a.dims > b.dims) return Alike(b, a);
  for (uint32_t d = 0; d < a.dims; ++d) {
    uint32_t e = 0;
    while (e < b.dims && b.dim[e].stride != a.dim[d].stride) ++e;
    if (e == b.dims) return false;
  }
  return true;
}

}  // namespace

// Drops pieces of a scratchpad of which later writes cover every byte. Each byte's last
// write is ordered after all writes before it, so they matter no more.
static Status DropHidden(Contents* c, uint32_t memory) {
  c->found.Truncate(0);
  SLUICE_TRY(c->writes[memory]->Collect(c->judge, 0, INT64_MAX, &c->found));
  Sort(c->found.begin(), c->found.end(),
       [](const Piece* a, const Piece* b) { return a->sequence > b->sequence; });
  memset(c->painted.data(), 0, c->painted.size());
  uint32_t kept = 0;
  int64_t bytes = 0;  // since the last poll, at most
  for (Piece* piece : c->found) {
    int64_t rows = 0;
    const bool visible = Paint(*piece, c->painted, &rows);
    SLUICE_TRY(Spend(c->judge, 1 + rows / 16));
    bytes += piece->end - piece->begin;
    if (bytes >= kPolledBytes) {
      if (c->judge->arena->memory()->Stop()) return Status::kStopped;
      bytes = 0;
    }
    if (visible || !piece->covered) {
      ++kept;
    } else {
      DropWrite(c, memory, piece);
    }
  }
  c->covered[memory] = 0;
  c->most_covered[memory] = Max(kFewCovered, kept / 8);
  return Status::kOk;
}

// Where one engine alone stores, a read that is ordered before one of its stores is ordered
// before the later ones, too, and is dropped. *drops: this step is such a store. A HOST
// step, which writes as well, must be ordered after all that was dropped, or the stream is
// judged again without dropping.
static Status AfterDropped(Contents* c, uint32_t memory, bool* drops) {
  *drops = false;
  if (memory < c->judge->stream.nodes || !c->judge->joins) return Status::kOk;
  const uint32_t engine = c->step.engine;
  *drops = engine == c->judge->storer;
  for (uint32_t e = 0; e < c->dropped.size() && !*drops; ++e) {
    if (e == engine || c->dropped[e] == 0 || c->dropped[e] <= c->clock[e]) continue;
    c->judge->joined = true;
    return Reject(*c->judge, "order").Text("overwrites bytes that may still be read");
  }
  return Status::kOk;
}

// Checks that reads of the overwritten bytes are ordered before the write. `frame`: the
// frame of `box`.
static Status OverwriteReads(Contents* c, uint32_t memory, const Box& box,
                             bool in_place, const Frame& frame, const Rows& rows) {
  const int64_t end = box.end();
  bool drops;
  SLUICE_TRY(AfterDropped(c, memory, &drops));
  c->found.Truncate(0);
  SLUICE_TRY(c->reads[memory]->Collect(c->judge, box.base, end, &c->found));
  for (Piece* piece : c->found) {
    const bool same = SameBytes(box, piece->box);
    bool gone = piece->position == 0 && !same;
    if (gone) c->reads[memory]->Remove(piece);
    if (piece->position != 0) {
      const bool own =
          piece->engine == c->step.engine && piece->position == c->step.position;
      const bool before = Before(*c, *piece);
      if (before && drops) {
        uint32_t* const dropped = &c->dropped[piece->engine];
        *dropped = Max(*dropped, piece->position);
        c->reads[memory]->Remove(piece);
        c->pool.Give(piece);
        continue;
      }
      const bool ordered = before || (own && in_place && same);
      // Where the write is ordered after the read and not one run of bytes, only what it
      // covers matters.
      if (!same && (!ordered || rows.count == 1)) {
        bool overlap;
        SLUICE_TRY(Overlap(c->judge, box, rows, piece->box, piece->rows, &overlap));
        if (!overlap) continue;
      }
      if (!ordered) return Conflict(c, *piece, "overwrites");
      Frame read;
      if (same && piece->begin == box.base && piece->end == end) {
        // Position 0 = no read. The piece stays, because the next read is mostly of the
        // same bytes.
        piece->position = 0;
      } else if (rows.count == 1) {
        SLUICE_TRY(
            c->reads[memory]->Clip(c->judge, piece, box.base, end, &c->pool, &gone));
      } else if (same || (FrameOf(piece->box, &read) && Contains(frame, read))) {
        c->reads[memory]->Remove(piece);
        gone = true;
      }
    }
    if (gone) c->pool.Give(piece);
  }
  return Status::kOk;
}

bool IsKnown(const Contents& c, uint32_t memory, uint32_t root, const Box& box) {
  for (uint32_t i = 0; i < c.known_count; ++i) {
    const KnownBox& k = c.known[i];
    bool same = k.memory == memory && k.root == root && k.engine == c.step.engine &&
                k.box.twin == box.twin && SameBytes(k.box, box);
    for (uint32_t d = 0; same && d < box.dims; ++d) {
      same = k.box.dim[d].twin == box.dim[d].twin;
    }
    if (same) return true;
  }
  return false;
}

void NoteKnown(Contents* c, uint32_t memory, uint32_t root, const Box& box) {
  if (c->known_count == kMostKnown) c->known_count = 0;
  c->known[c->known_count++] = {box, box.end(), memory, root, c->step.engine};
}

static void ForgetKnown(Contents* c, uint32_t memory, int64_t begin, int64_t end) {
  for (uint32_t i = 0; i < c->known_count;) {
    const KnownBox& k = c->known[i];
    const bool touched = k.memory == memory && begin < k.end && k.box.base < end;
    if (touched) c->known[i] = c->known[--c->known_count];
    if (!touched) ++i;
  }
}

Status Overwrite(Contents* c, uint32_t memory, const Box& box, bool in_place) {
  DropReplaced(c);
  ++c->sequence;
  SLUICE_TRY(Spend(c->judge, 1));
  const int64_t end = box.end();
  ForgetKnown(c, memory, box.base, end);
  // Most buffers are written with the same box as the last time. The pieces that the
  // last write covered are ordered before it, and so before this write.
  Piece* const same =
      memory >= c->judge->stream.nodes
          ? nullptr
          : c->writes[memory]->Find(box.base, end, [&](const Piece& piece) {
              return !piece.covered && SameBytes(box, piece.box);
            });
  if (same != nullptr) {
    if (!Before(*c, *same)) return Conflict(c, *same, "writes");
    c->replaced = same;
    c->replaced_in = memory;
    return OverwriteReads(c, memory, box, in_place, same->frame, same->rows);
  }
  Frame frame;
  if (!FrameOf(box, &frame)) {
    return Reject(*c->judge, "structure")
        .Text("writes a box whose strides are not nested");
  }
  if (c->covered[memory] >= c->most_covered[memory]) {
    SLUICE_TRY(DropHidden(c, memory));
  }
  const Rows rows = RowsOf(box);
  c->found.Truncate(0);
  SLUICE_TRY(c->writes[memory]->Collect(c->judge, box.base, end, &c->found));
  for (Piece* piece : c->found) {
    // What counts as covered already, and is ordered before this write, is only looked
    // at to drop it: telling apart boxes of other shapes that once lay here would take
    // long.
    if (piece->covered && rows.count != 1 && Before(*c, *piece)) {
      if (Contains(frame, piece->frame)) DropWrite(c, memory, piece);
      continue;
    }
    // In memories with one engine's order, a piece may count as covered though it is
    // not.
    bool overlap = InDmaOrder(*c, memory) && !Alike(box, piece->box);
    if (!overlap)
      SLUICE_TRY(Overlap(c->judge, box, rows, piece->box, piece->rows, &overlap));
    if (!overlap) continue;
    if (!Before(*c, *piece)) return Conflict(c, *piece, "writes");
    SLUICE_TRY(HideWrite(c, memory, piece, frame, rows));
  }
  return OverwriteReads(c, memory, box, in_place, frame, rows);
}

// True if a part fills the frame, axis by axis.
static bool Fills(const Part& part, const Frame& frame) {
  if (part.twin != frame.base || part.width != frame.width) return false;
  uint32_t dims = 0;
  for (int a = 0; a < kAxes; ++a) dims += part.extent[a] > 1;
  bool fills = dims == frame.dims;
  for (uint32_t j = 0; fills && j < dims; ++j) {
    fills = part.extent[frame.axis[j]] == frame.count[j] &&
            part.twin_stride[frame.axis[j]] == frame.stride[j];
  }
  return fills;
}

Status PutPart(Contents* c, uint32_t memory, const Part& part) {
  const bool again = c->replaced != nullptr && Fills(part, c->replaced->frame);
  Piece* piece = c->replaced;
  if (again) {
    c->replaced = nullptr;
  } else {
    DropReplaced(c);
    SLUICE_TRY(c->pool.Take(&piece));
    if (!MakeFrame(part.twin, part.width, part.extent, part.twin_stride,
                   &piece->frame)) {
      return Reject(*c->judge, "structure")
          .Text("writes a box whose strides are not nested");
    }
    piece->box = BoxOf(piece->frame);
    piece->rows = RowsOf(piece->box);
    piece->begin = part.twin;
    piece->end = piece->frame.end;
    piece->covered = false;
    piece->settled = false;
  }
  piece->root = part.root;
  for (int a = 0; a < kAxes; ++a) piece->origin[a] = part.origin[a];
  piece->sequence = c->sequence;
  piece->engine = c->step.engine;
  piece->position = c->step.position;
  if (again) return Status::kOk;
  if (!InDmaOrder(*c, memory)) return c->writes[memory]->Insert(piece);
  // Not in the scratchpad, where engine and position of each piece matter.
  if (Join(c, memory, piece)) SLUICE_TRY(HideCovered(c, memory, *piece));
  c->recent[memory].Add(piece);
  return c->writes[memory]->Insert(piece);
}

Status RootOf(Contents* c, const PartialSum& sum, uint32_t* root) {
  for (size_t i = c->partials.size(); i-- > 0;) {
    SLUICE_TRY(Spend(c->judge, 1));
    const PartialSum& other = c->partials[i];
    bool same = other.layer == sum.layer && other.ranges == sum.ranges;
    for (uint32_t r = 0; same && r < sum.ranges; ++r) {
      same = other.begin[r] == sum.begin[r] && other.end[r] == sum.end[r];
    }
    if (!same) continue;
    *root = c->first_partial + static_cast<uint32_t>(i);
    return Status::kOk;
  }
  *root = c->first_partial + static_cast<uint32_t>(c->partials.size());
  return c->partials.Push(sum);
}

}  // namespace judge
}  // namespace sluice
