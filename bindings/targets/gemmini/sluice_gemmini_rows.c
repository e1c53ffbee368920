/* SPDX-License-Identifier: Apache-2.0 */
/* What lies in which row: the plan's scratchpad, line by line. */
#include "sluice_gemmini_internal.h"

/* One or two boxes as runs of bytes: axes that follow each other densely are one. */
typedef struct {
  uint64_t count, bytes;
  uint32_t extent[4];
  const sluice_walk_operand_t* box[2];
} runs_t;

static runs_t runs_of(const sluice_walk_operand_t* a, const sluice_walk_operand_t* b) {
  runs_t r = {1, 0, {1, 1, 1, 1}, {a, b}};
  int axis = 3, dense = 1;
  r.bytes =
      a->bytes / ((uint64_t)a->extent[0] * a->extent[1] * a->extent[2] * a->extent[3]);
  for (; axis >= 0; --axis) {
    const uint32_t n = a->extent[axis];
    dense = dense && (n == 1 || (a->stride[axis] == r.bytes &&
                                 (b == NULL || b->stride[axis] == r.bytes)));
    if (dense) {
      r.bytes *= n;
    } else {
      r.extent[axis] = n;
      r.count *= n;
    }
  }
  return r;
}

/* Where run i begins, from the start of the region. */
static uint64_t run_at(const runs_t* r, int which, uint64_t i) {
  const sluice_walk_operand_t* o = r->box[which];
  uint64_t at = o->offset;
  int axis = 3;
  for (; axis >= 0; --axis) {
    at += i % r->extent[axis] * o->stride[axis];
    i /= r->extent[axis];
  }
  return at;
}

int sluice_gemmini_in_lines(const sluice_walk_operand_t* o,
                            const sluice_walk_operand_t* other) {
  const runs_t r = runs_of(o, other);
  int axis = 0;
  if (o->region != SLUICE_REGION_GBUF || o->offset % DIM != 0 || r.bytes % DIM != 0 ||
      o->offset + o->span > (uint64_t)LINES * DIM) {
    return 0;
  }
  for (; axis < 4; ++axis) {
    if (r.extent[axis] > 1 && o->stride[axis] % DIM != 0) return 0;
  }
  return 1;
}

int sluice_gemmini_in_blocks(const lowering_t* l, const sluice_walk_operand_t* o) {
  return o->region == SLUICE_REGION_GBUF && o->offset < (uint64_t)LINES * DIM &&
         l->in->lines[o->offset / DIM] & IN_BLOCKS;
}

/* Lines [first, first + n), n <= 16, from the image to their rows, or back. */
static int move(lowering_t* l, uint32_t first, uint32_t n, uint8_t place) {
  const uint64_t image = l->in->base[SLUICE_REGION_GBUF] + (uint64_t)first * DIM;
  int code;
  if (place == IN_ROWS) {
    code = sluice_gemmini_reads(l, SLUICE_REGION_GBUF);
    if (!code) code = sluice_gemmini_config_load(l, 0, DIM, DIM);
    if (!code) {
      code =
          sluice_gemmini_command(l, SLUICE_GEMMINI_MVIN, image, local(first, DIM, n));
    }
    l->counts->fetched_bytes += (uint64_t)n * DIM;
  } else {
    code = sluice_gemmini_writes(l, SLUICE_REGION_GBUF);
    if (!code) {
      code = sluice_gemmini_configure(l, 4, 2u, (uint64_t)ONE << 32 | DIM);
    }
    if (!code) {
      code =
          sluice_gemmini_command(l, SLUICE_GEMMINI_MVOUT, image, local(first, DIM, n));
    }
    l->counts->spilled_bytes += (uint64_t)n * DIM;
  }
  for (; n > 0; --n) l->in->lines[first + n - 1] |= place;
  return code;
}

/* Moves lines [first, end) that are elsewhere alone. */
static int move_all(lowering_t* l, uint32_t first, uint32_t end, uint8_t place) {
  const unsigned char* lines = l->in->lines;
  const uint8_t other = (uint8_t)(place ^ (IN_ROWS | IN_IMAGE));
  uint32_t n;
  int code = 0;
  for (; !code && first < end; first += n) {
    n = 0;
    while (n < DIM && first + n < end && !(lines[first + n] & place) &&
           lines[first + n] & other) {
      ++n;
    }
    if (n > 0) {
      code = move(l, first, n, place);
    } else {
      n = 1;
    }
  }
  return code;
}

