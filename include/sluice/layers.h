/* SPDX-License-Identifier: Apache-2.0 */
/* What each layer takes in a plan, and what it takes in any plan of its graph. C99.
 * Experimental: see experimental.h. */
#ifndef SLUICE_LAYERS_H_
#define SLUICE_LAYERS_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { /* which of its parts takes a layer longest */
  SLUICE_LIMIT_NOTHING = 0, /* it takes none: a view, or the work of others */
  SLUICE_LIMIT_TILES = 1,   /* the compute engines */
  SLUICE_LIMIT_DRAM = 2,    /* DRAM's port */
  SLUICE_LIMIT_HOST = 3     /* the host */
};

/* One layer. */
typedef struct sluice_layer_cost {
  uint32_t struct_size;
  uint32_t layer;       /* index in the graph */
  uint32_t block;       /* first instance of a block of the stream that works for it */
  uint32_t limit;       /* SLUICE_LIMIT_ */
  uint32_t tiles;       /* computed */
  uint32_t extent[4];   /* of the output of its largest tile, N H W C */
  uint32_t reserved;
  uint64_t cycles;      /* of its tiles together, on whichever nodes */
  uint64_t port_cycles; /* that its transfers and HOST calls hold DRAM's port */
  uint64_t host_cycles; /* of its HOST calls */
  uint64_t dram_read_bytes;  /* of its transfers */
  uint64_t dram_write_bytes; /* of its transfers */
  uint64_t spill_bytes; /* written of tensors that are neither outputs nor states */
  uint64_t macs;        /* work as ops.h counts it */
  uint64_t vector_ops;  /* work as ops.h counts it */
  double energy_pj; /* without leakage and links. What tiles take on chip is a share of the
                       report's, by bound_energy_pj, where it does not follow from bytes and
                       work */
  uint64_t bound_cycles;     /* no tiles of the layer take less together */
  uint64_t bound_dram_bytes; /* of inputs, constants and states that it is the first to need,
                                and of outputs that it makes, also through views: each moves
                                once at least */
  double bound_energy_pj;    /* of its tiles, on chip */
} sluice_layer_cost_t;

/* All layers of a graph. Fields marked "in" are the caller's. SLUICE_BUFFER_TOO_SMALL: count
 * is set, nothing else. */
typedef struct sluice_layer_list {
  uint32_t struct_size;
  uint32_t capacity;          /* in: entries of costs */
  uint32_t count;             /* layers of the graph */
  uint32_t reserved;
  sluice_layer_cost_t* costs; /* in: array to be filled, or NULL */
} sluice_layer_list_t;

#ifdef __cplusplus
}
#endif

#endif /* SLUICE_LAYERS_H_ */
