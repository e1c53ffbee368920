// SPDX-License-Identifier: Apache-2.0
// Where the operands of a node's tile lie in its scratchpad.
//
// Input    a NodeLayer with addresses
// Output   boxes of buffers
// Errors   none
// Cost     constant
#ifndef SLUICE_PLAN_MESH_NODE_BUFFERS_H_
#define SLUICE_PLAN_MESH_NODE_BUFFERS_H_

#include "plan/mesh/node_layer.h"

namespace sluice {

// `box` holds the elements `whole` of a tensor; returns the part of it that holds
// `part`.
BufferBox PartOfBuffer(const BufferBox& box, const Box& whole, const Box& part);

// `box` in buffer `number` of a role.
BufferBox BoxIn(const NodeLayer& self, int role, int32_t number, const Box& box);

// `box` in the landing buffer of node i, which its producers forward to. A layer that
// works at the same time as its producer waits for parts of the buffer; layers that
// take turns wait for the whole buffer.
BufferBox InLanding(const NodeLayer& self, uint32_t i, int role, int64_t slice,
                    const Box& box);

BufferBox Accumulator(const NodeLayer& self, const NodeTile& tile);

}  // namespace sluice

#endif  // SLUICE_PLAN_MESH_NODE_BUFFERS_H_
