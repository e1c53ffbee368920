/* SPDX-License-Identifier: Apache-2.0 */
/* One tile: parts, products, bias, sums to bytes. */
#include "sluice_vta_internal.h"

/* ---- a tile ------------------------------------------------------------------------------ */

/* One GEMM instruction: micro-ops are the part's sums, loops the filter. */
static int gemm(state_t* s, const job_t* j, const part_t* a, const box_t* in,
                const box_t* w, uint32_t src, uint32_t wgt, loops_t* l) {
  unsigned char bytes[16];
  needs_t n = {{0, 0, 0}};
  uint32_t p, q, k, count = 0, i, low = SLUICE_VTA_ACC, high = 0;
  uint64_t number;
  int code;
  for (p = 0; p < a->pn; ++p)
    for (q = 0; q < a->qn; ++q)
      for (k = 0; k < a->kn; ++k) {
        const uint32_t dst = a->acc + p * a->row + q * a->pixel + a->k0 + k;
        const uint32_t from = in->first + src + vta_first_block(j, a, a->k0 + k) -
                              a->c0 +
                              (p * j->stride_h * a->in_cols + q * j->stride_w) * a->cn;
        const uint32_t to = w->first + wgt + k * j->rows * j->cols * a->cw;
        s->list[count++] = dst | from << 11 | to << 22;
        low = smaller(low, dst);
        high = dst >= high ? dst + 1 : high;
      }
  code = vta_micro_ops(s, 0, s->list, count);
  if (code != SLUICE_VTA_OK) return code;
  l->last = count;
  vta_loop_bits(bytes, OP_GEMM, l);
  vta_put_bits(bytes, 108, 10, l->wgt_outer);
  vta_put_bits(bytes, 118, 10, l->wgt_inner);
  for (i = in->first; i < in->first + in->count; ++i)
    vta_need(&n, LOAD, s->inp.written[i]);
  for (i = w->first; i < w->first + w->count; ++i)
    vta_need(&n, LOAD, s->wgt.written[i]);
  vta_compute(s, bytes, &n, low, high - low);
  number = s->last[COMPUTE];
  for (i = in->first; i < in->first + in->count; ++i) s->inp.read[i] = number;
  for (i = w->first; i < w->first + w->count; ++i) s->wgt.read[i] = number;
  ++s->counts->gemms;
  s->counts->gemm_cycles += (uint64_t)count * l->outer * l->inner;
  return SLUICE_VTA_OK;
}

static int multiply(state_t* s, const job_t* j, const part_t* a) {
  const box_t *in, *w;
  uint32_t pass, r;
  int code = vta_reserve(s);
  if (code == SLUICE_VTA_OK) code = vta_need_weight(s, j, a, &w);
  if (code == SLUICE_VTA_OK) code = vta_need_input(s, j, a, &in);
  for (pass = 0; pass < j->passes && code == SLUICE_VTA_OK; ++pass) {
    const uint32_t row = j->dilation_h * a->in_cols * a->cn,
                   column = j->dilation_w * a->cn;
    const uint32_t first = pass * a->kn * j->rows * j->cols * a->cw;
    if (a->cw == a->cn &&
        j->dilation_w == 1) { /* columns and channels lie side by side */
      loops_t l = {0, 0, 0, 0, 0, 0, 0, 1, 0, 1};
      l.outer = j->rows;
      l.inner = j->cols * a->cw;
      l.src_outer = row;
      l.wgt_outer = j->cols * a->cw;
      if (j->rows == 1) l.src_outer = l.wgt_outer = 0;
      code = gemm(s, j, a, in, w, 0, first, &l);
      continue;
    }
    for (r = 0; r < j->rows && code == SLUICE_VTA_OK; ++r) {
      loops_t l = {0, 0, 0, 0, 0, 0, 0, 1, 0, 1};
      l.outer = j->cols;
      l.inner = a->cw;
      l.src_outer = j->cols == 1 ? 0 : column;
      l.wgt_outer = j->cols == 1 ? 0 : a->cw;
      code = gemm(s, j, a, in, w, r * row, first + r * j->cols * a->cw, &l);
    }
  }
  return code;
}

