/* SPDX-License-Identifier: Apache-2.0 */
/* What INP and WGT hold, and how it gets there. */
#include "sluice_vta_internal.h"

/* ---- INP and WGT: boxes of the scratchpad that they hold -------------------------------- */

static box_t* find(struct sluice_vta_buffer* b, const uint32_t key[12]) {
  uint32_t i;
  for (i = 0; i < SLUICE_VTA_BOXES; ++i) {
    box_t* x = &b->box[i];
    if (x->begin != x->end && memcmp(x->key, key, sizeof x->key) == 0) return x;
  }
  return NULL;
}

/* A ring: the next entries, whatever lay there. */
static box_t* take(struct sluice_vta_buffer* b, const uint32_t key[12], uint32_t count,
                   const sluice_walk_operand_t* o) {
  box_t* x = &b->box[b->next_box];
  uint32_t i;
  if (b->next_entry + count > b->entries) b->next_entry = 0;
  for (i = 0; i < SLUICE_VTA_BOXES; ++i) {
    box_t* old = &b->box[i];
    if (old->first < b->next_entry + count && b->next_entry < old->first + old->count) {
      old->end = old->begin;
    }
  }
  b->next_box = (b->next_box + 1) % SLUICE_VTA_BOXES;
  x->begin = o->offset;
  x->end = o->offset + o->span;
  memcpy(x->key, key, sizeof x->key);
  x->first = b->next_entry;
  x->count = count;
  b->next_entry += count;
  return x;
}

/* Entries that hold the padding: one vector in DRAM, read again and again. */
static int load_zeros(state_t* s, const job_t* j, uint32_t first, uint32_t count) {
  const uint32_t at = s->input->staging + (uint32_t)(j->input_zero & 255) * 16;
  unsigned char row[16];
  if (count == 0) return SLUICE_VTA_OK;
  memset(row, j->input_zero & 255, 16);
  if (s->port->write(s->port->user, at, row, 16) != 0) {
    return fail(s, SLUICE_VTA_PORT, "a write failed");
  }
  vta_load(s, KIND_INP, first, at / 16, count, 1, 0);
  return SLUICE_VTA_OK;
}

/* The part's input in rows and columns of the tile's operand, some of them padding. */
typedef struct {
  int64_t h0, w0;
  uint32_t h, w;
} window_t;

static uint64_t pixel(const job_t* j, uint32_t n, int64_t h, int64_t w, uint32_t c) {
  return j->in.offset + (uint64_t)n * j->in.stride[0] + (uint64_t)h * j->in.stride[1] +
         (uint64_t)w * j->in.stride[2] + c;
}

/* Bytes from pixel to pixel of a row that VTA can load as it lies, 0 if it cannot. */
static uint32_t pitch(const state_t* s, const job_t* j, const part_t* a, int64_t h,
                      int64_t w0, uint32_t count) {
  const uint32_t* home = s->input->home;
  const uint64_t first = pixel(j, a->n, h, w0, a->c0 * 16);
  uint32_t step = a->cn * 16, w, c;
  if (j->in.dtype != SLUICE_DTYPE_INT8 || (a->c0 + a->cn) * 16 > j->c ||
      home[first] % 16 != 0)
    return 0;
  if (count > 1) step = home[pixel(j, a->n, h, w0 + 1, a->c0 * 16)] - home[first];
  if (step % 16 != 0 || step < a->cn * 16 || step / 16 > 65535) return 0;
  for (w = 0; w < count; ++w) {
    const uint64_t at = pixel(j, a->n, h, w0 + w, a->c0 * 16);
    for (c = 0; c < a->cn * 16; ++c) {
      if (home[at + c] != home[first] + w * step + c) return 0;
    }
  }
  return step;
}

