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

// The slab of `box` where the index of dim d is in [from, to).
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

// A frame plus dims of count 1, which give boxes further dims to run along. real: by
// dim, the frame's own dim, or kBoxDims for an added one.
struct WideFrame {
  int64_t base;
  int64_t end;
  int64_t width;
  uint32_t dims;
  int64_t count[kBoxDims];
  int64_t stride[kBoxDims];
  uint8_t real[kBoxDims];
};

// Dim d runs along no dim of the frame: keeps the slab that can share its bytes.
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

// Finds the box's dim along each dim of the frame; false: *offending has none of its
// own.
bool Assign(const Box& box, const WideFrame& frame, int* dim_of, uint32_t* offending) {
  for (uint32_t j = 0; j < frame.dims; ++j) dim_of[j] = -1;
  for (uint32_t d = 0; d < box.dims; ++d) {
    uint32_t j = 0;
    while (j < frame.dims && frame.stride[j] != box.dim[d].stride) ++j;
    if (j == frame.dims || dim_of[j] >= 0) {
      *offending = d;
      return false;
    }
    dim_of[j] = static_cast<int>(d);
  }
  return true;
}

// A box with each dim assigned to a frame dim of equal stride.
struct Assigned {
  Box box;
  int dim_of[kBoxDims];  // by frame dim: the box's dim, or -1
  int64_t at[kBoxDims];  // by frame dim: index of the box's first element

  int64_t CountAlong(uint32_t j) const {
    return dim_of[j] < 0 ? 1 : box.dim[dim_of[j]].count;
  }
};

// Cuts the box where its dim along frame dim j would carry into frame dim j - 1.
// *carried: whether it would.
Status Carry(const Assigned& a, const WideFrame& frame, uint32_t j, Vector<Box>* todo,
             bool* carried) {
  const uint32_t d = static_cast<uint32_t>(a.dim_of[j]);
  const Dim dim = a.box.dim[d];
  const int64_t at = a.at[j];
  const bool outer_taken = a.dim_of[j - 1] >= 0;
  const int64_t radix = CeilDivide(frame.stride[j - 1], frame.stride[j]);
  *carried = at + dim.count > radix;
  if (!*carried) return Status::kOk;
  const int64_t turns = dim.count / radix;
  const bool whole = at == 0 && frame.stride[j - 1] % frame.stride[j] == 0 &&
                     turns >= 1 && !outer_taken && a.box.dims < kBoxDims;
  if (!whole) {
    const int64_t cut = at < radix ? radix - at : 1;
    SLUICE_TRY(todo->Push(Slab(a.box, d, cut, dim.count)));
    return todo->Push(Slab(a.box, d, 0, cut));
  }
  if (turns * radix < dim.count) {
    SLUICE_TRY(todo->Push(Slab(a.box, d, turns * radix, dim.count)));
  }
  Box main = a.box;
  main.dim[d].count = radix;  // > 1: strides are nested and different
  main.Add(turns, dim.stride * radix, dim.twin * radix);
  return todo->Push(main);
}

// For strides that do not divide each other: the index of dim j and the later dims
// together may exceed one step of dim j - 1, and then the address has another index in
// the frame. Cuts the box until no part exceeds it; a single element never does.
Status KeepWithinStep(const Assigned& a, const WideFrame& frame, uint32_t j,
                      Vector<Box>* todo, bool* apart) {
  int64_t behind = 0;
  uint32_t split = kBoxDims;  // a later dim that can be halved
  for (uint32_t k = j + 1; k < frame.dims; ++k) {
    int64_t last = a.at[k];
    if (a.dim_of[k] >= 0) {
      split = static_cast<uint32_t>(a.dim_of[k]);
      last += a.box.dim[split].count - 1;
    }
    behind += last * frame.stride[k];
  }
  const int64_t count = a.CountAlong(j);
  const int64_t room = frame.stride[j - 1] - 1 - behind;
  *apart = (a.at[j] + count - 1) * frame.stride[j] > room;
  if (!*apart) return Status::kOk;
  if (count == 1) return Halve(a.box, split, todo);
  const uint32_t d = static_cast<uint32_t>(a.dim_of[j]);
  const int64_t fit = FloorDivide(room, frame.stride[j]) - a.at[j] + 1;
  const int64_t cut = fit >= 1 && fit < count ? fit : 1;
  SLUICE_TRY(todo->Push(Slab(a.box, d, cut, count)));
  return todo->Push(Slab(a.box, d, 0, cut));
}

// Steps that a found part counts as, so that the work bound also bounds scratch memory.
constexpr int64_t kPartCost = 128;

