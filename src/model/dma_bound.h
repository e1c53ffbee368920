// SPDX-License-Identifier: Apache-2.0
// Below which latency no DRAM order and living durations bring given tiles.
//
// Input    TileList, bytes of buffer; FusionProblem for the channel's speed.
// Output   cycles; at least the larger of all compute and all DRAM cycles (SoMa's
//          "theoretical maximum", which knows neither order nor buffer).
// Errors   kOutOfMemory.
// Cost     O(tiles + transfers), scratch the same.
// Source   own. When tile p-1 ends, loads that are used later lie in what tile p-1
//          leaves of the buffer or have not begun; when tile q starts, all its loads
//          are done, stores made before wait in what q leaves or are done, and what its
//          loads read again has been stored.
#ifndef SLUICE_MODEL_DMA_BOUND_H_
#define SLUICE_MODEL_DMA_BOUND_H_

#include "model/timeline.h"

namespace sluice {

Status BoundDma(const FusionProblem& problem, const TileList& list,
                int64_t buffer_bytes, Arena* scratch, int64_t* bound);

}  // namespace sluice

#endif  // SLUICE_MODEL_DMA_BOUND_H_
