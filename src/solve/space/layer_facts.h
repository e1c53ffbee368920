// SPDX-License-Identifier: Apache-2.0
// What the search asks about layers before it tries segments of them.
//
// Input    a problem, positions of layers
// Output   bytes, MACs, positions
// Errors   none
// Cost     linear in the layers' operands
#ifndef SLUICE_SOLVE_SPACE_LAYER_FACTS_H_
#define SLUICE_SOLVE_SPACE_LAYER_FACTS_H_

#include "solve/space/problem.h"

namespace sluice {

const Tensor& OutputOf(const SpaceProblem& p, uint32_t at);

// Bytes of the constants that a layer reads.
int64_t ConstantsOf(const SpaceProblem& p, uint32_t at);

// Bytes of the other roots that a layer touches.
int64_t TouchedBy(const SpaceProblem& p, uint32_t at);

// Whether layers [at, end) hand on a root of which an image fills much of the
// scratchpad.
bool HandsOnMuch(const SpaceProblem& p, uint32_t at, uint32_t end);

// Whether a layer or one of the next makes an output of the graph, which takes time to
// store.
bool StoresSoon(const SpaceProblem& p, uint32_t at);

// The position of the layer that computes most of layers that all compute, or kNone.
uint32_t ComputesMost(const SpaceProblem& problem, uint32_t first, uint32_t end);

}  // namespace sluice

#endif  // SLUICE_SOLVE_SPACE_LAYER_FACTS_H_
