/* SPDX-License-Identifier: Apache-2.0 */
#include "sluice_gemmini_internal.h"

void gemmini_fail(lowering_t* l, const char* why) {
  if (l->code) return;
  l->code = SLUICE_GEMMINI_UNSUPPORTED;
  l->counts->reason = why;
}

void gemmini_fence(lowering_t* l) {
  ++l->counts->fences;
  l->reads = l->writes = 0;
  if (!l->code) l->code = l->port->fence(l->port->user);
}

/* The hardware orders rows that MVOUT_SPAD writes as if they followed each other. Commands
 * that have noted a region have waited for these rows before, so that the note stays. */
void gemmini_command(lowering_t* l, uint32_t funct, uint64_t rs1, uint64_t rs2) {
  const int own = funct == SLUICE_GEMMINI_MVOUT_SPAD || funct == SLUICE_GEMMINI_CONFIG;
  if (!own && l->writes >> ROWS & 1) gemmini_fence(l);
  ++l->counts->commands[funct];
  if (!l->code) l->code = l->port->command(l->port->user, funct, rs1, rs2);
}

void gemmini_configure(lowering_t* l, uint32_t which, uint64_t rs1, uint64_t rs2) {
  if (l->config[which][0] == rs1 && l->config[which][1] == rs2) return;
  l->config[which][0] = rs1;
  l->config[which][1] = rs2;
  gemmini_command(l, SLUICE_GEMMINI_CONFIG, rs1, rs2);
}

void gemmini_config_load(lowering_t* l, uint32_t which, uint32_t block_stride,
                         uint64_t stride) {
  gemmini_configure(
      l, 1 + which,
      1u | which << 3 | (uint64_t)block_stride << 16 | (uint64_t)ONE << 32, stride);
}

void gemmini_config_store(lowering_t* l, uint32_t scale, uint32_t relu,
                          uint64_t stride) {
  gemmini_configure(l, 4, 2u | relu << 2, (uint64_t)scale << 32 | stride);
}

void gemmini_reads(lowering_t* l, uint32_t region) {
  if ((l->writes >> region | l->writes >> ROWS) & 1) gemmini_fence(l);
  l->reads |= 1u << region;
}

void gemmini_writes(lowering_t* l, uint32_t region) {
  if ((l->reads >> region | l->writes >> ROWS) & 1) gemmini_fence(l);
  l->writes |= 1u << region;
}

void gemmini_host(lowering_t* l, const struct sluice_gemmini_step* step) {
  gemmini_fence(l);
  ++l->counts->steps[step->kind];
  if (!l->code) l->code = l->port->host(l->port->user, step);
}

/* Depthwise: 16 output channels at a time, `each` per input channel; the host spreads their
 * filters into matrices. `begin`: the tile's first channel of the layer's output. */
static void run_depthwise(lowering_t* l, product_t* p, uint32_t begin, uint32_t each) {
  const uint32_t all = p->k;
  const uint64_t a = p->a;
  p->b = l->in->scratch + SLUICE_GEMMINI_SUM_BYTES;
  p->t.filter[OF_C] = DIM;
  p->t.filter[OF_S] = DIM * DIM;
  p->t.filter[OF_R] = p->t.filter[OF_S] * p->t.cols;
  p->transposed = 0;
  p->spread = 1;
  for (p->k0 = 0; p->k0 < all; p->k0 += DIM) {
    const uint32_t first = (begin + p->k0) / each;
    struct sluice_gemmini_step step = p->step;
    p->k = least(DIM, all - p->k0);
    p->c = (begin + p->k0 + p->k - 1) / each - first + 1;
    p->a = a + first - begin / each;
    step.kind = SLUICE_GEMMINI_SPREAD;
    step.address = p->b;
    step.k = p->k0;
    step.channels = p->k;
    gemmini_host(l, &step);
    gemmini_product(l, p);
  }
}

static void run_groups(lowering_t* l, product_t* p, uint32_t groups) {
  const uint64_t a = p->a, b = p->b;
  uint32_t g;
  p->k /= groups;
  for (g = 0; g < groups; ++g) {
    p->a = a + (uint64_t)g * p->c;
    p->b = b + (uint64_t)g * p->k * p->t.filter[OF_K];
    p->k0 = g * p->k;
    gemmini_product(l, p);
  }
}

/* BATCH_MATMUL: a product for each matrix. */
static void run_matrices(lowering_t* l, product_t* p) {
  const uint64_t a = p->a, b = p->b;
  const uint32_t* const strides = p->t.weight.stride;
  const uint32_t n = p->n, h = p->h;
  uint32_t i, j;
  p->n = p->h = p->in_h = 1;
  for (i = 0; i < n; ++i) {
    for (j = 0; j < h; ++j) {
      p->a = a + i * p->a_stride[0] + j * p->a_stride[1];
      p->b = b + (uint64_t)i * strides[0] + (uint64_t)j * strides[1];
      p->step.n = i; /* of the first pixel: parts add theirs */
      p->step.h = j;
      gemmini_product(l, p);
    }
  }
}

