/* SPDX-License-Identifier: Apache-2.0 */
#include "sluice_gemmini_scale.h"

#include "sluice_gemmini_internal.h"

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

void gemmini_ask_scale(lowering_t* l, product_t* p) {
  const uint8_t whole = SLUICE_FLAG_FIRST | SLUICE_FLAG_LAST;
  struct sluice_gemmini_step step = p->step;
  float scale = 1;
  int relu = 0, answer;
  p->scaled = p->to_rows = 0;
  if (l->port->scale == NULL || (step.instruction.flags & whole) != whole ||
      p->k > SLUICE_GEMMINI_SUM_BYTES / 4 || p->t.out.dtype != SLUICE_DTYPE_INT8 ||
      p->t.out.stride[3] != 1) {
    return;
  }
  gemmini_fence(l);
  if (l->code) return;
  ++l->counts->steps[SLUICE_GEMMINI_BIAS];
  step.kind = SLUICE_GEMMINI_BIAS;
  step.address = l->in->scratch;
  step.k = p->k0;
  step.images = p->n;
  step.rows = p->h;
  step.columns = p->w;
  step.channels = p->k;
  answer = l->port->scale(l->port->user, &step, &scale, &relu);
  if (answer < 0) l->code = answer;
  p->scaled = answer > 0;
  p->relu = relu != 0;
  memcpy(&p->scale, &scale, sizeof p->scale);
  p->to_rows = l->port->rows && p->scaled && (p->k0 | p->k) % DIM == 0 &&
               gemmini_in_lines(&p->t.out, NULL); /* whole rows: MVOUT_SPAD's */
}

/* Moves up to 16 sums' pixels out, scaled to int8: to rows, or to the image. */
static void move_pixels(lowering_t* l, const product_t* p, uint64_t to, uint32_t sum,
                        uint32_t columns, uint32_t pixels) {
  const uint32_t step = (uint32_t)(p->t.out.stride[2] / DIM);
  const uint32_t row = (uint32_t)(to / DIM);
  uint32_t i;
  if (p->to_rows) {
    l->counts->kept_bytes += (uint64_t)pixels * columns;
    for (i = 0; i < pixels; ++i) l->in->lines[row + i * step] = IN_ROWS;
    gemmini_command(l, SLUICE_GEMMINI_MVOUT_SPAD,
                    row | (uint64_t)(pixels > 1 ? step : 1) << 32,
                    local(SUMS | sum, columns, pixels));
  } else {
    l->counts->scaled_bytes += (uint64_t)pixels * columns;
    gemmini_command(l, SLUICE_GEMMINI_MVOUT, l->in->base[p->t.out.region] + to,
                    local(SUMS | sum, columns, pixels));
  }
}

void gemmini_move_scaled(lowering_t* l, const product_t* p, const part_t* part,
                         uint32_t k, uint32_t channels) {
  const sluice_walk_operand_t* o = &p->t.out;
  const uint32_t whole = o->stride[1] == part->columns * o->stride[2];
  const uint32_t lines = whole ? 1 : part->rows;
  const uint32_t pixels = part->rows * part->columns, line = pixels / lines;
  const uint64_t to =
      o->offset + p->k0 + k + (uint64_t)(p->step.n + part->n) * o->stride[0] +
      (uint64_t)(p->step.h + part->h) * o->stride[1] + (uint64_t)part->w * o->stride[2];
  uint32_t i, h, t;
  if (!p->to_rows) gemmini_writes(l, SLUICE_REGION_GBUF);
  gemmini_config_store(l, p->scale, p->relu, o->stride[2]);
  if (p->to_rows)
    l->writes |= 1u << ROWS; /* the next command that is none of these waits */
  for (i = 0; i < channels; i += DIM) {
    for (h = 0; h < lines; ++h) {
      for (t = 0; t < line; t += DIM) {
        move_pixels(l, p,
                    to + i + (uint64_t)h * o->stride[1] + (uint64_t)t * o->stride[2],
                    i / DIM * pixels + h * line + t, least(DIM, channels - i),
                    least(DIM, line - t));
      }
    }
  }
}
