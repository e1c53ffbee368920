/* SPDX-License-Identifier: Apache-2.0 */
/* One matrix product per filter position: which rows are multiplied with which. */
#include "sluice_gemmini_internal.h"

enum {
  kInputRows = 8192, /* that a part's input may take where it does not stay */
  kSlotRows = 64,    /* of weights that do not stay: four blocks side by side */
  kSlots = 4
};

/* Rows (axis 0) or columns (axis 1) [*first, *end) of a part's output whose input lies in the
 * box, for one filter position. */
static void valid(const product_t* p, const part_t* part, int axis, uint32_t tap,
                  uint32_t* first, uint32_t* end) {
  const uint32_t extent = axis == 0 ? p->in_h : p->in_w, pad = p->t.tile.pad[axis];
  const uint32_t stride = p->t.stride[axis], at = tap * p->t.dilation[axis];
  *first = axis == 0 ? part->h : part->w;
  *end = *first + (axis == 0 ? part->rows : part->columns);
  while (*first < *end && (uint64_t)*first * stride + at < pad) ++*first;
  while (*end > *first &&
         (uint64_t)(*end - 1) * stride + at >= (uint64_t)pad + extent) {
    --*end;
  }
}

/* Rows (axis 0) or columns (axis 1) of the input that as many output rows read at most. */
static uint32_t span(const product_t* p, int axis, uint32_t count) {
  return target_span(count, p->t.stride[axis], axis == 0 ? p->t.rows : p->t.cols,
                     p->t.dilation[axis]);
}

/* The input that a part reads. */
static void measure(const product_t* p, part_t* part) {
  const uint32_t* const stride = p->t.stride;
  target_inside((int64_t)part->h * stride[0] - p->t.tile.pad[0], span(p, 0, part->rows),
                p->in_h, &part->in_h, &part->in_rows);
  target_inside((int64_t)part->w * stride[1] - p->t.tile.pad[1],
                span(p, 1, part->columns), p->in_w, &part->in_w, &part->in_columns);
}

/* Makes a part smaller until the memories hold it, wherever it is; 0: they do not. */
static int shrink(const product_t* p, part_t* part) {
  for (;;) {
    const uint64_t rows = (uint64_t)least(span(p, 0, part->rows), p->in_h) *
                          least(span(p, 1, part->columns), p->in_w) * blocks(p->c);
    part->input = p->a_stays ? 0 : (uint32_t)rows;
    if ((p->a_stays || rows <= kInputRows) &&
        (uint64_t)part->rows * part->columns <= SLUICE_GEMMINI_SUM_ROWS) {
      return 1;
    }
    if (part->rows == 1 && part->columns == 1) return 0;
    if (part->rows > 1) {
      part->rows = (part->rows + 1) / 2;
    } else {
      part->columns = (part->columns + 1) / 2;
    }
  }
}

/* Moves the input of a part: a row of 16 channels per pixel, blocks of channels apart. With
 * few channels a row has those of the next pixels too. */
static void load_input(lowering_t* l, const product_t* p, const part_t* part) {
  const uint32_t area = part->in_rows * part->in_columns;
  uint32_t h, w, c, pixels;
  gemmini_reads(l, SLUICE_REGION_GBUF);
  gemmini_config_load(l, 0, area, p->a_stride[2]);
  for (h = 0; h < part->in_rows; ++h) {
    const uint64_t line = l->in->base[SLUICE_REGION_GBUF] + p->a +
                          part->n * p->a_stride[0] + (part->in_h + h) * p->a_stride[1];
    for (w = 0; w < part->in_columns; w += pixels) {
      const uint32_t left = p->in_w - part->in_w - w, wide = least(p->pack, left);
      pixels = least(DIM, least(part->in_columns - w, left - wide + 1));
      for (c = 0; c < wide * p->c; c += SLUICE_GEMMINI_COLUMNS) {
        const uint32_t columns = least(SLUICE_GEMMINI_COLUMNS, wide * p->c - c);
        const uint32_t row = part->room + c / DIM * area + h * part->in_columns + w;
        gemmini_command(l, SLUICE_GEMMINI_MVIN,
                        line + (part->in_w + w) * p->a_stride[2] + c,
                        local(row, columns, pixels));
        l->counts->fetched_bytes += (uint64_t)pixels * columns;
      }
    }
  }
}

