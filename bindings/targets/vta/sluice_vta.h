/* SPDX-License-Identifier: Apache-2.0 */
/* From a stream of sluice to VTA: 16-byte instructions with dependence tokens, micro-ops,
 * and the work of the host between runs. C99, on the walker alone: no heap, no C++ runtime.
 *
 * Input    a stream for one node that the walker has opened, DRAM as one byte range below
 *          4 GiB, channels per layer
 * Output   everything leaves through the port, in the order in which VTA's runtime would
 *          push it; counts
 * Errors   SLUICE_VTA_ codes; `why` and `layer` of the state say what cannot be done and where
 * Cost     the bytes that the stream moves; state: sizeof(struct sluice_vta_state) and four
 *          bytes per byte of the stream's scratchpad, both the caller's
 *
 * README.md says what maps to what. */
#ifndef SLUICE_VTA_H_
#define SLUICE_VTA_H_

#include "firmware-sim/walker.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  SLUICE_VTA_OK = 0,
  SLUICE_VTA_BAD_STREAM = 1,  /* it stands still, or what belongs to it is missing */
  SLUICE_VTA_UNSUPPORTED = 2, /* VTA cannot do this layer */
  SLUICE_VTA_TOO_LARGE = 3,   /* a tile, the scratchpad or a region does not fit */
  SLUICE_VTA_PORT = 4         /* a function of the port answered other than 0 */
};

enum {                          /* VTA's default buffers, in entries */
       SLUICE_VTA_INP = 2048,   /* of 16 int8 */
       SLUICE_VTA_WGT = 1024,   /* of 16 x 16 int8 */
       SLUICE_VTA_ACC = 2048,   /* of 16 int32; OUT alike, of 16 int8 */
       SLUICE_VTA_UOPS = 8192,  /* of 32 bits */
       SLUICE_VTA_QUEUE = 8192, /* instructions of one run at most */
       SLUICE_VTA_BOXES = 64,   /* that the lowering remembers in each buffer */
       SLUICE_VTA_SUMS = 64,    /* accumulators that are not finished */
       SLUICE_VTA_ENGINES = 16, /* of the stream */
       SLUICE_VTA_TERMS = 7,    /* shifts of a factor, where VTA scales */
       SLUICE_VTA_STAGING =
           1 << 20 /* bytes of DRAM that the lowering needs for itself */
};
enum {
  SLUICE_VTA_LOAD,
  SLUICE_VTA_STORE,
  SLUICE_VTA_GEMM,
  SLUICE_VTA_FINISH,
  SLUICE_VTA_ALU,
  SLUICE_VTA_OPCODES
};
/* Memories, as instructions name them: micro-ops, weights, inputs, sums (biases are loaded
 * there), bytes of sums. */
enum {
  SLUICE_VTA_OF_UOP,
  SLUICE_VTA_OF_WGT,
  SLUICE_VTA_OF_INP,
  SLUICE_VTA_OF_ACC,
  SLUICE_VTA_OF_OUT,
  SLUICE_VTA_MEMORIES
};

/* Channels of a layer's first input and of its output, which a tile does not tell. */
struct sluice_vta_layer {
  uint32_t input_channels, output_channels;
};

/* A box of a layer's output, N H W K, whose bytes VTA may make of sums. */
struct sluice_vta_block {
  uint32_t layer, begin[4], extent[4];
  uint32_t products;       /* at most, of one sum */
  int32_t zero, low, high; /* of the output */
  int32_t parameters[3];   /* of all channels, where the layer has none by channel */
};

/* What ACC needs for that: 16 channels a row. */
struct sluice_vta_rows {
  uint32_t terms;                          /* shifts beside the last */
  int32_t shift[SLUICE_VTA_TERMS + 1][16]; /* the last first */
  int32_t added[16];                       /* before the last shift */
};

/* Where everything leaves. Each function answers 0, or anything else to end the lowering. */
struct sluice_vta_port {
  void* user;
  int (*instruction)(void* user,
                     const unsigned char bytes[16]); /* the next of this run */
  int (*run)(
      void* user); /* the instructions since the last run, FINISH the last: start the
                             machine and wait until it has finished */
  int (*read)(void* user, uint32_t address, void* to,
              uint32_t bytes); /* the host, in DRAM */
  int (*write)(void* user, uint32_t address, const void* from, uint32_t bytes);
  int (*host)(
      void* user, const sluice_walker_t* walker, const sluice_walk_visit_t* visit,
      const sluice_host_call_t* call); /* a layer that the planner gave to the host */
  /* NULL: the host makes bytes of all sums, as ops.h says. Else VTA's ALU does where it can,
   * inexactly. Called for a box with NULL: answers 1, or 0 for the host; then for each 16
   * channels of it, for their rows (sluice_vta_scale.h). Negative: ends the lowering. */
  int (*scale)(void* user, const struct sluice_vta_block* block,
               struct sluice_vta_rows* rows);
};

