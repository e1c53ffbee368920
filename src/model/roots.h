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

// The tensor is no reshape of a part of its root: its axes are the root's.
bool SameAxes(const Lowering& lowering, uint32_t tensor);

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
