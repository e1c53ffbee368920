/* SPDX-License-Identifier: Apache-2.0 */
#include "sluice_gemmini.h"

#include <string.h>

enum {
  kDim = SLUICE_GEMMINI_DIM,
  kInputRows = 12288, /* of the scratchpad hold an input; weights rotate in the rest */
  kSlotRows = 64,     /* of weights: four blocks side by side */
  kSlots = (SLUICE_GEMMINI_ROWS - kInputRows) / kSlotRows
};
#define ALL_ONES 0xffffffffu /* an address: nothing there */
#define SUMS 0x80000000u     /* addresses of the accumulators; written over */
#define ADD 0x40000000u      /* added to what is there */
#define WIDE 0x20000000u     /* read as int32 */
#define ONE 0x3f800000u      /* 1.0f: the scale that changes nothing */

typedef struct {
  const struct sluice_gemmini_input* in;
  const struct sluice_gemmini_port* port;
  struct sluice_gemmini_counts* counts;
  uint32_t slot;
} lowering_t;

/* The sum of one tile, or of one group of its channels, as a matrix product per filter
 * position. Strides are in bytes. */
typedef struct {
  struct sluice_gemmini_step step; /* of the tile */
  uint64_t a, b;                   /* DRAM addresses of the first elements */
  uint64_t a_stride[4], b_k, b_r, b_s, b_c;
  uint32_t n, h, w, k, c; /* extents of the output box, channels summed over */
  uint32_t k0;            /* first channel within the tile's output */
  uint32_t in_h, in_w;    /* of the input box */
  uint32_t r, s, stride[2], dilation[2], pad[2];
  int transposed; /* b has a row per output channel */
  int spread;     /* b is a diagonal per filter position */
} product_t;

/* A part of a product that the array's memories hold: output rows and columns, the input
 * that they need, and from which filter positions they read it. */
typedef struct {
  uint32_t n, h, w, rows, columns;
  uint32_t in_h, in_w, in_rows, in_columns;
} part_t;

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }
static uint32_t blocks(uint32_t n) { return (n + kDim - 1) / kDim; }

static int command(lowering_t* l, uint32_t funct, uint64_t rs1, uint64_t rs2) {
  ++l->counts->commands[funct];
  return l->port->command(l->port->user, funct, rs1, rs2);
}

static int fence(lowering_t* l) {
  ++l->counts->fences;
  return l->port->fence(l->port->user);
}

static int host(lowering_t* l, const struct sluice_gemmini_step* step) {
  const int code = fence(l);
  ++l->counts->steps[step->kind];
  return code ? code : l->port->host(l->port->user, step);
}

/* A local address with the extents of what lies there. */
static uint64_t local(uint32_t address, uint32_t columns, uint32_t rows) {
  return address | (uint64_t)columns << 32 | (uint64_t)rows << 48;
}

static int config_load(lowering_t* l, uint32_t which, uint32_t block_stride,
                       uint64_t stride) {
  return command(l, SLUICE_GEMMINI_CONFIG,
                 1u | which << 3 | (uint64_t)block_stride << 16 | (uint64_t)ONE << 32,
                 stride);
}

static uint64_t address_of(const lowering_t* l, const sluice_walk_operand_t* o) {
  return l->in->base[o->region] + o->offset;
}

static void operand(const lowering_t* l, const sluice_walk_visit_t* visit,
                    uint32_t index, sluice_walk_operand_t* o) {
  memset(o, 0, sizeof *o);
  if (index != SLUICE_NONE) sluice_walk_operand(l->in->walker, visit, index, o);
}

/* Output positions [*first, *end) of `count` from `begin` whose input lies in the box, for
 * one filter position along one axis. */
static void valid(uint32_t begin, uint32_t count, uint32_t tap, uint32_t stride,
                  uint32_t pad, uint32_t extent, uint32_t* first, uint32_t* end) {
  *first = begin;
  *end = begin + count;
  while (*first < *end && (uint64_t)*first * stride + tap < pad) ++*first;
  while (*end > *first &&
         (uint64_t)(*end - 1) * stride + tap >= (uint64_t)pad + extent) {
    --*end;
  }
}