struct sluice_vta_input {
  const sluice_walker_t* walker; /* opened, parameters set */
  uint32_t layer_count;
  const struct sluice_vta_layer* layers; /* by index of the graph's layer */
  uint32_t
      region[SLUICE_REGION_COUNT]; /* DRAM address of each; of GBUF: its image, as many
                                            bytes as the scratchpad. Multiples of 256 */
  uint32_t staging;                /* DRAM address of SLUICE_VTA_STAGING bytes; alike */
  uint32_t* home;                  /* one entry per byte of the scratchpad */
  uint32_t home_count;
  struct sluice_vta_state* state;
};

struct sluice_vta_counts {
  uint64_t instructions[SLUICE_VTA_OPCODES]; /* runs: as many as FINISH */
  uint64_t moved[SLUICE_VTA_MEMORIES];       /* bytes between DRAM and each, by VTA */
  uint64_t gemm_cycles, alu_cycles;          /* one micro-op each */
  uint64_t tiles, host_calls;
  uint64_t array_macs, host_macs; /* that tiles, and calls of the host, ask for */
  uint64_t planned[2]; /* LOADs of the stream: of weights and parameters, of the rest */
  uint64_t packed_bytes; /* inputs and weights that the host lays out for VTA */
  uint64_t requantised,
      scaled;            /* output elements that the host, or VTA, makes of sums */
  uint64_t copied_bytes; /* STOREs: the host copies, results are made in DRAM */
  uint64_t called_bytes; /* of inputs and outputs of calls of the host */
};

/* What entries of a buffer hold. */
struct sluice_vta_box {
  uint32_t key[14];          /* of what */
  uint64_t begin[2], end[2]; /* DRAM from which it came; ends equal: not to be found */
  uint32_t first, count;     /* entries */
  uint64_t written, read;    /* by which instructions last; number + 1 */
};

/* A ring of boxes. */
struct sluice_vta_buffer {
  struct sluice_vta_box box[SLUICE_VTA_BOXES];
  uint32_t next_box, next, first, end; /* entries */
  uint64_t read;                       /* last instruction that read what is gone */
};

/* Sums from FIRST to LAST: entries of ACC. */
struct sluice_vta_sums {
  uint64_t offset;       /* of the accumulator in the scratchpad */
  uint32_t first, count; /* count 0: free */
};

struct sluice_vta_state {
  int code;        /* the first error; behind it nothing leaves */
  const char* why; /* of it, or NULL */
  uint32_t layer;  /* that it concerns, or SLUICE_NONE */
  const struct sluice_vta_input* input;
  const struct sluice_vta_port* port;
  struct sluice_vta_counts* counts;
  const sluice_walker_t* walker;
  sluice_walk_cursor_t cursor[SLUICE_VTA_ENGINES];
  unsigned char queue[SLUICE_VTA_QUEUE][16];
  uint32_t queued;
  uint64_t run_start;  /* number of the queue's first instruction */
  uint64_t seen[3][3]; /* [a][b]: module a starts after all of b below this */
  uint64_t last[3];    /* last instruction of each module + 1 */
  uint32_t pushes;     /* tokens of this run */
  uint32_t staged;     /* bytes of staging in use */
  int spare;           /* ACC's entries that nobody reads are defined */
  struct sluice_vta_buffer
      buffer[SLUICE_VTA_OF_OUT]; /* by memory; ACC: rows of biases */
  struct sluice_vta_sums sums[SLUICE_VTA_SUMS];
  uint32_t uop[SLUICE_VTA_UOPS]; /* what the machine's micro-op buffer holds */
};

/* Lowers and, through the port, runs a stream. */
int sluice_vta_lower(const struct sluice_vta_input* input,
                     const struct sluice_vta_port* port,
                     struct sluice_vta_counts* counts);

#ifdef __cplusplus
}
#endif

#endif /* SLUICE_VTA_H_ */
