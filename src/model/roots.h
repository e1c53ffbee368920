// SPDX-License-Identifier: Apache-2.0
// Where tensors lie inside their roots: boxes of a view as boxes of the tensor that
// contains it, and back.
//
// Input    graph and lowering.
// Output   boxes that contain all that is asked for; through a reshape they may contain
//          more.
// Errors   none.
// Cost     linear in the depth of views.
#ifndef SLUICE_MODEL_ROOTS_H_
#define SLUICE_MODEL_ROOTS_H_

#include "model/lowering.h"

namespace sluice {

uint32_t RootOf(const Lowering& lowering, uint32_t tensor);

// How a tensor's axes lie in its root's: each within one axis, in steps of so many
// elements, as heads of 64 lie in 768 channels. The tensor begins at begin[] of the root.
struct RootAxes {
  bool nested;  // false: an axis runs over several of the root's; the rest is not set
  uint8_t axis[kAxes];
  int32_t step[kAxes];
  int32_t begin[kAxes];
};

RootAxes FindRootAxes(const Graph& graph, const Lowering& lowering, uint32_t tensor);

// Through axes that are nested: the smallest box of the root, and the part of the tensor
// that lies in a box of the root; false if there is none.
Box BoxInRoot(const RootAxes& axes, const Box& box);
bool BoxInTensor(const RootAxes& axes, const Tensor& tensor, const Box& in_root,
                 Box* box);

// Bytes from the root's first element to the box's first.
int64_t OffsetInRoot(const Lowering& lowering, uint32_t tensor, const Box& box);

// The smallest box of the root with all of the tensor's box.
Box BoxInRoot(const Graph& graph, const Lowering& lowering, uint32_t tensor,
              const Box& box);

// The part of the tensor that lies in a box of its root; false if there is none.
bool BoxInTensor(const Graph& graph, const Lowering& lowering, uint32_t tensor,
                 const Box& in_root, Box* box);

// Grows `box`, which may be empty (extent 0 on axis 0), to contain `other`.
void GrowBox(Box* box, const Box& other);

}  // namespace sluice

#endif  // SLUICE_MODEL_ROOTS_H_
