/* SPDX-License-Identifier: Apache-2.0 */
#include "sluice_gemmini_scale.h"

#include "sluice/ops.h"

/* multiplier * 2^(shift - 31), without a library of mathematics. */
static double factor(int32_t multiplier, int32_t shift) {
  double f = multiplier;
  for (; shift < 31; ++shift) f *= 0.5;
  for (; shift > 31; --shift) f *= 2;
  return f;
}

int sluice_gemmini_scaling(const sluice_walker_t* walker,
                           const struct sluice_gemmini_step* step,
                           const int32_t (*parameters)[3], float* scale, int* relu,
                           int32_t* biases) {
  static const int at[2][5] = {
      {SLUICE_CONV_INPUT_ZERO, SLUICE_CONV_OUTPUT_ZERO, SLUICE_CONV_ACT_MIN,
       SLUICE_CONV_ACT_MAX, SLUICE_CONV_ACT_MAX},
      {SLUICE_MATMUL_A_ZERO, SLUICE_MATMUL_OUTPUT_ZERO, SLUICE_MATMUL_ACT_MIN,
       SLUICE_MATMUL_ACT_MAX, SLUICE_MATMUL_MULTIPLIER}};
  sluice_tile_t tile;
  sluice_kernel_t kernel;
  int32_t a[5], multiplier, shift;
  double moved;
  uint32_t k;
  int i, matmul;
  sluice_walk_tile(walker, step->visit, step->instruction.descriptor, &tile);
  sluice_walk_kernel(walker, step->visit->instance, tile.kernel, &kernel);
  matmul = kernel.op == SLUICE_OP_BATCH_MATMUL;
  for (i = 0; i < 5; ++i) {
    a[i] = sluice_walk_attribute(walker, &kernel, (uint32_t)at[matmul][i]);
  }
  /* Bounds are those of int8, or a ReLU at zero point 0. Padding adds nothing where the
   * input's zero point is 0; of a second input no sum is known beforehand. */
  *relu = a[2] != -128;
  if (a[3] != 127 || (*relu && (a[2] != 0 || a[1] != 0)) ||
      (a[0] != 0 &&
       (matmul || (tile.pad[0] | tile.pad[1] | tile.pad[2] | tile.pad[3]) != 0))) {
    return 0;
  }
  multiplier = matmul ? a[4] : parameters[0][1];
  shift = matmul ? sluice_walk_attribute(walker, &kernel, SLUICE_MATMUL_SHIFT)
                 : parameters[0][2];
  if (multiplier <= 0) return 0;
  *scale = (float)factor(multiplier, shift);
  moved = a[1] / (double)*scale; /* what the output's zero point is before scaling */
  moved += moved < 0 ? -0.5 : 0.5;
  if (moved < -2147483648.0 || moved > 2147483647.0) return 0;
  for (k = 0; k < step->channels; ++k) {
    if (!matmul && (parameters[k][1] != multiplier || parameters[k][2] != shift))
      return 0;
    biases[k] =
        (int32_t)((uint32_t)(int32_t)moved + (matmul ? 0 : (uint32_t)parameters[k][0]));
  }
  return 1;
}