/* 1 if the array does the sums of this tile. */
static int takes(const target_tile_t* t) {
  const sluice_walk_operand_t *in = &t->in, *weight = &t->weight;
  const int depthwise = t->kernel.op == SLUICE_OP_DEPTHWISE_CONV;
  return in->dtype == SLUICE_DTYPE_INT8 && weight->dtype == SLUICE_DTYPE_INT8 &&
         (in->extent[3] == 1 || in->stride[3] == 1) &&
         (weight->extent[3] == 1 || weight->stride[3] == 1) && t->weight_zero == 0 &&
         (!depthwise || t->rows * t->cols <= SLUICE_GEMMINI_SPREAD_BYTES / 256);
}

/* Where the array reads its operands: the input's pixels where they begin lines, weights
 * that were loaded in blocks. All else is moved from the image for each part. */
static void place_operands(lowering_t* l, product_t* p, int grouped, int may_stay) {
  const sluice_walk_operand_t* a = &p->t.in;
  int axis;
  p->a_stays = may_stay && a->offset % DIM == 0 && !(grouped && p->c % DIM != 0) &&
               a->offset + a->span <= (uint64_t)LINES * DIM;
  for (axis = 0; axis < 3; ++axis) {
    if (a->extent[axis] > 1 && a->stride[axis] % DIM != 0) p->a_stays = 0;
  }
  p->b_stays = gemmini_in_blocks(l, &p->t.weight);
  if (p->b_stays) gemmini_whole_blocks(l, &p->t.weight);
  if (a->extent[1] == 1) p->a_stride[1] = 0;
  if (a->extent[2] == 1) p->a_stride[2] = p->a_stride[1]; /* a column is a long row */
  gemmini_hold(l, a, p->a_stays ? IN_ROWS : IN_IMAGE);
  gemmini_hold(l, &p->t.weight, p->b_stays ? IN_ROWS : IN_IMAGE);
}

static void run_sums(lowering_t* l, product_t* p) {
  const target_tile_t* t = &p->t;
  const uint32_t* const multipliers = l->in->multipliers;
  const int depthwise = t->kernel.op == SLUICE_OP_DEPTHWISE_CONV;
  const int grouped = t->groups > 1;
  const uint32_t each =
      depthwise && multipliers != NULL ? multipliers[t->kernel.layer] : 1;
  uint32_t i;
  p->a = t->in.offset;
  p->b = t->weight.offset;
  for (i = 0; i < 4; ++i) p->a_stride[i] = t->in.stride[i];
  p->n = t->out.extent[0];
  p->h = t->out.extent[1];
  p->w = t->out.extent[2];
  p->k = t->out.extent[3];
  p->c = t->matmul ? t->in.extent[3] : t->weight.extent[3];
  p->in_h = t->in.extent[1];
  p->in_w = t->in.extent[2];
  p->pack = 1;
  p->transposed = t->deep;
  place_operands(l, p, grouped, each == 1);
  if (t->matmul) {
    run_matrices(l, p);
    return;
  }
  p->may_keep = !grouped && p->n == 1 && !depthwise;
  if (depthwise) {
    if (t->in.extent[3] != 1) {
      run_depthwise(l, p, (uint32_t)t->tile.origin[3], each);
      return;
    }
    p->c = p->t.filter[OF_C] = 1; /* CONV, whose weights have one row */
  } else if (!grouped && !p->a_stays && 2 * p->c <= DIM && t->dilation[1] == 1 &&
             p->a_stride[2] == p->c && t->filter[OF_S] == p->c) {
    p->pack = least(DIM / p->c, t->cols);
  }
  run_groups(l, p, grouped ? t->in.extent[3] / p->c : 1);
}

static void run_tile(lowering_t* l, const struct sluice_gemmini_step* step) {
  product_t p;
  int mine;
  memset(&p, 0, sizeof p);
  mine = target_tile(l->in->walker, step->visit, &step->instruction, &p.t);
  p.step = *step;
  p.step.layer = l->counts->layer = p.t.kernel.layer;
  p.step.c = p.t.tile.c_begin;
  if (!mine || !takes(&p.t)) {
    gemmini_fail(l, "an operator that Gemmini does not do: plan it for the host");
    return;
  }
  l->counts->array_macs += target_macs(&p.t.kernel, &p.t.in, &p.t.weight, &p.t.out);
  /* What the host reads and writes of a tile is in the image alone then. */
  gemmini_hold(l, &p.t.parameters, IN_IMAGE);
  gemmini_hold(l, &p.t.sum, IN_IMAGE);
  gemmini_mark(l, &p.t.sum, IN_IMAGE);
  gemmini_mark(l, &p.t.out, IN_IMAGE);
  run_sums(l, &p);
}

/* 1 if the array multiplies by the weights of this LOAD in blocks. */
static int in_blocks(const lowering_t* l, const target_transfer_t* t) {
  const sluice_walker_t* w = l->in->walker;
  return (t->kernel.op == SLUICE_OP_FULLY_CONNECTED ||
          (t->kernel.op == SLUICE_OP_CONV &&
           sluice_walk_attribute(w, &t->kernel, SLUICE_CONV_GROUPS) <= 1)) &&
         t->from.region == SLUICE_REGION_CONST && t->to.extent[3] % DIM == 0 &&
         t->to.span == t->to.bytes &&
         sluice_walk_attribute(w, &t->kernel, SLUICE_CONV_WEIGHT_ZERO) == 0;
}

