/* SPDX-License-Identifier: Apache-2.0 */
#include "sluice_gemmini_cost.h"

#include "bindings/targets/sluice_target_cost.h"
#include "sluice_gemmini.h"

enum {
  DIM = SLUICE_GEMMINI_DIM,
  BUS = 16,          /* bytes per cycle */
  LATENCY = 40,      /* of a mvout, as in the preset */
  FILL = DIM,        /* the first weights of a part go in */
  DRAIN = 2 * DIM,   /* its last rows: across the array, and down */
  CONFLICT = DIM / 4 /* weights in the bank of the input wait for 16 rows; four banks */
};

int32_t sluice_gemmini_tile_cost(void* graph, uint32_t layer, const int32_t extent[4],
                                 int32_t channels, sluice_tile_cost_t* out) {
  const int64_t pixels = (int64_t)extent[0] * extent[1] * extent[2], k = extent[3];
  const int64_t sums = pixels * target_pieces(k, DIM);
  const int64_t parts = target_pieces(sums, SLUICE_GEMMINI_SUM_ROWS);
  int64_t blocks, way = pixels * k * 4 / BUS;
  target_product_t p;
  if (!target_product(graph, layer, &p) || p.dtype != SLUICE_DTYPE_INT8 ||
      p.passes > 1) {
    return 0;
  }
  blocks = target_pieces(k, DIM) * p.taps;
  if (p.op != SLUICE_OP_DEPTHWISE_CONV) blocks *= target_pieces(channels, DIM);
  if (p.op == SLUICE_OP_CONV && 2 * channels <= DIM) {
    /* Filter positions of a row whose few channels are one block. */
    blocks = blocks / p.columns *
             target_pieces(p.columns, DIM / (channels > 0 ? channels : 1));
  }
  if (p.op == SLUICE_OP_DEPTHWISE_CONV || channels >= p.channels) {
    way += parts * LATENCY;
  } else if (sums > SLUICE_GEMMINI_SUM_ROWS) {
    way = 2 * way + parts * LATENCY; /* out, and again by the host that adds */
  } else {
    way = (way + LATENCY) * channels / p.channels; /* they leave with the last slice */
  }
  out->cycles = blocks * (target_pieces(pixels, DIM) * DIM + CONFLICT) +
                parts * (FILL + DRAIN) + way;
  out->energy_pj = out->scratchpad_pj = 0;
  return 1;
}
