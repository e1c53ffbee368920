/* SPDX-License-Identifier: Apache-2.0 */
/* What the sources of the lowering share. The first error stays in `code` of the lowering;
 * behind it no command leaves. */
#ifndef SLUICE_GEMMINI_INTERNAL_H_
#define SLUICE_GEMMINI_INTERNAL_H_

#include "bindings/targets/sluice_target.h"
#include "sluice_gemmini.h"

enum { DIM = SLUICE_GEMMINI_DIM, LINES = SLUICE_GEMMINI_ROWS };
#define ALL_ONES 0xffffffffu /* an address: nothing there */
#define SUMS 0x80000000u     /* addresses of the accumulators; written over */
#define ADD 0x40000000u      /* added to what is there */
#define WIDE 0x20000000u     /* read as int32 */
#define ONE 0x3f800000u      /* 1.0f: the scale that changes nothing */

/* Line i is the 16 bytes of GBUF from 16 i on. It lies in row i of the scratchpad, in the
 * image of GBUF in DRAM, or in both. */
enum {
  IN_ROWS = 1,
  IN_IMAGE = 2,
  IN_BLOCKS = 4, /* with others a box of weights; see gemmini_load_weights */
  IN_FRONT =
      8 /* the first of 16 output channels of these; 4 bits above: channels - 1 */
};

/* Regions: the lowering's own range of DRAM; rows that MVOUT_SPAD writes. */
enum { SCRATCH = SLUICE_REGION_COUNT, ROWS };

/* The sum of one tile, or of one group of its channels, as a matrix product per filter
 * position. */
typedef struct {
  struct sluice_gemmini_step step; /* of the tile */
  target_tile_t t;                 /* strides of `filter`: those of b */
  uint64_t a, b;                   /* GBUF offsets of the first elements */
  uint64_t a_stride[4];            /* in bytes */
  int may_keep;                    /* the whole tile is this product */
  int adds;                        /* to sums that are in the accumulators */
  uint32_t n, h, w, k, c;          /* extents of the output box, channels summed over */
  uint32_t k0;                     /* first channel within the tile's output */
  uint32_t in_h, in_w;             /* of the input box */
  uint32_t pack;  /* filter positions along a row whose channels are one block */
  int transposed; /* b has a row per output channel */
  int spread;     /* b is a diagonal per filter position, in the scratch range */
  int scaled;     /* by the machine, with these: */
  uint32_t scale, relu;
  int to_rows;          /* scaled bytes go to rows */
  int a_stays, b_stays; /* read where the plan has put it, else moved for each part */
} product_t;

/* A part of a product that the array's memories hold: output rows and columns, the input
 * that they need, and in which rows it lies. */
typedef struct {
  uint32_t n, h, w, rows, columns;
  uint32_t in_h, in_w, in_rows, in_columns;
  /* Row of the input box's first pixel; steps of its axes and of 16 channels. */
  uint32_t a, a_h, a_w, a_c;
  /* Rows for what does not stay: the first, how many for the input; slot of the next weights
   * behind these. */
  uint32_t room, input, slot;
} part_t;

typedef struct {
  const struct sluice_gemmini_input* in;
  const struct sluice_gemmini_port* port;
  struct sluice_gemmini_counts* counts;
  int code;
  uint64_t config[5][2];  /* what was configured: array, three kinds of loads, stores */
  uint32_t reads, writes; /* bits of regions, since the last fence */
  int keeps; /* sums of this product stay in the accumulators, for the next slice: */
  product_t kept;
  sluice_walk_visit_t visit; /* its */
} lowering_t;

/* A local address with the extents of what lies there. */
static inline uint64_t local(uint32_t address, uint32_t columns, uint32_t rows) {
  return address | (uint64_t)columns << 32 | (uint64_t)rows << 48;
}

void gemmini_fail(lowering_t* l, const char* why);
void gemmini_fence(lowering_t* l);
void gemmini_command(lowering_t* l, uint32_t funct, uint64_t rs1, uint64_t rs2);
/* Configurations that may stand already: array (0), loads (1 to 3), stores (4). */
void gemmini_configure(lowering_t* l, uint32_t which, uint64_t rs1, uint64_t rs2);
void gemmini_config_load(lowering_t* l, uint32_t which, uint32_t block_stride,
                         uint64_t stride);
void gemmini_config_store(lowering_t* l, uint32_t scale, uint32_t relu,
                          uint64_t stride);
/* The next commands load from (store to) a region: a fence in front where only a fence
 * orders them after the stores (loads) before. */
void gemmini_reads(lowering_t* l, uint32_t region);
void gemmini_writes(lowering_t* l, uint32_t region);
void gemmini_host(lowering_t* l, const struct sluice_gemmini_step* step);

/* 1 if the box is whole lines, and so is each run of it that lies densely in the other. */
int gemmini_in_lines(const sluice_walk_operand_t* o,
                     const sluice_walk_operand_t* other);
/* 1 if the box lies in blocks. */
int gemmini_in_blocks(const lowering_t* l, const sluice_walk_operand_t* o);
/* The first line of the 16 output channels of whose first filter `at` is a byte. */
uint32_t gemmini_front(const lowering_t* l, uint64_t at);
/* Makes of weights in blocks all the bytes that their blocks may lie in. */
void gemmini_whole_blocks(const lowering_t* l, sluice_walk_operand_t* o);
/* Moves lines of the box until all are in `place`. */
void gemmini_hold(lowering_t* l, const sluice_walk_operand_t* o, uint8_t place);
/* 1 if all lines of the box are in `place`. */
int gemmini_holds(const lowering_t* l, const sluice_walk_operand_t* o, uint8_t place);
/* The box is to be written in `place` alone. Lines that it shares with others are moved. */
void gemmini_mark(lowering_t* l, const sluice_walk_operand_t* o, uint8_t place);
/* A box of lines from DRAM to rows, or back. */
void gemmini_transfer(lowering_t* l, uint32_t funct, const sluice_walk_operand_t* dram,
                      const sluice_walk_operand_t* box);
/* Weights [k, r, s, c], or a matrix [1, 1, k, c], dense, c a multiple of 16. 16 output
 * channels at a time keep their bytes of GBUF, but in there lie blocks, one per filter
 * position and 16 input channels, of a row per output channel: as the array wants them. */
void gemmini_load_weights(lowering_t* l, int matrix, const sluice_walk_operand_t* from,
                          const sluice_walk_operand_t* to);
/* Rows for a moment, apart from the product's operands that stay. 0: there are none. */
int gemmini_room(lowering_t* l, const product_t* p, uint32_t rows, uint32_t* first);

/* Asks whether the machine may scale the product's sums, and whether to rows; biases are in
 * the scratch range then, one for each of its channels. */
void gemmini_ask_scale(lowering_t* l, product_t* p);
/* Moves sums of these channels of a part out, scaled to int8, to where the output lies. */
void gemmini_move_scaled(lowering_t* l, const product_t* p, const part_t* part,
                         uint32_t k, uint32_t channels);

void gemmini_product(lowering_t* l, product_t* p);
/* The host gets the sums that are kept, if they belong to this range of GBUF. */
void gemmini_release(lowering_t* l, uint64_t offset, uint64_t span);

#endif /* SLUICE_GEMMINI_INTERNAL_H_ */
