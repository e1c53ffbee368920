/* SPDX-License-Identifier: Apache-2.0 */
/* What lies in which row: the plan's scratchpad, line by line. */
#include "sluice_gemmini_internal.h"

int gemmini_in_lines(const sluice_walk_operand_t* o,
                     const sluice_walk_operand_t* other) {
  const target_runs_t r = target_runs(o, other);
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

int gemmini_in_blocks(const lowering_t* l, const sluice_walk_operand_t* o) {
  return o->region == SLUICE_REGION_GBUF && o->offset < (uint64_t)LINES * DIM &&
         l->in->lines[o->offset / DIM] & IN_BLOCKS;
}

uint32_t gemmini_front(const lowering_t* l, uint64_t at) {
  uint32_t line = (uint32_t)(at / DIM);
  while (line > 0 && (l->in->lines[line] & IN_FRONT) == 0) --line;
  return line;
}

void gemmini_whole_blocks(const lowering_t* l, sluice_walk_operand_t* o) {
  const uint32_t front = gemmini_front(l, o->offset);
  uint32_t end = (uint32_t)((o->offset + o->span) / DIM);
  while (end < LINES && (l->in->lines[end] & (IN_BLOCKS | IN_FRONT)) == IN_BLOCKS)
    ++end;
  o->offset = (uint64_t)front * DIM;
  o->bytes = o->span = (uint64_t)(end - front) * DIM;
  o->extent[0] = o->extent[1] = o->extent[2] = o->stride[3] = 1;
  o->extent[3] = (uint32_t)o->span;
}

/* Rows from DRAM (mvin) or to DRAM (mvout), without a gap there. */
static void move(lowering_t* l, uint32_t funct, uint32_t region, uint64_t offset,
                 uint32_t first, uint64_t count) {
  uint64_t i;
  if (funct == SLUICE_GEMMINI_MVIN) {
    gemmini_reads(l, region);
    gemmini_config_load(l, 0, DIM, DIM);
  } else {
    gemmini_writes(l, region);
    gemmini_config_store(l, ONE, 0, DIM);
  }
  for (i = 0; i < count; i += DIM) {
    const uint32_t rows = count - i < DIM ? (uint32_t)(count - i) : DIM;
    gemmini_command(l, funct, l->in->base[region] + offset + i * DIM,
                    local(first + (uint32_t)i, DIM, rows));
  }
}

/* Moves lines [first, end) that are elsewhere alone. */
static void move_all(lowering_t* l, uint32_t first, uint32_t end, uint8_t place) {
  unsigned char* lines = l->in->lines;
  uint64_t* bytes =
      place == IN_ROWS ? &l->counts->fetched_bytes : &l->counts->spilled_bytes;
  uint32_t n;
  for (; first<end; first += n> 0 ? n : 1) {
    n = 0;
    while (first + n < end && !(lines[first + n] & place) &&
           lines[first + n] & (place ^ (IN_ROWS | IN_IMAGE))) {
      lines[first + n++] |= place;
    }
    if (n == 0) continue;
    move(l, place == IN_ROWS ? SLUICE_GEMMINI_MVIN : SLUICE_GEMMINI_MVOUT,
         SLUICE_REGION_GBUF, (uint64_t)first * DIM, first, n);
    *bytes += (uint64_t)n * DIM;
  }
}

/* The lines that each run of a box touches; those that no row mirrors are none. */
typedef struct {
  target_runs_t runs;
  uint64_t i, begin, end; /* bytes of the run */
  uint32_t first, last;   /* its lines, and the one behind them */
} lines_t;

static lines_t lines_of(const sluice_walk_operand_t* o) {
  lines_t x;
  memset(&x, 0, sizeof x);
  if (o->region == SLUICE_REGION_GBUF) x.runs = target_runs(o, NULL);
  return x;
}

static int next_run(lines_t* x) {
  if (x->i == x->runs.count) return 0;
  x->begin = target_run_at(&x->runs, 0, x->i++);
  x->end = x->begin + x->runs.bytes;
  x->last = x->end > (LINES - 1) * DIM ? (uint32_t)LINES : blocks((uint32_t)x->end);
  x->first = x->begin / DIM > x->last ? x->last : (uint32_t)(x->begin / DIM);
  return 1;
}

void gemmini_hold(lowering_t* l, const sluice_walk_operand_t* o, uint8_t place) {
  lines_t x = lines_of(o);
  while (next_run(&x)) move_all(l, x.first, x.last, place);
}

int gemmini_holds(const lowering_t* l, const sluice_walk_operand_t* o, uint8_t place) {
  lines_t x = lines_of(o);
  while (next_run(&x)) {
    for (; x.first < x.last; ++x.first) {
      if (!(l->in->lines[x.first] & place)) return 0;
    }
  }
  return 1;
}

void gemmini_mark(lowering_t* l, const sluice_walk_operand_t* o, uint8_t place) {
  lines_t x = lines_of(o);
  while (next_run(&x)) {
    if (x.first == x.last) continue;
    if (x.begin % DIM != 0) move_all(l, x.first, x.first + 1, IN_IMAGE);
    if (x.end % DIM != 0) move_all(l, x.last - 1, x.last, IN_IMAGE);
    memset(l->in->lines + x.first, place, x.last - x.first);
  }
}

void gemmini_transfer(lowering_t* l, uint32_t funct, const sluice_walk_operand_t* dram,
                      const sluice_walk_operand_t* box) {
  const target_runs_t r = target_runs(box, dram);
  uint64_t i;
  for (i = 0; i < r.count; ++i) {
    move(l, funct, dram->region, target_run_at(&r, 1, i),
         (uint32_t)(target_run_at(&r, 0, i) / DIM), r.bytes / DIM);
  }
  if (funct == SLUICE_GEMMINI_MVIN) gemmini_mark(l, box, IN_ROWS);
}

void gemmini_load_weights(lowering_t* l, int matrix, const sluice_walk_operand_t* from,
                          const sluice_walk_operand_t* to) {
  const int axis = matrix ? 2 : 0; /* of output channels */
  const uint32_t wide = matrix ? 1 : to->extent[2], all = to->extent[axis];
  const uint32_t taps = matrix ? 1 : to->extent[1] * wide;
  const uint64_t pitch = from->stride[axis];
  uint32_t k, t, c, row = (uint32_t)(to->offset / DIM);
  gemmini_mark(l, to, IN_ROWS | IN_BLOCKS);
  gemmini_reads(l, from->region);
  l->counts->weight_bytes += to->bytes;
  for (k = 0; k < all; k += DIM) {
    const uint32_t rows = least(DIM, all - k);
    l->in->lines[row] |= (unsigned char)(IN_FRONT | (rows - 1) << 4);
    gemmini_config_load(l, 1, rows, pitch);
    for (t = 0; t < taps; ++t) {
      const uint64_t at = l->in->base[from->region] + from->offset + k * pitch +
                          (uint64_t)(t / wide) * from->stride[1] +
                          (uint64_t)(t % wide) * from->stride[2];
      for (c = 0; c < to->extent[3]; c += SLUICE_GEMMINI_COLUMNS) {
        const uint32_t columns = least(SLUICE_GEMMINI_COLUMNS, to->extent[3] - c);
        gemmini_command(l, SLUICE_GEMMINI_MVIN2, at + c, local(row, columns, rows));
        row += columns / DIM * rows;
      }
    }
  }
}

static int meets(const sluice_walk_operand_t* o, uint64_t begin, uint64_t end) {
  return o->offset < end && begin < o->offset + o->span;
}

/* Lines [first, first + rows) that would have to be moved to the image; all ones: not to be
 * had. */
static uint32_t price(const lowering_t* l, const product_t* p, uint32_t first,
                      uint32_t rows) {
  const uint64_t begin = (uint64_t)first * DIM, end = begin + (uint64_t)rows * DIM;
  uint32_t i, n = 0;
  if (first + rows > LINES || (p->a_stays && meets(&p->t.in, begin, end)) ||
      (p->b_stays && meets(&p->t.weight, begin, end)) ||
      (p->to_rows && meets(&p->t.out, begin, end))) {
    return ALL_ONES;
  }
  for (i = first; i < first + rows; ++i) {
    n += (l->in->lines[i] & (IN_ROWS | IN_IMAGE)) == IN_ROWS;
  }
  return n;
}

int gemmini_room(lowering_t* l, const product_t* p, uint32_t rows, uint32_t* first) {
  uint32_t best = ALL_ONES, i;
  for (i = 0; i <= LINES / 64; ++i) { /* from the end: plans fill from the start */
    const uint32_t from = i * 64 + rows <= LINES ? LINES - rows - i * 64 : 0;
    const uint32_t cost = price(l, p, from, rows);
    if (cost < best) {
      best = cost;
      *first = from;
    }
    if (cost == 0) break;
  }
  if (best == ALL_ONES) return 0;
  move_all(l, *first, *first + rows, IN_IMAGE);
  for (i = 0; i < rows; ++i) l->in->lines[*first + i] &= (uint8_t)~IN_ROWS;
  return 1;
}
