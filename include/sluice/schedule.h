/* SPDX-License-Identifier: Apache-2.0 */
/* A fused schedule as data: SoMa's tensor-centric notation, and the same resolved to tiles
 * and transfers that have cycles, bytes and energy. C99, arrays only. Experimental: see
 * experimental.h. Arrays are the caller's, are read or written during the call alone, and
 * are never kept.
 *
 * Time counts tile positions: position p is the p-th tile that is computed, -1 the time
 * before the first. A living duration [start, end) holds scratchpad bytes from before
 * tile `start` to before tile `end`:
 *   load   may begin when tile `start` may begin and is done before its first reader;
 *          `end` is its last reader + 1
 *   store  may begin when the tile that makes it, `start`, is done, and is done before
 *          tile `end`
 * One DRAM channel moves the transfers one after the other, in their order; one engine
 * computes the tiles one after the other, in theirs. */
#ifndef SLUICE_SCHEDULE_H_
#define SLUICE_SCHEDULE_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { /* sluice_notation_t.cuts: what stands before a position of the computing order */
  SLUICE_CUT_NONE = 0, /* the layer is in the group of the layer before it */
  SLUICE_CUT_FINE = 1, /* a fine-grained group starts: its layers take turns tile by tile */
  SLUICE_CUT_DRAM = 2  /* a layer-fusion group starts too: tensors that cross go through
                          DRAM */
};

enum { /* kind of a DRAM tensor */
  SLUICE_DRAM_WEIGHT = 0, /* load: weights and parameters of a layer, once per group */
  SLUICE_DRAM_INPUT = 1,  /* load: what a tile reads of a tensor that is not on chip */
  SLUICE_DRAM_STORE = 2   /* store: what a tile made */
};

/* One DRAM tensor of a notation: what one transfer moves. */
typedef struct sluice_dram_tensor {
  uint32_t kind;   /* SLUICE_DRAM_ */
  uint32_t layer;  /* that reads it first, or makes it: index in the graph */
  uint32_t tile;   /* of that layer, from 0; 0 for weights */
  uint32_t source; /* INPUT: index of the tensor in the graph; else ignored */
  int32_t start;   /* first position of its living duration, >= -1 */
  int32_t end;     /* one past the last */
} sluice_dram_tensor_t;

/* A schedule by SoMa's six attributes: computing order, fine and DRAM cuts, tiling numbers;
 * DRAM order, living durations. */
typedef struct sluice_notation {
  uint32_t struct_size;
  uint32_t layers;       /* entries of order, cuts, tiles */
  const uint32_t* order; /* computing order: every layer once, after what it reads */
  const uint8_t* cuts;   /* by position: SLUICE_CUT_; [0] is DRAM */
  const int32_t* tiles;  /* by position: tiling number of the fine-grained group that
                            starts there; elsewhere ignored */
  uint32_t transfers;    /* entries of dram; 0: a list schedule finds DRAM order and
                            durations */
  uint32_t double_buffer; /* 1, with transfers 0: each load starts one tile ahead of its
                             reader, each store ends one tile behind its maker */
  const sluice_dram_tensor_t* dram; /* in DRAM order: every DRAM tensor once */
} sluice_notation_t;

/* A resolved tile; tiles are ordered by position. */
typedef struct sluice_timed_tile {
  int64_t cycles;      /* of computing it; at least 1 */
  double energy_pj;    /* of computing it, scratchpad accesses included */
  int64_t ofmap_bytes; /* its output on chip in [position, ofmap_end); not the store's */
  int32_t ofmap_end;   /* one past the last position that reads it on chip */
  uint32_t store;      /* index of the transfer that stores it, or 0xffffffff */
} sluice_timed_tile_t;

/* A resolved transfer; transfers stand in DRAM order. */
typedef struct sluice_timed_transfer {
  int64_t bytes;      /* moved, >= 1 */
  int64_t held_bytes; /* of the buffer during the living duration; 0: its bytes are in
                         another transfer's buffer */
  int64_t setup_cycles; /* beyond latency_cycles, of a transfer that moves in several parts */
  uint32_t kind;  /* SLUICE_DRAM_ */
  uint32_t after; /* load: index of the transfer that stores the bytes it reads, or
                     0xffffffff */
  int32_t use;    /* load: first position that reads it; store: position that makes it */
  int32_t start;  /* first position of its living duration, >= -1 */
  int32_t end;    /* one past the last */
  uint32_t reserved;
} sluice_timed_transfer_t;

