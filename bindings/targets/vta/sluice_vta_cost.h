/* SPDX-License-Identifier: Apache-2.0 */
/* What tiles cost on VTA, for sluice_schedule: plans are then chosen by what the machine and
 * its lowering take.
 *
 * Input    the graph; a tile's output box, channels summed over
 * Output   cycles: a micro-op of GEMM each, two for one of the ALU; the way of sums out, in
 *          four bytes, while the GEMM core waits
 * Cost     O(1) */
#ifndef SLUICE_VTA_COST_H_
#define SLUICE_VTA_COST_H_

#include "sluice/sluice.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The tile_cost of sluice_schedule_options_t; its tile_cost_user is the graph
 * (const sluice_graph_t*). Operators that the GEMM core does not do: not known. */
int32_t sluice_vta_tile_cost(void* graph, uint32_t layer, const int32_t extent[4],
                             int32_t channels, sluice_tile_cost_t* out);

#ifdef __cplusplus
}
#endif

#endif /* SLUICE_VTA_COST_H_ */
