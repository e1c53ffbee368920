/* SPDX-License-Identifier: Apache-2.0 */
#include "sluice_gemmini_scale.h"

#include "bindings/targets/sluice_target.h"

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
  target_tile_t t;
  double moved;
  uint32_t k;
  if (!target_tile(walker, step->visit, &step->instruction, &t)) return 0;
  /* Bounds are those of int8, or a ReLU at zero point 0. Padding adds nothing where the
   * input's zero point is 0; of a second input no sum is known beforehand. */
  *relu = t.low != -128;
  if (t.high != 127 || (*relu && (t.low != 0 || t.output_zero != 0)) ||
      (t.input_zero != 0 && (t.matmul || (t.tile.pad[0] | t.tile.pad[1] |
                                          t.tile.pad[2] | t.tile.pad[3]) != 0))) {
    return 0;
  }
  if (!t.matmul) {
    t.multiplier = parameters[0][1];
    t.shift = parameters[0][2];
  }
  if (t.multiplier <= 0) return 0;
  *scale = (float)factor(t.multiplier, t.shift);
  moved = t.output_zero / (double)*scale; /* the output's zero point before scaling */
  moved += moved < 0 ? -0.5 : 0.5;
  if (moved < -2147483648.0 || moved > 2147483647.0) return 0;
  for (k = 0; k < step->channels; ++k) {
    if (!t.matmul && (parameters[k][1] != t.multiplier || parameters[k][2] != t.shift))
      return 0;
    biases[k] = (int32_t)((uint32_t)(int32_t)moved +
                          (t.matmul ? 0 : (uint32_t)parameters[k][0]));
  }
  return 1;
}
