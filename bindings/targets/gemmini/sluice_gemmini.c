/* SPDX-License-Identifier: Apache-2.0 */
#include "sluice_gemmini_internal.h"

static int fence(lowering_t* l) {
  ++l->counts->fences;
  l->reads = l->writes = 0;
  return l->port->fence(l->port->user);
}

int sluice_gemmini_configure(lowering_t* l, uint32_t which, uint64_t rs1,
                             uint64_t rs2) {
  if (l->config[which][0] == rs1 && l->config[which][1] == rs2) return 0;
  l->config[which][0] = rs1;
  l->config[which][1] = rs2;
  return sluice_gemmini_command(l, SLUICE_GEMMINI_CONFIG, rs1, rs2);
}

int sluice_gemmini_config_load(lowering_t* l, uint32_t which, uint32_t block_stride,
                               uint64_t stride) {
  return sluice_gemmini_configure(
      l, 1 + which,
      1u | which << 3 | (uint64_t)block_stride << 16 | (uint64_t)ONE << 32, stride);
}

/* The hardware orders rows that MVOUT_SPAD writes as if they followed each other. */
int sluice_gemmini_command(lowering_t* l, uint32_t funct, uint64_t rs1, uint64_t rs2) {
  const int own = funct == SLUICE_GEMMINI_MVOUT_SPAD || funct == SLUICE_GEMMINI_CONFIG;
  const int code = !own && l->writes >> ROWS & 1 ? fence(l) : 0;
  ++l->counts->commands[funct];
  return code ? code : l->port->command(l->port->user, funct, rs1, rs2);
}

int sluice_gemmini_reads(lowering_t* l, uint32_t region) {
  const int code = l->writes >> region & 1 ? fence(l) : 0;
  l->reads |= 1u << region;
  return code;
}

int sluice_gemmini_writes(lowering_t* l, uint32_t region) {
  const int code = l->reads >> region & 1 ? fence(l) : 0;
  l->writes |= 1u << region;
  return code;
}

int sluice_gemmini_host(lowering_t* l, const struct sluice_gemmini_step* step) {
  const int code = fence(l);
  ++l->counts->steps[step->kind];
  return code ? code : l->port->host(l->port->user, step);
}

int sluice_gemmini_ask_scale(lowering_t* l, product_t* p) {
  const uint8_t whole = SLUICE_FLAG_FIRST | SLUICE_FLAG_LAST;
  struct sluice_gemmini_step step = p->step;
  float scale = 1;
  int relu = 0, code;
  p->scaled = 0;
  if (l->port->scale == NULL || (step.instruction.flags & whole) != whole ||
      p->k > SLUICE_GEMMINI_SUM_BYTES / 4 || p->output.dtype != SLUICE_DTYPE_INT8 ||
      p->output.stride[3] != 1) {
    return 0;
  }
  code = fence(l);
  if (code) return code;
  ++l->counts->steps[SLUICE_GEMMINI_BIAS];
  step.kind = SLUICE_GEMMINI_BIAS;
  step.address = l->in->scratch;
  step.k = p->k0;
  step.rows = p->h;
  step.columns = p->w;
  step.channels = p->k;
  code = l->port->scale(l->port->user, &step, &scale, &relu);
  if (code <= 0) return code;
  p->scaled = 1;
  p->relu = relu != 0;
  memcpy(&p->scale, &scale, sizeof p->scale);
  return 0;
}

static void operand(const lowering_t* l, const sluice_walk_visit_t* visit,
                    uint32_t index, sluice_walk_operand_t* o) {
  memset(o, 0, sizeof *o);
  o->region = SLUICE_REGION_COUNT;
  if (index != SLUICE_NONE) sluice_walk_operand(l->in->walker, visit, index, o);
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
  p->b_c = DIM;
  p->b_s = (uint64_t)DIM * DIM;
  p->b_r = p->b_s * p->s;
  p->b_k = 1;
  p->transposed = 0;
  p->spread = 1;
  for (p->k0 = 0; !code && p->k0 < all; p->k0 += DIM) {
    struct sluice_gemmini_step step = p->step;
    p->k = p->c = least(DIM, all - p->k0);
    p->a = a + p->k0;
    step.kind = SLUICE_GEMMINI_SPREAD;
    step.address = p->b;
    step.k = p->k0;
    step.channels = p->k;
    code = sluice_gemmini_host(l, &step);
    if (!code) code = sluice_gemmini_product(l, p);
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
    code = sluice_gemmini_product(l, p);
  }
  return code;
}

