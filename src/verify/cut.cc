// SPDX-License-Identifier: Apache-2.0
// Cut: a box taken apart by a frame, for strides of any kind.
#include "base/checked.h"
#include "verify/boxes.h"

namespace sluice {
namespace judge {
namespace {

int64_t FloorDivide(int64_t a, int64_t b) {  // b > 0
  return a / b - (a % b < 0);
}

// The part of `box` whose dim d has index in [from, to).
Box Slab(const Box& box, uint32_t d, int64_t from, int64_t to) {
  Box slab = box;
  slab.base += from * box.dim[d].stride;
  slab.twin += from * box.dim[d].twin;
  slab.dim[d].count = to - from;
  if (to - from == 1) {
    for (uint32_t i = d; i + 1 < slab.dims; ++i) slab.dim[i] = slab.dim[i + 1];
    --slab.dims;
  }
  return slab;
}

Status Halve(const Box& box, uint32_t d, Vector<Box>* todo) {
  const int64_t half = box.dim[d].count / 2;
  SLUICE_TRY(todo->Push(Slab(box, d, half, box.dim[d].count)));
  return todo->Push(Slab(box, d, 0, half));
}

// A frame with room for dims of count 1 that its boxes run along.
struct WideFrame {
  int64_t base;
  int64_t end;
  int64_t width;
  uint32_t dims;
  int64_t count[kBoxDims];
  int64_t stride[kBoxDims];
};

// Dim d does not run along the frame: keeps what can touch the frame's bytes.
Status Narrow(const Box& box, uint32_t d, const WideFrame& frame, Vector<Box>* todo,
              Vector<Box>* outside) {
  const Dim& dim = box.dim[d];
  if (dim.stride == 0) return Halve(box, d, todo);
  const int64_t slab_bytes = box.end() - box.base - (dim.count - 1) * dim.stride;
  const int64_t first =
      Max<int64_t>(0, FloorDivide(frame.base - slab_bytes - box.base, dim.stride) + 1);
  const int64_t last =
      Min<int64_t>(dim.count - 1, FloorDivide(frame.end - 1 - box.base, dim.stride));
  if (first > last) return outside->Push(box);
  if (first == 0 && last == dim.count - 1) return Halve(box, d, todo);
  if (first > 0) SLUICE_TRY(outside->Push(Slab(box, d, 0, first)));
  if (last + 1 < dim.count)
    SLUICE_TRY(outside->Push(Slab(box, d, last + 1, dim.count)));
  return todo->Push(Slab(box, d, first, last + 1));
}

// Frame dim that each box dim runs along; false with the offending dim.
bool Assign(const Box& box, const WideFrame& frame, uint8_t* along, int* dim_of,
            uint32_t* offending) {
  for (uint32_t j = 0; j < frame.dims; ++j) dim_of[j] = -1;
  for (uint32_t d = 0; d < box.dims; ++d) {
    uint32_t j = 0;
    while (j < frame.dims && frame.stride[j] != box.dim[d].stride) ++j;
    if (j == frame.dims || dim_of[j] >= 0) {
      *offending = d;
      return false;
    }
    dim_of[j] = static_cast<int>(d);
    along[d] = static_cast<uint8_t>(j);
  }
  return true;
}

// Dim d, at index `at` of frame dim j, runs over into frame dim j - 1: takes it apart
// where it does. *carried tells whether it did.
Status Carry(const Box& box, uint32_t d, int64_t at, const WideFrame& frame, uint32_t j,
             bool outer_taken, Vector<Box>* todo, bool* carried) {
  const Dim dim = box.dim[d];
  const int64_t radix = CeilDivide(frame.stride[j - 1], frame.stride[j]);
  *carried = at + dim.count > radix;
  if (!*carried) return Status::kOk;
  const int64_t turns = dim.count / radix;
  const bool whole = at == 0 && frame.stride[j - 1] % frame.stride[j] == 0 &&
                     turns >= 1 && !outer_taken && box.dims < kBoxDims;
  if (!whole) {
    const int64_t cut = at < radix ? radix - at : 1;
    SLUICE_TRY(todo->Push(Slab(box, d, cut, dim.count)));
    return todo->Push(Slab(box, d, 0, cut));
  }
  if (turns * radix < dim.count) {
    SLUICE_TRY(todo->Push(Slab(box, d, turns * radix, dim.count)));
  }
  Box main = box;
  main.dim[d].count = radix;  // > 1: strides are nested and differ
  main.Add(turns, dim.stride * radix, dim.twin * radix);
  return todo->Push(main);
}

// Strides that do not divide each other: an index of dim j plus what lies behind it may
// reach beyond one step of dim j - 1, where the frame counts on from there. Takes the
// box apart until no part does; a single element never does.
Status KeepWithinStep(const Box& box, const WideFrame& frame, const int* dim_of,
                      const int64_t* at, uint32_t j, Vector<Box>* todo, bool* apart) {
  int64_t behind = 0;
  uint32_t split = kBoxDims;  // a dim behind j that can be taken apart
  for (uint32_t k = j + 1; k < frame.dims; ++k) {
    int64_t last = at[k];
    if (dim_of[k] >= 0) {
      split = static_cast<uint32_t>(dim_of[k]);
      last += box.dim[split].count - 1;
    }
    behind += last * frame.stride[k];
  }
  const int64_t count = dim_of[j] < 0 ? 1 : box.dim[dim_of[j]].count;
  const int64_t room = frame.stride[j - 1] - 1 - behind;
  *apart = (at[j] + count - 1) * frame.stride[j] > room;
  if (!*apart) return Status::kOk;
  if (count == 1) return Halve(box, split, todo);
  const uint32_t d = static_cast<uint32_t>(dim_of[j]);
  const int64_t fit = FloorDivide(room, frame.stride[j]) - at[j] + 1;
  const int64_t cut = fit >= 1 && fit < count ? fit : 1;
  SLUICE_TRY(todo->Push(Slab(box, d, cut, count)));
  return todo->Push(Slab(box, d, 0, cut));
}

// Steps a found part counts for: bounds the scratch memory along with the time.
constexpr int64_t kPartCost = 128;

// The frame with a dim of count 1 for each stride of the box that it lacks and that
// nests, so that boxes reaching beyond it are cut by intervals, not element by element.
// real: the frame's own dim, or kBoxDims.
void Widen(const Frame& frame, const Box& box, WideFrame* wide, uint8_t* real) {
  wide->base = frame.base;
  wide->end = frame.end;
  wide->width = frame.width;
  wide->dims = frame.dims;
  for (uint32_t d = 0; d < frame.dims; ++d) {
    wide->count[d] = frame.count[d];
    wide->stride[d] = frame.stride[d];
  }
  for (uint8_t j = 0; j < kBoxDims; ++j) real[j] = j;
  for (uint32_t d = 0; d < box.dims && wide->dims < kBoxDims; ++d) {
    const int64_t stride = box.dim[d].stride;
    uint32_t at = 0;  // dims before it have larger strides
    while (at < wide->dims && wide->stride[at] > stride) ++at;
    int64_t reach = wide->width;
    for (uint32_t j = at; j < wide->dims; ++j) {
      reach += (wide->count[j] - 1) * wide->stride[j];
    }
    // The same stride reaches at least as far as itself and is left out here, too.
    if (stride < reach || (at < wide->dims && wide->stride[at] == stride)) continue;
    for (uint32_t j = wide->dims++; j > at; --j) {
      wide->count[j] = wide->count[j - 1];
      wide->stride[j] = wide->stride[j - 1];
      real[j] = real[j - 1];
    }
    wide->count[at] = 1;
    wide->stride[at] = stride;
    real[at] = kBoxDims;
  }
}

// An index beyond the frame's count that would run over into the next dim may as well be
// negative there: either way nothing lies in the frame until the dim starts anew. That
// holds where all strides from there outwards divide each other.
void Rebalance(const Box& box, const WideFrame& frame, const int* dim_of, int64_t* at) {
  uint32_t j = 1;
  while (j < frame.dims && frame.stride[j - 1] % frame.stride[j] == 0) ++j;
  while (--j > 0 && frame.dims != 0) {
    const int64_t radix = frame.stride[j - 1] / frame.stride[j];
    const int64_t n = dim_of[j] < 0 ? 1 : box.dim[dim_of[j]].count;
    if (at[j] < frame.count[j] || at[j] + n <= radix) continue;
    at[j] -= radix;
    ++at[j - 1];
  }
}

Status CutOne(Judge* judge, Box box, const WideFrame& frame, const uint8_t* real,
              Vector<Box>* todo, Vector<Inside>* inside, Vector<Box>* outside,
              bool* aligned) {
  SLUICE_TRY(Spend(judge, 1));
  if (box.base >= frame.end || frame.base >= box.end()) {
    return outside->Push(box);
  }
  Inside in;
  int dim_of[kBoxDims];
  int64_t at[kBoxDims];  // of the box's first element, by dim of the frame
  uint32_t offending = 0;
  if (!Assign(box, frame, in.along, dim_of, &offending)) {
    return Narrow(box, offending, frame, todo, outside);
  }
  int64_t rest = box.base - frame.base;
  for (uint32_t j = 0; j < frame.dims; ++j) {
    at[j] = FloorDivide(rest, frame.stride[j]);
    rest -= at[j] * frame.stride[j];
  }
  if (rest != 0) {
    if (box.dims != 0) return Halve(box, 0, todo);
    bool overlap;
    Box whole = Box::At(frame.base, 0, frame.width);
    for (uint32_t d = 0; d < frame.dims; ++d) {
      whole.Add(frame.count[d], frame.stride[d], 0);
    }
    SLUICE_TRY(Overlap(judge, box, whole, &overlap));
    if (overlap) *aligned = false;
    return outside->Push(box);
  }
  Rebalance(box, frame, dim_of, at);
  for (uint32_t j = frame.dims; j-- > 1;) {
    bool carried = false;
    if (dim_of[j] >= 0) {
      SLUICE_TRY(Carry(box, static_cast<uint32_t>(dim_of[j]), at[j], frame, j,
                       dim_of[j - 1] >= 0, todo, &carried));
    }
    if (!carried && frame.stride[j - 1] % frame.stride[j] != 0) {
      SLUICE_TRY(KeepWithinStep(box, frame, dim_of, at, j, todo, &carried));
    }
    if (carried) return Status::kOk;
  }
  // No carries are left: the intersection is one interval per dim.
  for (uint32_t j = 0; j < frame.dims; ++j) {
    const int64_t n = dim_of[j] < 0 ? 1 : box.dim[dim_of[j]].count;
    if (at[j] >= frame.count[j] || at[j] + n <= 0) return outside->Push(box);
  }
  for (uint32_t j = 0; j < frame.dims; ++j) {
    if (dim_of[j] < 0) continue;
    // Slab drops a dim that shrinks to one element, so look the dim up each time.
    uint32_t d = 0;
    while (d < box.dims && box.dim[d].stride != frame.stride[j]) ++d;
    const int64_t n = box.dim[d].count;
    const int64_t from = Max<int64_t>(0, -at[j]);
    const int64_t to = Min(n, frame.count[j] - at[j]);
    if (from > 0) SLUICE_TRY(outside->Push(Slab(box, d, 0, from)));
    if (to < n) SLUICE_TRY(outside->Push(Slab(box, d, to, n)));
    if (from > 0 || to < n) box = Slab(box, d, from, to);
    at[j] += from;
  }
  for (uint32_t d = 0; d < box.dims; ++d) {
    uint8_t j = 0;
    while (frame.stride[j] != box.dim[d].stride) ++j;
    in.along[d] = real[j];
  }
  for (uint32_t j = 0; j < frame.dims; ++j) {
    if (real[j] < kBoxDims) in.at[real[j]] = at[j];
  }
  in.part = box;
  SLUICE_TRY(Spend(judge, kPartCost));
  return inside->Push(in);
}

}  // namespace

Status Cut(Judge* judge, const Box& box, const Frame& frame, Vector<Box>* todo,
           Vector<Inside>* inside, Vector<Box>* outside, bool* aligned) {
  WideFrame wide;
  uint8_t real[kBoxDims];
  Widen(frame, box, &wide, real);
  todo->Truncate(0);
  SLUICE_TRY(todo->Push(box));
  while (todo->size() != 0) {
    const Box next = (*todo)[todo->size() - 1];
    todo->Pop();
    SLUICE_TRY(CutOne(judge, next, wide, real, todo, inside, outside, aligned));
  }
  return Status::kOk;
}

}  // namespace judge
}  // namespace sluice