/* One row without its padding, or the whole row laid out by the host. */
static int load_row(state_t* s, const job_t* j, const part_t* a, const window_t* v,
                    uint32_t row, uint32_t sram) {
  const int64_t h = v->h0 + row;
  const int64_t from = v->w0 < 0 ? 0 : v->w0, end = v->w0 + v->w;
  const int64_t to = end < (int64_t)j->in.extent[2] ? end : (int64_t)j->in.extent[2];
  const uint32_t left = (uint32_t)(from - v->w0);
  const uint32_t count = to > from ? (uint32_t)(to - from) : 0;
  uint32_t step, w, at, i;
  int code;
  if (h < 0 || h >= (int64_t)j->in.extent[1] || count == 0) {
    return load_zeros(s, j, sram, v->w * a->cn);
  }
  step = pitch(s, j, a, h, from, count);
  if (step != 0) {
    const uint32_t dram = s->input->home[pixel(j, a->n, h, from, a->c0 * 16)] / 16;
    code = load_zeros(s, j, sram, left * a->cn);
    if (step == a->cn * 16) {
      vta_load(s, KIND_INP, sram + left * a->cn, dram, 1, count * a->cn, count * a->cn);
    } else {
      vta_load(s, KIND_INP, sram + left * a->cn, dram, count, a->cn, step / 16);
    }
    if (code != SLUICE_VTA_OK) return code;
    return load_zeros(s, j, sram + (left + count) * a->cn,
                      (v->w - left - count) * a->cn);
  }
  at = vta_stage(s, v->w * a->cn * 16);
  for (w = 0; w < v->w; ++w) {
    for (i = 0; i < a->cn; ++i) {
      unsigned char block[16];
      const uint32_t c = (a->c0 + i) * 16;
      uint32_t b;
      memset(block, j->input_zero & 255, 16);
      if (w >= left && w < left + count) {
        code =
            vta_get(s, pixel(j, a->n, h, v->w0 + w, c), smaller(16, j->c - c), block);
        if (code != SLUICE_VTA_OK) return code;
        for (b = 0; b < smaller(16, j->c - c); ++b) {
          if (j->in.dtype == SLUICE_DTYPE_UINT8) block[b] ^= 128;
        }
      }
      if (s->port->write(s->port->user, at + (w * a->cn + i) * 16, block, 16) != 0) {
        return fail(s, SLUICE_VTA_PORT, "a write failed");
      }
    }
  }
  s->counts->packed_bytes += (uint64_t)v->w * a->cn * 16;
  vta_load(s, KIND_INP, sram, at / 16, 1, v->w * a->cn, v->w * a->cn);
  return SLUICE_VTA_OK;
}

int vta_need_input(state_t* s, const job_t* j, const part_t* a, const box_t** box) {
  window_t v;
  uint32_t key[12], row;
  v.h0 = (int64_t)a->p0 * j->stride_h - j->tile.pad[0];
  v.w0 = (int64_t)a->q0 * j->stride_w - j->tile.pad[1];
  v.h = (a->pn - 1) * j->stride_h + (j->rows - 1) * j->dilation_h + 1;
  v.w = a->in_cols;
  key[0] = (uint32_t)j->in.offset;
  key[1] = j->in.stride[0];
  key[2] = j->in.stride[1];
  key[3] = j->in.stride[2];
  key[4] = (uint32_t)v.h0;
  key[5] = (uint32_t)v.w0;
  key[6] = v.h;
  key[7] = v.w;
  key[8] = a->c0 << 16 | a->cn;
  key[9] = j->in.extent[1] << 16 | j->in.extent[2];
  key[10] = a->n << 16 | (uint32_t)(j->input_zero & 255) << 4 | j->in.dtype;
  key[11] = j->c;
  *box = find(&s->inp, key);
  if (*box != NULL) return SLUICE_VTA_OK;
  *box = take(&s->inp, key, v.h * v.w * a->cn, &j->in);
  for (row = 0; row < v.h; ++row) {
    const int code = load_row(s, j, a, &v, row, (*box)->first + row * v.w * a->cn);
    if (code != SLUICE_VTA_OK) return code;
  }
  return SLUICE_VTA_OK;
}

/* Input channels [*low, *high) of the tile's input that output channel k sums over. */
void vta_reach(const job_t* j, uint32_t k, uint32_t* low, uint32_t* high) {
  uint32_t g;
  *low = 0;
  *high = j->c;
  if (j->per == 0) return;
  g = (j->tile.origin[3] + k) / j->per - j->group;
  *low = g * j->width;
  *high = *low + j->width;
}