/* What the sums of a block lack: minus the zero point's share, with LAST plus the bias. */
static int bias_row(state_t* s, const job_t* j, uint32_t kb, int32_t row[16]) {
  uint32_t k, r, q, c, low, high;
  memset(row, 0, 64);
  for (k = 0; k < 16 && kb * 16 + k < j->k; ++k) {
    uint32_t sum = 0;
    int code = SLUICE_VTA_OK;
    vta_reach(j, kb * 16 + k, &low, &high);
    for (r = 0; r < j->rows && j->input_zero != 0; ++r)
      for (q = 0; q < j->cols; ++q)
        for (c = 0; c < high - low && code == SLUICE_VTA_OK; ++c) {
          unsigned char byte = 0;
          code = vta_get(s,
                         j->weight.offset + (uint64_t)(kb * 16 + k) * j->k_stride +
                             (uint64_t)r * j->r_stride + (uint64_t)q * j->s_stride +
                             (uint64_t)c * j->c_stride,
                         1, &byte);
          sum += (uint32_t)vta_signed_weight(j, byte);
        }
    sum *= (uint32_t)-j->input_zero;
    if (code == SLUICE_VTA_OK && (j->flags & SLUICE_FLAG_LAST) != 0) {
      int32_t bias = 0;
      code = vta_get(
          s, j->parameters.offset + (uint64_t)(kb * 16 + k) * j->parameters.stride[2],
          4, (unsigned char*)&bias);
      sum += (uint32_t)bias;
    }
    if (code != SLUICE_VTA_OK) return code;
    row[k] = (int32_t)sum;
  }
  return SLUICE_VTA_OK;
}

/* Adds these rows to sums at `acc`: `pixels` of them, j->kb entries each. */
static int add_rows(state_t* s, const job_t* j, uint32_t acc, uint32_t pixels) {
  uint32_t k0, i;
  if (j->input_zero == 0 && (j->flags & SLUICE_FLAG_LAST) == 0) return SLUICE_VTA_OK;
  for (k0 = 0; k0 < j->kb; k0 += BIAS_ROWS) {
    const uint32_t count = smaller(BIAS_ROWS, j->kb - k0);
    loops_t l = {0, 0, 0, 0, 0, 1, 0, 1, 0, 0};
    unsigned char bytes[16];
    needs_t n = {{0, 0, 0}};
    uint32_t at;
    int code = vta_reserve(s);
    if (code != SLUICE_VTA_OK) return code;
    at = vta_stage(s, count * 64);
    for (i = 0; i < count && code == SLUICE_VTA_OK; ++i) {
      int32_t row[16];
      code = bias_row(s, j, k0 + i, row);
      if (code == SLUICE_VTA_OK &&
          s->port->write(s->port->user, at + i * 64, row, 64) != 0) {
        code = fail(s, SLUICE_VTA_PORT, "a write failed");
      }
    }
    if (code != SLUICE_VTA_OK) return code;
    vta_memory_bits(bytes, KIND_ACC, BIAS_FIRST, at / 64, 1, count, count);
    (void)vta_emit(s, COMPUTE, bytes, &n);
    ++s->counts->loads;
    s->counts->bias_bytes += (uint64_t)count * 64;
    l.outer = pixels;
    l.inner = count;
    l.dst_outer = pixels == 1 ? 0 : j->kb;
    code = vta_alu(s, ALU_ADD, UOP_ADD, (acc + k0) | (uint32_t)BIAS_FIRST << 11, &l, 0,
                   acc, pixels * j->kb);
    if (code != SLUICE_VTA_OK) return code;
  }
  return SLUICE_VTA_OK;
}

