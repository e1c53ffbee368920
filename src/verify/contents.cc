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

// Marks bytes of the frame from its dim d on, with the first one at `begin`; false if
// all of them were marked before.
bool Paint(const Frame& frame, uint32_t d, int64_t length, uint8_t* begin) {
  if (d == frame.dims) {
    const size_t bytes = static_cast<size_t>(length);
    size_t marked = 0;
    while (marked < bytes && begin[marked] != 0) ++marked;
    memset(begin + marked, 1, bytes - marked);
    return marked < bytes;
  }
  bool fresh = false;
  for (int64_t i = 0; i < frame.count[d]; ++i) {
    fresh |= Paint(frame, d + 1, length, begin + i * frame.stride[d]);
  }
  return fresh;
}

// The same for a whole frame. *rows: runs of bytes that it has.
bool Paint(Frame frame, Span<uint8_t> painted, int64_t* rows) {
  int64_t length = frame.width;
  while (frame.dims > 0 && frame.stride[frame.dims - 1] == length) {
    length *= frame.count[--frame.dims];
  }
  *rows = 1;
  for (uint32_t d = 0; d < frame.dims; ++d) *rows *= frame.count[d];
  return Paint(frame, 0, length, painted.data() + frame.base);
}

}  // namespace

bool LiesDensely(const Part& part, const int64_t* dense, int64_t* index) {
  *index = 0;
  bool same = true;
  for (int a = 0; a < kAxes; ++a) {
    *index += part.origin[a] * dense[a];
    same = same && (part.extent[a] == 1 || part.twin_stride[a] == dense[a]);
  }
  return same && *index == part.twin;
}

Status Contents::Init() {
  const size_t memories = judge_->stream.nodes + SLUICE_REGION_COUNT;
  first_partial_ = 2 * static_cast<uint32_t>(judge_->graph.tensors.size());
  SLUICE_TRY(judge_->arena->Allocate(memories, &writes_));
  SLUICE_TRY(judge_->arena->Allocate(memories, &reads_));
  SLUICE_TRY(judge_->arena->Allocate(memories, &recent_));
  SLUICE_TRY(judge_->arena->Allocate(memories, &covered_));
  SLUICE_TRY(judge_->arena->Allocate(memories, &most_covered_));
  for (uint32_t& most : most_covered_) most = kFewCovered;
  const uint64_t bytes = judge_->stream.region_limit[SLUICE_REGION_GBUF];
  if (bytes <= kMostPainted) {
    SLUICE_TRY(judge_->arena->Allocate(static_cast<size_t>(bytes), &painted_));
  }
  const uint32_t nodes = judge_->stream.nodes;
  for (size_t m = nodes; m < memories; ++m) {
    SLUICE_TRY(recent_[m].Init(judge_->arena, Max(8u, 2 * nodes)));
  }
  for (size_t m = 0; m < 2 * memories; ++m) {
    void* raw = judge_->arena->AllocateBytes(sizeof(MemoryMap), alignof(MemoryMap));
    if (raw == nullptr) return Status::kOutOfMemory;
    MemoryMap* map = new (raw) MemoryMap(judge_->arena);
    (m < memories ? writes_[m] : reads_[m - memories]) = map;
  }
  return Status::kOk;
}

void Contents::Enter(const Step& step, const uint32_t* clock) {
  DropReplaced();
  step_ = step;
  clock_ = clock;
  judge_->step = step;
  judge_->has_step = true;
}

bool Contents::Before(const Piece& piece) const {
  if (piece.engine == kNone || at_end_) return true;
  if (piece.engine == step_.engine) return piece.position < step_.position;
  return clock_[piece.engine] >= piece.position;
}

Status Contents::Conflict(const Piece& piece, const char* doing) {
  return Reject(*judge_, "order")
      .Text(doing)
      .Text(" not ordered after instruction ")
      .Number(piece.position)
      .Text(" of engine column ")
      .Number(piece.engine)
      .Text(", which touches the same bytes");
}

Status Contents::Preset(uint32_t memory, const Part& part, int64_t base,
                        const int64_t* stride, bool* fresh) {
  Piece* piece;
  SLUICE_TRY(pool_.Take(&piece));
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
  piece->engine = kNone;
  piece->position = 0;
  found_.Truncate(0);
  SLUICE_TRY(writes_[memory]->Collect(judge_, base, piece->end, &found_));
  for (const Piece* other : found_) {
    bool overlap;
    SLUICE_TRY(
        Overlap(judge_, other->box, other->rows, piece->box, piece->rows, &overlap));
    if (overlap) *fresh = false;
  }
  return writes_[memory]->Insert(piece);
}

