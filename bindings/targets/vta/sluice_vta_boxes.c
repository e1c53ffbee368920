/* SPDX-License-Identifier: Apache-2.0 */
/* Where the scratchpad's bytes lie in DRAM, and how they get into the buffers. */
#include "sluice_vta_internal.h"

/* Whether bytes of the scratchpad lie in DRAM as a box: where it begins and its strides. */
static int place(const state_t* s, uint64_t at, const uint32_t extent[4],
                 const uint32_t stride[4], uint32_t to[5]) {
  const uint32_t* home = s->input->home + at;
  uint32_t i[4], a;
  to[0] = home[0];
  for (a = 0; a < 4; ++a) to[a + 1] = extent[a] > 1 ? home[stride[a]] - home[0] : 0;
  for (i[0] = 0; i[0] < extent[0]; ++i[0])
    for (i[1] = 0; i[1] < extent[1]; ++i[1])
      for (i[2] = 0; i[2] < extent[2]; ++i[2]) {
        const uint32_t row = to[0] + i[0] * to[1] + i[1] * to[2] + i[2] * to[3];
        const uint32_t* const from = home + (uint64_t)i[0] * stride[0] +
                                     (uint64_t)i[1] * stride[1] +
                                     (uint64_t)i[2] * stride[2];
        for (i[3] = 0; i[3] < extent[3]; ++i[3]) {
          if (from[(uint64_t)i[3] * stride[3]] != row + i[3] * to[4]) return 0;
        }
      }
  return 1;
}

/* The box depends on these bytes of DRAM. Strides that go back: it is not found again. */
static void depend(box_t* x, uint32_t k, const uint32_t to[5],
                   const uint32_t extent[4]) {
  uint32_t a;
  x->begin[k] = to[0];
  x->end[k] = (uint64_t)to[0] + 1;
  for (a = 0; a < 4; ++a) x->end[k] += (uint64_t)(extent[a] - 1) * to[a + 1];
  if (x->end[k] > UINT32_MAX) x->end[0] = x->begin[0];
}

/* ---- inputs --------------------------------------------------------------------------- */

/* Entries that hold the padding: one vector in DRAM, read again and again. */
static void load_zeros(state_t* s, const job_t* j, box_t* x, uint32_t* at,
                       uint32_t count) {
  const uint32_t zero = (uint32_t)j->t.input_zero & 255;
  const uint32_t from = s->input->staging + zero * 16;
  unsigned char row[16];
  if (count == 0) return;
  memset(row, (int)zero, 16);
  vta_move(s, SLUICE_VTA_OF_INP, *at, from, count, 1, 0, x);
  *at += count;
  vta_write(s, from, row, 16);
}

/* Rows as they lie, with padding between them. */
static void load_rows(state_t* s, const job_t* j, const part_t* a, const window_t* v,
                      box_t* x) {
  const uint32_t dh = v->hn > 1 ? v->home[2] : 0, right = v->w - v->left - v->wn;
  const uint32_t dw = v->wn > 1 ? v->home[3] : a->cn * 16;
  const uint32_t whole = dw == a->cn * 16; /* pixels without a gap */
  uint32_t at = x->first, h = 0, zeros = v->top * v->w * a->cn, rows = 1;
  if (v->wn == v->w && dh / 16 <= UINT16_MAX &&
      (whole ? dh >= v->wn * dw : dh == v->wn * dw))
    rows = v->hn;
  for (; h < v->hn; h += rows) {
    const uint32_t from = v->home[0] + h * dh;
    load_zeros(s, j, x, &at, zeros + v->left * a->cn);
    if (whole) {
      vta_move(s, SLUICE_VTA_OF_INP, at, from, rows, v->wn * a->cn,
               rows > 1 ? dh / 16 : v->wn * a->cn, x);
    } else {
      vta_move(s, SLUICE_VTA_OF_INP, at, from, rows * v->wn, a->cn, dw / 16, x);
    }
    at += rows * v->wn * a->cn;
    zeros = right * a->cn;
  }
  load_zeros(s, j, x, &at, x->first + x->count - at);
}

