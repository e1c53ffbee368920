/* SPDX-License-Identifier: Apache-2.0 */
#include "bindings/targets/sluice_target.h"

target_runs_t target_runs(const sluice_walk_operand_t* a,
                          const sluice_walk_operand_t* b) {
  target_runs_t r = {1, 0, {1, 1, 1, 1}, {a, b}};
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

uint64_t target_run_at(const target_runs_t* r, int which, uint64_t i) {
  const sluice_walk_operand_t* o = r->box[which];
  uint64_t at = o->offset;
  int axis = 3;
  for (; axis >= 0; --axis) {
    at += i % r->extent[axis] * o->stride[axis];
    i /= r->extent[axis];
  }
  return at;
}

uint64_t target_macs(const sluice_kernel_t* kernel, const sluice_walk_operand_t* first,
                     const sluice_walk_operand_t* second,
                     const sluice_walk_operand_t* out) {
  const uint64_t outputs =
      (uint64_t)out->extent[0] * out->extent[1] * out->extent[2] * out->extent[3];
  const uint64_t taps = (uint64_t)second->extent[1] * second->extent[2];
  switch (kernel->op) {
    case SLUICE_OP_CONV:
    case SLUICE_OP_TRANSPOSED_CONV:
      return outputs * taps * second->extent[3];
    case SLUICE_OP_DEPTHWISE_CONV:
      return outputs * taps;
    case SLUICE_OP_FULLY_CONNECTED:
    case SLUICE_OP_BATCH_MATMUL:
      return outputs * first->extent[3];
    default:
      return 0;
  }
}

void target_call(const sluice_walker_t* w, const sluice_walk_visit_t* v,
                 const sluice_host_call_t* call, sluice_kernel_t* kernel,
                 uint64_t* macs, uint64_t* bytes) {
  sluice_walk_operand_t o[3], any;
  uint32_t i;
  sluice_walk_kernel(w, v->instance, call->kernel, kernel);
  target_operand(w, v, call->first_operand, &o[0]);
  target_operand(w, v, call->inputs > 1 ? call->first_operand + 1 : SLUICE_NONE, &o[1]);
  target_operand(w, v, call->first_operand + call->inputs, &o[2]);
  *macs += target_macs(kernel, &o[0], &o[1], &o[2]);
  for (i = 0; i < call->inputs + call->outputs; ++i) {
    target_operand(w, v, call->first_operand + i, &any);
    *bytes += i == 0 && kernel->op == SLUICE_OP_GATHER ? o[2].bytes : any.bytes;
  }
}

int target_walk(const sluice_walker_t* w, sluice_walk_cursor_t* cursors,
                int (*execute)(void* user, const sluice_walk_visit_t* visit,
                               const sluice_instruction_t* n),
                void* user, int* stuck) {
  sluice_instruction_t n;
  uint32_t e, done = 1;
  sluice_walk_start(w, cursors);
  while (done) {
    done = 0;
    *stuck = 0;
    for (e = 0; e < w->engines; ++e) {
      int code;
      if (!sluice_walk_next(w, cursors, e, &n)) continue;
      *stuck = 1;
      if (!sluice_walk_waits_hold(w, cursors, e, NULL)) continue;
      code = execute(user, &cursors[e].visit, &n);
      if (code) return code;
      sluice_walk_complete(w, cursors, e);
      done = 1;
    }
  }
  return 0;
}

static uint32_t at_least_1(int32_t v) { return v < 1 ? 1u : (uint32_t)v; }

/* Where the axes K, R, S, C of weights are; 4: not at all. */
static const unsigned char* axes_of(const target_tile_t* t, int transposed) {
  static const unsigned char conv[] = {0, 1, 2, 3}, depthwise[] = {3, 1, 2, 4};
  static const unsigned char rows[] = {2, 4, 4, 3}, columns[] = {3, 4, 4, 2};
  if (t->kernel.op == SLUICE_OP_CONV) return conv;
  if (t->kernel.op == SLUICE_OP_DEPTHWISE_CONV) return depthwise;
  return t->matmul && !transposed ? columns : rows;
}

static void read_filter(target_tile_t* t, const unsigned char* axes) {
  int i;
  for (i = 0; i < 4; ++i) t->filter[i] = axes[i] < 4 ? t->weight.stride[axes[i]] : 0;
  t->rows = axes[OF_R] < 4 ? t->weight.extent[1] : 1;
  t->cols = axes[OF_S] < 4 ? t->weight.extent[2] : 1;
  t->deep = axes[OF_C] == 3;
}

static void read_attributes(const sluice_walker_t* w, target_tile_t* t) {
  static const unsigned char at[2][7] = {
      {SLUICE_CONV_INPUT_ZERO, SLUICE_CONV_WEIGHT_ZERO, SLUICE_CONV_OUTPUT_ZERO,
       SLUICE_CONV_ACT_MIN, SLUICE_CONV_ACT_MAX},
      {SLUICE_MATMUL_A_ZERO, SLUICE_MATMUL_B_ZERO, SLUICE_MATMUL_OUTPUT_ZERO,
       SLUICE_MATMUL_ACT_MIN, SLUICE_MATMUL_ACT_MAX, SLUICE_MATMUL_MULTIPLIER,
       SLUICE_MATMUL_SHIFT}};
  int32_t* const to[] = {&t->input_zero, &t->weight_zero, &t->output_zero, &t->low,
                         &t->high,       &t->multiplier,  &t->shift};
  int32_t a[SLUICE_CONV_ATTRIBUTES];
  uint32_t i;
  for (i = 0; i < SLUICE_CONV_ATTRIBUTES; ++i) {
    a[i] = sluice_walk_attribute(w, &t->kernel, i);
  }
  for (i = 0; i < (t->matmul ? 7 : 5); ++i) *to[i] = a[at[t->matmul][i]];
  read_filter(t, axes_of(t, a[SLUICE_MATMUL_TRANSPOSE_B] != 0));
  t->stride[0] = t->stride[1] = t->dilation[0] = t->dilation[1] = t->groups = 1;
  if (t->matmul) return;
  t->once = a[SLUICE_CONV_ROUNDING] != 0;
  if (t->kernel.op == SLUICE_OP_FULLY_CONNECTED) return;
  t->stride[0] = at_least_1(a[SLUICE_CONV_STRIDE_H]);
  t->stride[1] = at_least_1(a[SLUICE_CONV_STRIDE_W]);
  t->dilation[0] = at_least_1(a[SLUICE_CONV_DILATION_H]);
  t->dilation[1] = at_least_1(a[SLUICE_CONV_DILATION_W]);
  if (t->kernel.op == SLUICE_OP_CONV) t->groups = at_least_1(a[SLUICE_CONV_GROUPS]);
}

int target_tile(const sluice_walker_t* w, const sluice_walk_visit_t* v,
                const sluice_instruction_t* n, target_tile_t* t) {
  sluice_tile_t* const x = &t->tile;
  memset(t, 0, sizeof *t);
  sluice_walk_tile(w, v, n->descriptor, x);
  sluice_walk_kernel(w, v->instance, x->kernel, &t->kernel);
  t->first = (n->flags & SLUICE_FLAG_FIRST) != 0;
  t->last = (n->flags & SLUICE_FLAG_LAST) != 0;
  t->matmul = t->kernel.op == SLUICE_OP_BATCH_MATMUL;
  target_operand(w, v, x->input0, &t->in);
  target_operand(w, v, x->weight != SLUICE_NONE ? x->weight : x->input1, &t->weight);
  target_operand(w, v, x->parameters, &t->parameters);
  target_operand(w, v, x->accumulator, &t->sum);
  target_operand(w, v, t->last ? x->output : x->accumulator, &t->out);
  if (!target_is_product(t->kernel.op)) return 0;
  read_attributes(w, t);
  return 1;
}

int target_transfer(const sluice_walker_t* w, const sluice_walk_visit_t* v,
                    const sluice_instruction_t* n, target_transfer_t* t) {
  sluice_transfer_t x;
  memset(t, 0, sizeof *t);
  sluice_walk_transfer(w, v->instance, n->descriptor, &x);
  sluice_walk_kernel(w, v->instance, x.kernel, &t->kernel);
  if (x.index != SLUICE_NONE || n->opcode == SLUICE_OPCODE_FORWARD) return 0;
  target_operand(w, v, x.src, &t->from);
  target_operand(w, v, x.dst, &t->to);
  t->load = n->opcode == SLUICE_OPCODE_LOAD;
  t->role = x.role;
  return 1;
}

void target_inside(int64_t from, uint32_t count, uint32_t extent, uint32_t* first,
                   uint32_t* within) {
  const int64_t begin = from < 0 ? 0 : from;
  const int64_t end = from + count < extent ? from + count : extent;
  *first = (uint32_t)begin;
  *within = end > begin ? (uint32_t)(end - begin) : 0;
}

/* TFLite's two roundings, and the single one. */
int32_t target_scale(int32_t x, int32_t m, int32_t shift, int once) {
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
  x = left > 31 ? 0 : (int32_t)((uint32_t)x << left);
  y = (int64_t)x * m + ((int64_t)1 << 30);
  high = x == m && x == INT32_MIN ? INT32_MAX : (int32_t)(y >> 31);
  if (right > 31) return 0;
  mask = (int32_t)(((int64_t)1 << right) - 1);
  rest = high & mask;
  return (int32_t)(((int64_t)high >> right) +
                   (rest > (mask >> 1) + (high < 0 ? 1 : 0)));
}
