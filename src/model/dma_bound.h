// SPDX-License-Identifier: Apache-2.0
// Lower bound on latency: no DRAM order and living durations run the given tiles
// faster.
//
// Input    TileList, bytes of buffer; FusionProblem for the channel's speed.
// Output   cycles; at least the larger of all compute and all DRAM cycles (SoMa's
//          "theoretical maximum", which ignores order and buffer).
// Errors   kOutOfMemory.
// Cost     O(tiles + transfers), scratch the same.
// Source   own. When tile p-1 ends, each load for a later tile either fits in the
//          buffer that tile p-1 leaves free or has not begun. When tile q starts, all
//          its loads are done; each earlier store is done or waits in buffer that q
//          leaves free; stores that q's loads read again are done.
#ifndef SLUICE_MODEL_DMA_BOUND_H_
#define SLUICE_MODEL_DMA_BOUND_H_

#include "model/timeline.h"

namespace sluice {

Status BoundDma(const FusionProblem& problem, const TileList& list,
                int64_t buffer_bytes, Arena* scratch, int64_t* bound);

}  // namespace sluice

#endif  // SLUICE_MODEL_DMA_BOUND_H_