/* The input rows (axis 0) or columns (axis 1) that a part reads. */
static void reach(const product_t* p, int axis, uint32_t begin, uint32_t count,
                  uint32_t* first, uint32_t* extent) {
  const uint32_t taps = axis == 0 ? p->r : p->s, all = axis == 0 ? p->in_h : p->in_w;
  const uint64_t low = (uint64_t)begin * p->stride[axis];
  const uint64_t high = (uint64_t)(begin + count - 1) * p->stride[axis] +
                        (uint64_t)(taps - 1) * p->dilation[axis] + 1;
  uint64_t end = high > p->pad[axis] ? high - p->pad[axis] : 0;
  *first = low > p->pad[axis] ? (uint32_t)(low - p->pad[axis]) : 0;
  if (end > all) end = all;
  *extent = end > *first ? (uint32_t)(end - *first) : 0;
}

static void measure(const product_t* p, part_t* part) {
  reach(p, 0, part->h, part->rows, &part->in_h, &part->in_rows);
  reach(p, 1, part->w, part->columns, &part->in_w, &part->in_columns);
}

static int fits(const product_t* p, const part_t* part) {
  const uint64_t area = (uint64_t)part->in_rows * part->in_columns;
  return area * blocks(p->c) <= kInputRows && area < 65536 &&
         (uint64_t)part->rows * part->columns <= SLUICE_GEMMINI_SUM_ROWS;
}

/* Moves the input of a part: a row of 16 channels per pixel, blocks of channels apart. */
static int load_input(lowering_t* l, const product_t* p, const part_t* part) {
  const uint32_t area = part->in_rows * part->in_columns;
  uint32_t h, w, c;
  int code = config_load(l, 0, area, p->a_stride[2]);
  for (h = 0; !code && h < part->in_rows; ++h) {
    for (w = 0; !code && w < part->in_columns; w += kDim) {
      const uint32_t pixels = least(kDim, part->in_columns - w);
      for (c = 0; !code && c < p->c; c += SLUICE_GEMMINI_COLUMNS) {
        const uint32_t columns = least(SLUICE_GEMMINI_COLUMNS, p->c - c);
        const uint32_t row = c / kDim * area + h * part->in_columns + w;
        code = command(l, SLUICE_GEMMINI_MVIN,
                       p->a + part->n * p->a_stride[0] +
                           (part->in_h + h) * p->a_stride[1] +
                           (part->in_w + w) * p->a_stride[2] + c,
                       local(row, columns, pixels));
        l->counts->input_bytes += (uint64_t)pixels * columns;
      }
    }
  }
  return code;
}

/* Moves the weights of one filter position for up to 16 output channels and up to 64 (one
 * row per output channel) or 16 (one row per input channel) input channels. */
static int load_weights(lowering_t* l, const product_t* p, uint64_t from, uint32_t k,
                        uint32_t c, uint32_t* row) {
  const uint32_t columns = p->transposed ? c : k, rows = p->transposed ? k : c;
  *row = kInputRows + l->slot * kSlotRows;
  l->slot = (l->slot + 1) % kSlots;
  l->counts->weight_bytes += (uint64_t)rows * columns;
  return command(l, SLUICE_GEMMINI_MVIN2, from, local(*row, columns, rows));
}

/* Up to 16 pixels: rows of the input from `a`, sums from `sum`. */
static int compute(lowering_t* l, uint32_t a, uint32_t b, uint64_t extents,
                   uint32_t sum, uint32_t pixels, int same) {
  const uint32_t k = (uint32_t)(extents >> 32), c = (uint32_t)extents;
  const int transposed = b != ALL_ONES && (k >> 31);
  const uint32_t channels = k & 0x7fffffffu;
  const uint64_t weights = transposed ? local(b, c, channels) : local(b, channels, c);
  const int code =
      command(l, SLUICE_GEMMINI_PRELOAD, same ? local(ALL_ONES, channels, c) : weights,
              local(sum, channels, pixels));
  l->counts->array_cycles += kDim;
  return code ? code
              : command(l, same ? SLUICE_GEMMINI_COMPUTE_SAME : SLUICE_GEMMINI_COMPUTE,
                        local(a, c, pixels), local(ALL_ONES, channels, pixels));
}

