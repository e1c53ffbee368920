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

target_runs_t target_runs(const sluice_walk_operand_t* a,
                          const sluice_walk_operand_t* b);

/* Where run i of a box begins, from the start of its region. */
uint64_t target_run_at(const target_runs_t* r, int which, uint64_t i);

/* A tile of products: CONV, DEPTHWISE_CONV, FULLY_CONNECTED, BATCH_MATMUL, all read as a
 * convolution. */
enum { OF_K, OF_R, OF_S, OF_C }; /* axes of a filter */
typedef struct {
  sluice_kernel_t kernel;
  sluice_tile_t tile;
  sluice_walk_operand_t in, weight, parameters, sum;
  sluice_walk_operand_t out; /* with LAST, else `sum` */
  int first, last;           /* flags of the instruction */
  int matmul;                /* BATCH_MATMUL: `weight` is its second input */
  int deep;                  /* a filter's input channels are its inmost axis */
  uint32_t filter[4];        /* bytes from one K, R, S, C of `weight` to the next */
  uint32_t rows, cols;       /* of the filter */
  uint32_t stride[2], dilation[2]; /* along rows, columns */
  uint32_t groups;                 /* of CONV, else 1 */
  int32_t input_zero, weight_zero, output_zero, low, high;
  int32_t multiplier, shift; /* of all channels, where there are no parameters */
  int once;                  /* rounds once */
} target_tile_t;

/* Reads it. 0: of another operator, and only kernel, flags and operands are set. */
int target_tile(const sluice_walker_t* w, const sluice_walk_visit_t* v,
                const sluice_instruction_t* n, target_tile_t* t);

static inline int target_is_product(uint32_t op) {
  return op == SLUICE_OP_CONV || op == SLUICE_OP_DEPTHWISE_CONV ||
         op == SLUICE_OP_FULLY_CONNECTED || op == SLUICE_OP_BATCH_MATMUL;
}

/* A LOAD or STORE. */
typedef struct {
  sluice_kernel_t kernel; /* whose operand it is */
  sluice_walk_operand_t from, to;
  int load;
  uint32_t role; /* SLUICE_ROLE_ */
} target_transfer_t;

/* Reads it. 0: it is by indices, or between nodes, and only `kernel` is set. */
int target_transfer(const sluice_walker_t* w, const sluice_walk_visit_t* v,
                    const sluice_instruction_t* n, target_transfer_t* t);

/* Positions along an axis of the input that as many outputs in a row read. */
static inline uint32_t target_span(uint32_t outputs, uint32_t stride, uint32_t taps,
                                   uint32_t dilation) {
  return (outputs - 1) * stride + (taps - 1) * dilation + 1;
}

/* Of `count` positions from `from` on, which may lie in front of an axis of that extent: the
 * first inside, and how many are. */
void target_inside(int64_t from, uint32_t count, uint32_t extent, uint32_t* first,
                   uint32_t* within);

/* How many int8 a weight minus its zero point may take: nine bits are two, but 255 is three. */
static inline uint32_t target_passes(uint32_t dtype, int32_t zero) {
  const int is_signed = dtype == SLUICE_DTYPE_INT8;
  if (is_signed && zero == 0) return 1;
  return zero == (is_signed ? -128 : 0) ? 3 : 2;
}

/* A sum as ops.h scales it; zero point and bounds are the caller's. */
int32_t target_scale(int32_t x, int32_t m, int32_t shift, int once);

/* MACs of a tile or call of an operator that has them. */
uint64_t target_macs(const sluice_kernel_t* kernel, const sluice_walk_operand_t* first,
                     const sluice_walk_operand_t* second,
                     const sluice_walk_operand_t* out);

/* What a HOST call asks for: its kernel; MACs and bytes of its operands are added. Of a
 * GATHER's table only the rows that its output has are read. */
void target_call(const sluice_walker_t* w, const sluice_walk_visit_t* v,
                 const sluice_host_call_t* call, sluice_kernel_t* kernel,
                 uint64_t* macs, uint64_t* bytes);

/* Executes instructions whose waits hold, each engine in turn, until `execute` answers other
 * than 0 or none is left. 0 with *stuck: waits never hold. */
int target_walk(const sluice_walker_t* w, sluice_walk_cursor_t* cursors,
                int (*execute)(void* user, const sluice_walk_visit_t* visit,
                               const sluice_instruction_t* n),
                void* user, int* stuck);

#endif /* SLUICE_TARGET_H_ */