/* A schedule without a graph: resolved tiles and transfers, and the machine's numbers. */
typedef struct sluice_timed_schedule {
  uint32_t struct_size;
  uint32_t tiles;     /* entries of tile */
  uint32_t transfers; /* entries of transfer */
  uint32_t reserved;
  const sluice_timed_tile_t* tile;         /* by position */
  const sluice_timed_transfer_t* transfer; /* in DRAM order */
  int64_t bandwidth_bytes;  /* DRAM moves bandwidth_bytes ... */
  int64_t bandwidth_cycles; /* ... in bandwidth_cycles; both >= 1 */
  int64_t latency_cycles;   /* before the first byte of each transfer */
  double dram_pj_per_byte;  /* of reads and writes */
  int64_t buffer_bytes;     /* capacity of the scratchpad */
} sluice_timed_schedule_t;

enum { /* sluice_evaluation_t.fault */
  SLUICE_SCHEDULE_LEGAL = 0,    /* nothing is wrong */
  SLUICE_SCHEDULE_ORDER = 1,    /* computing order: a layer before what it reads; DRAM
                                   order: not every tensor once, or a tile overtaken */
  SLUICE_SCHEDULE_TILES = 2,    /* a group cannot be cut into that many tiles */
  SLUICE_SCHEDULE_DURATION = 3, /* start or end outside what the tiles allow */
  SLUICE_SCHEDULE_SOURCE = 4,   /* a load before the store it reads */
  SLUICE_SCHEDULE_BLOCKED = 5,  /* a transfer waits for a tile that waits for it */
  SLUICE_SCHEDULE_BUFFER = 6,   /* legal, but more bytes in use than the buffer has */
  SLUICE_SCHEDULE_MAPPING = 7   /* a tile cannot be computed on the machine */
};

/* What a schedule costs. The pointers are the caller's arrays; each may be NULL. */
typedef struct sluice_evaluation {
  uint32_t struct_size;
  uint32_t fault;          /* SLUICE_SCHEDULE_; numbers below hold when LEGAL or BUFFER */
  uint32_t fault_index;    /* DRAM tensor in DRAM order, or position; or 0xffffffff */
  uint32_t tiles, transfers; /* how many: lengths of the arrays below */
  uint32_t groups, fine_groups; /* how many: layer-fusion and fine-grained groups */
  uint32_t reserved;
  int64_t latency_cycles; /* until the last tile and the last transfer are done */
  int64_t compute_cycles, dram_cycles; /* sums; the larger is SoMa's "theoretical maximum" */
  int64_t bound_cycles;    /* with other DRAM orders and durations these tiles take at least
                              this long */
  int64_t load_bytes, store_bytes; /* moved by loads and by stores */
  int64_t peak_buffer_bytes;   /* the most in use at any position */
  double average_buffer_bytes; /* in use, weighted by cycles of the tiles */
  double energy_pj, compute_pj, dram_pj; /* all; of tiles; of transfers; see below */
  int64_t* tile_begin;     /* tiles entries: cycle at which each tile starts */
  int64_t* transfer_begin; /* transfers entries, in DRAM order: cycle at which each starts */
  int64_t* buffer_bytes;   /* tiles + 1 entries: in use before the first tile, during each */
  /* Of a graph's notation: energy_pj is the sum of dram_pj, scratchpad_pj, compute_pj
   * (MACs and vector operations) and leakage_pj, each as the report of a plan has it.
   * Of resolved schedules these two are 0 and compute_pj is the tiles' energy. */
  double scratchpad_pj, leakage_pj;
  /* Of notations alone: the schedule as it was evaluated. */
  uint32_t* tile_layer;    /* tiles entries: index of the graph's layer */
  uint32_t* tile_number;   /* tiles entries: number within its layer, from 0 */
  int64_t* tile_cycles;    /* tiles entries: that it takes */
  int32_t* tile_box;       /* 8 * tiles entries: begin N H W C, end N H W C of the ofmap */
  sluice_dram_tensor_t* dram; /* transfers entries, in DRAM order, with durations */
  int64_t* transfer_bytes; /* transfers entries, in DRAM order: bytes moved */
  /* In: sluice_evaluate takes scratchpad_bytes and the tile costs from here, during the
   * call. NULL: all of the scratchpad, the library's own tile costs. */
  const struct sluice_schedule_options* options;
} sluice_evaluation_t;

#ifdef __cplusplus
}
#endif

#endif /* SLUICE_SCHEDULE_H_ */