/* One block of weights (k x c, one filter position) with all pixels of a part. */
typedef struct {
  uint32_t r, s, block, k, c, row, sums;
  int clears; /* sums are written, not added to */
} pass_t;

static int run_pass(lowering_t* l, const product_t* p, const part_t* part,
                    const pass_t* b) {
  const uint32_t area = part->in_rows * part->in_columns;
  const uint64_t extents =
      (uint64_t)(b->k | (p->transposed ? 0x80000000u : 0u)) << 32 | b->c;
  const uint32_t mode = b->clears ? SUMS : SUMS | ADD;
  uint32_t h0, h1, w0, w1, h, w;
  int same = 0, code = 0;
  valid(part->h, part->rows, b->r * p->dilation[0], p->stride[0], p->pad[0], p->in_h,
        &h0, &h1);
  valid(part->w, part->columns, b->s * p->dilation[1], p->stride[1], p->pad[1], p->in_w,
        &w0, &w1);
  for (h = h0; !code && h < h1; ++h) {
    const uint32_t row = h * p->stride[0] + b->r * p->dilation[0] - p->pad[0];
    if (h == h0 && p->stride[0] == 1 && p->stride[1] == 1 && w0 == part->w &&
        w1 - w0 == part->columns && part->columns == part->in_columns) {
      w1 = w0 + (h1 - h0) * part->columns; /* rows follow each other: one long row */
      h1 = h0 + 1;
    }
    for (w = w0; !code && w < w1; w += kDim) {
      const uint32_t column = w * p->stride[1] + b->s * p->dilation[1] - p->pad[1];
      const uint32_t a =
          b->block * area + (row - part->in_h) * part->in_columns + column - part->in_w;
      const uint32_t sum = b->sums + (h - part->h) * part->columns + w - part->w;
      code = compute(l, a, b->row, extents, sum | mode, least(kDim, w1 - w), same);
      same = 1;
    }
  }
  return code;
}

/* 1 if no pixel of the part reads padding at this filter position. */
static int whole(const product_t* p, const part_t* part, uint32_t r, uint32_t s) {
  uint32_t h0, h1, w0, w1;
  valid(part->h, part->rows, r * p->dilation[0], p->stride[0], p->pad[0], p->in_h, &h0,
        &h1);
  valid(part->w, part->columns, s * p->dilation[1], p->stride[1], p->pad[1], p->in_w,
        &w0, &w1);
  return h1 - h0 == part->rows && w1 - w0 == part->columns;
}

/* All blocks of one filter position for 16 output channels from k on. */
static int run_position(lowering_t* l, const product_t* p, const part_t* part,
                        pass_t* b, uint32_t k) {
  const uint32_t step = p->transposed ? SLUICE_GEMMINI_COLUMNS : kDim;
  uint32_t c, i, row;
  int code = 0;
  for (c = 0; !code && c < p->c; c += step) {
    const uint32_t wide = least(step, p->c - c);
    code = load_weights(l, p,
                        p->b + k * p->b_k + b->r * p->b_r + b->s * p->b_s + c * p->b_c,
                        b->k, wide, &row);
    for (i = 0; !code && i < wide; i += kDim) {
      b->block = (c + i) / kDim;
      b->c = least(kDim, wide - i);
      b->row = row + i;
      code = run_pass(l, p, part, b);
      b->clears = 0;
    }
  }
  return code;
}

/* Sums of 16 output channels for all pixels of a part, into the accumulators from `sums`
 * on. They begin with a filter position that no padding touches; without one, with zeros. */
