// SPDX-License-Identifier: Apache-2.0
// What certainly depends on one element of a tensor, wherever in the tensor it lies.
//
// Input    a layer; how much of one of its inputs depends on the element.
// Output   how much of the layer's output depends on it; how many elements of the
//          layer's weights only tiles need that depend on it.
// Errors   none; what is not known does not depend on it.
// Cost     constant; for windows their rows and columns.
// Source   own; ops.h for what an element of the output reads.
#ifndef SLUICE_MODEL_SPREAD_H_
#define SLUICE_MODEL_SPREAD_H_

#include "model/needs.h"

namespace sluice {

// At least count[a] positions in a row along each axis a, at all their combinations;
// count[0] 0: nothing.
struct Spread {
  int32_t count[kAxes];
};
constexpr Spread kOneElementSpreads = {{1, 1, 1, 1}};

Spread SpreadThrough(const Graph& graph, const Layer& layer, size_t input,
                     const Spread& in);

// Elements of input 1 that tiles need which depend on the element, from what spreads to
// input 0 and on to the output, of which the plan makes `made`.
int64_t WeightsBehind(const Graph& graph, const Layer& layer, const Spread& in,
                      const Spread& out, const Parts& made);

}  // namespace sluice

#endif  // SLUICE_MODEL_SPREAD_H_
