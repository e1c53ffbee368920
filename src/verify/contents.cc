// SPDX-License-Identifier: Apache-2.0
#include "verify/contents.h"

#include <algorithm>
#include <new>

#include "base/checked.h"

namespace sluice {
namespace judge {

Status Contents::Init() {
  const size_t memories = judge_->stream.nodes + SLUICE_REGION_COUNT;
  first_partial_ = 2 * static_cast<uint32_t>(judge_->graph.tensors.size());
  SLUICE_TRY(judge_->arena->Allocate(memories, &writes_));
  SLUICE_TRY(judge_->arena->Allocate(memories, &reads_));
  SLUICE_TRY(judge_->arena->Allocate(memories, &recent_));
  for (size_t m = 0; m < 2 * memories; ++m) {
    void* raw = judge_->arena->AllocateBytes(sizeof(MemoryMap), alignof(MemoryMap));
    if (raw == nullptr) return Status::kOutOfMemory;
    MemoryMap* map = new (raw) MemoryMap(judge_->arena);
    (m < memories ? writes_[m] : reads_[m - memories]) = map;
  }
  return Status::kOk;
}

void Contents::Enter(const Step& step) {
  step_ = step;
  clock_ = order_->ClockOf(step);
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

namespace {

void Describe(const Part& part, const int64_t* stride, Piece* piece) {
  for (int a = 0; a < kAxes; ++a) {
    piece->origin[a] = part.origin[a];
    piece->extent[a] = part.extent[a];
    piece->stride[a] = stride[a];
  }
  piece->partly_hidden = false;
}

}  // namespace

Status Contents::Preset(uint32_t memory, const Part& part, int64_t base,
                        const int64_t* stride, bool* fresh) {
  Piece* piece;
  SLUICE_TRY(pool_.Take(&piece));
  *fresh = MakeFrame(base, part.width, part.extent, stride, &piece->frame);
  if (!*fresh) return Status::kOk;
  piece->box = BoxOf(piece->frame);
  piece->end = piece->box.end();
  piece->root = part.root;
  Describe(part, stride, piece);
  piece->sequence = 0;
  piece->covered = false;
  piece->engine = kNone;
  piece->position = 0;
  found_.Truncate(0);
  SLUICE_TRY(writes_[memory]->Collect(judge_, base, piece->end, &found_));
  for (const Piece* other : found_) {
    bool overlap;
    SLUICE_TRY(Overlap(judge_, other->box, piece->box, &overlap));
    if (overlap) *fresh = false;
  }
  return writes_[memory]->Insert(piece);
}

// The part of a piece that was found, as a box of its root.
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

Status Contents::Read(uint32_t memory, const Box& box, bool record,
                      Vector<Part>* parts) {
  found_.Truncate(0);
  SLUICE_TRY(writes_[memory]->Collect(judge_, box.base, box.end(), &found_));
  // Newest first: what lies on top counts.
  if (found_.size() > 1) {
    std::sort(found_.begin(), found_.end(), [](const Piece* a, const Piece* b) {
      return a->sequence != b->sequence ? a->sequence > b->sequence
                                        : a->box.base < b->box.base;
    });
  }
  remaining_.Truncate(0);
  SLUICE_TRY(remaining_.Push(box));
  for (const Piece* piece : found_) {
    if (remaining_.size() == 0) break;
    next_.Truncate(0);
    for (const Box& rest : remaining_) {
      bool overlap;
      SLUICE_TRY(Overlap(judge_, rest, piece->box, &overlap));
      if (!overlap) {
        SLUICE_TRY(next_.Push(rest));
        continue;
      }
      if (!Before(*piece)) return Conflict(*piece, "reads");
      bool aligned = rest.width == piece->frame.width;
      inside_.Truncate(0);
      if (aligned) {
        SLUICE_TRY(Cut(judge_, rest, piece->frame, &todo_, &inside_, &next_, &aligned));
      }
      if (!aligned) {
        return Reject(*judge_, "content")
            .Text("reads across the elements of what lies there");
      }
      for (const Inside& in : inside_) SLUICE_TRY(parts->Push(PartOf(*piece, in)));
    }
    std::swap(remaining_, next_);
  }
  if (remaining_.size() != 0) {
    return Reject(*judge_, "content")
        .Text("reads bytes that nothing was written to, from ")
        .Number(remaining_[0].base)
        .Text(" on");
  }
  return record ? Record(memory, box) : Status::kOk;
}

Status Contents::Record(uint32_t memory, const Box& box) {
  if (InDmaOrder(memory)) return Status::kOk;
  const int64_t end = box.end();
  found_.Truncate(0);
  SLUICE_TRY(reads_[memory]->Collect(judge_, box.base, end, &found_));
  for (Piece* other : found_) {
    const Box& b = other->box;
    bool same = other->engine == step_.engine && b.base == box.base &&
                b.width == box.width && b.dims == box.dims;
    for (uint32_t d = 0; same && d < b.dims; ++d) {
      same = b.dim[d].count == box.dim[d].count && b.dim[d].stride == box.dim[d].stride;
    }
    if (!same) continue;
    other->position = step_.position;  // the later read stands for both
    return Status::kOk;
  }
  Piece* piece;
  SLUICE_TRY(pool_.Take(&piece));
  piece->box = box;
  piece->end = end;
  piece->engine = step_.engine;
  piece->position = step_.position;
  return reads_[memory]->Insert(piece);
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

bool SameBytes(const Box& a, const Box& b) {
  bool same = a.base == b.base && a.width == b.width && a.dims == b.dims;
  for (uint32_t d = 0; same && d < a.dims; ++d) {
    same = a.dim[d].count == b.dim[d].count && a.dim[d].stride == b.dim[d].stride;
  }
  return same;
}

}  // namespace

Status Contents::Overwrite(uint32_t memory, const Box& box, bool in_place) {
  Frame frame;
  if (!FrameOf(box, &frame)) {
    return Reject(*judge_, "structure")
        .Text("writes a box whose strides are not nested");
  }
  const int64_t end = box.end();
  ++sequence_;
  found_.Truncate(0);
  SLUICE_TRY(writes_[memory]->Collect(judge_, box.base, end, &found_));
  for (Piece* piece : found_) {
    bool overlap;
    SLUICE_TRY(Overlap(judge_, box, piece->box, &overlap));
    if (!overlap) continue;
    if (!Before(*piece)) return Conflict(*piece, "writes");
    if (Contains(frame, piece->frame)) {
      DropWrite(memory, piece);
    } else {
      piece->covered = true;
    }
  }
  found_.Truncate(0);
  SLUICE_TRY(reads_[memory]->Collect(judge_, box.base, end, &found_));
  for (Piece* piece : found_) {
    bool overlap;
    SLUICE_TRY(Overlap(judge_, box, piece->box, &overlap));
    if (!overlap) continue;
    const bool own = piece->engine == step_.engine && piece->position == step_.position;
    if (!Before(*piece) && !(own && in_place && SameBytes(box, piece->box))) {
      return Conflict(*piece, "overwrites");
    }
    Frame read;
    if (FrameOf(piece->box, &read) && Contains(frame, read)) {
      reads_[memory]->Remove(piece);
      pool_.Give(piece);
    }
  }
  return Status::kOk;
}

namespace {

// Grows `piece` by `other` when both are one box of the same root at one place.
bool Join(const Piece& other, Piece* piece) {
  if (other.root != piece->root || other.frame.width != piece->frame.width)
    return false;
  int along = -1;
  for (int a = 0; a < kAxes; ++a) {
    if (other.origin[a] == piece->origin[a] && other.extent[a] == piece->extent[a]) {
      if (other.extent[a] > 1 && other.stride[a] != piece->stride[a]) return false;
    } else if (along >= 0) {
      return false;
    } else {
      along = a;
    }
  }
  if (along < 0) return false;
  const Piece& low = other.origin[along] < piece->origin[along] ? other : *piece;
  const Piece& high = &low == &other ? *piece : other;
  if (low.origin[along] + low.extent[along] != high.origin[along]) return false;
  const int64_t distance = high.frame.base - low.frame.base;
  const int64_t stride = distance / low.extent[along];
  const bool fits = distance == stride * low.extent[along] && stride > 0 &&
                    (low.extent[along] == 1 || low.stride[along] == stride) &&
                    (high.extent[along] == 1 || high.stride[along] == stride);
  if (!fits) return false;
  int64_t extent[kAxes], strides[kAxes];
  for (int a = 0; a < kAxes; ++a) {
    extent[a] = piece->extent[a];
    strides[a] = piece->stride[a];
  }
  extent[along] = low.extent[along] + high.extent[along];
  strides[along] = stride;
  Frame frame;
  if (!MakeFrame(low.frame.base, piece->frame.width, extent, strides, &frame)) {
    return false;
  }
  piece->origin[along] = low.origin[along];
  piece->extent[along] = extent[along];
  piece->stride[along] = stride;
  piece->frame = frame;
  piece->box = BoxOf(frame);
  piece->end = frame.end;
  return true;
}

}  // namespace

// DRAM that the DMA engine alone touches needs no record of who wrote what when, so
// stores that complete each other become one piece. That keeps pieces few, and hides
// what a tensor's memory held before.
Status Contents::Merge(uint32_t memory, Piece* piece) {
  bool ever = false;
  for (bool grown = true; grown; ever = ever || grown) {
    grown = false;
    found_.Truncate(0);
    // Neighbours touch the hull, so one byte more on each side.
    SLUICE_TRY(
        writes_[memory]->Collect(judge_, piece->box.base - 1, piece->end + 1, &found_));
    for (Piece* other : found_) {
      if (other->partly_hidden || other->engine == kNone || !Join(*other, piece))
        continue;
      writes_[memory]->Remove(other);
      pool_.Give(other);
      grown = true;
    }
  }
  if (!ever) return Status::kOk;
  // All that grew together was on top, so what lies within is hidden.
  found_.Truncate(0);
  SLUICE_TRY(writes_[memory]->Collect(judge_, piece->box.base, piece->end, &found_));
  for (Piece* other : found_) {
    if (!Contains(piece->frame, other->frame)) continue;
    writes_[memory]->Remove(other);
    pool_.Give(other);
  }
  return Status::kOk;
}

Status Contents::Put(uint32_t memory, const Part& part) {
  Piece* piece;
  SLUICE_TRY(pool_.Take(&piece));
  if (!MakeFrame(part.twin, part.width, part.extent, part.twin_stride, &piece->frame)) {
    return Reject(*judge_, "structure")
        .Text("writes a box whose strides are not nested");
  }
  piece->box = BoxOf(piece->frame);
  piece->end = piece->box.end();
  piece->root = part.root;
  for (int a = 0; a < kAxes; ++a)
    piece->origin[a] = static_cast<int32_t>(part.origin[a]);
  piece->sequence = sequence_;
  piece->covered = false;
  piece->engine = step_.engine;
  piece->position = step_.position;
  if (!InDmaOrder(memory)) return writes_[memory]->Insert(piece);
  // Tiles that continue each other become one piece, so that a finished tensor is one
  // box however many tiles it came in. In the scratchpad that would blur who waits for
  // whom.
  RecentPieces* recent = &recent_[memory];
  for (uint32_t i = 0; i < RecentPieces::kSize && recent->At(i) != nullptr;) {
    Piece grown = *recent->At(i);
    if (!TryMerge(&grown, *piece)) {
      ++i;
      continue;
    }
    DropWrite(memory, recent->At(i));
    *piece = grown;
    i = 0;
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