static int run_channels(lowering_t* l, const product_t* p, const part_t* part,
                        uint32_t k, uint32_t sums) {
  const uint32_t pixels = part->rows * part->columns, taps = p->r * p->s;
  uint32_t first = 0, t;
  pass_t b;
  int code = 0;
  memset(&b, 0, sizeof b);
  b.k = least(kDim, p->k - k);
  b.sums = sums;
  while (first < taps && !whole(p, part, first / p->s, first % p->s)) ++first;
  b.clears = first < taps;
  if (!b.clears) {
    code = config_load(l, 2, 0, 0);
    for (t = 0; !code && t < pixels; t += kDim) {
      code = command(
          l, SLUICE_GEMMINI_MVIN3,
          l->in->scratch + SLUICE_GEMMINI_SUM_BYTES + SLUICE_GEMMINI_SPREAD_BYTES,
          local(SUMS | (sums + t), kDim, least(kDim, pixels - t)));
      l->counts->sum_bytes += (uint64_t)4 * kDim * least(kDim, pixels - t);
    }
  }
  for (t = 0; !code && t < taps; ++t) {
    const uint32_t tap = first < taps ? (first + t) % taps : t;
    b.r = tap / p->s;
    b.s = tap % p->s;
    code = run_position(l, p, part, &b, k);
  }
  return code;
}