/* Where a part's input lies, and how its rows are fed: every stride-th pixel. */
static void place_input(lowering_t* l, const product_t* p, part_t* part) {
  if (p->a_stays) {
    part->a = (uint32_t)((p->a + part->n * p->a_stride[0]) / DIM);
    part->a_h = (uint32_t)(p->a_stride[1] / DIM);
    part->a_w = (uint32_t)(p->a_stride[2] / DIM);
    part->a_c = 1;
  } else if (part->in_rows > 0 && part->in_columns > 0) {
    part->a_h = part->in_columns;
    part->a_w = 1;
    part->a_c = part->in_rows * part->in_columns;
    part->a = part->room - part->in_h * part->a_h - part->in_w; /* wraps, and back */
    load_input(l, p, part);
  }
  gemmini_configure(l, 0,
                    4u | (uint64_t)(p->transposed ? 1u : 0u) << 9 |
                        (uint64_t)(p->t.stride[1] * (part->a_w ? part->a_w : 1)) << 16 |
                        (uint64_t)ONE << 32,
                    (uint64_t)1 << 48);
}

/* One block of weights (k x c) of one filter position, or of `taps` next to each other,
 * with all pixels in the columns [begin, end) of a part that all of them read. */
typedef struct {
  uint32_t r, s, taps, begin, end, block, k, c, row, sums;
  int clears; /* sums are written, not added to */
} pass_t;

/* Up to 16 pixels: rows of the input from `a`, sums from `sum`. The extents of weights are
 * those of the matrix that is multiplied by, transposed in memory or not. */
static void compute(lowering_t* l, const pass_t* b, uint32_t a, uint32_t sum,
                    uint32_t pixels, int same) {
  gemmini_command(l, SLUICE_GEMMINI_PRELOAD,
                  local(same ? ALL_ONES : b->row, b->k, b->c),
                  local(sum | (b->clears ? SUMS : SUMS | ADD), b->k, pixels));
  gemmini_command(l, same ? SLUICE_GEMMINI_COMPUTE_SAME : SLUICE_GEMMINI_COMPUTE,
                  local(a, b->c, pixels), local(ALL_ONES, b->k, pixels));
  l->counts->array_cycles += DIM;
}

static void run_pass(lowering_t* l, const product_t* p, const part_t* part,
                     const pass_t* b) {
  uint32_t h0, h1, w0 = b->begin, w1 = b->end, h, w;
  int same = 0;
  valid(p, part, 0, b->r, &h0, &h1);
  for (h = h0; h < h1; ++h) {
    const uint32_t row =
        h * p->t.stride[0] + b->r * p->t.dilation[0] - p->t.tile.pad[0];
    if (h == h0 && w1 - w0 == part->columns &&
        p->t.stride[0] * part->a_h == part->columns * p->t.stride[1] * part->a_w) {
      w1 = w0 + (h1 - h0) * part->columns; /* rows follow each other: one long row */
      h1 = h0 + 1;
    }
    for (w = w0; w < w1; w += DIM) {
      const uint32_t column =
          w * p->t.stride[1] + b->s * p->t.dilation[1] - p->t.tile.pad[1];
      const uint32_t a =
          part->a + b->block * part->a_c + row * part->a_h + column * part->a_w;
      const uint32_t sum = b->sums + (h - part->h) * part->columns + w - part->w;
      compute(l, b, a, sum, least(DIM, w1 - w), same);
      same = 1;
    }
  }
}

/* 1 if no pixel of the part reads padding at this filter position. */
static int whole(const product_t* p, const part_t* part, uint32_t r, uint32_t s) {
  uint32_t h0, h1, w0, w1;
  valid(p, part, 0, r, &h0, &h1);
  valid(p, part, 1, s, &w0, &w1);
  return h1 - h0 == part->rows && w1 - w0 == part->columns;
}

/* Moves the weights of one filter position for up to 16 output channels and up to 64 (one
 * row per output channel) or 16 (one row per input channel) input channels. */
