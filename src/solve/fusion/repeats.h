// SPDX-License-Identifier: Apache-2.0
// Repeated blocks of equal layers: scheduled once, then stamped (copied) over the
// whole.
//
// Input    FusionProblem whose layers have signatures; a notation of the short network.
// Output   runs of equal blocks, where a block reads only its own layers, the block
//          before and inputs from outside; the network with each run shortened to its
//          first, second and last block; a short notation stamped over the whole
//          network.
// Errors   kOutOfMemory.
// Cost     O(layers x longest period looked at); shortening and stamping linear.
// Source   own.
#ifndef SLUICE_SOLVE_FUSION_REPEATS_H_
#define SLUICE_SOLVE_FUSION_REPEATS_H_

#include "solve/fusion/window.h"

namespace sluice {

struct Repeat {
  uint32_t first;   // layer
  uint32_t period;  // layers of a block
  uint32_t count;   // blocks, at least 4
};

struct Repeats {
  static constexpr int kMost = 8;  // more repetitions than these are searched in full
  Repeat run[kMost];               // by first layer, apart from each other
  int runs = 0;
  uint32_t spared = 0;  // layers that the short network saves
};

Status FindRepeats(const FusionProblem& problem, Arena* scratch, Repeats* out);

struct ShortNetwork {
  SchemeWindow window;  // layer, problem and model; notation is not set
  Span<uint32_t>
      segment;  // by layer here: layers of different segments keep their order
};

Status Shorten(const FusionProblem& whole, TileMemo* memo, const Repeats& repeats,
               Arena* arena, ShortNetwork* out);

// `from` keeps the layers of each segment together and the segments in order; none of
// its fine-grained groups spans two segments.
void Stamp(const ShortNetwork& network, const Repeats& repeats,
           const GroupNotation& from, GroupNotation* to);

}  // namespace sluice

#endif  // SLUICE_SOLVE_FUSION_REPEATS_H_
