/* SPDX-License-Identifier: Apache-2.0 */
#include "sluice_vta_cost.h"

#include "bindings/targets/sluice_target_cost.h"
#include "sluice_vta.h"

enum {
  BLOCK = 16,
  BUS = 8,      /* bytes per cycle */
  LATENCY = 32, /* of a LOAD or STORE, as in the preset */
  HAZARD = 4,   /* micro-ops until a sum may be added to again */
  ALU = 2,      /* cycles of an operation on one vector */
  PLANES = 4    /* STOREs of a sum: its bytes, with three shifts between them */
};

/* Input blocks that one output block reads of a filter position. */
static int64_t reach(const target_product_t* p, int64_t channels) {
  const int64_t per = p->k / p->groups; /* output channels of a group */
  if (p->groups == 1) return target_pieces(channels, BLOCK);
  return target_pieces((per < BLOCK ? target_pieces(BLOCK, per) : 1) * p->channels,
                       BLOCK);
}

int32_t sluice_vta_tile_cost(void* graph, uint32_t layer, const int32_t extent[4],
                             int32_t channels, sluice_tile_cost_t* out) {
  const int64_t pixels = (int64_t)extent[0] * extent[1] * extent[2];
  const int64_t sums = pixels * target_pieces(extent[3], BLOCK);
  const int64_t parts = target_pieces(sums, SLUICE_VTA_ACC);
  target_product_t p;
  int64_t products, way;
  if (!target_product(graph, layer, &p)) return 0;
  products = p.taps * reach(&p, channels) * p.passes;
  products *= sums < HAZARD ? HAZARD : sums;
  way = sums * (ALU * PLANES + PLANES * BLOCK / BUS) + parts * PLANES * LATENCY;
  if (p.groups == 1 && channels < p.channels) way = way * channels / p.channels;
  out->cycles = products + way + parts * 2 * LATENCY; /* micro-ops and biases come in */
  out->energy_pj = out->scratchpad_pj = 0;
  return 1;
}