static void load_weights(lowering_t* l, const product_t* p, part_t* part, pass_t* b,
                         uint64_t at, uint32_t c) {
  const uint32_t columns = p->transposed ? c : b->k, rows = p->transposed ? b->k : c;
  const uint64_t base = p->spread ? 0 : l->in->base[SLUICE_REGION_GBUF];
  gemmini_reads(l, p->spread ? (uint32_t)SCRATCH : SLUICE_REGION_GBUF);
  gemmini_config_load(l, 1, DIM, p->t.filter[p->transposed ? OF_K : OF_C]);
  b->row = part->room + part->input + part->slot * kSlotRows;
  part->slot = (part->slot + 1) % kSlots;
  l->counts->fetched_bytes += (uint64_t)rows * columns;
  gemmini_command(l, SLUICE_GEMMINI_MVIN2, base + at, local(b->row, columns, rows));
}

/* Where those of output channel k begin. */
static uint64_t weight_at(const product_t* p, uint32_t k) {
  return p->b + (uint64_t)k * p->t.filter[OF_K];
}

/* The block of weights that stay, for 16 output channels from k on. The tile may read a slice
 * of the input channels that were loaded. */
static void find_weights(lowering_t* l, const product_t* p, pass_t* b, uint32_t k) {
  const target_tile_t* t = &p->t;
  const uint64_t at = weight_at(p, k);
  const uint32_t front = gemmini_front(l, at), before = (uint32_t)(at / DIM) - front;
  const uint32_t state = l->in->lines[front], rows = (state >> 4) + 1;
  const int axis = t->cols > 1 ? OF_S : t->rows > 1 ? OF_R : OF_K;
  const uint32_t wide = t->filter[axis] / DIM; /* blocks of a filter position */
  if ((state & IN_FRONT) == 0 || at % DIM != 0 || rows < b->k ||
      (rows > 1 && before > 0 && before + blocks(p->c) > wide)) {
    gemmini_fail(l, "weights are read in other parts than they were loaded");
  }
  b->row = front + ((b->r * t->cols + b->s) * wide + before + b->block) * rows;
}

/* All blocks of one filter position, or of some with few channels, for 16 output channels
 * from k on. */
static void run_position(lowering_t* l, const product_t* p, part_t* part, pass_t* b,
                         uint32_t k) {
  const uint32_t step = p->b_stays || !p->transposed ? DIM : SLUICE_GEMMINI_COLUMNS;
  const uint32_t all = b->taps * p->c, *const strides = p->t.filter;
  uint32_t c, i, row;
  for (c = 0; c < all; c += step) {
    const uint32_t wide = least(step, all - c);
    b->block = c / DIM;
    if (p->b_stays) {
      find_weights(l, p, b, k);
    } else {
      load_weights(l, p, part, b,
                   weight_at(p, k) + b->r * strides[OF_R] + b->s * strides[OF_S] +
                       c * strides[OF_C],
                   wide);
    }
    row = b->row;
    for (i = 0; i < wide; i += DIM) {
      b->block = (c + i) / DIM;
      b->c = least(DIM, wide - i);
      b->row = row + i;
      run_pass(l, p, part, b);
      b->clears = 0;
    }
  }
}

/* Filter positions of a row, [*s, *end), that are no padding for an output column. */
static void taps_at(const product_t* p, uint32_t column, uint32_t* s, uint32_t* end) {
  const int64_t from = (int64_t)column * p->t.stride[1] - p->t.tile.pad[1];
  uint32_t first;
  target_inside(from, p->t.cols, p->in_w, &first, end);
  *s = (uint32_t)(first - from);
  *end += *s;
}

/* Columns from `begin` on that read the same filter positions, [*s, *end). */
static uint32_t alike(const product_t* p, const part_t* part, uint32_t begin,
                      uint32_t* s, uint32_t* end) {
  uint32_t column = begin, s1, end1;
  taps_at(p, begin, s, end);
  do {
    taps_at(p, ++column, &s1, &end1);
  } while (column < part->w + part->columns && s1 == *s && end1 == *end);
  return column;
}

/* 1 if it takes fewer computes to have filter positions next to each other in one block. */
static int packs(const product_t* p, const part_t* part) {
  uint32_t together = 0, apart = 0, w = part->w, first, s, end;
  while (w < part->w + part->columns) {
    first = w;
    w = alike(p, part, first, &s, &end);
    if (end > s) together += blocks(w - first) * pieces(end - s, p->pack);
  }
  for (s = 0; s < p->t.cols; ++s) {
    valid(p, part, 1, s, &w, &end);
    apart += blocks(end - w);
  }
  return together < apart;
}