/* TFLite's two roundings, and the single one. */
static int32_t scale(int32_t x, int32_t m, int32_t shift, int once) {
  const int left = shift > 0 ? shift : 0, right = shift > 0 ? 0 : -shift;
  int64_t y;
  int32_t high, mask, rest;
  if (once) {
    const int total = 31 - shift;
    const int64_t product = (int64_t)x * m;
    const uint64_t size = product < 0 ? 0 - (uint64_t)product : (uint64_t)product;
    const uint64_t half = total > 0 ? (uint64_t)1 << (total - 1) : 0;
    const uint64_t q = total > 62 ? 0 : (size + half) >> total;
    return (int32_t)(product < 0 ? 0 - q : q);
  }
  x = (int32_t)((uint32_t)x << left);
  if (x == m && x == INT32_MIN) return INT32_MAX >> (right > 31 ? 31 : right);
  y = (int64_t)x * m + ((int64_t)1 << 30);
  high = (int32_t)(y >> 31);
  if (right > 31) return 0;
  mask = (int32_t)(((int64_t)1 << right) - 1);
  rest = high & mask;
  return (int32_t)(((int64_t)high >> right) +
                   (rest > (mask >> 1) + (high < 0 ? 1 : 0)));
}

/* The host makes bytes of the output of one part's sums, which lie in four planes. */
static int requantise(state_t* s, const job_t* j, const part_t* a, uint32_t planes,
                      uint32_t entries) {
  const int once = attribute(s, j, SLUICE_CONV_ROUNDING) != 0;
  const int32_t least = attribute(s, j, SLUICE_CONV_ACT_MIN);
  const int32_t most = attribute(s, j, SLUICE_CONV_ACT_MAX);
  const int32_t zero = attribute(s, j, SLUICE_CONV_OUTPUT_ZERO);
  uint32_t p, q, k, b, i;
  for (k = 0; k < j->k; k += 16) {
    const uint32_t count = smaller(16, j->k - k);
    int32_t row[16][3];
    for (i = 0; i < count; ++i) {
      const int code =
          vta_get(s, j->parameters.offset + (uint64_t)(k + i) * j->parameters.stride[2],
                  12, (unsigned char*)row[i]);
      if (code != SLUICE_VTA_OK) return code;
    }
    for (p = 0; p < a->pn; ++p)
      for (q = 0; q < a->qn; ++q) {
        const uint32_t entry = (p * a->qn + q) * j->kb + k / 16;
        const uint64_t to = j->out.offset + (uint64_t)a->n * j->out.stride[0] +
                            (uint64_t)(a->p0 + p) * j->out.stride[1] +
                            (uint64_t)(a->q0 + q) * j->out.stride[2] + k;
        unsigned char plane[PLANES][16], made[16];
        int code;
        for (b = 0; b < PLANES; ++b) {
          if (s->port->read(s->port->user, planes + (b * entries + entry) * 16,
                            plane[b], 16)) {
            return fail(s, SLUICE_VTA_PORT, "a read failed");
          }
        }
        for (i = 0; i < count; ++i) {
          const uint32_t sum = plane[0][i] | (uint32_t)plane[1][i] << 8 |
                               (uint32_t)plane[2][i] << 16 |
                               (uint32_t)plane[3][i] << 24;
          int32_t v = scale((int32_t)sum, row[i][1], row[i][2], once) + zero;
          if (v < least) v = least;
          if (v > most) v = most;
          made[i] = (unsigned char)v;
        }
        code = vta_put(s, to, count, made);
        if (code != SLUICE_VTA_OK) return code;
        s->counts->requantised += count;
      }
  }
  return SLUICE_VTA_OK;
}

/* Sums leave VTA byte by byte: OUT takes the low eight bits, then they are shifted. */
static int drain(state_t* s, const job_t* j, const part_t* a) {
  const uint32_t entries = a->pn * a->qn * j->kb;
  loops_t l = {0, 0, 1, 0, 0, 1, 0, 1, 0, 0};
  uint32_t plane, planes, i;
  int code = add_rows(s, j, a->acc, a->pn * a->qn);
  if (code == SLUICE_VTA_OK) code = vta_reserve(s);
  if (code != SLUICE_VTA_OK) return code;
  planes = vta_stage(s, PLANES * entries * 16);
  l.inner = entries;
  for (plane = 0; plane < PLANES; ++plane) {
    unsigned char bytes[16];
    needs_t n = {{0, 0, 0}};
    uint64_t number;
    if (plane != 0) {
      code =
          vta_alu(s, ALU_SHR, UOP_SHIFT, a->acc | a->acc << 11, &l, 8, a->acc, entries);
      if (code != SLUICE_VTA_OK) return code;
    }
    vta_memory_bits(bytes, KIND_OUT, a->acc, (planes + plane * entries * 16) / 16, 1,
                    entries, entries);
    for (i = a->acc; i < a->acc + entries; ++i)
      vta_need(&n, COMPUTE, s->out_written[i]);
    number = vta_emit(s, STORE, bytes, &n);
    for (i = a->acc; i < a->acc + entries; ++i) s->out_read[i] = number;
    ++s->counts->stores;
    s->counts->sum_bytes += (uint64_t)entries * 16;
  }
  code = vta_flush(s);
  if (code != SLUICE_VTA_OK) return code;
  return requantise(s, j, a, planes, entries);
}

