/* SPDX-License-Identifier: Apache-2.0 */
/* One tile: parts, products, bias, sums to bytes. */
#include "sluice_vta_internal.h"

/* ---- products --------------------------------------------------------------------------- */

/* An axis of a part's products: how far the indices of each buffer move along it. */
typedef struct {
  uint32_t extent, dst, src, wgt;
  int sums;      /* along a reduction: the same sums again */
  int irregular; /* output blocks whose input blocks differ by no fixed step */
} axis_t;

/* The axes with more than one step, reductions first, joined where steps agree. */
static uint32_t axes_of(const job_t* j, const part_t* a, axis_t* x) {
  const uint32_t column = j->t.stride[1] * a->cn, row = a->in_cols * a->cn;
  axis_t all[6] = {{j->t.rows, 0, j->t.dilation[0] * row, j->t.cols * a->cw, 1, 0},
                   {j->t.cols, 0, j->t.dilation[1] * a->cn, a->cw, 1, 0},
                   {a->cw, 0, 1, 1, 1, 0},
                   {a->pn, a->row, j->t.stride[0] * row, 0, 0, 0},
                   {a->qn, a->pixel, column, 0, 0, 0},
                   {a->kn, 1, 0, j->taps * a->cw, 0, 0}};
  const uint32_t first = vta_first_block(j, a, a->k0);
  uint32_t i, n = 0;
  if (a->kn > 1) all[5].src = vta_first_block(j, a, a->k0 + 1) - first;
  for (i = 0; i < a->kn; ++i) {
    if (vta_first_block(j, a, a->k0 + i) - first != i * all[5].src)
      all[5].irregular = 1;
  }
  for (i = 0; i < 6; ++i) {
    const axis_t* y = &all[i];
    axis_t* last = &x[n > 0 ? n - 1 : 0];
    if (y->extent == 1) continue;
    if (n > 0 && last->sums == y->sums && !y->irregular &&
        last->dst == y->extent * y->dst && last->src == y->extent * y->src &&
        last->wgt == y->extent * y->wgt) {
      const uint32_t extent = last->extent * y->extent;
      *last = *y;
      last->extent = extent;
    } else {
      x[n++] = *y;
    }
  }
  memset(x + n, 0, 2 * sizeof *x); /* for instructions with fewer loops */
  x[n].extent = x[n + 1].extent = 1;
  return n;
}

/* Which two axes are loops of the instruction: the fewest micro-ops, but so that HAZARD sums
 * or all stand between one and the same sum again. Answers how many sums there are. */
static uint32_t choose_loops(const axis_t* x, uint32_t n, uint32_t* outer,
                             uint32_t* inner) {
  uint32_t o, i, k, best = UINT32_MAX, all = 1;
  for (k = 0; k < n; ++k) all *= x[k].sums ? 1 : x[k].extent;
  for (o = 0; o < n + 2; ++o)
    for (i = 0; i < n + 2; ++i) {
      uint32_t ops = 1, sums = 1, near = 1;
      if (o == i || x[o].irregular || x[i].irregular) continue;
      for (k = 0; k < n; ++k) {
        if (k == o || k == i) continue;
        ops *= x[k].extent;
        if (x[k].sums) near = 0;
        if (!x[k].sums) sums *= x[k].extent;
      }
      if (near && all >= HAZARD && !x[i].sums) sums *= x[i].extent; /* the inner loop */
      if (sums < least(all, HAZARD) || ops >= best) continue;
      best = ops;
      *outer = o;
      *inner = i;
    }
  return all;
}

void vta_clear(state_t* s, uint32_t acc, uint32_t count) {
  const loops_t l = {1, count, 0, 1, 0, 0, 0, 0};
  vta_gemm(s, &acc, 1, &l, NULL, NULL);
}

static void clear_part(state_t* s, const part_t* a) {
  vta_reserve(s);
  vta_clear(s, a->acc, a->pn * a->qn * a->kn);
}

