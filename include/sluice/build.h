/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs and machine descriptors, built piece by piece, for programs that have no model
 * file. Part of libsluice_import; the rules at the top of import.h hold.
 *
 * A builder only collects: functions that add something return its index at once, and
 * remember the first thing that was wrong. Finishing reports that, or has the finished
 * bytes read by the scheduler's reader and reports what it says. A builder can be
 * finished more than once, and more may be added in between.
 * When memory is exhausted while something is added, or an argument is wrong, its index is
 * SLUICE_NO_INDEX, and finishing returns SLUICE_OUT_OF_MEMORY or says what is wrong. Calls
 * with a builder that is NULL add nothing; finishing it fails. */
#ifndef SLUICE_BUILD_H_
#define SLUICE_BUILD_H_

#include "sluice/import.h"
#include "sluice/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- graphs */

/* A graph that is being collected. */
typedef struct sluice_graph_builder sluice_graph_builder_t;

/* An empty graph. name: copied; NULL: "". Returns NULL when memory is exhausted. The
 * caller destroys the builder. */
SLUICE_API sluice_graph_builder_t* sluice_graph_builder_create(const char* name);

/* Gives the builder's memory back. NULL is fine. Bytes that were finished stay valid. */
SLUICE_API void sluice_graph_builder_destroy(sluice_graph_builder_t* builder);

/* A tensor. Everything is copied. */
typedef struct sluice_tensor {
  uint32_t struct_size;
  uint32_t kind;         /* SLUICE_TENSOR_ of sluice.h */
  uint32_t dtype;        /* SLUICE_DTYPE_ of ops.h */
  uint32_t rank;         /* 0 to 4: how many extents stand in dims */
  int32_t dims[4];       /* elements, outermost first, each at least 1 */
  const char* name;      /* NULL: none */
  /* Constants (SLUICE_TENSOR_CONSTANT) only: where their bytes come from. */
  uint32_t source;       /* SLUICE_SOURCE_ of sluice.h; EXTERNAL: see `file` */
  int32_t zero_point;    /* real = scale * (stored - zero_point); for people only */
  const void* bytes;     /* INLINE: dense, row-major, little-endian */
  uint64_t byte_count;   /* INLINE: as many as the extents and the type need */
  uint64_t offset;       /* EXTERNAL: byte of the file; SEEDED: the seed of ops.h */
  const char* file;      /* EXTERNAL: name of the file that holds the bytes */
  float scale;           /* 0: not quantised per tensor; for people only */
  uint32_t reserved;
  uint64_t encoded_bytes; /* weights only: bytes that they take off chip, where a LOAD
                             decodes them; 0: as many as they have */
} sluice_tensor_t;

/* Index of the new tensor: 0, 1, 2 ... */
SLUICE_API uint32_t sluice_graph_builder_tensor(sluice_graph_builder_t* builder,
                                                const sluice_tensor_t* tensor);

/* A value that runs give (the position in a KV cache): min <= value <= max. Index of the
 * parameter. name: copied; NULL: none. */
SLUICE_API uint32_t sluice_graph_builder_parameter(sluice_graph_builder_t* builder,
                                                   const char* name, int32_t min,
                                                   int32_t max);

/* A layer. It reads tensors that are no intermediates, or that earlier layers wrote.
 * Everything is copied. */
typedef struct sluice_layer {
  uint32_t struct_size;
  uint32_t op;                /* SLUICE_OP_ of ops.h */
  const char* name;           /* NULL: none */
  const uint32_t* inputs;     /* tensors in the order of ops.h; SLUICE_NO_INDEX: absent */
  const uint32_t* outputs;    /* tensors */
  const int32_t* attributes;  /* in the order of ops.h; a missing tail is zero */
  uint32_t input_count, output_count, attribute_count; /* lengths of these lists */
  uint32_t reserved;
} sluice_layer_t;

/* Index of the new layer: 0, 1, 2 ... */
SLUICE_API uint32_t sluice_graph_builder_layer(sluice_graph_builder_t* builder,
                                               const sluice_layer_t* layer);

/* The graph as graph.fbs bytes.
 * SLUICE_BAD_ARGUMENT: an argument of an earlier call was wrong: NULL, an unknown struct,
 *   a rank above 4, an inline constant whose size does not follow from its extents.
 * Else as sluice_graph_create; the diagnostic names layer and tensor. */