/* All products of the part: output blocks and input blocks in pieces that fit. */
static int products(state_t* s, const job_t* j, part_t* a) {
  const uint32_t taps = j->rows * j->cols * j->passes;
  const uint32_t in_rows =
      (a->pn - 1) * j->stride_h + (j->rows - 1) * j->dilation_h + 1;
  const uint32_t room = SLUICE_VTA_INP / (in_rows * a->in_cols);
  uint32_t k, c, kn = j->kb;
  int code = SLUICE_VTA_OK;
  for (k = 0; k < j->kb && code == SLUICE_VTA_OK; k += kn) {
    uint32_t low = 0, high = blocks(j->c), width = high, i, count;
    kn = smaller(kn, j->kb - k);
    if (j->per != 0) { /* groups: the input blocks that these output blocks read */
      for (;; kn = (kn + 1) / 2) {
        low = vta_reach_block(j, k, &width);
        for (i = k; i < k + kn; ++i) {
          high = vta_reach_block(j, i, &count) + count;
          width = count > width ? count : width;
        }
        if (kn == 1 || (high - low <= room && kn * taps * width <= SLUICE_VTA_WGT / 2))
          break;
      }
      if (high - low > room || kn * taps * width > SLUICE_VTA_WGT) {
        return fail(s, SLUICE_VTA_TOO_LARGE, "a group does not fit INP or WGT");
      }
    } else {
      while (kn > 1 && kn * taps > SLUICE_VTA_WGT / 2) kn = (kn + 1) / 2;
      width = smaller(smaller(width, room), SLUICE_VTA_WGT / 2 / (kn * taps));
      if (width == 0) return fail(s, SLUICE_VTA_TOO_LARGE, "a filter does not fit WGT");
    }
    for (c = low; c < high && code == SLUICE_VTA_OK; c += a->cn) {
      a->k0 = k;
      a->kn = kn;
      a->c0 = c;
      a->cn = j->per != 0 ? high - low : smaller(width, high - c);
      a->cw = j->per != 0 ? width : a->cn;
      code = multiply(s, j, a);
    }
  }
  return code;
}

/* The largest run of entries of ACC that no unfinished sums hold, or the first of `count`. */
static uint32_t gap(const state_t* s, uint32_t count, uint32_t* first) {
  uint32_t best = 0, at = 0;
  *first = 0;
  while (at < BIAS_FIRST) {
    uint32_t end = BIAS_FIRST, next = BIAS_FIRST, i;
    for (i = 0; i < SLUICE_VTA_SUMS; ++i) {
      const struct sluice_vta_sums* u = &s->sums[i];
      if (u->count == 0 || u->first + u->count <= at) continue;
      if (u->first < end) {
        end = u->first;
        next = u->first + u->count;
      }
    }
    if (end > at && end - at > best) {
      best = end - at;
      *first = at;
      if (count != 0 && best >= count) return best;
    }
    at = next;
  }
  return best;
}

/* The entries of the tile's sums: new ones with FIRST. */
static int place_sums(state_t* s, job_t* j, struct sluice_vta_sums** at) {
  const uint32_t count = j->out.extent[0] * j->out.extent[1] * j->out.extent[2] * j->kb;
  uint32_t i, first;
  *at = NULL;
  for (i = 0; i < SLUICE_VTA_SUMS; ++i) {
    struct sluice_vta_sums* u = &s->sums[i];
    if ((j->flags & SLUICE_FLAG_FIRST) != 0
            ? u->count == 0
            : u->count == count && u->offset == j->sum.offset) {
      *at = u;
    }
  }
  if (*at == NULL) return fail(s, SLUICE_VTA_BAD_STREAM, "sums that no tile began");
  if ((j->flags & SLUICE_FLAG_FIRST) != 0) {
    if (gap(s, count, &first) < count) {
      return fail(s, SLUICE_VTA_TOO_LARGE, "unfinished sums do not fit ACC");
    }
    (*at)->offset = j->sum.offset;
    (*at)->first = first;
    (*at)->count = count;
  }
  j->acc = (*at)->first;
  return SLUICE_VTA_OK;
}