/* A LOAD goes to rows where the array reads what it loads. Else the host copies, to the image. */
static void run_load(lowering_t* l, const target_transfer_t* t,
                     const struct sluice_gemmini_step* step) {
  const int lines = t->to.dtype == SLUICE_DTYPE_INT8 &&
                    gemmini_in_lines(&t->to, &t->from) && t->to.stride[3] == 1 &&
                    t->from.stride[3] == 1;
  if (lines && target_is_product(t->kernel.op) && t->role == SLUICE_ROLE_INPUT) {
    gemmini_transfer(l, SLUICE_GEMMINI_MVIN, &t->from, &t->to);
    l->counts->input_bytes += t->to.bytes;
  } else if (lines && t->role == SLUICE_ROLE_WEIGHT && in_blocks(l, t)) {
    gemmini_load_weights(l, t->kernel.op == SLUICE_OP_FULLY_CONNECTED, &t->from,
                         &t->to);
  } else {
    gemmini_mark(l, &t->to, IN_IMAGE);
    l->counts->copied_bytes += t->to.bytes;
    gemmini_host(l, step);
  }
}

/* A STORE comes from rows where nothing but rows has it. Else the host copies, from the
 * image. */
static void run_store(lowering_t* l, const target_transfer_t* t,
                      const struct sluice_gemmini_step* step) {
  gemmini_release(l, t->from.offset, t->from.span);
  if (!gemmini_holds(l, &t->from, IN_IMAGE) && gemmini_in_lines(&t->from, &t->to) &&
      gemmini_holds(l, &t->from, IN_ROWS)) {
    gemmini_transfer(l, SLUICE_GEMMINI_MVOUT, &t->to, &t->from);
    l->counts->output_bytes += t->to.bytes;
    return;
  }
  gemmini_hold(l, &t->from, IN_IMAGE);
  l->counts->copied_bytes += t->to.bytes;
  gemmini_host(l, step);
}

static void run_transfer(lowering_t* l, const struct sluice_gemmini_step* step) {
  target_transfer_t t;
  const int plain = target_transfer(l->in->walker, step->visit, &step->instruction, &t);
  l->counts->layer = t.kernel.layer;
  if (!plain) {
    gemmini_fail(l, "a transfer by indices, or between nodes");
  } else if (t.load) {
    run_load(l, &t, step);
  } else {
    run_store(l, &t, step);
  }
}

static void run_call(lowering_t* l, struct sluice_gemmini_step* step) {
  const sluice_walker_t* w = l->in->walker;
  sluice_host_call_t call;
  sluice_kernel_t kernel;
  sluice_walk_host_call(w, step->visit->instance, step->instruction.descriptor, &call);
  target_call(w, step->visit, &call, &kernel, &l->counts->host_macs,
              &l->counts->called_bytes);
  step->layer = l->counts->layer = kernel.layer;
  step->kind = SLUICE_GEMMINI_CALL;
  gemmini_host(l, step);
}

static int execute(void* user, const sluice_walk_visit_t* visit,
                   const sluice_instruction_t* n) {
  lowering_t* l = user;
  struct sluice_gemmini_step step;
  memset(&step, 0, sizeof step);
  step.visit = visit;
  step.instruction = *n;
  step.layer = SLUICE_NONE;
  step.kind = SLUICE_GEMMINI_COPY;
  if (n->opcode == SLUICE_OPCODE_COMPUTE) {
    run_tile(l, &step);
  } else if (n->opcode == SLUICE_OPCODE_HOST) {
    run_call(l, &step);
  } else {
    run_transfer(l, &step);
  }
  return l->code;
}

int sluice_gemmini_lower(const struct sluice_gemmini_input* input,
                         const struct sluice_gemmini_port* port,
                         struct sluice_gemmini_counts* counts) {
  const sluice_walker_t* w = input->walker;
  lowering_t l;
  uint32_t r;
  int stuck = 0;
  memset(counts, 0, sizeof *counts);
  counts->layer = SLUICE_NONE;
  memset(&l, 0, sizeof l);
  memset(input->lines, 0, LINES);
  l.in = input;
  l.port = port;
  l.counts = counts;
  if (w->header.node_cols * w->header.node_rows != 1) {
    gemmini_fail(&l, "a stream of several nodes");
  }
  for (r = 0; r < SLUICE_REGION_COUNT; ++r) {
    if (input->base[r] == 0 && sluice_walk_region_bytes(w, r) > 0) {
      gemmini_fail(&l, "a region at address 0, which is none for Gemmini");
    }
  }
  if (l.code) return l.code;
  if (target_walk(w, input->cursors, execute, &l, &stuck) != 0) return l.code;
  if (stuck) {
    counts->reason = "the stream's waits never hold";
    return SLUICE_GEMMINI_STUCK;
  }
  counts->layer = SLUICE_NONE;
  gemmini_fence(&l);
  return l.code;
}