box_t* vta_need_input(state_t* s, const job_t* j, const part_t* a) {
  const int64_t h0 = (int64_t)a->p0 * j->t.stride[0] - j->t.tile.pad[0];
  const int64_t w0 = (int64_t)a->q0 * j->t.stride[1] - j->t.tile.pad[1];
  window_t v = {a->in_rows, a->in_cols, 0, 0, 0, 0, 0, 0, {0}};
  uint32_t extent[4] = {1, 0, 0, 0}, key[14] = {0}, row, column;
  box_t* box = NULL;
  int is_box, as_it_lies;
  target_inside(h0, v.h, j->t.in.extent[1], &row, &v.hn);
  target_inside(w0, v.w, j->t.in.extent[2], &column, &v.wn);
  v.top = (uint32_t)(row - h0);
  v.left = (uint32_t)(column - w0);
  if (v.hn == 0 || v.wn == 0) v.hn = v.wn = 0;
  v.channels = least(a->cn * 16, j->c - a->c0 * 16);
  v.at = j->t.in.offset + (uint64_t)a->n * j->t.in.stride[0] +
         (uint64_t)row * j->t.in.stride[1] + (uint64_t)column * j->t.in.stride[2] +
         a->c0 * 16;
  extent[1] = v.hn;
  extent[2] = v.wn;
  extent[3] = v.channels;
  is_box = v.hn != 0 && place(s, v.at, extent, j->t.in.stride, v.home);
  memcpy(key, v.home, sizeof v.home);
  key[5] = v.top << 16 | v.left;
  key[6] = v.h << 16 | v.w;
  key[7] = v.hn << 16 | v.wn;
  key[8] = a->cn << 16 | v.channels;
  key[9] = (uint32_t)(j->t.input_zero & 255) << 8 | j->t.in.dtype;
  if (is_box) box = vta_find(&s->buffer[SLUICE_VTA_OF_INP], key);
  if (box != NULL) return box;
  box = vta_take(&s->buffer[SLUICE_VTA_OF_INP], key, v.h * v.w * a->cn);
  if (is_box) depend(box, 0, v.home, extent);
  as_it_lies = is_box && j->t.in.dtype == SLUICE_DTYPE_INT8 &&
               v.channels == a->cn * 16 &&
               (v.home[0] | v.home[2] | v.home[3]) % 16 == 0 &&
               (v.wn == 1 || (v.home[3] >= a->cn * 16 && v.home[3] / 16 <= UINT16_MAX));
  if (as_it_lies || v.hn == 0) {
    load_rows(s, j, a, &v, box);
  } else {
    vta_pack_input(s, j, a, &v, box);
  }
  return box;
}

/* ---- weights -------------------------------------------------------------------------- */

uint32_t vta_channels_of(const job_t* j, uint32_t k, uint32_t* low) {
  *low = 0;
  if (j->per == 0) return j->c;
  *low = ((j->t.tile.origin[3] + k) / j->per - j->group) * j->width;
  return j->width;
}

uint32_t vta_reach(const job_t* j, uint32_t kb, uint32_t* count) {
  uint32_t first, last;
  const uint32_t width = vta_channels_of(j, least(kb * 16 + 15, j->k - 1), &last);
  (void)vta_channels_of(j, kb * 16, &first);
  *count = (last + width - 1) / 16 + 1 - first / 16;
  return first / 16;
}

uint32_t vta_first_block(const job_t* j, const part_t* a, uint32_t kb) {
  uint32_t count;
  return j->per == 0 ? a->c0 : least(vta_reach(j, kb, &count), a->c0 + a->cn - a->cw);
}

/* Whether the filters of some output channels lie in DRAM as a box, as a key; all input
 * channels that they have, or those of the part. */