/* One row of the filter, positions whose few channels are one block at a time. */
static void run_packed(lowering_t* l, const product_t* p, part_t* part, pass_t* b,
                       uint32_t k) {
  uint32_t last;
  for (b->begin = part->w; b->begin < part->w + part->columns; b->begin = b->end) {
    b->end = alike(p, part, b->begin, &b->s, &last);
    for (; b->s < last; b->s += b->taps) {
      b->taps = least(p->pack, last - b->s);
      run_position(l, p, part, b, k);
    }
  }
}

/* What all sums begin with: biases (scaled), or zeros. */
static void begin_sums(lowering_t* l, const product_t* p, const pass_t* b,
                       uint32_t pixels, uint32_t k) {
  const uint64_t zeros = SLUICE_GEMMINI_SUM_BYTES + SLUICE_GEMMINI_SPREAD_BYTES;
  const uint64_t from = l->in->scratch + (p->scaled ? 4 * (uint64_t)k : zeros);
  uint32_t t;
  gemmini_reads(l, SCRATCH);
  gemmini_config_load(l, 2, 0, 0);
  for (t = 0; t < pixels; t += DIM) {
    const uint32_t rows = least(DIM, pixels - t);
    gemmini_command(l, SLUICE_GEMMINI_MVIN3, from,
                    local((p->adds ? SUMS | ADD : SUMS) | (b->sums + t), b->k, rows));
    l->counts->bias_bytes += (uint64_t)4 * b->k * rows;
  }
}

/* Sums of 16 output channels for all pixels of a part, into the accumulators from `sums`
 * on. They begin with a filter position that no padding touches; without one, with zeros. */
static void run_channels(lowering_t* l, const product_t* p, part_t* part, uint32_t k,
                         uint32_t sums) {
  const uint32_t taps = p->t.rows * p->t.cols;
  const int together = p->pack > 1 && packs(p, part);
  uint32_t first = 0, t;
  pass_t b;
  memset(&b, 0, sizeof b);
  b.k = least(DIM, p->k - k);
  b.sums = sums;
  while (first < taps && !whole(p, part, first / p->t.cols, first % p->t.cols)) ++first;
  b.taps = 1;
  b.clears = first < taps && !together && !p->scaled && !p->adds;
  if (!b.clears && (p->scaled || !p->adds)) {
    begin_sums(l, p, &b, part->rows * part->columns, k);
  }
  for (b.r = 0; together && b.r < p->t.rows; ++b.r) run_packed(l, p, part, &b, k);
  for (t = 0; !together && t < taps; ++t) {
    const uint32_t tap = first < taps ? (first + t) % taps : t;
    b.r = tap / p->t.cols;
    b.s = tap % p->t.cols;
    valid(p, part, 1, b.s, &b.begin, &b.end);
    run_position(l, p, part, &b, k);
  }
}

/* Moves sums out, as a dense box [rows][columns][channels], and lets the host finish them. */
static void finish(lowering_t* l, const product_t* p, const part_t* part, uint32_t k,
                   uint32_t channels) {
  const uint32_t pixels = part->rows * part->columns;
  struct sluice_gemmini_step step = p->step;
  uint32_t i, t;
  gemmini_writes(l, SCRATCH);
  gemmini_config_store(l, ONE, 0, 4u * (uint64_t)channels);
  for (i = 0; i < channels; i += DIM) {
    const uint32_t columns = least(DIM, channels - i);
    for (t = 0; t < pixels; t += DIM) {
      const uint32_t rows = least(DIM, pixels - t);
      gemmini_command(l, SLUICE_GEMMINI_MVOUT,
                      l->in->scratch + 4u * ((uint64_t)t * channels + i),
                      local(SUMS | WIDE | (i / DIM * pixels + t), columns, rows));
      l->counts->sum_bytes += 4u * (uint64_t)rows * columns;
    }
  }
  step.kind = SLUICE_GEMMINI_FINISH;
  step.address = l->in->scratch;
  step.n += part->n; /* a matrix of several: its place */
  step.h += part->h;
  step.w = part->w;
  step.k = p->k0 + k;
  step.rows = part->rows;
  step.columns = part->columns;
  step.channels = channels;
  gemmini_host(l, &step);
}