SLUICE_API sluice_status_t sluice_graph_builder_finish(
    const sluice_graph_builder_t* builder, const sluice_allocator_t* allocator,
    sluice_bytes_t* out_graph, sluice_diagnostic_t* diagnostic);

/* ---- machines: the fields of hardware.fbs, whose comments hold here, too. Fields whose
 * default there is 1 stand here for the opposite, so that a zeroed struct is the default:
 * no_multicast, no_reduction, symmetric (of zero_points), cuts_rows. Energies in
 * picojoules, bandwidths as fractions in bytes per cycle. Where a comment says "0: x", a
 * zero stands for x. */

enum { /* sluice_level_t: operands that a memory may or must hold */
  SLUICE_HOLDS_INPUT = 1,  /* activations that a layer reads */
  SLUICE_HOLDS_WEIGHT = 2, /* filters, and the second factor of a product */
  SLUICE_HOLDS_OUTPUT = 4  /* results, also sums that are not complete */
};

/* One memory. */
typedef struct sluice_level {
  uint32_t struct_size;
  uint32_t instances;       /* per node; 0: 1 */
  const char* name;         /* copied; NULL: none */
  uint64_t capacity_bytes;  /* of one instance; 0: unbounded (DRAM) */
  double read_pj_per_bit, write_pj_per_bit; /* energy of an access */
  uint64_t bytes_per_cycle_numerator;   /* 0: never limits */
  uint64_t bytes_per_cycle_denominator; /* divides the numerator; 0: 1 */
  uint32_t alignment_bytes; /* of every buffer; a power of two; 0: 1 */
  uint32_t may_hold;        /* SLUICE_HOLDS_; 0: all three */
  uint32_t must_hold;       /* SLUICE_HOLDS_: operands that may not pass this memory by */
  uint32_t sliding;         /* 1: overlapping input rows stay and are not fetched again */
  uint32_t share_input, share_weight, share_output; /* percent; all 0: shared freely */
} sluice_level_t;

/* Parallel units below a memory. */
typedef struct sluice_fanout {
  uint32_t struct_size;
  uint32_t level;        /* whose one instance feeds `extent` units */
  const char* name;      /* copied; NULL: none */
  uint32_t extent;       /* units below one instance of the level; 0: 1 */
  uint32_t may_unroll;   /* dims that may be dealt to its units, the sum of 1 N, 2 K,
                            4 C, 8 P, 16 Q, 32 R, 64 S; 0: all seven */
  uint32_t no_multicast; /* 0: one read serves all units that need the same word */
  uint32_t no_reduction; /* 0: partial sums are added on the way */
  uint32_t forwarding;   /* 1: neighbours hand operands on */
  uint32_t reserved;
  double transfer_pj_per_bit; /* of a word that is sent through, once per bus */
  double forward_pj_per_bit;  /* of a word that is handed to a neighbour */
} sluice_fanout_t;

/* A grid of cores, each of which multiplies `vector` input channels into `lane` output
 * channels per cycle. Where it stands, tiles are costed by it instead of by the levels
 * and fanouts below the scratchpad. */
typedef struct sluice_core_array {
  uint32_t struct_size;
  uint32_t rows, columns; /* of cores; 0: 1 */
  uint32_t vector, lane;  /* input, output channels that a core takes per cycle; 0: 1 */
  uint32_t input_level, weight_level, output_level; /* the cores' buffers */
  /* energy of the part of the scratchpad that outputs pass on their way */
  double slice_read_pj_per_bit, slice_write_pj_per_bit;
} sluice_core_array_t;

/* Transfers that start in order and run one at a time. A machine without any has one that
 * loads and stores everything. */
typedef struct sluice_queue {
  uint32_t struct_size;
  uint32_t operations;        /* bits 1 load, 2 store, 4 forward, 8 compute; 0: 3 */
  const char* name;           /* copied; NULL: none */
  uint32_t roles;             /* SLUICE_ROLE_ bits that it loads and stores; 0: all */
  uint32_t per_node;          /* 1: one such queue per node */
  uint64_t latency_cycles;    /* of each transfer, before it asks for DRAM */
  uint32_t burst_bytes;       /* rows count as multiples of these; a power of two; 0: 1 */
  uint32_t max_row_bytes;     /* of one descriptor; 0: any */
  uint32_t max_rows;          /* of one descriptor; 0: any */
  uint32_t max_axes;          /* of one descriptor, its row included; 0: any */
  uint32_t descriptor_cycles; /* of each descriptor of a transfer but the first */
  uint32_t reserved;
} sluice_queue_t;