static int run_part(state_t* s, const job_t* j, part_t* a) {
  int code = SLUICE_VTA_OK;
  a->row = a->qn * j->kb;
  a->pixel = j->kb;
  a->in_cols = (a->qn - 1) * j->stride_w + (j->cols - 1) * j->dilation_w + 1;
  if ((j->flags & SLUICE_FLAG_FIRST) != 0) {
    code = vta_reserve(s);
    if (code == SLUICE_VTA_OK) code = vta_clear(s, a->acc, a->pn * a->qn * j->kb);
  }
  if (code == SLUICE_VTA_OK) code = products(s, j, a);
  if (code != SLUICE_VTA_OK) return code;
  if ((j->flags & SLUICE_FLAG_LAST) != 0) return drain(s, j, a);
  return add_rows(s, j, a->acc, a->pn * a->qn);
}

/* Cuts the tile into parts whose sums and inputs fit. */
int vta_run_tile(state_t* s, job_t* j) {
  const sluice_walk_operand_t* o = &j->out;
  struct sluice_vta_sums* sums = NULL;
  const uint32_t p = o->extent[1], q = o->extent[2];
  uint32_t pn = p, qn = q, room = 0, cols, wanted = blocks(j->c);
  part_t a;
  int code = SLUICE_VTA_OK;
  if (j->tile.accumulator != SLUICE_NONE) {
    code = place_sums(s, j, &sums);
    if (code != SLUICE_VTA_OK) return code;
  } else {
    room = smaller(gap(s, 0, &j->acc), SLUICE_VTA_ACC / 2);
    if (room < j->kb)
      return fail(s, SLUICE_VTA_TOO_LARGE, "a tile's sums do not fit ACC");
  }
  if (j->per == 0) wanted = smaller(wanted, 8);
  if (j->per != 0) wanted = 1;
  for (;;) {
    const uint32_t rows = (pn - 1) * j->stride_h + (j->rows - 1) * j->dilation_h + 1;
    cols = (qn - 1) * j->stride_w + (j->cols - 1) * j->dilation_w + 1;
    if (rows * cols * wanted <= SLUICE_VTA_INP / 2 && (sums || pn * qn * j->kb <= room))
      break;
    if (pn > 1) {
      pn = (pn + 1) / 2;
    } else if (wanted > 1) {
      wanted = (wanted + 1) / 2;
    } else if (qn > 1) {
      qn = (qn + 1) / 2;
    } else if (rows * cols <= SLUICE_VTA_INP && (sums || pn * qn * j->kb <= room)) {
      break;
    } else {
      return fail(s, SLUICE_VTA_TOO_LARGE, "a window does not fit INP");
    }
  }
  memset(&a, 0, sizeof a);
  for (a.n = 0; a.n < o->extent[0]; ++a.n)
    for (a.p0 = 0; a.p0 < p; a.p0 += pn)
      for (a.q0 = 0; a.q0 < q; a.q0 += qn) {
        a.pn = smaller(pn, p - a.p0);
        a.qn = smaller(qn, q - a.q0);
        a.acc = j->acc;
        if (sums != NULL && (qn != q || pn != p)) {
          return fail(s, SLUICE_VTA_TOO_LARGE,
                      "an unfinished tile's input does not fit INP");
        }
        if (sums != NULL) a.acc += a.n * p * q * j->kb;
        code = run_part(s, j, &a);
        if (code != SLUICE_VTA_OK) return code;
      }
  if (sums != NULL && (j->flags & SLUICE_FLAG_LAST) != 0) sums->count = 0;
  return SLUICE_VTA_OK;
}