/* All products of a part: one instruction for each pass over its weights. */
static void multiply(state_t* s, const job_t* j, const part_t* a) {
  uint32_t list[MOST_UOPS], n, o = 0, i = 0, k, u, all, count = 1, pass, filled, spare;
  axis_t x[8];
  loops_t l;
  box_t *in, *w;
  vta_reserve(s);
  w = vta_need_weight(s, j, a);
  in = vta_need_input(s, j, a);
  n = axes_of(j, a, x);
  all = choose_loops(x, n, &o, &i);
  spare = all < HAZARD ? HAZARD - all : 0; /* sums that keep one and the same apart */
  for (k = 0; k < n; ++k) count *= k == o || k == i ? 1 : x[k].extent;
  if (count / all * (all + spare) > MOST_UOPS) {
    fail(s, SLUICE_VTA_TOO_LARGE, "too many micro-ops");
    return;
  }
  if (spare > 0 && !s->spare) vta_clear(s, SPARE_FIRST, HAZARD - 1);
  s->spare |= spare > 0;
  l = (loops_t){x[o].extent, x[i].extent, x[o].dst, x[i].dst,
                x[o].src,    x[i].src,    x[o].wgt, x[i].wgt};
  for (pass = 0; pass < j->passes; ++pass) {
    for (u = filled = 0; u < count; ++u) {
      uint32_t rest = u, dst = a->acc, src = in->first;
      uint32_t wgt = w->first + pass * a->kn * j->taps * a->cw, base = 0;
      for (k = n; k-- > 0;) {
        uint32_t step;
        if (k == o || k == i) continue;
        step = rest % x[k].extent;
        rest /= x[k].extent;
        dst += step * x[k].dst;
        wgt += step * x[k].wgt;
        if (x[k].irregular) {
          base = step;
        } else {
          src += step * x[k].src;
        }
      }
      src += vta_first_block(j, a, a->k0 + base) - a->c0;
      list[filled++] = dst | src << 11 | wgt << 22;
      for (k = 0; (u + 1) % all == 0 && k < spare; ++k) {
        list[filled++] = (SPARE_FIRST + k) | src << 11 | wgt << 22;
      }
    }
    vta_gemm(s, list, filled, &l, in, w);
  }
}

/* ---- sums to bytes ---------------------------------------------------------------------- */

/* Adds what the sums of a part lack. */
static void add_biases(state_t* s, const job_t* j, const part_t* a) {
  uint32_t k, count;
  if (j->t.input_zero == 0 && !j->t.last) return;
  for (k = 0; k < a->kn; k += count) {
    const uint32_t rows = count = least(BIAS_ROWS, a->kn - k);
    const loops_t l = {a->pn * a->qn, rows, a->kn, 1, 0, 1, 0, 0};
    vta_reserve(s);
    vta_alu(s, ALU_ADD,
            (a->acc + k) | vta_need_bias(s, j, a->k0 + k, rows)->first << 11, &l, 0);
  }
}

uint64_t vta_output_at(const job_t* j, const part_t* a, uint32_t pixel) {
  return j->t.out.offset + (uint64_t)a->n * j->t.out.stride[0] +
         (uint64_t)(a->p0 + pixel / a->qn) * j->t.out.stride[1] +
         (uint64_t)(a->q0 + pixel % a->qn) * j->t.out.stride[2];
}

/* The largest run of entries of ACC that no unfinished sums hold. */
static uint32_t gap(const state_t* s, uint32_t* first) {
  uint32_t best = 0, at = 0, i;
  *first = 0;
  while (at < BIAS_FIRST) {
    uint32_t end = BIAS_FIRST, next = BIAS_FIRST;
    for (i = 0; i < SLUICE_VTA_SUMS; ++i) {
      const struct sluice_vta_sums* u = &s->sums[i];
      if (u->count == 0 || u->first + u->count <= at || u->first >= end) continue;
      end = u->first;
      next = u->first + u->count;
    }
    if (end > at && end - at > best) {
      best = end - at;
      *first = at;
    }
    at = next;
  }
  return best;
}

/* Sums of a part are complete, or what this tile adds to them. They leave VTA byte by byte:
 * OUT takes the low eight bits, then they are shifted. */
static void finish(state_t* s, const job_t* j, const part_t* a) {
  const uint32_t entries = a->pn * a->qn * a->kn;
  const loops_t l = {1, entries, 0, 1, 0, 1, 0, 0};
  uint32_t plane, planes, copy, room;
  add_biases(s, j, a);
  if (!j->t.last) return;
  if (j->scales) {
    room = gap(s, &copy);
    if (copy == a->acc) { /* this part's own */
      copy += entries;
      room -= entries;
    }
    if (vta_scale(s, j, a, copy, room)) return;
  }
  vta_reserve(s);
  planes = vta_stage(s, PLANES * entries * 16);
  for (plane = 0; plane < PLANES; ++plane) {
    if (plane != 0) vta_alu(s, ALU_SHR | ALU_IMMEDIATE, a->acc | a->acc << 11, &l, 8);
    vta_move(s, SLUICE_VTA_OF_OUT, a->acc, planes + plane * entries * 16, 1, entries,
             entries, NULL);
  }
  vta_flush(s);
  vta_requantise(s, j, a, planes, entries);
}

/* ---- a tile in parts --------------------------------------------------------------------- */

/* How a tile is cut, and in which order its parts run. */
typedef struct {
  uint32_t pn, qn, kn, cn, cw;
  uint32_t rows, cols; /* of the filter, at once */
  int k_inside; /* all blocks of output channels of a window, then the next window */
  uint64_t bytes;
} cut_t;