enum { /* sluice_memory_t.regions: what may lie in a memory off chip */
  SLUICE_MEMORY_HOLDS_CONSTANTS = 2, /* weights and parameters */
  SLUICE_MEMORY_HOLDS_INPUTS = 4,    /* of the graph */
  SLUICE_MEMORY_HOLDS_OUTPUTS = 8,   /* of the graph */
  SLUICE_MEMORY_HOLDS_STATES = 16,   /* what persists over runs */
  SLUICE_MEMORY_HOLDS_WORKSPACE = 32 /* tensors between layers, spills, partial sums */
};

/* A memory off chip, beside the last level, which has what no memory holds. */
typedef struct sluice_memory {
  uint32_t struct_size;
  uint32_t regions;         /* SLUICE_MEMORY_HOLDS_ bits; each in one memory */
  const char* name;         /* copied; NULL: none */
  uint64_t capacity_bytes;  /* 0: unbounded */
  uint64_t latency_cycles;  /* of each transfer, beside the queue's */
  uint64_t bytes_per_cycle_numerator;   /* at least 1 */
  uint64_t bytes_per_cycle_denominator; /* divides the numerator; 0: 1 */
  double read_pj_per_bit;   /* of a bit that leaves it */
  double write_pj_per_bit;  /* of a bit that reaches it */
  uint32_t read_only;       /* 1: a flash, which holds constants alone */
  uint32_t reserved;
} sluice_memory_t;

enum { /* granules of the MAC array that tiles must keep to */
  SLUICE_DEMANDS_K = 1, /* sluice_array_t.k, output channels */
  SLUICE_DEMANDS_C = 2, /* sluice_array_t.c, channels that are added up */
  SLUICE_DEMANDS_P = 4  /* sluice_array_t.p, positions of the output */
};

/* What the MAC array of a node takes at once: the parts (passes) that tiles are costed in.
 * Each takes ceil(k * c * p / macs_per_cycle) cycles, fill_cycles and drain_cycles. */
typedef struct sluice_array {
  uint32_t struct_size;
  uint32_t k, c, p;      /* output channels, input channels, pixels; 0: 1 */
  uint32_t cuts_rows;    /* 1: no pass holds pixels of two rows */
  uint32_t packs_filter; /* 1: filter positions and input channels share c */
  uint32_t demands;      /* SLUICE_DEMANDS_: other tiles are illegal, not only slow */
  uint32_t fill_cycles, drain_cycles; /* before and after each pass */
  uint32_t reserved;
} sluice_array_t;

enum { /* how a layer's sums become outputs: of (multiplier, shift) */
  SLUICE_REQUANTISE_NONE = 1,       /* they stay as they are: (2^30, 1) everywhere */
  SLUICE_REQUANTISE_PER_TENSOR = 2, /* one for all channels */
  SLUICE_REQUANTISE_PER_CHANNEL = 4 /* one per channel */
};

/* What the compute engines can do of one operator. A layer that no row does becomes a HOST
 * call. A machine without rows does every layer. */
typedef struct sluice_op_support {
  uint32_t struct_size;
  uint32_t op;           /* SLUICE_OP_ of an operator that tiles compute, or GATHER */
  uint32_t dtypes;       /* of operands, bits 1 << SLUICE_DTYPE_; 0: all */
  uint32_t requantise;   /* SLUICE_REQUANTISE_; 0: all */
  uint32_t arithmetic;   /* results are as in ops.h (bit 1), as in float (2), rounded by shifts
                            (4); 0: 1. A row without bit 1 does no layer: results must be
                            those of ops.h */
  uint32_t symmetric;    /* whose zero point must be 0: bits 1 input 0, 2 input 1, 4 output */
  uint32_t max_kernel_h, max_kernel_w; /* of the window; 0: any */
  uint32_t max_stride, max_dilation;   /* along either axis; 0: any */
} sluice_op_support_t;

/* Who executes HOST calls: call_cycles + bytes / bytes_per_cycle + work / ops_per_cycle. */
typedef struct sluice_host {
  uint32_t struct_size;
  uint32_t uses_port;                   /* of DRAM, for the bytes of every call: 0 or 1 */
  uint64_t call_cycles;                 /* of every call */
  uint64_t bytes_per_cycle_numerator;   /* 0: at once */
  uint64_t bytes_per_cycle_denominator; /* divides the numerator; 0: 1 */
  uint64_t ops_per_cycle_numerator;     /* MACs or vector operations; 0: at once */
  uint64_t ops_per_cycle_denominator;   /* divides the numerator; 0: 1 */
  double pj_per_cycle;                  /* of each cycle of a call */
} sluice_host_t;

