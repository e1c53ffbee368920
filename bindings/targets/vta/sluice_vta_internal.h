/* SPDX-License-Identifier: Apache-2.0 */
/* What the sources of the lowering share. */
#ifndef SLUICE_VTA_INTERNAL_H_
#define SLUICE_VTA_INTERNAL_H_

#include <string.h>

#include "sluice_vta.h"

enum { LOAD = 0, COMPUTE = 1, STORE = 2 }; /* modules */
enum { POP_PREV = 8, POP_NEXT = 16, PUSH_PREV = 32, PUSH_NEXT = 64 };
enum { OP_LOAD = 0, OP_STORE = 1, OP_GEMM = 2, OP_FINISH = 3, OP_ALU = 4 };
enum { KIND_UOP = 0, KIND_WGT = 1, KIND_INP = 2, KIND_ACC = 3, KIND_OUT = 4 };
enum { ALU_ADD = 2, ALU_SHR = 3 };
enum { BIAS_ROWS = 64, BIAS_FIRST = SLUICE_VTA_ACC - BIAS_ROWS }; /* entries of ACC */
enum {
  UOP_RESET = 8189,
  UOP_ADD = 8190,
  UOP_SHIFT = 8191
}; /* micro-ops of their own */
enum { STEP_INSTRUCTIONS = 4200, STEP_BYTES = 400 << 10, STEP_PUSHES = 200 };
enum { ZERO_ROWS = 4096, PLANES = 4 };

typedef struct sluice_vta_state state_t;
typedef struct sluice_vta_box box_t;

/* A tile, as the lowering needs it. */
typedef struct {
  sluice_kernel_t kernel;
  sluice_tile_t tile;
  uint8_t flags;
  sluice_walk_operand_t in, weight, parameters, sum, out;
  uint32_t k, c;           /* channels of the box and of its input */
  uint32_t kb, rows, cols; /* blocks of output channels; the filter's extents */
  uint32_t stride_h, stride_w, dilation_h, dilation_w;
  uint32_t k_stride, r_stride, s_stride, c_stride; /* of the weight, in bytes */
  uint32_t per, width; /* output channels of a group, input channels of it; per 0: one
                                 group */
  uint32_t group;      /* of the box's first channel */
  int32_t input_zero, weight_zero;
  uint32_t passes; /* 2: weights minus their zero point have nine bits */
  uint32_t acc;    /* first entry of the sums in ACC */
} job_t;

/* A part of a tile: output rows, columns, blocks of channels. */
typedef struct {
  uint32_t n, p0, pn, q0, qn; /* of the output box */
  uint32_t k0, kn, c0, cn,
      cw;              /* blocks; cw: input blocks that one output block reads */
  uint32_t acc;        /* entry of the part's first sum */
  uint32_t row, pixel; /* entries of ACC from row to row, from pixel to pixel */
  uint32_t in_cols;    /* of the part's input */
} part_t;

/* What a new instruction must come after: of each module, number + 1. */
typedef struct {
  uint64_t after[3];
} needs_t;

typedef struct {
  uint32_t first, last; /* micro-ops */
  uint32_t outer, inner, dst_outer, dst_inner, src_outer, src_inner, wgt_outer,
      wgt_inner;
} loops_t;

static inline int fail(state_t* s, int code, const char* why) {
  s->why = why;
  return code;
}

static inline uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }
static inline uint32_t blocks(uint32_t n) { return (n + 15) / 16; }

static inline int32_t attribute(const state_t* s, const job_t* j, uint32_t i) {
  return sluice_walk_attribute(s->walker, &j->kernel, i);
}

/* sluice_vta_queue.c */
void vta_put_bits(unsigned char* bytes, uint32_t low, uint32_t width, uint32_t value);
/* Appends an instruction; answers its number + 1. The step has reserved the room. */
uint64_t vta_emit(state_t* s, uint32_t module, const unsigned char* bytes,
                  const needs_t* n);
/* Ends the run: FINISH comes after everything, the port runs it. */
int vta_flush(state_t* s);
/* Room for one step: nothing that it stages or queues is run before it is complete. */
int vta_reserve(state_t* s);
uint32_t vta_stage(state_t* s, uint32_t bytes);
void vta_memory_bits(unsigned char* b, uint32_t kind, uint32_t sram, uint32_t dram,
                     uint32_t y, uint32_t x, uint32_t stride);
/* A LOAD into INP or WGT: after all that read or wrote the entries. */
void vta_load(state_t* s, uint32_t kind, uint32_t sram, uint32_t dram, uint32_t y,
              uint32_t x, uint32_t stride);
/* Micro-ops at `first` of the buffer, unless they are there. In order: compute loads them. */
int vta_micro_ops(state_t* s, uint32_t first, const uint32_t* list, uint32_t count);
void vta_loop_bits(unsigned char* b, uint32_t opcode, const loops_t* l);
/* A GEMM or ALU instruction that writes entries [first, first + count) of ACC and OUT. */
void vta_compute(state_t* s, const unsigned char* bytes, needs_t* n, uint32_t first,
                 uint32_t count);
int vta_alu(state_t* s, uint32_t op, uint32_t slot, uint32_t uop, const loops_t* l,
            int32_t immediate, uint32_t first, uint32_t count);
int vta_clear(state_t* s, uint32_t first, uint32_t count);
void vta_need(needs_t* n, uint32_t module, uint64_t number);
/* Reads bytes of the scratchpad, run by run of places without a gap. */
int vta_get(state_t* s, uint64_t at, uint32_t bytes, unsigned char* to);
/* Writes bytes of the scratchpad into its image. */
int vta_put(state_t* s, uint64_t at, uint32_t bytes, const unsigned char* from);
/* DRAM [begin, end) is about to change: bytes of the scratchpad that lie there move. */
int vta_protect(state_t* s, uint32_t begin, uint64_t end);
/* Bytes [begin, end) of the scratchpad have changed. */
void vta_forget(state_t* s, uint64_t begin, uint64_t end);

/* sluice_vta_boxes.c */
int vta_need_input(state_t* s, const job_t* j, const part_t* a, const box_t** box);
int vta_need_weight(state_t* s, const job_t* j, const part_t* a, const box_t** box);
/* First input block that the weights of an output block of the part begin with. */
uint32_t vta_first_block(const job_t* j, const part_t* a, uint32_t kb);
/* Input channels [*low, *high) of the tile's input that output channel k sums over. */
void vta_reach(const job_t* j, uint32_t k, uint32_t* low, uint32_t* high);
/* First input block of an output block; *count: how many it reads. */
uint32_t vta_reach_block(const job_t* j, uint32_t kb, uint32_t* count);
int32_t vta_signed_weight(const job_t* j, unsigned char byte);

/* sluice_vta_tile.c */
/* Cuts the tile into parts whose sums and inputs fit. */
int vta_run_tile(state_t* s, job_t* j);

#endif /* SLUICE_VTA_INTERNAL_H_ */