// The part of a piece that was found inside it, in the coordinates of its root.
static Part PartOf(const Piece& piece, const Inside& in) {
  Part part = {piece.root, piece.frame.width, {}, {1, 1, 1, 1}, in.part.twin, {}};
  for (int a = 0; a < kAxes; ++a) part.origin[a] = piece.origin[a];
  for (uint32_t j = 0; j < piece.frame.dims; ++j) {
    part.origin[piece.frame.axis[j]] += in.at[j];
  }
  for (uint32_t d = 0; d < in.part.dims; ++d) {
    const uint8_t axis = piece.frame.axis[in.along[d]];
    part.extent[axis] = in.part.dim[d].count;
    part.twin_stride[axis] = in.part.dim[d].twin;
  }
  return part;
}

// True if the box lies in the piece along the piece's axes, as most reads do. `part` is
// then the result that Cut would have, with no elements outside.
static bool Within(const Box& box, const Piece& piece, Part* part) {
  const Frame& frame = piece.frame;
  if (box.width != frame.width || box.base < frame.base) return false;
  part->root = piece.root;
  part->width = frame.width;
  part->twin = box.twin;
  for (int a = 0; a < kAxes; ++a) {
    part->origin[a] = piece.origin[a];
    part->extent[a] = 1;
    part->twin_stride[a] = 0;
  }
  int64_t rest = box.base - frame.base;
  uint32_t used = 0;
  for (uint32_t j = 0; j < frame.dims; ++j) {
    int64_t at = 0;
    if (rest >= frame.stride[j]) {
      at = rest / frame.stride[j];
      rest -= at * frame.stride[j];
    }
    uint32_t d = 0;
    while (d < box.dims && box.dim[d].stride != frame.stride[j]) ++d;
    const int64_t count = d < box.dims ? box.dim[d].count : 1;
    if (at + count > frame.count[j]) return false;
    const uint8_t axis = frame.axis[j];
    part->origin[axis] += at;
    if (d == box.dims) continue;
    part->extent[axis] = count;
    part->twin_stride[axis] = box.dim[d].twin;
    ++used;
  }
  return rest == 0 && used == box.dims;
}

// True if each dim of the box runs along a dim of the frame, so that Joined changes
// nothing.
static bool RunsAlong(const Box& box, const Frame& frame) {
  for (uint32_t d = 0; d < box.dims; ++d) {
    uint32_t j = 0;
    while (j < frame.dims && frame.stride[j] != box.dim[d].stride) ++j;
    if (j == frame.dims) return false;
  }
  return true;
}

// Joins each dim that runs along no dim of the frame with the next dim, where the next
// dim continues it in memory and in the tensor. Contiguous rows of any tensor then
// become one run.
static Box Joined(const Box& box, const Frame& frame) {
  Box out = Box::At(box.base, box.twin, box.width);
  bool may_join = false;  // into the last dim of out
  for (uint32_t d = 0; d < box.dims; ++d) {
    const Dim& dim = box.dim[d];
    Dim* last = out.dims == 0 ? nullptr : &out.dim[out.dims - 1];
    if (may_join && last->stride == dim.count * dim.stride &&
        last->twin == dim.count * dim.twin) {
      *last = Dim{last->count * dim.count, dim.stride, dim.twin};
    } else {
      out.dim[out.dims++] = dim;
    }
    uint32_t j = 0;
    while (j < frame.dims && frame.stride[j] != dim.stride) ++j;
    may_join = j == frame.dims;
  }
  return out;
}

// Keeps of found_ only pieces that share a byte with the box, newest first: the newest
// piece is the visible one.
Status Contents::KeepOverlapping(const Box& box) {
  const Rows rows = RowsOf(box);
  size_t kept = 0;
  for (size_t i = 0; i < found_.size(); ++i) {
    bool overlap;
    SLUICE_TRY(Overlap(judge_, box, rows, found_[i]->box, found_[i]->rows, &overlap));
    if (overlap) found_[kept++] = found_[i];
  }
  found_.Truncate(kept);
  if (kept > 1) {
    Sort(found_.begin(), found_.end(), [](const Piece* a, const Piece* b) {
      return a->sequence != b->sequence ? a->sequence > b->sequence
                                        : a->box.base < b->box.base;
    });
  }
  return Status::kOk;
}

