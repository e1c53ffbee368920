// SPDX-License-Identifier: Apache-2.0
// Leaves out rows and columns of tensors that no layer reads.
//
// Where all readers of a tensor are 1x1 windows with a stride (the first layers of a stage in
// residual networks), three of four pixels are computed and never read. The layer that makes
// them takes the stride instead: a convolution or pool with a larger stride, an elementwise layer
// by asking its operands for the same pixels. An operand that others read whole passes a 1x1 pool
// with that stride on the way.
//
// Input    a whole graph, layers in topological order
// Output   the same graph with fewer pixels; inputs, outputs, states and constants as they were;
//          every output has the same bytes. How many layers make fewer pixels, by operator.
// Cost     linear in layers and their operands
#ifndef SLUICE_IMPORT_UNREAD_PIXELS_H_
#define SLUICE_IMPORT_UNREAD_PIXELS_H_

#include "import/graph_writer.h"
#include "import/import_result.h"

namespace sluice::import {

// Returns how many layers of each operator make fewer pixels now.
std::vector<UnsupportedOperator> SkipUnreadPixels(GraphWriter* graph);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_UNREAD_PIXELS_H_
