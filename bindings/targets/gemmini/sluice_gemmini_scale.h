/* SPDX-License-Identifier: Apache-2.0 */
/* For `scale` of the port: what of a box's sums Gemmini itself can make bytes of.
 *
 * Input    a step BIAS; (bias, multiplier, shift) of the box's channels, NULL for
 *          BATCH_MATMUL, whose attributes have them
 * Output   1, with the scale, ReLU or not, and the biases, to which the caller adds what the
 *          input's zero point adds; 0: the host finishes this box
 * Cost     linear in the channels */
#ifndef SLUICE_GEMMINI_SCALE_H_
#define SLUICE_GEMMINI_SCALE_H_

#include "sluice_gemmini.h"

#ifdef __cplusplus
extern "C" {
#endif

int sluice_gemmini_scaling(const sluice_walker_t* walker,
                           const struct sluice_gemmini_step* step,
                           const int32_t (*parameters)[3], float* scale, int* relu,
                           int32_t* biases);

#ifdef __cplusplus
}
#endif

#endif /* SLUICE_GEMMINI_SCALE_H_ */
