// SPDX-License-Identifier: Apache-2.0
// Repeated stretches of a network, so that they are scheduled once and stamped.
//
// Input    layers in the order they run; fusion runs that may be equal.
// Output   the longest stretch that repeats itself with the shortest period, cut where
//          the fewest bytes cross; whether one schedule does for two runs.
// Errors   kOutOfMemory.
// Cost     O(layers^2 / 3) comparisons of hashes; SameRun linear.
#ifndef SLUICE_PLAN_FUSED_FUSION_SECTIONS_H_
#define SLUICE_PLAN_FUSED_FUSION_SECTIONS_H_

#include "solve/fusion/problem.h"

namespace sluice {

struct Repetition {
  uint32_t first;   // of the layers given
  uint32_t period;  // layers
  uint32_t times;   // 0 = nothing repeats
};

Status FindRepetition(const Graph& graph, const Lowering& lowering,
                      Span<const uint32_t> layers, Arena* scratch, Repetition* out);

// True when what is found for `a` can be written for `b` as it is.
bool SameRun(const FusionRun& a, const FusionRun& b);

}  // namespace sluice

#endif  // SLUICE_PLAN_FUSED_FUSION_SECTIONS_H_
