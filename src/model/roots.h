// SPDX-License-Identifier: Apache-2.0
// Where tensors lie inside their roots: boxes of a view as boxes of the tensor that
// contains it, and back.
//
// Input    graph and lowering, as a map of roots.
// Output   boxes that contain all that is asked for; through a reshape they may contain
//          more.
// Errors   none.
// Cost     linear in the depth of views.
#ifndef SLUICE_MODEL_ROOTS_H_
#define SLUICE_MODEL_ROOTS_H_

#include "model/lowering.h"

namespace sluice {

uint32_t RootOf(const Lowering& lowering, uint32_t tensor);

// The extents in which boxes of a root are given: usually the root's own. Where a view joins
// several axes of the root into one (rows and columns as one axis), the root's extents are
// given joined too, so that each axis of the view is an axis of the root.
struct RootShape {
  int32_t extent[kAxes];
  int32_t row[kAxes];  // of an axis that others see as rows: elements of one; else 1
};

struct RootMap {
  const Graph* graph = nullptr;
  const Lowering* lowering = nullptr;
  Span<RootShape> shape;  // by tensor; only those of roots mean something

  Box WholeOf(uint32_t root) const {
    Box box = {};
    for (int a = 0; a < kAxes; ++a) box.extent[a] = shape[root].extent[a];
    return box;
  }
};

// kOutOfMemory. Linear in the tensors.
Status MakeRootMap(const Graph& graph, const Lowering& lowering, Arena* arena,
                   RootMap* map);

// How the axes of a tensor lie in its root: each within one axis of the root, in steps
// of some elements (heads of 64 in 768 channels). The tensor begins at begin[] of the
// root.
struct RootAxes {
  uint32_t root;
  bool nested;  // false: an axis runs over several of the root's; the rest is not set
  uint8_t axis[kAxes];
  int32_t step[kAxes];
  int32_t begin[kAxes];
};

RootAxes FindRootAxes(const RootMap& map, uint32_t tensor);

// Through axes that are nested: the smallest box of the root, and the part of the
// tensor that lies in a box of the root; false if there is none.
Box BoxInRoot(const RootAxes& axes, const Box& box);
bool BoxInTensor(const RootAxes& axes, const Tensor& tensor, const Box& in_root,
                 Box* box);

// A length near `step` for pieces of an axis. The pieces are whole rows or equal parts
// of a row, so that each looks the same in the shapes of other views.
int32_t StepOfRows(const RootMap& map, const RootAxes& axes, int axis, int32_t step);

// Bytes from the root's first element to the box's first: of a box of a tensor in its
// own axes, and of a box of the root.
int64_t OffsetInRoot(const Lowering& lowering, uint32_t tensor, const Box& box);
int64_t OffsetOfBox(const RootMap& map, uint32_t root, const Box& box);

// Bytes between neighbours along each axis of a box that lies by itself.
void DenseStridesOf(const Box& box, uint32_t element_bytes, uint32_t stride[kAxes]);

// Whether the elements of a box of the root lie in its memory one after the other.
bool IsContiguous(const RootMap& map, uint32_t root, const Box& box);

// The smallest box of the root with all of the tensor's box.
Box BoxInRoot(const RootMap& map, uint32_t tensor, const Box& box);

// The part of the tensor that lies in a box of its root; false if there is none.
bool BoxInTensor(const RootMap& map, uint32_t tensor, const Box& in_root, Box* box);

// Grows `box`, which may be empty (extent 0 on axis 0), to contain `other`.
void GrowBox(Box* box, const Box& other);

}  // namespace sluice

#endif  // SLUICE_MODEL_ROOTS_H_
