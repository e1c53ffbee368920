/* SPDX-License-Identifier: Apache-2.0 */
/* A stream as commands of Gemmini (16 x 16, int8, weight stationary). C99, no heap.
 *
 * Input    a stream that the walker has opened, and where its regions lie in DRAM
 * Output   through the port: commands in program order, fences, steps of the host; counts
 * Errors   a code below or the port's own, with the layer and the reason
 * Cost     linear in the commands
 * Source   the ISA section of Gemmini's README
 *
 * README.md of this folder says what maps to what. */
#ifndef SLUICE_GEMMINI_H_
#define SLUICE_GEMMINI_H_

#include <stdint.h>

#include "firmware-sim/walker.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {                          /* of the machine */
       SLUICE_GEMMINI_DIM = 16, /* rows and columns of the array, elements of a row */
       SLUICE_GEMMINI_ROWS = 16384,    /* of the scratchpad */
       SLUICE_GEMMINI_SUM_ROWS = 1024, /* of the accumulators */
       SLUICE_GEMMINI_COLUMNS = 64     /* that one mvin takes */
};

enum { /* funct of a command */
       SLUICE_GEMMINI_CONFIG = 0,
       SLUICE_GEMMINI_MVIN2 = 1,
       SLUICE_GEMMINI_MVIN = 2,
       SLUICE_GEMMINI_MVOUT = 3,
       SLUICE_GEMMINI_COMPUTE = 4, /* with the weights of the preload in front of it */
       SLUICE_GEMMINI_COMPUTE_SAME =
           5, /* with the weights that the array already has */
       SLUICE_GEMMINI_PRELOAD = 6,
       SLUICE_GEMMINI_FLUSH = 7,
       SLUICE_GEMMINI_MVIN3 = 14,
       SLUICE_GEMMINI_MVOUT_SPAD =
           23, /* accumulators to rows; see `rows` of the port */
       SLUICE_GEMMINI_FUNCTS = 24
};

/* The scratch range of the lowering in DRAM: sums that leave the array, then weights that
 * the host has spread. The last SLUICE_GEMMINI_ZERO_BYTES of it hold zeros, always. */
enum {
  SLUICE_GEMMINI_SUM_BYTES = 65536,
  SLUICE_GEMMINI_SPREAD_BYTES = 65536,
  SLUICE_GEMMINI_ZERO_BYTES = 64,
  SLUICE_GEMMINI_SCRATCH_BYTES =
      SLUICE_GEMMINI_SUM_BYTES + SLUICE_GEMMINI_SPREAD_BYTES + SLUICE_GEMMINI_ZERO_BYTES
};

enum { /* codes */
       SLUICE_GEMMINI_OK = 0,
       SLUICE_GEMMINI_UNSUPPORTED =
           -1,                   /* the stream has what this lowering does not do */
       SLUICE_GEMMINI_STUCK = -2 /* waits that never hold */
};

enum {                          /* what the host does */
       SLUICE_GEMMINI_COPY = 0, /* a LOAD or STORE between two ranges of DRAM */
       SLUICE_GEMMINI_FINISH =
           1, /* sums of an output box: subtracts what the zero points add,
                                then adds to the accumulator or requantises (FIRST, LAST) */
       SLUICE_GEMMINI_CALL = 2, /* a HOST instruction */
       SLUICE_GEMMINI_SPREAD =
           3, /* writes the filters of up to 16 depthwise output channels as matrices: per
                 filter position 16 rows of 16 bytes. Row i is the i-th input channel that
                 these read; it has a weight where an output channel reads it, else 0 */
       SLUICE_GEMMINI_BIAS =
           4, /* only where the machine scales: writes int32 biases of the box's channels,
                 or refuses, see `scale` of the port */
       SLUICE_GEMMINI_STEPS = 5
};

/* A step of the host. It starts when all commands before it have ended (a fence stands in
 * front of it), and the commands behind it see what it writes. */
