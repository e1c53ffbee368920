// SPDX-License-Identifier: Apache-2.0
// Improves the order and the living durations of DRAM transfers for fixed tiles.
//
// Input    TileList; a legal DmaNotation within buffer_bytes; rounds, seed; Budget.
// Output   the DmaNotation, legal, within the buffer, never slower; its latency.
// Errors   kOutOfMemory; kBadInput when the given notation is illegal or too large.
// Cost     one timeline evaluation per round, no allocation.
// Source   SoMa section V (second stage): order .1, living duration .4, both .5;
//          acceptance by the distance to the ideal latency. Balancing is a stage of the
//          published program: it keeps only schedules that are as fast.
#ifndef SLUICE_SOLVE_PREFETCH_PREFETCH_H_
#define SLUICE_SOLVE_PREFETCH_PREFETCH_H_

#include <stdint.h>

#include "base/workspace.h"
#include "model/timeline.h"

namespace sluice {

struct PrefetchOptions {
  uint64_t seed = 0;
  uint64_t rounds = 0;  // 0 = 1000 per transfer
  double start_temperature = 0.1;
  uint64_t last_rounds = 0;     // as AnnealOptions
  uint64_t balance_rounds = 0;  // then: less buffer on average, no slower
};

struct PrefetchResult {
  int64_t latency_cycles = 0;
  uint64_t rounds = 0;
  double average_bytes = 0;  // of buffer in use, weighted by the tiles' cycles
};

Status RefineDma(const TileList& list, int64_t buffer_bytes,
                 const PrefetchOptions& options, const Workspace& work,
                 DmaNotation* dma, PrefetchResult* out);

}  // namespace sluice

#endif  // SLUICE_SOLVE_PREFETCH_PREFETCH_H_