static uint32_t most(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* Raises *cn and *cw to the input blocks that `kn` output blocks from k0 on read together, and
 * one of them. Answers the first. */
static uint32_t reach_of(const job_t* j, uint32_t k0, uint32_t kn, uint32_t* cn,
                         uint32_t* cw) {
  uint32_t k, count;
  const uint32_t low = vta_reach(j, k0, &count);
  for (k = k0; k < least(k0 + kn, j->kb); ++k) {
    *cn = most(*cn, vta_reach(j, k, &count) + count - low);
    *cw = most(*cw, count);
  }
  return low;
}

/* The next of halves of halves; 0 after 1. */
static uint32_t half(uint32_t n) { return n > 1 ? (n + 1) / 2 : 0; }

/* What VTA loads with this cut, in bytes; more than anything if it does not fit. */
static void measure(const job_t* j, uint32_t room, cut_t* c) {
  const uint32_t windows =
      pieces(j->t.out.extent[1], c->pn) * pieces(j->t.out.extent[2], c->qn);
  const uint32_t parts = pieces(j->kb, c->kn), taps = c->rows * c->cols * j->passes;
  const uint32_t slices = pieces(j->t.rows, c->rows) * pieces(j->t.cols, c->cols);
  const uint64_t area =
      (uint64_t)target_span(c->pn, j->t.stride[0], c->rows, j->t.dilation[0]) *
      target_span(c->qn, j->t.stride[1], c->cols, j->t.dilation[1]);
  const uint64_t input = area * c->cn * slices;
  const uint64_t filters = (uint64_t)c->kn * taps * c->cw * slices;
  uint64_t inside, outside;
  c->bytes = UINT64_MAX;
  if ((uint64_t)c->pn * c->qn * (c->kn + (j->scales ? 1 : 0)) > room) return;
  if (input > slices * SLUICE_VTA_INP || filters > slices * SLUICE_VTA_WGT) {
    /* Input channels in slices: one is loaded while the other is multiplied. */
    const uint64_t a = SLUICE_VTA_INP / 2 / area, w = SLUICE_VTA_WGT / 2 / taps / c->kn;
    const uint32_t blocks_of = (uint32_t)(a < w ? a : w);
    if (blocks_of == 0 || j->per != 0) return;
    c->cn = c->cw = pieces(j->cb, pieces(j->cb, blocks_of));
  }
  inside = windows * input * 16 * (input <= SLUICE_VTA_INP ? 1 : parts) +
           parts * filters * 256 * (parts * filters <= SLUICE_VTA_WGT ? 1 : windows);
  outside = windows * input * 16 * (windows * input <= SLUICE_VTA_INP ? 1 : parts) +
            parts * filters * 256 * (filters <= SLUICE_VTA_WGT ? 1 : windows);
  c->k_inside = inside <= outside;
  c->bytes = (c->k_inside ? inside : outside) + (uint64_t)windows * parts * 512;
}

/* The cut that loads least, among halves of halves. The filter is cut where nothing fits with
 * all of it: its rows first. */
static cut_t choose_cut(const job_t* j, uint32_t room) {
  cut_t best, c;
  uint32_t k;
  best.bytes = UINT64_MAX;
  c.rows = j->t.rows;
  c.cols = j->t.cols;
  for (;;) {
    for (c.pn = j->t.out.extent[1]; c.pn != 0; c.pn = half(c.pn))
      for (c.qn = j->t.out.extent[2]; c.qn != 0; c.qn = half(c.qn))
        for (c.kn = j->kb; c.kn != 0; c.kn = half(c.kn)) {
          c.cn = c.cw = j->per == 0 ? j->cb : 0;
          for (k = 0; j->per != 0 && k < j->kb; k += c.kn) {
            (void)reach_of(j, k, c.kn, &c.cn, &c.cw);
          }
          measure(j, room, &c);
          if (c.bytes < best.bytes) best = c;
        }
    if (best.bytes != UINT64_MAX || c.rows * c.cols == 1) return best;
    if (c.rows > 1) {
      c.rows = half(c.rows);
    } else {
      c.cols = half(c.cols);
    }
  }
}

/* The entries of unfinished sums: new ones with FIRST. */
static struct sluice_vta_sums* place_sums(state_t* s, const job_t* j) {
  struct sluice_vta_sums* at = NULL;
  const uint32_t count =
      j->t.out.extent[0] * j->t.out.extent[1] * j->t.out.extent[2] * j->kb;
  uint32_t i, first;
  for (i = 0; i < SLUICE_VTA_SUMS; ++i) {
    struct sluice_vta_sums* u = &s->sums[i];
    if (j->t.first ? u->count == 0
                   : u->count == count && u->offset == j->t.sum.offset) {
      at = u;
    }
  }
  if (at == NULL) fail(s, SLUICE_VTA_BAD_STREAM, "sums that no tile began");
  if (at == NULL || !j->t.first) return at;
  if (gap(s, &first) < count) {
    fail(s, SLUICE_VTA_TOO_LARGE, "unfinished sums do not fit ACC");
  }
  at->offset = j->t.sum.offset;
  at->first = first;
  at->count = count;
  return at;
}

/* Leaves of a tile the filter's rows (axis 0) or columns from `from` on, `count` or what there
 * is: all windows begin so much later in the input. */
static void take_taps(job_t* j, int axis, uint32_t from, uint32_t count) {
  sluice_walk_operand_t* const in = &j->t.in;
  uint32_t* const extent = axis == 0 ? &j->t.rows : &j->t.cols;
  const uint32_t later = from * j->t.dilation[axis];
  const uint32_t pad = least(later, j->t.tile.pad[axis]);
  const uint32_t skipped = least(later - pad, in->extent[1 + axis]);
  j->t.tile.pad[axis] = (uint16_t)(j->t.tile.pad[axis] - pad);
  in->offset += (uint64_t)skipped * in->stride[1 + axis];
  in->extent[1 + axis] -= skipped;
  j->t.weight.offset += (uint64_t)from * j->t.filter[1 + axis];
  *extent = least(count, *extent - from);
}

/* All input channels of a part, for these filter positions. */
static void run_slice(state_t* s, const job_t* j, const cut_t* c, part_t* a) {
  a->in_rows = target_span(a->pn, j->t.stride[0], j->t.rows, j->t.dilation[0]);
  a->in_cols = target_span(a->qn, j->t.stride[1], j->t.cols, j->t.dilation[1]);
  if (j->per == 0) {
    for (a->c0 = 0; a->c0 < j->cb; a->c0 += c->cn) {
      a->cn = a->cw = least(c->cn, j->cb - a->c0);
      multiply(s, j, a);
    }
    return;
  }
  a->cn = a->cw = 0;
  a->c0 = reach_of(j, a->k0, a->kn, &a->cn, &a->cw);
  multiply(s, j, a);
}

static void run_part(state_t* s, const job_t* j, const cut_t* c, part_t* a) {
  uint32_t row, column;
  for (row = 0; row < j->t.rows; row += c->rows)
    for (column = 0; column < j->t.cols; column += c->cols) {
      job_t some = *j;
      take_taps(&some, 0, row, c->rows);
      take_taps(&some, 1, column, c->cols);
      some.taps = some.t.rows * some.t.cols;
      run_slice(s, &some, c, a);
    }
}

void vta_run_tile(state_t* s, const job_t* j) {
  const uint32_t p = j->t.out.extent[1], q = j->t.out.extent[2];
  const int waits = j->t.tile.accumulator != SLUICE_NONE;
  struct sluice_vta_sums* sums = NULL;
  uint32_t first = 0, n, t;
  cut_t c;
  c = choose_cut(j, waits ? SLUICE_VTA_ACC : gap(s, &first));
  if (waits) sums = place_sums(s, j);
  if (c.bytes == UINT64_MAX) {
    fail(s, SLUICE_VTA_TOO_LARGE,
         "a group or a pixel's sums do not fit INP, WGT or ACC");
  }
  if (s->code) return;
  for (n = 0; n < j->t.out.extent[0]; ++n) {
    const uint32_t columns = pieces(q, c.qn), windows = pieces(p, c.pn) * columns;
    const uint32_t parts = pieces(j->kb, c.kn);
    part_t all = {.n = n, .pn = p, .qn = q, .kn = j->kb};
    all.acc = sums != NULL ? sums->first + n * p * q * j->kb : first;
    if (sums != NULL && j->t.first) clear_part(s, &all);
    for (t = 0; t < windows * parts; ++t) {
      const uint32_t window = c.k_inside ? t / parts : t % windows;
      const uint32_t p0 = window / columns * c.pn, q0 = window % columns * c.qn;
      const uint32_t k0 = (c.k_inside ? t % parts : t / windows) * c.kn;
      part_t a = {.n = n, .p0 = p0, .q0 = q0, .k0 = k0};
      a.pn = least(c.pn, p - p0);
      a.qn = least(c.qn, q - q0);
      a.kn = least(c.kn, j->kb - k0);
      a.pixel = sums != NULL ? j->kb : a.kn;
      a.row = sums != NULL ? q * j->kb : a.qn * a.kn;
      a.acc = all.acc + (sums != NULL ? p0 * a.row + q0 * a.pixel + k0 : 0);
      if (sums == NULL) clear_part(s, &a);
      run_part(s, j, &c, &a);
      if (sums == NULL) finish(s, j, &a);
    }
    if (sums != NULL) finish(s, j, &all);
  }
  if (sums != NULL && j->t.last) sums->count = 0;
}
