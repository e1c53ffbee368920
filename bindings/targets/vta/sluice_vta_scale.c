/* SPDX-License-Identifier: Apache-2.0 */
#include "sluice_vta_scale.h"

#include "sluice_vta_internal.h"

enum { MOST_SHIFT = 15 };     /* that five bits with a sign say */
enum { SCALED_AT_ONCE = 16 }; /* pieces of 16 channels in one run */

static uint32_t ones(uint32_t bits) {
  uint32_t n = 0;
  for (; bits != 0; bits &= bits - 1) ++n;
  return n;
}

/* The shifts of a channel, the last first and the inmost last: how many; -1: not to be had.
 * `low` is the place of a fraction's lowest bit, from the point on. */
static int shifts_of(int32_t multiplier, int32_t shift, int32_t out[]) {
  uint32_t fraction = 0, low, at;
  int32_t last = 1 - shift;
  int n = 1;
  if (multiplier <= 0 || shift < -31 || shift > 31) return -1;
  for (; multiplier < 1 << 30; multiplier *= 2) ++last;
  for (low = MOST_SHIFT; low > 0; --low) {
    fraction = ((uint32_t)multiplier + (1u << (29 - low))) >> (30 - low);
    if (ones(fraction) <= 1 + SLUICE_VTA_TERMS) break;
  }
  if (fraction >> low > 1) { /* rounded up to 2 */
    fraction = 1u << low;
    --last;
  }
  if (last < 0 || last > MOST_SHIFT) return -1;
  out[0] = last;
  for (at = 1; low-- > 0; ++at) {
    if ((fraction >> low & 1) == 0) continue;
    out[n++] = (int32_t)at;
    at = 0;
  }
  return n;
}

int sluice_vta_scaling(const struct sluice_vta_block* block,
                       const int32_t (*parameters)[3], struct sluice_vta_rows* rows) {
  int32_t shifts[MOST_SHIFT + 1];
  uint32_t k;
  int i, n;
  if (rows != NULL) {
    memset(rows, 0, sizeof *rows);
    for (i = 0; i < SLUICE_VTA_TERMS; ++i)
      for (k = 0; k < 16; ++k) rows->shift[1 + i][k] = MOST_SHIFT;
  }
  for (k = 0; k < block->extent[3]; ++k) {
    const int32_t* p = parameters != NULL ? parameters[k] : block->parameters;
    n = shifts_of(p[1], p[2], shifts);
    /* Twice the sum must not pass 32 bits: products have 16. */
    if (n < 0 || p[0] <= -(1 << 28) || p[0] >= 1 << 28 || block->products > 1 << 13) {
      return 0;
    }
    if (rows == NULL) continue;
    if ((uint32_t)n - 1 > rows->terms) rows->terms = (uint32_t)n - 1;
    for (i = 0; i < n; ++i) rows->shift[i][k] = shifts[i];
    rows->added[k] = block->zero * (1 << shifts[0]) + (1 << shifts[0]) / 2;
  }
  return 1;
}

int32_t sluice_vta_scaled(const struct sluice_vta_block* block,
                          const struct sluice_vta_rows* rows, uint32_t channel,
                          int32_t sum) {
  int64_t y = sum;
  uint32_t i;
  for (i = rows->terms; i > 0; --i) y = (y >> rows->shift[i][channel]) + sum;
  y = (y + rows->added[channel]) >> rows->shift[0][channel];
  if (y < block->low) y = block->low;
  return y > block->high ? block->high : (int32_t)y;
}

/* What the port answers for blocks of a part from k on; with `rows` for 16 channels. */
static int ask(state_t* s, const job_t* j, const part_t* a, uint32_t k, uint32_t count,
               struct sluice_vta_block* b, struct sluice_vta_rows* rows) {
  const uint32_t* at = j->t.tile.origin;
  int answer;
  b->layer = j->t.kernel.layer;
  b->begin[0] = at[0] + j->batch + a->n;
  b->begin[1] = at[1] + j->line + a->p0;
  b->begin[2] = at[2] + a->q0;
  b->begin[3] = at[3] + k * 16;
  b->extent[0] = 1;
  b->extent[1] = a->pn;
  b->extent[2] = a->qn;
  b->extent[3] = least(count * 16, j->k - k * 16);
  b->products = j->taps * s->input->layers[b->layer].input_channels;
  b->zero = j->t.output_zero;
  b->low = j->t.low;
  b->high = j->t.high;
  b->parameters[0] = 0;
  b->parameters[1] = j->t.multiplier;
  b->parameters[2] = j->t.shift;
  answer = s->port->scale(s->port->user, b, rows);
  if (answer < 0) fail(s, SLUICE_VTA_PORT, "the port does not say how to scale");
  return answer > 0;
}