/* Lines that a run of bytes touches; those that no row mirrors are none. */
static void lines_of(const runs_t* r, uint64_t i, uint32_t* first, uint32_t* end) {
  const uint64_t at = run_at(r, 0, i);
  const uint64_t last = (at + r->bytes + DIM - 1) / DIM;
  *end = last > LINES ? (uint32_t)LINES : (uint32_t)last;
  *first = at / DIM > *end ? *end : (uint32_t)(at / DIM);
}

int sluice_gemmini_hold(lowering_t* l, const sluice_walk_operand_t* o, uint8_t place) {
  runs_t r;
  uint32_t first, end;
  uint64_t i;
  int code = 0;
  if (o->region != SLUICE_REGION_GBUF) return 0;
  r = runs_of(o, NULL);
  for (i = 0; !code && i < r.count; ++i) {
    lines_of(&r, i, &first, &end);
    code = move_all(l, first, end, place);
  }
  return code;
}

int sluice_gemmini_holds(const lowering_t* l, const sluice_walk_operand_t* o,
                         uint8_t place) {
  const runs_t r = runs_of(o, NULL);
  uint32_t first, end;
  uint64_t i;
  for (i = 0; i < r.count; ++i) {
    for (lines_of(&r, i, &first, &end); first < end; ++first) {
      if (!(l->in->lines[first] & place)) return 0;
    }
  }
  return 1;
}

int sluice_gemmini_mark(lowering_t* l, const sluice_walk_operand_t* o, uint8_t place) {
  runs_t r;
  uint32_t first, end;
  uint64_t i;
  int code = 0;
  if (o->region != SLUICE_REGION_GBUF) return 0;
  r = runs_of(o, NULL);
  for (i = 0; !code && i < r.count; ++i) {
    const uint64_t at = run_at(&r, 0, i);
    lines_of(&r, i, &first, &end);
    if (first < end && at % DIM != 0) code = move_all(l, first, first + 1, IN_IMAGE);
    if (!code && first < end && (at + r.bytes) % DIM != 0) {
      code = move_all(l, end - 1, end, IN_IMAGE);
    }
    for (; first < end; ++first) l->in->lines[first] = place;
  }
  return code;
}

int sluice_gemmini_load(lowering_t* l, const sluice_walk_operand_t* from,
                        const sluice_walk_operand_t* to) {
  const runs_t r = runs_of(to, from);
  uint64_t i, at;
  int code = sluice_gemmini_reads(l, from->region);
  if (!code) code = sluice_gemmini_config_load(l, 0, DIM, DIM);
  for (i = 0; !code && i < r.count; ++i) {
    for (at = 0; !code && at < r.bytes; at += DIM * DIM) {
      const uint32_t rows = least(DIM, (uint32_t)((r.bytes - at) / DIM));
      code = sluice_gemmini_command(
          l, SLUICE_GEMMINI_MVIN, l->in->base[from->region] + run_at(&r, 1, i) + at,
          local((uint32_t)((run_at(&r, 0, i) + at) / DIM), DIM, rows));
    }
  }
  l->counts->input_bytes += to->bytes;
  return code ? code : sluice_gemmini_mark(l, to, IN_ROWS);
}

int sluice_gemmini_store(lowering_t* l, const sluice_walk_operand_t* from,
                         const sluice_walk_operand_t* to) {
  const runs_t r = runs_of(from, to);
  uint64_t i, at;
  int code = sluice_gemmini_writes(l, to->region);
  if (!code) {
    code = sluice_gemmini_configure(l, 4, 2u, (uint64_t)ONE << 32 | DIM);
  }
  for (i = 0; !code && i < r.count; ++i) {
    for (at = 0; !code && at < r.bytes; at += DIM * DIM) {
      const uint32_t rows = least(DIM, (uint32_t)((r.bytes - at) / DIM));
      code = sluice_gemmini_command(
          l, SLUICE_GEMMINI_MVOUT, l->in->base[to->region] + run_at(&r, 1, i) + at,
          local((uint32_t)((run_at(&r, 0, i) + at) / DIM), DIM, rows));
    }
  }
  l->counts->output_bytes += to->bytes;
  return code;
}

