// SPDX-License-Identifier: Apache-2.0
// A network's layers as operators that take whole tensors.
//
// Input   graph; whether constants count, whether outputs may take over inputs.
// Output  one operator per layer, in graph order; one tensor per graph tensor that a
//         layer touches. Constants are inputs, or left out; what a state append writes
//         is an output, states that nothing writes are inputs.
// Errors  kOutOfMemory.
// Cost    O(operands).
// Source  COSMA, "activations only" and with parameters. Views are operators here.
#ifndef SLUICE_SOLVE_PLACEMENT_SPILL_GRAPH_OPERATORS_H_
#define SLUICE_SOLVE_PLACEMENT_SPILL_GRAPH_OPERATORS_H_

#include "model/graph.h"
#include "solve/placement/spill/operator_graph.h"

namespace sluice {

struct GraphOperatorOptions {
  bool parameters = false;  // constants are tensors too
  // The first output may take the place of an operand of equal size that is not read
  // again: elementwise, activations, softmax, norms of equal width, reshape.
  bool in_place = false;
};

struct GraphOperators {
  OperatorGraph operators;    // operator i is layer i
  Span<uint32_t> tensor_of;   // graph tensor of each operator tensor
  Span<uint32_t> operand_of;  // operator tensor of each graph tensor, or kNoOperand
};

Status OperatorsOf(const Graph& graph, const GraphOperatorOptions& options,
                   Arena* arena, GraphOperators* out);

// Index of the input that the layer's output may take over, or kNoOperand.
uint32_t InPlaceInput(const Graph& graph, const Layer& layer);

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_SPILL_GRAPH_OPERATORS_H_