/* Moves sums out, as a dense box [rows][columns][channels], and lets the host finish them. */
static int finish(lowering_t* l, const product_t* p, const part_t* part, uint32_t k,
                  uint32_t channels) {
  const uint32_t pixels = part->rows * part->columns;
  struct sluice_gemmini_step step = p->step;
  uint32_t i, t;
  int code = command(l, SLUICE_GEMMINI_CONFIG, 2u, 4u * (uint64_t)channels);
  for (i = 0; !code && i < channels; i += kDim) {
    const uint32_t columns = least(kDim, channels - i);
    for (t = 0; !code && t < pixels; t += kDim) {
      const uint32_t rows = least(kDim, pixels - t);
      code = command(l, SLUICE_GEMMINI_MVOUT,
                     l->in->scratch + 4u * ((uint64_t)t * channels + i),
                     local(SUMS | WIDE | (i / kDim * pixels + t), columns, rows));
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
  return code ? code : host(l, &step);
}

static int run_part(lowering_t* l, const product_t* p, const part_t* part) {
  const uint32_t pixels = part->rows * part->columns;
  const uint32_t at_once = SLUICE_GEMMINI_SUM_ROWS / pixels * kDim;
  uint32_t k, i;
  int code = part->in_rows == 0 || part->in_columns == 0 ? 0 : load_input(l, p, part);
  if (!code) {
    code = config_load(l, 1, kDim, p->transposed ? p->b_k : p->b_c);
  }
  for (k = 0; !code && k < p->k; k += at_once) {
    const uint32_t channels = least(at_once, p->k - k);
    for (i = 0; !code && i < channels; i += kDim) {
      code = run_channels(l, p, part, k + i, i / kDim * pixels);
    }
    if (!code) code = finish(l, p, part, k, channels);
  }
  return code;
}

/* All parts of a product. A part is made smaller until the memories hold it. */
static int run_product(lowering_t* l, const product_t* p) {
  const uint64_t mode = 4u | (uint64_t)(p->transposed ? 1u : 0u) << 9 |
                        (uint64_t)p->stride[1] << 16 | (uint64_t)ONE << 32;
  part_t part;
  int code = command(l, SLUICE_GEMMINI_CONFIG, mode, 0);
  memset(&part, 0, sizeof part);
  part.rows = p->h;
  part.columns = p->w;
  measure(p, &part);
  while (!fits(p, &part)) {
    if (part.rows == 1 && part.columns == 1) {
      l->counts->reason = "the input of one output pixel is larger than the scratchpad";
      return SLUICE_GEMMINI_UNSUPPORTED;
    }
    if (part.rows > 1) {
      part.rows = (part.rows + 1) / 2;
    } else {
      part.columns = (part.columns + 1) / 2;
    }
    measure(p, &part);
  }
  const part_t most = part;
  for (part.n = 0; !code && part.n < p->n; ++part.n) {
    for (part.h = 0; !code && part.h < p->h; part.h += most.rows) {
      for (part.w = 0; !code && part.w < p->w; part.w += most.columns) {
        part.rows = least(most.rows, p->h - part.h);
        part.columns = least(most.columns, p->w - part.w);
        measure(p, &part);
        code = run_part(l, p, &part);
      }
    }
  }
  return code;
}

/* What the tile's operands say to the product. */
static void fill_window(lowering_t* l, const sluice_kernel_t* kernel,
                        const sluice_tile_t* tile, product_t* p) {
  static const int at[2][2] = {{SLUICE_CONV_STRIDE_H, SLUICE_CONV_DILATION_H},
                               {SLUICE_CONV_STRIDE_W, SLUICE_CONV_DILATION_W}};
  int i;
  for (i = 0; i < 2; ++i) {
    const int32_t stride =
        sluice_walk_attribute(l->in->walker, kernel, (uint32_t)at[i][0]);
    const int32_t dilation =
        sluice_walk_attribute(l->in->walker, kernel, (uint32_t)at[i][1]);
    p->stride[i] = stride > 1 ? (uint32_t)stride : 1;
    p->dilation[i] = dilation > 1 ? (uint32_t)dilation : 1;
    p->pad[i] = tile->pad[i];
  }
}

/* Depthwise: 16 channels at a time; the host spreads their filters into diagonals. */
static int run_depthwise(lowering_t* l, product_t* p) {
  const uint32_t all = p->k;
  const uint64_t a = p->a;
  int code = 0;
  p->b = l->in->scratch + SLUICE_GEMMINI_SUM_BYTES;
  p->b_c = kDim;
  p->b_s = (uint64_t)kDim * kDim;
  p->b_r = p->b_s * p->s;
  p->b_k = 1;
  p->transposed = 0;
  for (p->k0 = 0; !code && p->k0 < all; p->k0 += kDim) {
    struct sluice_gemmini_step step = p->step;
    p->k = p->c = least(kDim, all - p->k0);
    p->a = a + p->k0;
    step.kind = SLUICE_GEMMINI_SPREAD;
    step.address = p->b;
    step.k = p->k0;
    step.channels = p->k;
    code = host(l, &step);
    if (!code) code = run_product(l, p);
  }
  return code;
}

static int run_groups(lowering_t* l, product_t* p, uint32_t groups) {
  const uint64_t a = p->a, b = p->b;
  uint32_t g;
  int code = 0;
  p->k /= groups;
  for (g = 0; !code && g < groups; ++g) {
    p->a = a + (uint64_t)g * p->c;
    p->b = b + (uint64_t)g * p->k * p->b_k;
    p->k0 = g * p->k;
    code = run_product(l, p);
  }
  return code;
}

/* BATCH_MATMUL: a product for each matrix. */
static int run_matrices(lowering_t* l, product_t* p,
                        const sluice_walk_operand_t* second, int transposed) {
  const uint64_t a = p->a, b = address_of(l, second);
  const uint32_t n = p->n, h = p->h;
  uint32_t i, j;
  int code = 0;
  p->transposed = transposed;
  p->b_k = transposed ? second->stride[2] : 1;
  p->b_c = transposed ? 1 : second->stride[2];
  p->n = p->h = p->in_h = 1;
  for (i = 0; !code && i < n; ++i) {
    for (j = 0; !code && j < h; ++j) {
      p->a = a + i * p->a_stride[0] + j * p->a_stride[1];
      p->b = b + (uint64_t)i * second->stride[0] + (uint64_t)j * second->stride[1];
      p->step.n = i; /* of the first pixel: parts add theirs */
      p->step.h = j;
      code = run_product(l, p);
    }
  }
  return code;
}

/* 1 if the array does the sums of this tile. */
static int takes(const lowering_t* l, const sluice_kernel_t* kernel,
                 const sluice_walk_operand_t* first,
                 const sluice_walk_operand_t* second) {
  const sluice_walker_t* w = l->in->walker;
  const int matmul = kernel->op == SLUICE_OP_BATCH_MATMUL;
  if (first->dtype != SLUICE_DTYPE_INT8 || second->dtype != SLUICE_DTYPE_INT8 ||
      (first->extent[3] > 1 && first->stride[3] != 1) ||
      (second->extent[3] > 1 && second->stride[3] != 1)) {
    return 0;
  }
  switch (kernel->op) {
    case SLUICE_OP_DEPTHWISE_CONV: /* an output channel per input channel, or one input */
      if (first->extent[3] == 1) break;
      if (first->extent[3] != second->extent[3] ||
          second->extent[1] * second->extent[2] > SLUICE_GEMMINI_SPREAD_BYTES / 256) {
        return 0;
      }
      break;
    case SLUICE_OP_CONV:
    case SLUICE_OP_FULLY_CONNECTED:
    case SLUICE_OP_BATCH_MATMUL:
      break;
    default:
      return 0;
  }
  return sluice_walk_attribute(
             w, kernel, matmul ? SLUICE_MATMUL_B_ZERO : SLUICE_CONV_WEIGHT_ZERO) == 0;
}

static int run_sums(lowering_t* l, const sluice_kernel_t* kernel,
                    const sluice_tile_t* tile, const struct sluice_gemmini_step* step,
                    const sluice_walk_operand_t operands[3]) {
  const sluice_walk_operand_t *first = &operands[0], *second = &operands[1];
  const uint32_t* box = operands[2].extent;
  const int32_t groups =
      kernel->op == SLUICE_OP_CONV
          ? sluice_walk_attribute(l->in->walker, kernel, SLUICE_CONV_GROUPS)
          : 1;
  const int row = kernel->op == SLUICE_OP_FULLY_CONNECTED ? 2 : 0; /* axis of K */
  product_t p;
  uint32_t i;
  memset(&p, 0, sizeof p);
  p.step = *step;
  p.a = address_of(l, first);
  p.b = address_of(l, second);
  for (i = 0; i < 4; ++i) p.a_stride[i] = first->stride[i];
  p.n = box[0];
  p.h = box[1];
  p.w = box[2];
  p.k = box[3];
  p.c = second->extent[3];
  p.in_h = first->extent[1];
  p.in_w = first->extent[2];
  p.b_k = second->stride[row];
  p.b_c = 1;
  p.r = p.s = p.stride[0] = p.stride[1] = p.dilation[0] = p.dilation[1] = 1;
  p.transposed = 1;
  if (kernel->op == SLUICE_OP_BATCH_MATMUL) {
    p.c = first->extent[3];
    return run_matrices(
        l, &p, second,
        sluice_walk_attribute(l->in->walker, kernel, SLUICE_MATMUL_TRANSPOSE_B) != 0);
  }
  if (kernel->op == SLUICE_OP_FULLY_CONNECTED) return run_product(l, &p);
  fill_window(l, kernel, tile, &p);
  p.r = second->extent[1];
  p.s = second->extent[2];
  p.b_r = second->stride[1];
  p.b_s = second->stride[2];
  if (kernel->op == SLUICE_OP_DEPTHWISE_CONV) {
    if (first->extent[3] != 1) return run_depthwise(l, &p);
    p.c = 1; /* a convolution whose weights have a row per input channel */
    p.b_k = 1;
    p.transposed = 0;
    return run_product(l, &p);
  }
  return run_groups(l, &p, groups > 1 ? first->extent[3] / p.c : 1);
}

/* MACs of a tile or call of an operator that has them, by its output and second operand. */
static uint64_t macs_of(const sluice_kernel_t* kernel,
                        const sluice_walk_operand_t* first,
                        const sluice_walk_operand_t* second,
                        const sluice_walk_operand_t* out) {
  const uint64_t outputs =
      (uint64_t)out->extent[0] * out->extent[1] * out->extent[2] * out->extent[3];
  switch (kernel->op) {
    case SLUICE_OP_CONV:
    case SLUICE_OP_TRANSPOSED_CONV:
      return outputs * second->extent[1] * second->extent[2] * second->extent[3];
    case SLUICE_OP_DEPTHWISE_CONV:
      return outputs * second->extent[1] * second->extent[2];
    case SLUICE_OP_FULLY_CONNECTED:
    case SLUICE_OP_BATCH_MATMUL:
      return outputs * first->extent[3];
    default:
      return 0;
  }
}

static int run_tile(lowering_t* l, struct sluice_gemmini_step* step) {
  const sluice_walker_t* w = l->in->walker;
  sluice_walk_operand_t operands[3];
  sluice_tile_t tile;
  sluice_kernel_t kernel;
  uint64_t macs;
  sluice_walk_tile(w, step->visit, step->instruction.descriptor, &tile);
  sluice_walk_kernel(w, step->visit->instance, tile.kernel, &kernel);
  step->layer = l->counts->layer = kernel.layer;
  operand(l, step->visit, tile.input0, &operands[0]);
  operand(l, step->visit, tile.weight != SLUICE_NONE ? tile.weight : tile.input1,
          &operands[1]);
  operand(l, step->visit,
          step->instruction.flags & SLUICE_FLAG_LAST ? tile.output : tile.accumulator,
          &operands[2]);
  macs = macs_of(&kernel, &operands[0], &operands[1], &operands[2]);
  if (takes(l, &kernel, &operands[0], &operands[1])) {
    l->counts->array_macs += macs;
    return run_sums(l, &kernel, &tile, step, operands);
  }
  l->counts->host_macs += macs;
  ++l->counts->host_tiles;
  step->kind = SLUICE_GEMMINI_TILE;
  return host(l, step);
}

static int run_instruction(lowering_t* l, const sluice_walk_visit_t* visit,
                           const sluice_instruction_t* n) {
  const sluice_walker_t* w = l->in->walker;
  struct sluice_gemmini_step step;
  memset(&step, 0, sizeof step);
  step.visit = visit;
  step.instruction = *n;
  step.layer = SLUICE_NONE;
  if (n->opcode == SLUICE_OPCODE_COMPUTE) return run_tile(l, &step);
  if (n->opcode == SLUICE_OPCODE_HOST) {
    sluice_host_call_t call;
    sluice_kernel_t kernel;
    sluice_walk_operand_t o[3];
    sluice_walk_host_call(w, visit->instance, n->descriptor, &call);
    sluice_walk_kernel(w, visit->instance, call.kernel, &kernel);
    memset(o, 0, sizeof o);
    operand(l, visit, call.first_operand, &o[0]);
    if (call.inputs > 1) operand(l, visit, call.first_operand + 1, &o[1]);
    operand(l, visit, call.first_operand + call.inputs, &o[2]);
    l->counts->host_macs += macs_of(&kernel, &o[0], &o[1], &o[2]);
    step.layer = l->counts->layer = kernel.layer;
    step.kind = SLUICE_GEMMINI_CALL;
  } else {
    sluice_transfer_t t;
    sluice_walk_operand_t to;
    sluice_walk_transfer(w, visit->instance, n->descriptor, &t);
    if (t.index != SLUICE_NONE || n->opcode == SLUICE_OPCODE_FORWARD) {
      l->counts->reason = "a transfer by indices, or between nodes";
      return SLUICE_GEMMINI_UNSUPPORTED;
    }
    operand(l, visit, t.dst, &to);
    l->counts->copied_bytes += to.bytes;
    step.kind = SLUICE_GEMMINI_COPY;
  }
  return host(l, &step);
}

int sluice_gemmini_lower(const struct sluice_gemmini_input* input,
                         const struct sluice_gemmini_port* port,
                         struct sluice_gemmini_counts* counts) {
  const sluice_walker_t* w = input->walker;
  lowering_t l;
  uint64_t done = 0, before;
  uint32_t e, left = 0;
  int code = 0;
  memset(counts, 0, sizeof *counts);
  counts->layer = SLUICE_NONE;
  l.in = input;
  l.port = port;
  l.counts = counts;
  l.slot = 0;
  if (w->header.node_cols * w->header.node_rows != 1) {
    counts->reason = "a stream of several nodes";
    return SLUICE_GEMMINI_UNSUPPORTED;
  }
  sluice_walk_start(w, input->cursors);
  do {
    before = done;
    left = 0;
    for (e = 0; !code && e < w->engines; ++e) {
      sluice_instruction_t n;
      if (!sluice_walk_next(w, input->cursors, e, &n)) continue;
      left = 1;
      if (!sluice_walk_waits_hold(w, input->cursors, e, NULL)) continue;
      code = run_instruction(&l, &input->cursors[e].visit, &n);
      sluice_walk_complete(w, input->cursors, e);
      ++done;
    }
  } while (!code && done != before);
  if (code) return code;
  if (left) {
    counts->reason = "the stream's waits never hold";
    return SLUICE_GEMMINI_STUCK;
  }
  counts->layer = SLUICE_NONE;
  return fence(&l);
}
