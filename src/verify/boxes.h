// SPDX-License-Identifier: Apache-2.0
// Strided boxes of bytes: exact overlap, containment, and cutting one box by another.
//
// Input    boxes whose addresses stay below 2^50 in magnitude, strides >= 0.
// Output   exact answers for any strides; cutting gives the part inside a frame and the
//          parts outside.
// Errors   kUnsupported from the judge's work bound.
// Cost     a few operations per axis for nested strides (each stride at least the bytes
//          spanned by the next smaller one); other strides cost more, within a bound.
#ifndef SLUICE_VERIFY_BOXES_H_
#define SLUICE_VERIFY_BOXES_H_

#include "verify/stream_view.h"

namespace sluice {
namespace judge {

constexpr uint32_t kBoxDims = 8;

struct Dim {
  int64_t count;   // > 1
  int64_t stride;  // >= 0
  int64_t twin;    // step of the same elements in the twin space
};

// Elements base + sum i * stride, each `width` bytes wide. Each element also has a
// position in a second, the twin space (the other side of a copy, or a tensor's linear
// element index): twin + sum i * dim.twin.
struct Box {
  int64_t base;
  int64_t twin;
  int64_t width;
  uint32_t dims;
  Dim dim[kBoxDims];  // only [0, dims) is initialised: boxes are made by the million

  static Box At(int64_t base, int64_t twin, int64_t width) {
    Box box;
    box.base = base;
    box.twin = twin;
    box.width = width;
    box.dims = 0;
    return box;
  }
  void Add(int64_t count, int64_t stride, int64_t twin_stride) {
    if (count > 1) dim[dims++] = Dim{count, stride, twin_stride};
  }
  int64_t end() const {
    int64_t last = base;
    for (uint32_t d = 0; d < dims; ++d) last += (dim[d].count - 1) * dim[d].stride;
    return last + width;
  }
};

// The bytes of a box as `count` rows of `length` bytes, `stride` >= length apart; count
// 1: a contiguous run; count 0: the box has no such form.
struct Rows {
  int64_t length;
  int64_t count;
  int64_t stride;
};
Rows RowsOf(const Box& box);

// A box with nested strides, axes in descending stride: each address has at most one
// index.
struct Frame {
  int64_t base;
  int64_t end;  // one past the last byte
  int64_t width;
  uint32_t dims;          // entries of the arrays beyond it are not set
  int64_t count[kAxes];   // > 1
  int64_t stride[kAxes];  // > 0, descending
  uint8_t axis[kAxes];    // logical axis of each dim
};

// Exact: sets *overlap if the two share a byte.
Status Overlap(Judge* judge, const Box& a, const Box& b, bool* overlap);
// The same for boxes whose rows are known; mostly in closed form.
Status Overlap(Judge* judge, const Box& a, const Rows& a_rows, const Box& b,
               const Rows& b_rows, bool* overlap);
Box BoxOf(const Frame& frame);

// Sorts the axes into a frame; false when the strides are not nested.
bool MakeFrame(int64_t base, int64_t width, const int64_t* extent,
               const int64_t* stride, Frame* frame);

// True only if every byte of `inner` lies in `outer`. False may be wrong, except for
// boxes of equal strides and for contiguous outer boxes.
bool Contains(const Frame& outer, const Frame& inner);

// True only if both have the same bytes in the same order; false may be wrong.
bool SameBytes(const Box& a, const Box& b);

// Elements of a box that coincide with elements of a frame: box `part`, first element
// at frame index `at`; its dim d runs along frame dim `along[d]` with step 1.
struct Inside {
  Box part;
  int64_t at[kAxes];  // by frame dim
  uint8_t along[kBoxDims];
};

// Outputs and scratch of Cut.
struct Cutting {
  Judge* judge;
  Vector<Box>* todo;  // scratch
  Vector<Inside>* inside;
  Vector<Box>* outside;
  bool* aligned;  // set to false when elements overlap without coinciding
};

// Cuts `box` into parts that coincide with elements of the frame (to.inside) and parts
// that share no element with it (to.outside).
Status Cut(const Box& box, const Frame& frame, const Cutting& to);

}  // namespace judge
}  // namespace sluice

#endif  // SLUICE_VERIFY_BOXES_H_