/* 1 if the sums of all of the product are in the accumulators at once. */
static int at_once(const product_t* p, const part_t* part) {
  return p->may_keep && part->rows == p->h && part->columns == p->w &&
         (uint64_t)p->h * p->w * blocks(p->k) <= SLUICE_GEMMINI_SUM_ROWS;
}

/* 1 if the product adds to what is kept. */
static int goes_on(const lowering_t* l, const product_t* p, const part_t* part) {
  const product_t* q = &l->kept;
  return l->keeps && at_once(p, part) && p->step.layer == q->step.layer &&
         !(p->step.instruction.flags & SLUICE_FLAG_FIRST) &&
         p->t.sum.offset == q->t.sum.offset && p->t.sum.span == q->t.sum.span &&
         p->step.c == q->t.tile.c_end && p->h == q->h && p->w == q->w && p->k == q->k;
}

void gemmini_release(lowering_t* l, uint64_t offset, uint64_t span) {
  const product_t* q = &l->kept;
  part_t part;
  if (!l->keeps || q->t.sum.offset >= offset + span ||
      offset >= q->t.sum.offset + q->t.sum.span)
    return;
  l->keeps = 0;
  memset(&part, 0, sizeof part);
  part.rows = q->h;
  part.columns = q->w;
  finish(l, q, &part, 0, q->k);
}

static void run_part(lowering_t* l, const product_t* p, part_t* part) {
  const uint32_t pixels = part->rows * part->columns;
  const uint32_t most = SLUICE_GEMMINI_SUM_ROWS / pixels * DIM;
  uint32_t k, i;
  place_input(l, p, part);
  for (k = 0; k < p->k; k += most) {
    const uint32_t channels = least(most, p->k - k);
    for (i = 0; i < channels; i += DIM) {
      run_channels(l, p, part, k + i, i / DIM * pixels);
    }
    if (!(p->step.instruction.flags & SLUICE_FLAG_LAST) && at_once(p, part)) {
      l->keeps = 1; /* where the next slice of their channels adds to them */
      l->kept = *p;
      l->visit = *p->step.visit;
      l->kept.step.visit = &l->visit;
    } else if (p->scaled) {
      gemmini_move_scaled(l, p, part, k, channels);
    } else {
      finish(l, p, part, k, channels);
    }
  }
}

/* Goes on with sums that are kept, or begins; rows for what does not stay. */
static void prepare(lowering_t* l, product_t* p, part_t* part) {
  const uint32_t rows = part->input + (p->b_stays ? 0 : kSlotRows * kSlots);
  p->adds = goes_on(l, p, part);
  if (p->adds) {
    p->step.instruction.flags |= l->kept.step.instruction.flags & SLUICE_FLAG_FIRST;
    p->step.c = l->kept.step.c;
    l->keeps = 0;
  }
  gemmini_release(l, 0, UINT64_MAX);
  gemmini_ask_scale(l, p);
  if (p->a_stays && p->b_stays) return;
  while (!gemmini_room(l, p, rows, &part->room)) {
    if (!p->to_rows) {
      gemmini_fail(l, "operands leave no room in the scratchpad");
      return;
    }
    p->to_rows = 0;
  }
}

/* All parts of a product. */
void gemmini_product(lowering_t* l, product_t* p) {
  part_t part, most;
  memset(&part, 0, sizeof part);
  part.rows = p->h;
  part.columns = p->w;
  if (!shrink(p, &part)) {
    gemmini_fail(l, "the input of one output pixel is larger than the scratchpad");
    return;
  }
  most = part;
  prepare(l, p, &part);
  for (part.n = 0; !l->code && part.n < p->n; ++part.n) {
    for (part.h = 0; part.h < p->h; part.h += most.rows) {
      for (part.w = 0; part.w < p->w; part.w += most.columns) {
        part.rows = least(most.rows, p->h - part.h);
        part.columns = least(most.columns, p->w - part.w);
        measure(p, &part);
        run_part(l, p, &part);
      }
    }
  }
}
