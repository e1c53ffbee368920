// SPDX-License-Identifier: Apache-2.0
// One training step of a network: its layers, then, in reverse order, the error of
// every layer that depends on a weight, and the gradient of every weight.
//
// Input    graph.fbs bytes of an inference graph
// Output   graph.fbs bytes: the same layers first. New inputs: one "target" per 8-bit
//          output, whose error is output - target (behind a softmax: the error of the
//          softmax's input, as with cross entropy). New outputs: "NAME.gradient" of
//          each weight (filter-shaped; of depthwise filters [K,R,S,1]; of matrices
//          [K,1,1,C]). A weight that is used twice has a gradient per use.
// Errors   Error(kTooLarge) when the constants would exceed the limit;
//          Error(kBadInput) when nothing is trained or an output has no error;
//          Error(kBadArgument) when constants lie in other files
// Source   backpropagation. Forward activations that gradients read are ordinary
//          tensors with late readers. By layer: convolutions: TRANSPOSED_CONV on their
//          own weights, WEIGHT_GRADIENT; matrices: BATCH_MATMUL on their own weights,
//          WEIGHT_GRADIENT; a ReLU, also one inside a layer (what is clamped at zero):
//          RELU_GRADIENT; MAX_POOL_GRADIENT; average pools: RESIZE_NEAREST of a global
//          one, else a depthwise TRANSPOSED_CONV; tables: a table of their slopes;
//          sums, products, copies: layers of the same kinds. On the host (OPAQUE, a
//          cycle per byte): layers without an integer gradient here, such as softmax
//          and norms, and data gradients of grouped or dilated convolutions. Biases,
//          norms' parameters and embeddings are not trained. Errors are int8 with zero
//          0; multipliers keep them in range for the zoo's weights and activations; for
//          imported models they are a guess.
#ifndef SLUICE_IMPORT_TRAINING_TRAINING_H_
#define SLUICE_IMPORT_TRAINING_TRAINING_H_

#include "import/bytes.h"

namespace sluice::import {

Bytes MakeTrainingGraph(const Bytes& inference,
                        uint64_t max_constant_bytes = UINT64_MAX);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_TRAINING_TRAINING_H_