/* First input block of an output block; *count: how many it reads. */
uint32_t vta_reach_block(const job_t* j, uint32_t kb, uint32_t* count) {
  uint32_t low, high, first, unused;
  vta_reach(j, kb * 16, &first, &unused);
  vta_reach(j, smaller(kb * 16 + 15, j->k - 1), &low, &high);
  *count = (high - 1) / 16 + 1 - first / 16;
  return first / 16;
}

/* First input block that the weights of an output block of the part begin with. */
uint32_t vta_first_block(const job_t* j, const part_t* a, uint32_t kb) {
  uint32_t count, first;
  if (j->per == 0) return a->c0;
  first = vta_reach_block(j, kb, &count);
  return smaller(first, a->c0 + a->cn - a->cw);
}

int32_t vta_signed_weight(const job_t* j, unsigned char byte) {
  return (j->weight.dtype == SLUICE_DTYPE_UINT8 ? (int32_t)byte
                                                : (int32_t)(signed char)byte) -
         j->weight_zero;
}

/* 16 channels by 16 weights of one filter position, minus their zero point, of one pass. */
static int pack_block(state_t* s, const job_t* j, uint32_t kb, uint32_t cb, uint64_t at,
                      uint32_t pass, signed char block[256]) {
  uint32_t k, c, low, high;
  memset(block, 0, 256);
  for (k = 0; k < 16 && kb * 16 + k < j->k; ++k) {
    vta_reach(j, kb * 16 + k, &low, &high);
    for (c = 0; c < 16; ++c) {
      unsigned char byte;
      int32_t w, most;
      int code;
      if (cb * 16 + c < low || cb * 16 + c >= high) continue;
      code = vta_get(s,
                     at + (uint64_t)(kb * 16 + k) * j->k_stride +
                         (uint64_t)(cb * 16 + c - low) * j->c_stride,
                     1, &byte);
      if (code != SLUICE_VTA_OK) return code;
      w = vta_signed_weight(j, byte);
      most = w > 127 ? 127 : w < -128 ? -128 : w;
      block[k * 16 + c] = (signed char)(pass == 0 ? most : w - most);
    }
  }
  return SLUICE_VTA_OK;
}

int vta_need_weight(state_t* s, const job_t* j, const part_t* a, const box_t** box) {
  const uint32_t taps = j->rows * j->cols, count = j->passes * a->kn * taps * a->cw;
  uint32_t key[12] = {0}, at, i, pass, kb, tap, cb, n = 0;
  key[0] = (uint32_t)j->weight.offset;
  key[1] = j->k_stride;
  key[2] = j->r_stride;
  key[3] = j->s_stride;
  key[4] = j->rows << 16 | j->cols;
  key[5] = a->k0 << 16 | a->kn;
  key[6] = a->c0 << 16 | a->cn;
  key[7] = a->cw;
  key[8] = j->k;
  key[9] = j->c;
  key[10] = (uint32_t)j->weight_zero;
  key[11] = j->per;
  *box = find(&s->wgt, key);
  if (*box != NULL) return SLUICE_VTA_OK;
  *box = take(&s->wgt, key, count, &j->weight);
  at = vta_stage(s, count * 256);
  for (pass = 0; pass < j->passes; ++pass)
    for (kb = a->k0; kb < a->k0 + a->kn; ++kb)
      for (tap = 0; tap < taps; ++tap)
        for (i = 0, cb = vta_first_block(j, a, kb); i < a->cw; ++i, ++cb, ++n) {
          signed char block[256];
          const int code =
              pack_block(s, j, kb, cb,
                         j->weight.offset + (uint64_t)(tap / j->cols) * j->r_stride +
                             (uint64_t)(tap % j->cols) * j->s_stride,
                         pass, block);
          if (code != SLUICE_VTA_OK) return code;
          if (s->port->write(s->port->user, at + n * 256, block, 256) != 0) {
            return fail(s, SLUICE_VTA_PORT, "a write failed");
          }
        }
  s->counts->packed_bytes += (uint64_t)count * 256;
  vta_load(s, KIND_WGT, (*box)->first, at / 256, 1, count, count);
  return SLUICE_VTA_OK;
}
