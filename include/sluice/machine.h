/* SPDX-License-Identifier: Apache-2.0 */
/* What the library understands a machine to be, and what in its descriptor does not go
 * together. Experimental: see experimental.h. C99. */
#ifndef SLUICE_MACHINE_H_
#define SLUICE_MACHINE_H_

#include "sluice/sluice.h"
#include "sluice/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { /* sluice_machine_facts_t.costs_from: what declares the cycles of tiles that the
          caller has no cost for */
  SLUICE_COSTS_FROM_PEAK = 0,  /* work / peak alone */
  SLUICE_COSTS_FROM_ARRAY = 1, /* passes of the MAC array */
  SLUICE_COSTS_FROM_NESTS = 2, /* the best loop nest on level and fanouts below the
                                  scratchpad */
  SLUICE_COSTS_FROM_CORES = 3  /* the array of cores */
};

/* What a descriptor was understood to say, of the whole machine. */
typedef struct sluice_machine_facts {
  uint32_t struct_size;
  uint32_t nodes;        /* of the mesh */
  uint32_t engines;      /* of its streams */
  uint32_t doubts;       /* how many; see sluice_hardware_doubt */
  uint32_t costs_from;   /* SLUICE_COSTS_FROM_ */
  uint32_t reserved;
  uint64_t fanout_units; /* that a node's fanouts feed below its scratchpad; 0: no fanouts */
  uint64_t array_places; /* MACs of one pass of a node's array: k * c * p; 0: no array */
  uint64_t macs_per_cycle, vector_ops_per_cycle; /* peaks of all nodes */
  double dram_bytes_per_cycle;   /* of the port that all queues share */
  double scratchpad_fill_cycles; /* to fill the scratchpads of all nodes from DRAM */
  double macs_per_dram_byte;     /* a layer that does more of them than this for each byte it
                                    moves is not limited by DRAM */
} sluice_machine_facts_t;

/* What the library understands a machine to be. */
SLUICE_API sluice_status_t sluice_hardware_machine(const sluice_hardware_t* hardware,
                                                   sluice_machine_facts_t* out_facts);

/* Engine `index` as the machine's streams list it. SLUICE_BAD_ARGUMENT: no such engine. */
SLUICE_API sluice_status_t sluice_hardware_engine(const sluice_hardware_t* hardware,
                                                  uint32_t index,
                                                  sluice_engine_t* out_engine);

/* Doubt `index` about the descriptor: two fields that are unlikely to belong to one machine.
 * Planning is possible with them. out_doubt->message names both, in a sentence.
 * (sluice_hardware_create refuses fields that no machine can have.) SLUICE_BAD_ARGUMENT: there
 * is no such doubt. */
SLUICE_API sluice_status_t sluice_hardware_doubt(const sluice_hardware_t* hardware,
                                                 uint32_t index,
                                                 sluice_diagnostic_t* out_doubt);

#ifdef __cplusplus
}
#endif

#endif /* SLUICE_MACHINE_H_ */
