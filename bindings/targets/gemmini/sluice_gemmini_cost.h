/* SPDX-License-Identifier: Apache-2.0 */
/* What tiles cost on Gemmini, for sluice_schedule: plans are then chosen by what the machine
 * and its lowering take.
 *
 * Input    the graph; a tile's output box, channels summed over
 * Output   cycles: 16 per pass of the array, its filling and draining, waits for a bank, and
 *          the way of sums out of the accumulators: once where 1,024 rows hold them, else out
 *          and in again for each slice of channels
 * Cost     O(1) */
#ifndef SLUICE_GEMMINI_COST_H_
#define SLUICE_GEMMINI_COST_H_

#include "sluice/sluice.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The tile_cost of sluice_schedule_options_t; its tile_cost_user is the graph
 * (const sluice_graph_t*). Operators that the array does not do: not known. */
int32_t sluice_gemmini_tile_cost(void* graph, uint32_t layer, const int32_t extent[4],
                                 int32_t channels, sluice_tile_cost_t* out);

#ifdef __cplusplus
}
#endif

#endif /* SLUICE_GEMMINI_COST_H_ */
