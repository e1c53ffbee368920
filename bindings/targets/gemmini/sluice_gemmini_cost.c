/* SPDX-License-Identifier: Apache-2.0 */
#include "sluice_gemmini_cost.h"

#include <string.h>

#include "sluice/ops.h"
#include "sluice_gemmini.h"

enum { DIM = SLUICE_GEMMINI_DIM, BUS = 16 /* bytes per cycle */ };

static int64_t pieces(int64_t n, int64_t by) { return (n + by - 1) / by; }

int32_t sluice_gemmini_tile_cost(void* graph, uint32_t layer, const int32_t extent[4],
                                 int32_t channels, sluice_tile_cost_t* out) {
  const int64_t pixels = (int64_t)extent[0] * extent[1] * extent[2], k = extent[3];
  sluice_layer_info_t info;
  sluice_tensor_info_t input, weight;
  int64_t taps = 1, passes, all;
  memset(&info, 0, sizeof info);
  memset(&input, 0, sizeof input);
  memset(&weight, 0, sizeof weight);
  info.struct_size = sizeof info;
  input.struct_size = sizeof input;
  weight.struct_size = sizeof weight;
  if (sluice_graph_layer(graph, layer, &info) != SLUICE_OK || info.input_count < 2 ||
      sluice_graph_tensor(graph, info.inputs[0], &input) != SLUICE_OK ||
      sluice_graph_tensor(graph, info.inputs[1], &weight) != SLUICE_OK ||
      input.dtype != SLUICE_DTYPE_INT8) {
    return 0;
  }
  if (info.op == SLUICE_OP_CONV || info.op == SLUICE_OP_DEPTHWISE_CONV) {
    taps = (int64_t)weight.extent[1] * weight.extent[2];
  } else if (info.op != SLUICE_OP_FULLY_CONNECTED &&
             info.op != SLUICE_OP_BATCH_MATMUL) {
    return 0;
  }
  all = info.op == SLUICE_OP_CONV ? weight.extent[3] : input.extent[3];
  passes = pieces(pixels, DIM) * pieces(k, DIM) * taps;
  if (info.op != SLUICE_OP_DEPTHWISE_CONV) passes *= pieces(channels, DIM);
  if (info.op == SLUICE_OP_CONV && 2 * channels <= DIM) {
    /* Filter positions of a row whose few channels are one block. */
    passes = passes / weight.extent[2] *
             pieces(weight.extent[2], DIM / (channels > 0 ? channels : 1));
  }
  out->cycles = passes * DIM;
  out->energy_pj = out->scratchpad_pj = 0;
  if (info.op != SLUICE_OP_DEPTHWISE_CONV && channels < all &&
      pixels * pieces(k, DIM) > SLUICE_GEMMINI_SUM_ROWS) {
    out->cycles += pixels * k * 4 * 2 / BUS; /* out, and again by the host that adds */
  }
  return 1;
}