// Adds to the frame a dim of count 1 for each stride of the box that it lacks and that
// nests, so that boxes reaching beyond it are cut by intervals, not by elements.
void Widen(const Frame& frame, const Box& box, WideFrame* wide) {
  uint8_t* const real = wide->real;
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
    uint32_t at = 0;  // number of dims with larger strides
    while (at < wide->dims && wide->stride[at] > stride) ++at;
    int64_t reach = wide->width;
    for (uint32_t j = at; j < wide->dims; ++j) {
      reach += (wide->count[j] - 1) * wide->stride[j];
    }
    // Skip strides that do not nest, or that the frame has already.
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

// An index beyond the frame's count would carry into the next dim. It is written as a
// negative index there instead: in both forms the elements lie outside the frame, in
// front of the next start of the dim. Valid where each stride from there outwards
// divides the next.
void Rebalance(const WideFrame& frame, Assigned* a) {
  uint32_t j = 1;
  while (j < frame.dims && frame.stride[j - 1] % frame.stride[j] == 0) ++j;
  while (--j > 0 && frame.dims != 0) {
    const int64_t radix = frame.stride[j - 1] / frame.stride[j];
    if (a->at[j] < frame.count[j] || a->at[j] + a->CountAlong(j) <= radix) continue;
    a->at[j] -= radix;
    ++a->at[j - 1];
  }
}

// A box whose first element lies between elements of the frame: disjoint or misaligned.
Status CutMisaligned(const Box& box, const WideFrame& frame, const Cutting& to) {
  if (box.dims != 0) return Halve(box, 0, to.todo);
  bool overlap;
  Box whole = Box::At(frame.base, 0, frame.width);
  for (uint32_t d = 0; d < frame.dims; ++d) {
    whole.Add(frame.count[d], frame.stride[d], 0);
  }
  SLUICE_TRY(Overlap(to.judge, box, whole, &overlap));
  if (overlap) *to.aligned = false;
  return to.outside->Push(box);
}

// No dim carries, so box and frame intersect in one interval per dim.
Status CutIntervals(Assigned* a, const WideFrame& frame, const Cutting& to) {
  Box& box = a->box;
  for (uint32_t j = 0; j < frame.dims; ++j) {
    if (a->at[j] >= frame.count[j] || a->at[j] + a->CountAlong(j) <= 0) {
      return to.outside->Push(box);
    }
  }
  for (uint32_t j = 0; j < frame.dims; ++j) {
    if (a->dim_of[j] < 0) continue;
    // Slab removes a dim that shrinks to one element, so look the dim up each time.
    uint32_t d = 0;
    while (d < box.dims && box.dim[d].stride != frame.stride[j]) ++d;
    const int64_t n = box.dim[d].count;
    const int64_t from = Max<int64_t>(0, -a->at[j]);
    const int64_t end = Min(n, frame.count[j] - a->at[j]);
    if (from > 0) SLUICE_TRY(to.outside->Push(Slab(box, d, 0, from)));
    if (end < n) SLUICE_TRY(to.outside->Push(Slab(box, d, end, n)));
    if (from > 0 || end < n) box = Slab(box, d, from, end);
    a->at[j] += from;
  }
  Inside in;
  for (uint32_t d = 0; d < box.dims; ++d) {
    uint8_t j = 0;
    while (frame.stride[j] != box.dim[d].stride) ++j;
    in.along[d] = frame.real[j];
  }
  for (uint32_t j = 0; j < frame.dims; ++j) {
    if (frame.real[j] < kBoxDims) in.at[frame.real[j]] = a->at[j];
  }
  in.part = box;
  SLUICE_TRY(Spend(to.judge, kPartCost));
  return to.inside->Push(in);
}

Status CutOne(const Box& box, const WideFrame& frame, const Cutting& to) {
  SLUICE_TRY(Spend(to.judge, 1));
  if (box.base >= frame.end || frame.base >= box.end()) {
    return to.outside->Push(box);
  }
  Assigned a;
  uint32_t offending = 0;
  if (!Assign(box, frame, a.dim_of, &offending)) {
    return Narrow(box, offending, frame, to.todo, to.outside);
  }
  int64_t rest = box.base - frame.base;
  for (uint32_t j = 0; j < frame.dims; ++j) {
    a.at[j] = FloorDivide(rest, frame.stride[j]);
    rest -= a.at[j] * frame.stride[j];
  }
  if (rest != 0) return CutMisaligned(box, frame, to);
  a.box = box;
  Rebalance(frame, &a);
  for (uint32_t j = frame.dims; j-- > 1;) {
    bool carried = false;
    if (a.dim_of[j] >= 0) SLUICE_TRY(Carry(a, frame, j, to.todo, &carried));
    if (!carried && frame.stride[j - 1] % frame.stride[j] != 0) {
      SLUICE_TRY(KeepWithinStep(a, frame, j, to.todo, &carried));
    }
    if (carried) return Status::kOk;
  }
  return CutIntervals(&a, frame, to);
}

}  // namespace

Status Cut(const Box& box, const Frame& frame, const Cutting& to) {
  WideFrame wide;
  Widen(frame, box, &wide);
  to.todo->Truncate(0);
  SLUICE_TRY(to.todo->Push(box));
  while (to.todo->size() != 0) {
    const Box next = (*to.todo)[to.todo->size() - 1];
    to.todo->Pop();
    SLUICE_TRY(CutOne(next, wide, to));
  }
  return Status::kOk;
}

}  // namespace judge
}  // namespace sluice
