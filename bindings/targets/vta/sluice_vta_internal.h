/* SPDX-License-Identifier: Apache-2.0 */
/* What the sources of the lowering share. The first error stays in `code` of the state. */
#ifndef SLUICE_VTA_INTERNAL_H_
#define SLUICE_VTA_INTERNAL_H_

#include "bindings/targets/sluice_target.h"
#include "sluice_vta.h"

enum { LOAD = 0, COMPUTE = 1, STORE = 2 }; /* modules */
enum { ALU_MIN, ALU_MAX, ALU_ADD, ALU_SHR, ALU_IMMEDIATE = 8 };
/* Entries of ACC at its end: rows of biases, then sums that nobody reads. A sum that is added
 * to again before HAZARD micro-ops have passed loses what was added in between. */
enum {
  HAZARD = 4,
  SPARE_FIRST = SLUICE_VTA_ACC - (HAZARD - 1),
  BIAS_ROWS = 60,
  BIAS_FIRST = SPARE_FIRST - BIAS_ROWS
};
enum { ZERO_ROWS = 4096, PLANES = 4, MOST_UOPS = 2048 };

typedef struct sluice_vta_state state_t;
typedef struct sluice_vta_box box_t;

/* A tile, as the lowering needs it. */
typedef struct {
  target_tile_t t;
  uint32_t k, c;        /* channels of the box and of its input */
  uint32_t kb, cb;      /* the same in blocks of 16 */
  uint32_t taps;        /* filter positions */
  uint32_t per, width;  /* output channels of a group, input channels of it; per 0: one
                          group */
  uint32_t group;       /* of the box's first channel */
  uint32_t passes;      /* over the weights, as target_passes says */
  uint32_t batch, line; /* of a BATCH_MATMUL: which matrix of the tile */
  uint32_t size;        /* of an output element */
  int scales;           /* VTA may make bytes of the sums */
} job_t;

/* A part of a tile: output rows, columns and blocks of channels; blocks of input channels,
 * and how many of them one output block reads. */
typedef struct {
  uint32_t n, p0, pn, q0, qn, k0, kn, c0, cn, cw;
  uint32_t acc, row,
      pixel; /* first sum; entries of ACC from row to row, pixel to pixel */
  uint32_t in_rows, in_cols;
} part_t;

/* A part's input: rows and columns of the window, of them inside the operand. */
typedef struct {
  uint32_t h, w, top, left, hn, wn, channels;
  uint64_t at;      /* in the scratchpad, of the first inside */
  uint32_t home[5]; /* in DRAM, if it lies there as a box */
} window_t;

/* The loops of an instruction over its micro-ops: extents, steps of the indices. */
typedef struct {
  uint32_t outer, inner, dst_outer, dst_inner, src_outer, src_inner, wgt_outer,
      wgt_inner;
} loops_t;

static inline void fail(state_t* s, int code, const char* why) {
  if (s->code) return;
  s->code = code;
  s->why = why;
}

/* sluice_vta_queue.c */
/* Ends the run: FINISH comes after everything, the port runs it. */
void vta_flush(state_t* s);
/* Room for one step: nothing that it stages or queues is run before it is complete. */
void vta_reserve(state_t* s);
/* The host in DRAM. */
void vta_read(state_t* s, uint32_t address, void* to, uint32_t bytes);
void vta_write(state_t* s, uint32_t address, const void* from, uint32_t bytes);
uint32_t vta_stage(state_t* s, uint32_t bytes);
/* A LOAD or STORE of y rows of x entries. `box` of what is loaded, or NULL. */
void vta_move(state_t* s, uint32_t memory, uint32_t sram, uint32_t dram, uint32_t y,
              uint32_t x, uint32_t stride, box_t* box);
/* A GEMM over these micro-ops, which reads two boxes; without them: a reset. */
void vta_gemm(state_t* s, const uint32_t* list, uint32_t count, const loops_t* l,
              box_t* in, box_t* w);
/* An ALU instruction of one micro-op: dst | src << 11; ALU_IMMEDIATE: with this number. */
void vta_alu(state_t* s, uint32_t op, uint32_t uop, const loops_t* l,
             uint32_t immediate);
/* The box of this key, or NULL. */
box_t* vta_find(struct sluice_vta_buffer* b, const uint32_t key[14]);
/* The next entries of a ring, whatever lay there. */
box_t* vta_take(struct sluice_vta_buffer* b, const uint32_t key[14], uint32_t count);

/* sluice_vta_host.c */
/* Reads bytes of the scratchpad, run by run of places without a gap. */
void vta_get(state_t* s, uint64_t at, uint32_t bytes, void* to);
/* Writes bytes of the scratchpad into its image. */
void vta_put(state_t* s, uint64_t at, uint32_t bytes, const void* from);
/* The host is about to change an operand in DRAM: bytes of the scratchpad that lie there
 * move, buffers forget it. */
void vta_change(state_t* s, const sluice_walk_operand_t* o);
/* Vectors of a window, blocks of weights and rows of biases, laid out in DRAM: those of `x`
 * entries; 16 channels by 16 weights of one filter position, of one pass; 16 sums. */
void vta_pack_input(state_t* s, const job_t* j, const part_t* a, const window_t* v,
                    box_t* x);
void vta_pack_block(state_t* s, const job_t* j, uint32_t kb, uint32_t cb, uint32_t tap,
                    uint32_t pass, uint32_t to);
void vta_bias_row(state_t* s, const job_t* j, uint32_t kb, uint32_t to);
/* Makes bytes of the output of one part's sums, which lie in four planes. */
void vta_requantise(state_t* s, const job_t* j, const part_t* a, uint32_t planes,
                    uint32_t entries);

/* sluice_vta_boxes.c */
box_t* vta_need_input(state_t* s, const job_t* j, const part_t* a);
box_t* vta_need_weight(state_t* s, const job_t* j, const part_t* a);
/* What sums of output blocks lack: minus the zero point's share, with LAST plus the bias. */
box_t* vta_need_bias(state_t* s, const job_t* j, uint32_t k0, uint32_t kn);
/* Input channels [*low, *low + count) of the tile that output channel k sums over. */
uint32_t vta_channels_of(const job_t* j, uint32_t k, uint32_t* low);
/* First input block of an output block of the tile; *count: how many it reads. */
uint32_t vta_reach(const job_t* j, uint32_t kb, uint32_t* count);
/* First input block of the part that the weights of an output block begin with. */
uint32_t vta_first_block(const job_t* j, const part_t* a, uint32_t kb);

/* sluice_vta_tile.c */
/* Cuts the tile into parts whose sums, inputs and weights fit. */
void vta_run_tile(state_t* s, const job_t* j);
/* Sums from `acc` on begin with 0. */
void vta_clear(state_t* s, uint32_t acc, uint32_t count);
/* Where the first output channel of a part's pixel lies in the scratchpad. */
uint64_t vta_output_at(const job_t* j, const part_t* a, uint32_t pixel);

/* sluice_vta_scale.c */
/* Makes bytes of a part's sums, with some of the `room` entries from `copy` on; 0: the host
 * has to. */
int vta_scale(state_t* s, const job_t* j, const part_t* a, uint32_t copy,
              uint32_t room);

#endif /* SLUICE_VTA_INTERNAL_H_ */