struct sluice_gemmini_step {
  uint32_t kind;
  uint32_t layer; /* of the graph */
  const sluice_walk_visit_t* visit;
  sluice_instruction_t instruction; /* of the stream */
  /* FINISH, SPREAD, BIAS: */
  uint64_t address;    /* of int32 sums [h][w][k], dense; of what is to be written */
  uint32_t n, h, w, k; /* where the box begins in the tile's output */
  uint32_t rows, columns, channels; /* how large it is */
  uint32_t images;                  /* BIAS: so many of them along N, each such a box */
  uint32_t
      c; /* first channel summed over; that of an earlier tile if its sums stayed in
                 the accumulators (then FIRST of the instruction is that tile's) */
};

/* Every command leaves through this table. A result other than 0 ends the lowering, which
 * returns it. */
struct sluice_gemmini_port {
  void* user;
  int (*command)(void* user, uint32_t funct, uint64_t rs1, uint64_t rs2);
  int (*fence)(void* user); /* returns when all commands have ended */
  int (*host)(void* user, const struct sluice_gemmini_step* step);
  /* NULL: all sums are finished by the host, as ops.h says. Else Gemmini scales them where
   * it can, inexactly: sum times one float, to nearest even, then at least 0 where `relu`,
   * then int8. Called as `host` is, for a step BIAS: writes biases that hold all else that
   * is added before scaling (zero points too), *scale and *relu, and answers 1; 0: this box
   * is finished by the host; negative: ends the lowering. */
  int (*scale)(void* user, const struct sluice_gemmini_step* step, float* scale,
               int* relu);
  /* 1: what Gemmini scales goes to rows of the scratchpad where the output box is whole
   * rows (MVOUT_SPAD; the generator's hardware has it, some functional models have not). */
  int rows;
};

struct sluice_gemmini_input {
  const sluice_walker_t* walker; /* opened, parameters set; one node */
  sluice_walk_cursor_t* cursors; /* walker->engines of them, written here */
  uint64_t
      base[SLUICE_REGION_COUNT]; /* DRAM addresses, not 0 (Gemmini takes 0 for none, and
                                    loads zeros); GBUF: of the scratchpad's image */
  uint64_t scratch;              /* SLUICE_GEMMINI_SCRATCH_BYTES, 16-byte aligned */
  unsigned char* lines;          /* SLUICE_GEMMINI_ROWS of them, written here */
  /* By layer of the graph: output channels of a depthwise convolution for each of its input
   * channels, which a tile does not tell. NULL: 1. */
  const uint32_t* multipliers;
};

struct sluice_gemmini_counts {
  uint64_t commands[SLUICE_GEMMINI_FUNCTS];
  uint64_t fences;
  uint64_t steps[SLUICE_GEMMINI_STEPS];
  uint64_t array_cycles; /* 16 per compute */
  uint64_t array_macs;   /* that tiles on the array ask for */
  uint64_t host_macs;    /* that calls on the host ask for */
  /* That mvin and mvout move: LOADs of inputs and of weights, STOREs, sums for the host,
   * bytes that the machine has scaled, what the array adds to (biases, zeros); between the
   * image of the scratchpad and its rows. */
  uint64_t input_bytes, weight_bytes, output_bytes, sum_bytes, scaled_bytes, bias_bytes;
  uint64_t fetched_bytes, spilled_bytes;
  uint64_t kept_bytes;   /* scaled into rows: no DRAM */
  uint64_t copied_bytes; /* of LOADs and STOREs that the host does */
  uint64_t called_bytes; /* of inputs and outputs of calls on the host */
  uint32_t
      layer; /* of the instruction that is lowered, of an error; SLUICE_NONE behind the last */
  const char* reason; /* of an error, or NULL */
};

/* Lowers the whole stream. */
int sluice_gemmini_lower(const struct sluice_gemmini_input* input,
                         const struct sluice_gemmini_port* port,
                         struct sluice_gemmini_counts* counts);

#ifdef __cplusplus
}
#endif

#endif /* SLUICE_GEMMINI_H_ */
