/* SPDX-License-Identifier: Apache-2.0 */
/* What the tile costs of all targets ask of a layer. C99.
 *
 * Input    the graph (const sluice_graph_t*), index of a layer
 * Output   1: a product of two 8-bit operands, *out; 0: another layer
 * Cost     O(1) */
#ifndef SLUICE_TARGET_COST_H_
#define SLUICE_TARGET_COST_H_

#include <string.h>

#include "bindings/targets/sluice_target.h"
#include "sluice/ops.h"
#include "sluice/sluice.h"

typedef struct {
  uint32_t op, dtype;
  int64_t taps, columns; /* positions of the filter, of one of its rows */
  int64_t channels;      /* that an output sums over, of all slices */
  int64_t groups;        /* DEPTHWISE_CONV: one per input channel */
  int64_t k;             /* output channels */
  uint32_t passes;       /* over the weights, as target_passes says */
} target_product_t;

static inline int64_t target_pieces(int64_t n, int64_t by) { return (n + by - 1) / by; }

static inline int target_tensor(const void* graph, uint32_t index,
                                sluice_tensor_info_t* out) {
  memset(out, 0, sizeof *out);
  out->struct_size = sizeof *out;
  return sluice_graph_tensor((const sluice_graph_t*)graph, index, out) == SLUICE_OK;
}

static inline int target_product(const void* graph, uint32_t layer,
                                 target_product_t* out) {
  sluice_layer_info_t info;
  sluice_tensor_info_t input, weight, output;
  uint32_t zero;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  if (sluice_graph_layer((const sluice_graph_t*)graph, layer, &info) != SLUICE_OK ||
      info.input_count < 2 || !target_tensor(graph, info.inputs[0], &input) ||
      !target_tensor(graph, info.inputs[1], &weight) ||
      !target_tensor(graph, info.outputs[0], &output) ||
      (input.dtype != SLUICE_DTYPE_INT8 && input.dtype != SLUICE_DTYPE_UINT8)) {
    return 0;
  }
  memset(out, 0, sizeof *out);
  out->op = info.op;
  out->dtype = input.dtype;
  out->taps = out->columns = out->groups = 1;
  out->channels = input.extent[3];
  out->k = output.extent[3];
  if (info.op == SLUICE_OP_CONV || info.op == SLUICE_OP_DEPTHWISE_CONV) {
    out->taps = (int64_t)weight.extent[1] * weight.extent[2];
    out->columns = weight.extent[2];
    out->channels = info.op == SLUICE_OP_CONV ? weight.extent[3] : 1;
    out->groups = input.extent[3] / out->channels;
  } else if (info.op != SLUICE_OP_FULLY_CONNECTED &&
             info.op != SLUICE_OP_BATCH_MATMUL) {
    return 0;
  }
  zero = info.op == SLUICE_OP_BATCH_MATMUL ? (uint32_t)SLUICE_MATMUL_B_ZERO
                                           : (uint32_t)SLUICE_CONV_WEIGHT_ZERO;
  out->passes = target_passes(weight.dtype,
                              zero < info.attribute_count ? info.attributes[zero] : 0);
  return 1;
}

#endif /* SLUICE_TARGET_COST_H_ */