static int place_filters(const state_t* s, const job_t* j, const part_t* a,
                         uint32_t extent[4], uint32_t key[14]) {
  uint32_t low = a->c0 * 16;
  extent[0] = least(a->kn * 16, j->k - a->k0 * 16);
  extent[1] = j->t.rows;
  extent[2] = j->t.cols;
  extent[3] = least(a->cn * 16, j->c - low);
  if (j->per != 0) {
    extent[3] = vta_channels_of(j, a->k0 * 16, &low);
    key[10] = (j->t.tile.origin[3] + a->k0 * 16) % j->per;
    key[11] = low - a->c0 * 16;
    low = 0;
  }
  key[5] = extent[0];
  key[6] = extent[1] << 16 | extent[2];
  key[7] = extent[3];
  key[8] = (uint32_t)j->t.weight_zero << 8 | j->t.weight.dtype;
  key[9] = j->per;
  return place(s,
               j->t.weight.offset + (uint64_t)a->k0 * 16 * j->t.filter[0] +
                   (uint64_t)low * j->t.filter[3],
               extent, j->t.filter, key);
}

box_t* vta_need_weight(state_t* s, const job_t* j, const part_t* a) {
  const uint32_t per_block = j->taps * a->cw, count = j->passes * a->kn * per_block;
  uint32_t key[14] = {0}, extent[4], at, i;
  const int is_box = place_filters(s, j, a, extent, key);
  box_t* box;
  key[12] = a->cn << 16 | a->cw;
  box = is_box ? vta_find(&s->buffer[SLUICE_VTA_OF_WGT], key) : NULL;
  if (box != NULL) return box;
  box = vta_take(&s->buffer[SLUICE_VTA_OF_WGT], key, count);
  if (is_box) depend(box, 0, key, extent);
  at = vta_stage(s, count * 256);
  for (i = 0; i < count; ++i) {
    const uint32_t kb = a->k0 + i / per_block % a->kn;
    vta_pack_block(s, j, kb, vta_first_block(j, a, kb) + i % a->cw, i / a->cw % j->taps,
                   i / (per_block * a->kn), at + i * 256);
  }
  s->counts->packed_bytes += (uint64_t)count * 256;
  vta_move(s, SLUICE_VTA_OF_WGT, box->first, at, 1, count, count, box);
  return box;
}

/* ---- biases --------------------------------------------------------------------------- */

box_t* vta_need_bias(state_t* s, const job_t* j, uint32_t k0, uint32_t kn) {
  const uint32_t strides[4] = {0, 0, j->t.parameters.stride[2], 1};
  uint32_t key[14] = {0}, extent[4], bias[4] = {1, 1, 0, 4}, home[5] = {0}, at, i;
  const part_t all = {.k0 = k0, .kn = kn, .cn = j->cb};
  box_t* box;
  int is_box = place_filters(s, j, &all, extent, key);
  bias[2] = extent[0];
  if (j->t.last && j->t.parameters.span != 0) {
    is_box = place(s, j->t.parameters.offset + (uint64_t)k0 * 16 * strides[2], bias,
                   strides, home) &&
             is_box;
  }
  key[11] = (uint32_t)j->t.input_zero << 1 | (uint32_t)j->t.last;
  key[12] = home[0];
  key[13] = home[3];
  box = is_box ? vta_find(&s->buffer[SLUICE_VTA_OF_ACC], key) : NULL;
  if (box != NULL) return box;
  box = vta_take(&s->buffer[SLUICE_VTA_OF_ACC], key, kn);
  if (is_box) depend(box, 0, key, extent);
  if (is_box && home[0] != 0) depend(box, 1, home, bias);
  at = vta_stage(s, kn * 64);
  for (i = 0; i < kn; ++i) vta_bias_row(s, j, k0 + i, at + i * 64);
  vta_move(s, SLUICE_VTA_OF_ACC, box->first, at, 1, kn, kn, box);
  return box;
}
