// SPDX-License-Identifier: Apache-2.0
// The stretch of a network's layers that repeats itself furthest, so that a long
// section can be cut into equal ones.
//
// Input    layers in the order they run.
// Output   the longest stretch that repeats itself with the shortest period, cut where
//          the fewest bytes cross.
// Errors   kOutOfMemory, kStopped.
// Cost     O(layers^2 / 3) comparisons of hashes.
// Source   own; the finder is EachAlikeRun.
#ifndef SLUICE_SOLVE_FUSION_REPETITION_H_
#define SLUICE_SOLVE_FUSION_REPETITION_H_

#include "solve/fusion/problem.h"

namespace sluice {

struct Repetition {
  uint32_t first;   // of the layers given
  uint32_t period;  // layers
  uint32_t times;   // 0 = nothing repeats
};

Status FindRepetition(const Graph& graph, const Lowering& lowering,
                      Span<const uint32_t> layers, Arena* scratch, Repetition* out);

}  // namespace sluice

#endif  // SLUICE_SOLVE_FUSION_REPETITION_H_