/* Weights between DRAM and their blocks. */
static int move_blocks(lowering_t* l, int matrix, uint32_t funct,
                       const sluice_walk_operand_t* dram,
                       const sluice_walk_operand_t* box) {
  const int axis = matrix ? 2 : 0; /* of output channels */
  const uint32_t wide = matrix ? 1 : box->extent[2], all = box->extent[axis];
  const uint32_t taps = matrix ? 1 : box->extent[1] * wide, c_all = box->extent[3];
  const uint32_t most = funct == SLUICE_GEMMINI_MVOUT ? DIM : SLUICE_GEMMINI_COLUMNS;
  const uint64_t pitch = dram->stride[axis];
  uint32_t k, t, c, row = (uint32_t)(box->offset / DIM);
  int code = 0;
  for (k = 0; !code && k < all; k += DIM) {
    const uint32_t rows = least(DIM, all - k);
    l->in->lines[row] |= (unsigned char)(IN_FRONT | (rows - 1) << 4);
    code = most == DIM ? sluice_gemmini_configure(l, 4, 2u, (uint64_t)ONE << 32 | pitch)
                       : sluice_gemmini_config_load(l, 1, rows, pitch);
    for (t = 0; !code && t < taps; ++t) {
      const uint64_t at = l->in->base[dram->region] + dram->offset + k * pitch +
                          (uint64_t)(t / wide) * dram->stride[1] +
                          (uint64_t)(t % wide) * dram->stride[2];
      for (c = 0; !code && c < c_all; c += most) {
        const uint32_t columns = least(most, c_all - c);
        code = sluice_gemmini_command(l, funct, at + c, local(row, columns, rows));
        row += columns / DIM * rows;
      }
    }
  }
  return code;
}

int sluice_gemmini_load_weights(lowering_t* l, int matrix,
                                const sluice_walk_operand_t* from,
                                const sluice_walk_operand_t* to) {
  int code = sluice_gemmini_mark(l, to, IN_ROWS | IN_BLOCKS);
  if (!code) code = sluice_gemmini_reads(l, from->region);
  l->counts->weight_bytes += to->bytes;
  return code ? code : move_blocks(l, matrix, SLUICE_GEMMINI_MVIN2, from, to);
}

int sluice_gemmini_unblock(lowering_t* l, int matrix, const sluice_walk_operand_t* o) {
  int code = sluice_gemmini_hold(l, o, IN_ROWS);
  if (!code) code = sluice_gemmini_writes(l, SLUICE_REGION_GBUF);
  if (!code) code = move_blocks(l, matrix, SLUICE_GEMMINI_MVOUT, o, o);
  l->counts->spilled_bytes += o->bytes;
  return code ? code : sluice_gemmini_mark(l, o, IN_IMAGE);
}

/* Lines [first, end) that would have to be moved to the image; all ones: not to be had. */
static uint32_t price(const lowering_t* l, const product_t* p, uint32_t first,
                      uint32_t rows) {
  const uint64_t begin = (uint64_t)first * DIM, end = begin + (uint64_t)rows * DIM;
  uint32_t i, n = 0;
  if (first + rows > LINES) return ALL_ONES;
  if (p->a_stays && p->first.offset < end && begin < p->first.offset + p->first.span) {
    return ALL_ONES;
  }
  if (p->b_stays && p->second.offset < end &&
      begin < p->second.offset + p->second.span) {
    return ALL_ONES;
  }
  if (p->to_rows && p->output.offset < end &&
      begin < p->output.offset + p->output.span) {
    return ALL_ONES;
  }
  for (i = first; i < first + rows; ++i) {
    n += (l->in->lines[i] & (IN_ROWS | IN_IMAGE)) == IN_ROWS;
  }
  return n;
}

int sluice_gemmini_room(lowering_t* l, const product_t* p, uint32_t rows,
                        uint32_t* first) {
  uint32_t best = ALL_ONES, at = 0, i;
  int code;
  for (i = 0; i <= LINES / 64; ++i) { /* from the end: plans fill from the start */
    const uint32_t from = i * 64 + rows <= LINES ? LINES - rows - i * 64 : 0;
    const uint32_t cost = price(l, p, from, rows);
    if (cost < best) {
      best = cost;
      at = from;
    }
    if (cost == 0) break;
  }
  if (best == ALL_ONES) {
    l->counts->reason = "operands leave no room in the scratchpad";
    return SLUICE_GEMMINI_UNSUPPORTED;
  }
  code = move_all(l, at, at + rows, IN_IMAGE);
  for (i = at; i < at + rows; ++i) l->in->lines[i] &= (uint8_t)~IN_ROWS;
  *first = at;
  return code;
}
