/* SPDX-License-Identifier: Apache-2.0 */
/* What lowerings of streams share: blocks of 16, boxes as runs of bytes, the order of
 * instructions. C99, on the walker alone. */
#ifndef SLUICE_TARGET_H_
#define SLUICE_TARGET_H_

#include <string.h>

#include "firmware-sim/walker.h"

static inline uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }
static inline uint32_t pieces(uint32_t n, uint32_t by) { return (n + by - 1) / by; }
static inline uint32_t blocks(uint32_t n) { return pieces(n, 16); }

/* Operand `index`, or one that lies nowhere. */
static inline void target_operand(const sluice_walker_t* w,
                                  const sluice_walk_visit_t* v, uint32_t index,
                                  sluice_walk_operand_t* o) {
  memset(o, 0, sizeof *o);
  o->region = SLUICE_REGION_COUNT;
  if (index != SLUICE_NONE) sluice_walk_operand(w, v, index, o);
}

/* One or two boxes as runs of bytes: axes that follow each other densely are one. */
typedef struct {
  uint64_t count, bytes;
  uint32_t extent[4];
  const sluice_walk_operand_t* box[2];
} target_runs_t;

static inline target_runs_t target_runs(const sluice_walk_operand_t* a,
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

/* Where run i of a box begins, from the start of its region. */
static inline uint64_t target_run_at(const target_runs_t* r, int which, uint64_t i) {
  const sluice_walk_operand_t* o = r->box[which];
  uint64_t at = o->offset;
  int axis = 3;
  for (; axis >= 0; --axis) {
    at += i % r->extent[axis] * o->stride[axis];
    i /= r->extent[axis];
  }
  return at;
}

/* MACs of a tile or call of an operator that has them. */
static inline uint64_t target_macs(const sluice_kernel_t* kernel,
                                   const sluice_walk_operand_t* first,
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

/* What a HOST call asks for: its kernel; MACs and bytes of its operands are added. Of a
 * GATHER's table only the rows that its output has are read. */
static inline void target_call(const sluice_walker_t* w, const sluice_walk_visit_t* v,
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

/* Executes instructions whose waits hold, each engine in turn, until `execute` answers other
 * than 0 or none is left. 0 with *stuck: waits never hold. */
static inline int target_walk(const sluice_walker_t* w, sluice_walk_cursor_t* cursors,
                              int (*execute)(void* user,
                                             const sluice_walk_visit_t* visit,
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

#endif /* SLUICE_TARGET_H_ */