/* One block of a part, some pixels of it: a copy of the sums in entries from `copy` on is
 * shifted and added to, over and over. */
static void scale_pixels(state_t* s, uint32_t sum, uint32_t step, uint32_t copy,
                         uint32_t pixels, const box_t* x,
                         const struct sluice_vta_block* b,
                         const struct sluice_vta_rows* rows) {
  const loops_t alone = {1, pixels, 0, 1, 0, 0, 0, 0};
  const loops_t sums = {1, pixels, 0, 1, 0, step, 0, 0};
  const uint32_t added = x->first + rows->terms + 1;
  uint32_t i;
  vta_clear(s, copy, pixels);
  vta_alu(s, ALU_ADD, copy | sum << 11, &sums, 0);
  for (i = rows->terms; i > 0; --i) {
    vta_alu(s, ALU_SHR, copy | (x->first + i) << 11, &alone, 0);
    vta_alu(s, ALU_ADD, copy | sum << 11, &sums, 0);
  }
  vta_alu(s, ALU_ADD, copy | added << 11, &alone, 0);
  vta_alu(s, ALU_SHR, copy | x->first << 11, &alone, 0);
  vta_alu(s, ALU_MAX | ALU_IMMEDIATE, copy | copy << 11, &alone, (uint32_t)b->low);
  vta_alu(s, ALU_MIN | ALU_IMMEDIATE, copy | copy << 11, &alone, (uint32_t)b->high);
}

/* A block's rows in ACC: its shifts, then what is added before the last. A layer's are always
 * the same. */
static box_t* need_rows(state_t* s, const struct sluice_vta_block* b,
                        const struct sluice_vta_rows* rows) {
  const uint32_t key[14] = {b->layer, b->begin[3], b->extent[3], UINT32_MAX};
  const uint32_t count = rows->terms + 2;
  box_t* x = vta_find(&s->buffer[SLUICE_VTA_OF_ACC], key);
  uint32_t at;
  if (x != NULL) return x;
  at = vta_stage(s, count * 64);
  x = vta_take(&s->buffer[SLUICE_VTA_OF_ACC], key, count);
  x->end[0] = UINT64_MAX; /* DRAM that nobody writes */
  x->begin[0] = x->end[0] - 1;
  vta_write(s, at, rows->shift, (count - 1) * 64);
  vta_write(s, at + (count - 1) * 64, rows->added, 64);
  vta_move(s, SLUICE_VTA_OF_ACC, x->first, at, 1, count, count, x);
  return x;
}

/* Bytes of a piece that VTA has made. */
static void keep_bytes(state_t* s, const job_t* j, const part_t* a, uint32_t staged,
                       uint32_t k, uint32_t pixel, uint32_t pixels) {
  const uint32_t from = (a->k0 + k) * 16, channels = least(16, j->k - from);
  uint32_t p;
  for (p = 0; p < pixels; ++p) {
    unsigned char made[16];
    vta_read(s, staged + p * 16, made, 16);
    vta_put(s, vta_output_at(j, a, pixel + p) + from, channels, made);
  }
  s->counts->scaled += (uint64_t)pixels * channels;
}

int vta_scale(state_t* s, const job_t* j, const part_t* a, uint32_t copy,
              uint32_t room) {
  const uint32_t pixels = a->pn * a->qn, n = least(pixels, room);
  const uint32_t pieces_of = n == 0 ? 0 : pieces(pixels, n), all = a->kn * pieces_of;
  uint32_t staged[SCALED_AT_ONCE], t, i;
  struct sluice_vta_block b;
  struct sluice_vta_rows rows;
  if (n == 0 || !ask(s, j, a, a->k0, a->kn, &b, NULL)) return 0;
  for (t = 0; t < all && !s->code; t += SCALED_AT_ONCE) {
    const uint32_t count = least(SCALED_AT_ONCE, all - t);
    vta_reserve(s);
    for (i = 0; i < count; ++i) {
      const uint32_t k = (t + i) / pieces_of, at = (t + i) % pieces_of * n;
      const uint32_t some = least(n, pixels - at);
      (void)ask(s, j, a, a->k0 + k, 1, &b, &rows);
      scale_pixels(s, a->acc + at * a->kn + k, a->kn, copy, some,
                   need_rows(s, &b, &rows), &b, &rows);
      staged[i] = vta_stage(s, some * 16);
      vta_move(s, SLUICE_VTA_OF_OUT, copy, staged[i], 1, some, some, NULL);
    }
    vta_flush(s);
    for (i = 0; i < count; ++i) {
      const uint32_t at = (t + i) % pieces_of * n;
      keep_bytes(s, j, a, staged[i], (t + i) / pieces_of, at, least(n, pixels - at));
    }
  }
  return 1;
}