Status Contents::Read(uint32_t memory, const Box& box, bool record,
                      Vector<Part>* parts) {
  const int64_t end = box.end();
  found_.Truncate(0);
  SLUICE_TRY(writes_[memory]->Collect(judge_, box.base, end, &found_));
  Part part;
  const Piece* top = nullptr;
  for (const Piece* piece : found_) {
    // No later write covers this piece, so no other piece matters.
    if (piece->covered || box.base < piece->begin || end > piece->end) continue;
    if (!Within(box, *piece, &part)) continue;
    top = piece;
    break;
  }
  if (top == nullptr) {
    SLUICE_TRY(KeepOverlapping(box));
    if (found_.size() == 0) return Missing(box);
    top = found_[0];
    if (!Within(box, *top, &part) &&
        (RunsAlong(box, top->frame) || !Within(Joined(box, top->frame), *top, &part))) {
      SLUICE_TRY(ReadPieces(box, parts));
      return record ? Record(memory, box) : Status::kOk;
    }
  }
  if (!Before(*top)) return Conflict(*top, "reads");
  SLUICE_TRY(parts->Push(part));
  return record ? Record(memory, box) : Status::kOk;
}

Status Contents::Missing(const Box& box) {
  return Reject(*judge_, "content")
      .Text("reads bytes that were never written, from ")
      .Number(box.base)
      .Text(" on");
}

Status Contents::Leave(const Box& box) {
  SLUICE_TRY(remaining_.Push(box));
  return remaining_rows_.Push(RowsOf(box));
}

// Reads the box from the pieces in found_.
Status Contents::ReadPieces(const Box& box, Vector<Part>* parts) {
  remaining_.Truncate(0);
  remaining_rows_.Truncate(0);
  SLUICE_TRY(Leave(box));
  for (size_t i = 0; i < found_.size() && remaining_.size() != 0; ++i) {
    const Piece& piece = *found_[i];
    for (size_t r = 0; r < remaining_.size();) {
      bool overlap;
      SLUICE_TRY(Overlap(judge_, remaining_[r], remaining_rows_[r], piece.box,
                         piece.rows, &overlap));
      if (!overlap) {
        ++r;
        continue;
      }
      if (!Before(piece)) return Conflict(piece, "reads");
      Box rest = remaining_[r];
      if (!RunsAlong(rest, piece.frame)) rest = Joined(rest, piece.frame);
      remaining_[r] = remaining_[remaining_.size() - 1];
      remaining_rows_[r] = remaining_rows_[remaining_.size() - 1];
      remaining_.Pop();
      remaining_rows_.Pop();
      bool aligned = rest.width == piece.frame.width;
      inside_.Truncate(0);
      outside_.Truncate(0);
      if (aligned) {
        SLUICE_TRY(
            Cut(rest, piece.frame, {judge_, &todo_, &inside_, &outside_, &aligned}));
      }
      if (!aligned) {
        return Reject(*judge_, "content")
            .Text("reads across element borders of the content");
      }
      for (const Box& outside : outside_) SLUICE_TRY(Leave(outside));
      for (const Inside& in : inside_) SLUICE_TRY(parts->Push(PartOf(piece, in)));
    }
  }
  return remaining_.size() == 0 ? Status::kOk : Missing(remaining_[0]);
}

// Drops the bytes [begin, end) of earlier reads by the engine that reads them all now:
// who is ordered after this read is ordered after those. Otherwise buffers that share
// bytes by turns would collect the reads of all of them.
Status Contents::DropImplied(uint32_t memory, int64_t begin, int64_t end) {
  found_.Truncate(0);
  SLUICE_TRY(reads_[memory]->Collect(judge_, begin, end, &found_));
  for (Piece* piece : found_) {
    bool gone = false;
    if (piece->engine != step_.engine) continue;
    SLUICE_TRY(reads_[memory]->Clip(judge_, piece, begin, end, &pool_, &gone));
    if (gone) pool_.Give(piece);
  }
  return Status::kOk;
}

