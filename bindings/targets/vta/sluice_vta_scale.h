/* SPDX-License-Identifier: Apache-2.0 */
/* For `scale` of the port: what of a box's sums VTA itself can make bytes of, inexactly.
 *
 * VTA's ALU adds and shifts. A channel's factor is 2^-t (1 + 2^-a (1 + 2^-b (1 + ...))), with
 * SLUICE_VTA_TERMS shifts at most: the finest rounding of its binary form that has so few ones,
 * at most one part in 256 from the factor. Each shift rounds down.
 *
 * Input    a block; (bias, multiplier, shift) of its channels, NULL: it has its own
 * Output   1: VTA scales this box, and with `rows` what ACC needs for up to 16 channels; 0: the
 *          host finishes it. What a sum becomes, for who wants to know the difference
 * Cost     linear in the channels */
#ifndef SLUICE_VTA_SCALE_H_
#define SLUICE_VTA_SCALE_H_

#include "sluice_vta.h"

#ifdef __cplusplus
extern "C" {
#endif

int sluice_vta_scaling(const struct sluice_vta_block* block,
                       const int32_t (*parameters)[3], struct sluice_vta_rows* rows);
/* Of a sum with its bias, in one channel of 16. */
int32_t sluice_vta_scaled(const struct sluice_vta_block* block,
                          const struct sluice_vta_rows* rows, uint32_t channel,
                          int32_t sum);

#ifdef __cplusplus
}
#endif

#endif /* SLUICE_VTA_SCALE_H_ */