/* BATCH_MATMUL: a product for each matrix. */
static int run_matrices(lowering_t* l, product_t* p, int transposed) {
  const sluice_walk_operand_t* second = &p->second;
  const uint64_t a = p->a, b = p->b;
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
      code = sluice_gemmini_product(l, p);
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

/* Where the array reads its operands: the input's pixels where they begin lines, weights
 * that were loaded in blocks. All else is moved from the image for each part. */
static int place_operands(lowering_t* l, product_t* p, int grouped) {
  const sluice_walk_operand_t* a = &p->first;
  int axis, code;
  p->a_stays = a->offset % DIM == 0 && !(grouped && p->c % DIM != 0) &&
               a->offset + a->span <= (uint64_t)LINES * DIM;
  for (axis = 0; axis < 3; ++axis) {
    if (a->extent[axis] > 1 && a->stride[axis] % DIM != 0) p->a_stays = 0;
  }
  p->b_stays = sluice_gemmini_in_blocks(l, &p->second);
  if (a->extent[1] == 1) p->a_stride[1] = 0;
  if (a->extent[2] == 1) p->a_stride[2] = p->a_stride[1]; /* a column is a long row */
  code = sluice_gemmini_hold(l, a, p->a_stays ? IN_ROWS : IN_IMAGE);
  return code ? code
              : sluice_gemmini_hold(l, &p->second, p->b_stays ? IN_ROWS : IN_IMAGE);
}

static int run_sums(lowering_t* l, const sluice_kernel_t* kernel,
                    const sluice_tile_t* tile, product_t* p) {
  const sluice_walk_operand_t *first = &p->first, *second = &p->second;
  const uint32_t* box = p->output.extent;
  const int32_t groups =
      kernel->op == SLUICE_OP_CONV
          ? sluice_walk_attribute(l->in->walker, kernel, SLUICE_CONV_GROUPS)
          : 1;
  const int row = kernel->op == SLUICE_OP_FULLY_CONNECTED ? 2 : 0; /* axis of K */
  uint32_t i;
  int code;
  p->a = first->offset;
  p->b = second->offset;
  for (i = 0; i < 4; ++i) p->a_stride[i] = first->stride[i];
  p->n = box[0];
  p->h = box[1];
  p->w = box[2];
  p->k = box[3];
  p->c = second->extent[3];
  p->in_h = first->extent[1];
  p->in_w = first->extent[2];
  p->b_k = second->stride[row];
  p->b_c = 1;
  p->r = p->s = p->stride[0] = p->stride[1] = p->dilation[0] = p->dilation[1] = 1;
  p->pack = 1;
  p->transposed = 1;
  code = place_operands(l, p, groups > 1);
  if (code) return code;
  if (kernel->op == SLUICE_OP_BATCH_MATMUL) {
    p->c = first->extent[3];
    return run_matrices(
        l, p,
        sluice_walk_attribute(l->in->walker, kernel, SLUICE_MATMUL_TRANSPOSE_B) != 0);
  }
  p->may_keep = groups <= 1 && p->n == 1 && kernel->op != SLUICE_OP_DEPTHWISE_CONV;
  if (kernel->op == SLUICE_OP_FULLY_CONNECTED) return sluice_gemmini_product(l, p);
  fill_window(l, kernel, tile, p);
  p->r = second->extent[1];
  p->s = second->extent[2];
  p->b_r = second->stride[1];
  p->b_s = second->stride[2];
  if (kernel->op == SLUICE_OP_DEPTHWISE_CONV) {
    if (first->extent[3] != 1) return run_depthwise(l, p);
    p->c = 1; /* a convolution whose weights have a row per input channel */
    p->b_k = 1;
    p->transposed = 0;
    return sluice_gemmini_product(l, p);
  }
  if (groups <= 1 && !p->a_stays && 2 * p->c <= DIM && p->dilation[1] == 1 &&
      p->a_stride[2] == p->c && p->b_s == p->c) {
    p->pack = least(DIM / p->c, p->s);
  }
  return run_groups(l, p, groups > 1 ? first->extent[3] / p->c : 1);
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

/* What the host reads of a tile is in the image, what it writes is then there alone. */
static int open_image(lowering_t* l, const sluice_walk_visit_t* visit,
                      const sluice_tile_t* tile, const sluice_kernel_t* all) {
  const uint32_t reads[] = {tile->parameters, tile->accumulator, tile->input0,
                            tile->input1, tile->weight};
  const uint32_t writes[] = {tile->accumulator, tile->output};
  sluice_walk_operand_t o;
  int i, code = 0;
  for (i = 0; !code && i < (all != NULL ? 5 : 2); ++i) {
    operand(l, visit, reads[i], &o);
    if (all != NULL && sluice_gemmini_in_blocks(l, &o)) {
      code = sluice_gemmini_unblock(l, all->op == SLUICE_OP_FULLY_CONNECTED, &o);
    } else {
      code = sluice_gemmini_hold(l, &o, IN_IMAGE);
    }
  }
  for (i = 0; !code && i < 2; ++i) {
    operand(l, visit, writes[i], &o);
    code = sluice_gemmini_mark(l, &o, IN_IMAGE);
  }
  return code;
}

static int run_tile(lowering_t* l, struct sluice_gemmini_step* step) {
  const sluice_walker_t* w = l->in->walker;
  sluice_tile_t tile;
  sluice_kernel_t kernel;
  sluice_walk_operand_t sums;
  product_t p;
  uint64_t macs;
  int code;
  memset(&p, 0, sizeof p);
  sluice_walk_tile(w, step->visit, step->instruction.descriptor, &tile);
  sluice_walk_kernel(w, step->visit->instance, tile.kernel, &kernel);
  step->layer = l->counts->layer = kernel.layer;
  operand(l, step->visit, tile.input0, &p.first);
  operand(l, step->visit, tile.weight != SLUICE_NONE ? tile.weight : tile.input1,
          &p.second);
  operand(l, step->visit,
          step->instruction.flags & SLUICE_FLAG_LAST ? tile.output : tile.accumulator,
          &p.output);
  macs = macs_of(&kernel, &p.first, &p.second, &p.output);
  if (takes(l, &kernel, &p.first, &p.second)) {
    l->counts->array_macs += macs;
    p.step = *step;
    p.step.c = tile.c_begin;
    p.c_end = tile.c_end;
    operand(l, step->visit, tile.accumulator, &sums);
    p.sums = sums.offset;
    p.sums_span = tile.accumulator != SLUICE_NONE ? sums.span : 0;
    code = open_image(l, step->visit, &tile, NULL);
    return code ? code : run_sums(l, &kernel, &tile, &p);
  }
  l->counts->host_macs += macs;
  ++l->counts->host_tiles;
  step->kind = SLUICE_GEMMINI_TILE;
  code = sluice_gemmini_release(l, 0, UINT64_MAX);
  if (!code) code = open_image(l, step->visit, &tile, &kernel);
  return code ? code : sluice_gemmini_host(l, step);
}

/* 1 if the array multiplies by these weights in blocks. */
static int in_blocks(const lowering_t* l, const sluice_kernel_t* kernel,
                     const sluice_walk_operand_t* from,
                     const sluice_walk_operand_t* to) {
  const sluice_walker_t* w = l->in->walker;
  if (kernel->op != SLUICE_OP_FULLY_CONNECTED &&
      (kernel->op != SLUICE_OP_CONV ||
       sluice_walk_attribute(w, kernel, SLUICE_CONV_GROUPS) > 1)) {
    return 0;
  }
  return to->dtype == SLUICE_DTYPE_INT8 && from->region == SLUICE_REGION_CONST &&
         to->extent[3] % DIM == 0 && to->span == to->bytes &&
         sluice_walk_attribute(w, kernel, SLUICE_CONV_WEIGHT_ZERO) == 0;
}

/* A LOAD goes to rows where the array reads what it loads, else to the image by the host. */
static int run_load(lowering_t* l, const sluice_transfer_t* t,
                    struct sluice_gemmini_step* step) {
  sluice_walk_operand_t from, to;
  sluice_kernel_t kernel;
  int code, array;
  operand(l, step->visit, t->src, &from);
  operand(l, step->visit, t->dst, &to);
  sluice_walk_kernel(l->in->walker, step->visit->instance, t->kernel, &kernel);
  array = kernel.op == SLUICE_OP_CONV || kernel.op == SLUICE_OP_DEPTHWISE_CONV ||
          kernel.op == SLUICE_OP_FULLY_CONNECTED || kernel.op == SLUICE_OP_BATCH_MATMUL;
  if (array && to.dtype == SLUICE_DTYPE_INT8 && sluice_gemmini_in_lines(&to, &from) &&
      to.stride[3] == 1 && from.stride[3] == 1) {
    if (t->role == SLUICE_ROLE_INPUT) return sluice_gemmini_load(l, &from, &to);
    if (t->role == SLUICE_ROLE_WEIGHT && in_blocks(l, &kernel, &from, &to)) {
      return sluice_gemmini_load_weights(l, kernel.op == SLUICE_OP_FULLY_CONNECTED,
                                         &from, &to);
    }
  }
  code = sluice_gemmini_mark(l, &to, IN_IMAGE);
  l->counts->copied_bytes += to.bytes;
  return code ? code : sluice_gemmini_host(l, step);
}

/* A STORE comes from rows where nothing but rows has it, else from the image. */
static int run_store(lowering_t* l, const sluice_transfer_t* t,
                     struct sluice_gemmini_step* step) {
  sluice_walk_operand_t from, to;
  int code;
  operand(l, step->visit, t->src, &from);
  operand(l, step->visit, t->dst, &to);
  code = sluice_gemmini_release(l, from.offset, from.span);
  if (code) return code;
  if (!sluice_gemmini_holds(l, &from, IN_IMAGE) &&
      sluice_gemmini_in_lines(&from, &to) && sluice_gemmini_holds(l, &from, IN_ROWS)) {
    return sluice_gemmini_store(l, &from, &to);
  }
  code = sluice_gemmini_hold(l, &from, IN_IMAGE);
  l->counts->copied_bytes += to.bytes;
  return code ? code : sluice_gemmini_host(l, step);
}

static int run_call(lowering_t* l, struct sluice_gemmini_step* step) {
  const sluice_walker_t* w = l->in->walker;
  sluice_host_call_t call;
  sluice_kernel_t kernel;
  sluice_walk_operand_t o[3];
  sluice_walk_host_call(w, step->visit->instance, step->instruction.descriptor, &call);
  sluice_walk_kernel(w, step->visit->instance, call.kernel, &kernel);
  operand(l, step->visit, call.first_operand, &o[0]);
  operand(l, step->visit, call.inputs > 1 ? call.first_operand + 1 : SLUICE_NONE,
          &o[1]);
  operand(l, step->visit, call.first_operand + call.inputs, &o[2]);
  l->counts->host_macs += macs_of(&kernel, &o[0], &o[1], &o[2]);
  step->layer = l->counts->layer = kernel.layer;
  step->kind = SLUICE_GEMMINI_CALL;
  return sluice_gemmini_host(l, step);
}

static int run_instruction(lowering_t* l, const sluice_walk_visit_t* visit,
                           const sluice_instruction_t* n) {
  struct sluice_gemmini_step step;
  sluice_transfer_t t;
  memset(&step, 0, sizeof step);
  step.visit = visit;
  step.instruction = *n;
  step.layer = SLUICE_NONE;
  if (n->opcode == SLUICE_OPCODE_COMPUTE) return run_tile(l, &step);
  if (n->opcode == SLUICE_OPCODE_HOST) return run_call(l, &step);
  sluice_walk_transfer(l->in->walker, visit->instance, n->descriptor, &t);
  step.kind = SLUICE_GEMMINI_COPY;
  if (t.index != SLUICE_NONE || n->opcode == SLUICE_OPCODE_FORWARD) {
    l->counts->reason = "a transfer by indices, or between nodes";
    return SLUICE_GEMMINI_UNSUPPORTED;
  }
  return n->opcode == SLUICE_OPCODE_LOAD ? run_load(l, &t, &step)
                                         : run_store(l, &t, &step);
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
  memset(&l, 0, sizeof l);
  memset(input->lines, 0, LINES);
  l.in = input;
  l.port = port;
  l.counts = counts;
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