Status Contents::Record(uint32_t memory, const Box& box) {
  if (InDmaOrder(memory) || IsReadOnly(memory)) return Status::kOk;
  const int64_t end = box.end();
  SLUICE_TRY(Spend(judge_, 1));
  // Replaces an earlier read of the same bytes by the same engine: the later one
  // implies it.
  Piece* piece = reads_[memory]->Find(box.base, end, [&](const Piece& other) {
    return other.engine == step_.engine && SameBytes(other.box, box);
  });
  if (piece == nullptr) {
    const Rows rows = RowsOf(box);
    if (rows.count == 1) SLUICE_TRY(DropImplied(memory, box.base, end));
    SLUICE_TRY(pool_.Take(&piece));
    piece->box = box;
    piece->rows = rows;
    piece->begin = box.base;
    piece->end = end;
    piece->engine = step_.engine;
    SLUICE_TRY(reads_[memory]->Insert(piece));
  }
  piece->position = step_.position;
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

Status Contents::Overwrite(uint32_t memory, const Box& box, bool in_place) {
  DropReplaced();
  ++sequence_;
  SLUICE_TRY(Spend(judge_, 1));
  const int64_t end = box.end();
  // Most buffers are written with the same box as the last time. The pieces that the
  // last write covered are ordered before it, and so before this write.
  Piece* const same =
      memory >= judge_->stream.nodes
          ? nullptr
          : writes_[memory]->Find(box.base, end, [&](const Piece& piece) {
              return !piece.covered && SameBytes(box, piece.box);
            });
  if (same != nullptr) {
    if (!Before(*same)) return Conflict(*same, "writes");
    replaced_ = same;
    replaced_in_ = memory;
    return OverwriteReads(memory, box, end, in_place, same->frame, same->rows);
  }
  Frame frame;
  if (!FrameOf(box, &frame)) {
    return Reject(*judge_, "structure")
        .Text("writes a box whose strides are not nested");
  }
  if (covered_[memory] >= most_covered_[memory]) SLUICE_TRY(DropHidden(memory));
  const Rows rows = RowsOf(box);
  found_.Truncate(0);
  SLUICE_TRY(writes_[memory]->Collect(judge_, box.base, end, &found_));
  for (Piece* piece : found_) {
    // What counts as covered already, and is ordered before this write, is only looked
    // at to drop it: telling apart boxes of other shapes that once lay here would take
    // long.
    if (piece->covered && rows.count != 1 && Before(*piece)) {
      if (Contains(frame, piece->frame)) DropWrite(memory, piece);
      continue;
    }
    // In memories with one engine's order, a piece may count as covered though it is
    // not.
    bool overlap = InDmaOrder(memory) && !Alike(box, piece->box);
    if (!overlap)
      SLUICE_TRY(Overlap(judge_, box, rows, piece->box, piece->rows, &overlap));
    if (!overlap) continue;
    if (!Before(*piece)) return Conflict(*piece, "writes");
    SLUICE_TRY(HideWrite(memory, piece, frame, rows));
  }
  return OverwriteReads(memory, box, end, in_place, frame, rows);
}

// Checks that reads of the overwritten bytes are ordered before the write. `frame`: the
// frame of `box`.
Status Contents::OverwriteReads(uint32_t memory, const Box& box, int64_t end,
                                bool in_place, const Frame& frame, const Rows& rows) {
  found_.Truncate(0);
  SLUICE_TRY(reads_[memory]->Collect(judge_, box.base, end, &found_));
  for (Piece* piece : found_) {
    const bool same = SameBytes(box, piece->box);
    bool gone = piece->position == 0 && !same;
    if (gone) reads_[memory]->Remove(piece);
    if (piece->position != 0) {
      const bool own =
          piece->engine == step_.engine && piece->position == step_.position;
      const bool ordered = Before(*piece) || (own && in_place && same);
      // Where the write is ordered after the read and not one run of bytes, only what it
      // covers matters.
      if (!same && (!ordered || rows.count == 1)) {
        bool overlap;
        SLUICE_TRY(Overlap(judge_, box, rows, piece->box, piece->rows, &overlap));
        if (!overlap) continue;
      }
      if (!ordered) return Conflict(*piece, "overwrites");
      Frame read;
      if (same && piece->begin == box.base && piece->end == end) {
        // Position 0 = no read. The piece stays, because the next read is mostly of the
        // same bytes.
        piece->position = 0;
      } else if (rows.count == 1) {
        SLUICE_TRY(reads_[memory]->Clip(judge_, piece, box.base, end, &pool_, &gone));
      } else if (same || (FrameOf(piece->box, &read) && Contains(frame, read))) {
        reads_[memory]->Remove(piece);
        gone = true;
      }
    }
    if (gone) pool_.Give(piece);
  }
  return Status::kOk;
}

// Drops the part of a piece that a later write with this frame covers. Any write over
// the covered bytes is ordered after that later write, hence after the piece.
Status Contents::HideWrite(uint32_t memory, Piece* piece, const Frame& frame,
                           const Rows& rows) {
  if (Contains(frame, piece->frame)) {
    DropWrite(memory, piece);
    return Status::kOk;
  }
  if (memory < judge_->stream.nodes && !piece->covered && !painted_.empty()) {
    ++covered_[memory];
  }
  piece->covered = true;
  if (rows.count != 1) return Status::kOk;
  recent_[memory].Forget(piece);
  bool gone;
  SLUICE_TRY(
      writes_[memory]->Clip(judge_, piece, frame.base, frame.end, &pool_, &gone));
  if (gone) pool_.Give(piece);
  return Status::kOk;
}

// Drops pieces of a scratchpad of which later writes cover every byte. Each byte's last
// write is ordered after all writes before it, so they matter no more.
Status Contents::DropHidden(uint32_t memory) {
  found_.Truncate(0);
  SLUICE_TRY(writes_[memory]->Collect(judge_, 0, INT64_MAX, &found_));
  Sort(found_.begin(), found_.end(),
       [](const Piece* a, const Piece* b) { return a->sequence > b->sequence; });
  memset(painted_.data(), 0, painted_.size());
  uint32_t kept = 0;
  for (Piece* piece : found_) {
    int64_t rows = 0;
    const bool visible = Paint(piece->frame, painted_, &rows);
    SLUICE_TRY(Spend(judge_, 1 + rows / 16));
    if (visible || !piece->covered) {
      ++kept;
    } else {
      DropWrite(memory, piece);
    }
  }
  covered_[memory] = 0;
  most_covered_[memory] = Max(kFewCovered, kept / 8);
  return Status::kOk;
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

void Contents::DropReplaced() {
  if (replaced_ != nullptr) DropWrite(replaced_in_, replaced_);
  replaced_ = nullptr;
}

Status Contents::Put(uint32_t memory, const Part& part) {
  const bool again = replaced_ != nullptr && Fills(part, replaced_->frame);
  Piece* piece = replaced_;
  if (again) {
    replaced_ = nullptr;
  } else {
    DropReplaced();
    SLUICE_TRY(pool_.Take(&piece));
    if (!MakeFrame(part.twin, part.width, part.extent, part.twin_stride,
                   &piece->frame)) {
      return Reject(*judge_, "structure")
          .Text("writes a box whose strides are not nested");
    }
    piece->box = BoxOf(piece->frame);
    piece->rows = RowsOf(piece->box);
    piece->begin = part.twin;
    piece->end = piece->frame.end;
    piece->covered = false;
  }
  piece->root = part.root;
  for (int a = 0; a < kAxes; ++a) piece->origin[a] = part.origin[a];
  piece->sequence = sequence_;
  piece->engine = step_.engine;
  piece->position = step_.position;
  if (again) return Status::kOk;
  if (!InDmaOrder(memory)) return writes_[memory]->Insert(piece);
  // Merge tiles that continue each other, so that a finished tensor is one box however
  // many tiles it came in. Not in the scratchpad, where engine and position of each
  // piece matter.
  RecentPieces* recent = &recent_[memory];
  bool grown = false;
  for (size_t i = 0; i < recent->size() && recent->At(i) != nullptr;) {
    Piece* older = recent->At(i);
    if (!TryMerge(*older, piece)) {
      ++i;
      continue;
    }
    DropWrite(memory, older);
    grown = true;
    i = 0;
  }
  // No piece was newer than a merged part where it lies, so the pieces that the merged
  // one covers are older.
  if (grown) {
    found_.Truncate(0);
    SLUICE_TRY(writes_[memory]->Collect(judge_, piece->begin, piece->end, &found_));
    for (Piece* other : found_) {
      if (piece->rows.count == 1 || Contains(piece->frame, other->frame)) {
        SLUICE_TRY(HideWrite(memory, other, piece->frame, piece->rows));
      }
    }
  }
  recent->Add(piece);
  return writes_[memory]->Insert(piece);
}

void Contents::DropWrite(uint32_t memory, Piece* piece) {
  recent_[memory].Forget(piece);
  writes_[memory]->Remove(piece);
  pool_.Give(piece);
}

Status Contents::RootOf(const PartialSum& sum, uint32_t* root) {
  for (size_t i = partials_.size(); i-- > 0;) {
    SLUICE_TRY(Spend(judge_, 1));
    const PartialSum& other = partials_[i];
    bool same = other.layer == sum.layer && other.ranges == sum.ranges;
    for (uint32_t r = 0; same && r < sum.ranges; ++r) {
      same = other.begin[r] == sum.begin[r] && other.end[r] == sum.end[r];
    }
    if (!same) continue;
    *root = first_partial_ + static_cast<uint32_t>(i);
    return Status::kOk;
  }
  *root = first_partial_ + static_cast<uint32_t>(partials_.size());
  return partials_.Push(sum);
}

}  // namespace judge
}  // namespace sluice