/* All but levels, fanouts, the array, cores, queues, rows of operators and the host. */
typedef struct sluice_machine {
  uint32_t struct_size;
  uint32_t scratchpad_level;     /* index of the level that the stream addresses */
  const char* name;              /* copied; NULL: none */
  uint64_t clock_hz;             /* cycles per second, to print seconds; 0: 10^9 */
  uint64_t macs_per_cycle;       /* peak of one node; at least 1 */
  uint64_t vector_ops_per_cycle; /* peak of one node; at least 1 */
  double mac_pj, vector_op_pj;   /* energy of one operation */
  double leakage_pj_per_cycle;   /* of the whole machine */
  uint64_t dma_latency_cycles;   /* of each transfer; 0 where queues are added */
  uint32_t dram_granule_bytes;   /* views start and step at multiples of it; 0: 1 */
  uint32_t accumulator_bytes;    /* of one partial sum in the scratchpad; 0: 4 */
  uint32_t node_cols, node_rows; /* nodes of the mesh along each axis; 0: 1 */
  double hop_pj_per_bit;         /* of a link between neighbouring nodes */
  uint64_t hop_latency_cycles;   /* of a FORWARD, for each link on its way; 0: 1 */
  uint64_t link_bytes_per_cycle_numerator;   /* needed with more than one node */
  uint64_t link_bytes_per_cycle_denominator; /* divides the numerator; 0: 1 */
} sluice_machine_t;

/* A descriptor that is being collected. */
typedef struct sluice_hardware_builder sluice_hardware_builder_t;

/* A descriptor of this machine, still without memories and arrays. machine: copied. Returns
 * NULL when memory is exhausted. The caller destroys the builder. */
SLUICE_API sluice_hardware_builder_t* sluice_hardware_builder_create(
    const sluice_machine_t* machine);

/* Gives the builder's memory back. NULL is fine. Bytes that were finished stay valid. */
SLUICE_API void sluice_hardware_builder_destroy(sluice_hardware_builder_t* builder);

/* The next memory, nearest the MACs first, DRAM last; its index. */
SLUICE_API uint32_t sluice_hardware_builder_level(sluice_hardware_builder_t* builder,
                                                  const sluice_level_t* level);

/* Units below a memory that is, or will be, added; the fanout's index. */
SLUICE_API uint32_t sluice_hardware_builder_fanout(sluice_hardware_builder_t* builder,
                                                   const sluice_fanout_t* fanout);

/* The machine's cores; a second call replaces the first. */
SLUICE_API void sluice_hardware_builder_cores(sluice_hardware_builder_t* builder,
                                              const sluice_core_array_t* cores);

/* The machine's MAC array; a second call replaces the first. */
SLUICE_API void sluice_hardware_builder_array(sluice_hardware_builder_t* builder,
                                              const sluice_array_t* array);

/* The next queue; its index. */
SLUICE_API uint32_t sluice_hardware_builder_queue(sluice_hardware_builder_t* builder,
                                                  const sluice_queue_t* queue);

/* The next memory off chip; its index. */
SLUICE_API uint32_t sluice_hardware_builder_memory(sluice_hardware_builder_t* builder,
                                                   const sluice_memory_t* memory);

/* The next row of what the compute engines can do; its index. */
SLUICE_API uint32_t sluice_hardware_builder_op(sluice_hardware_builder_t* builder,
                                               const sluice_op_support_t* op);

/* The machine's host; a second call replaces the first. Without one, the machine must do
 * every layer but OPAQUE ones. */
SLUICE_API void sluice_hardware_builder_host(sluice_hardware_builder_t* builder,
                                             const sluice_host_t* host);

/* The descriptor as hardware.fbs bytes. SLUICE_BAD_ARGUMENT: an argument of an earlier
 * call was wrong. Else as sluice_hardware_create. */
SLUICE_API sluice_status_t sluice_hardware_builder_finish(
    const sluice_hardware_builder_t* builder, const sluice_allocator_t* allocator,
    sluice_bytes_t* out_hardware, sluice_diagnostic_t* diagnostic);

#ifdef __cplusplus
}
#endif

#endif /* SLUICE_BUILD_H_ */
