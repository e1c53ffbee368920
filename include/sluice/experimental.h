/* SPDX-License-Identifier: Apache-2.0 */
/* What is being tried out. Everything in this header may change or go in any release,
 * without notice and without a new ABI version; what proves itself moves to sluice.h. It
 * is not in libsluice.so but in libsluice_experimental.so (and in libsluice.a), together
 * with all of sluice.h: link one or the other.
 *
 * The rules of sluice.h hold here too: struct_size first in structs that may grow, status
 * and diagnostic, memory of the context only, no globals, same inputs same bytes. */
#ifndef SLUICE_EXPERIMENTAL_H_
#define SLUICE_EXPERIMENTAL_H_

#include "sluice/schedule.h"
#include "sluice/sluice.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a given schedule costs (schedule.h); nothing is searched. notation orders layers
 * of the graph by index: any set of layers that compute, their views left out; what other
 * layers write or read goes through DRAM. Of the options (may be NULL) scratchpad_bytes
 * and the tile costs count. SLUICE_REJECTED: not a legal schedule; `fault` of the
 * evaluation says how, diagnostic names layer and tile (or the bytes that are missing:
 * the numbers then hold as if the buffer were larger). A plan made from a schedule has
 * this energy and at most this latency: its waits follow from addresses, and may let
 * transfers start earlier. Arrays of the evaluation are the caller's, each NULL or as
 * long as schedule.h says; their lengths come from a call without them. */
SLUICE_API sluice_status_t sluice_evaluate(sluice_context_t* context,
                                           const sluice_graph_t* graph,
                                           const sluice_hardware_t* hardware,
                                           const sluice_notation_t* notation,
                                           const sluice_schedule_options_t* options,
                                           sluice_evaluation_t* evaluation,
                                           sluice_diagnostic_t* diagnostic);
/* The same for tiles and transfers that are resolved already, of any machine. */
SLUICE_API sluice_status_t sluice_evaluate_timed(
    sluice_context_t* context, const sluice_timed_schedule_t* schedule,
    sluice_evaluation_t* evaluation, sluice_diagnostic_t* diagnostic);

/* One GEMM on the memories of a descriptor, without a graph: P(m, n) += A(m, k) B(n, k),
 * 8-bit words. Axes 0 1 2 = M N K; the datum "of axis d" is the one without d: 0 B, 1 A,
 * 2 P. Memories: outer (DRAM, or any level), middle (one; absent when the outer one feeds
 * the PEs), inner (one per PE; absent when there is none). Of deeper hierarchies the best
 * two below the outer one, the others passed by; what is no such hierarchy (memories for
 * some operands only) is SLUICE_UNSUPPORTED. */
enum { SLUICE_GEMM_EXACT = 0, SLUICE_GEMM_COSA = 1 };
enum { SLUICE_GEMM_ENERGY = 0, SLUICE_GEMM_EDP = 1, SLUICE_GEMM_LATENCY = 2 };

typedef struct sluice_gemm_options {
  uint32_t struct_size;
  uint32_t solver;     /* SLUICE_GEMM_EXACT: proved optimum; _COSA: one-shot assignment
                          of prime factors, by its own objective, at most all PEs */
  uint32_t objective;  /* SLUICE_GEMM_ENERGY ...; of EXACT */
  uint32_t at_most;    /* 0: exactly all PEs (of EXACT); 1: at most all */
  uint32_t paper_form; /* 0: counts as a walk through the loops does; 1: closed form as
                          published, which misses reuse across loops of one trip */
  uint32_t certify;    /* of EXACT: also prove, and check the proof by separate code */
  uint64_t deadline_ns; /* from the call on; 0 = none */
  const uint32_t* cancel; /* polled; nonzero stops; may be NULL */
  uint32_t from_level;  /* of the descriptor, where the operands lie; 0 = DRAM */
  uint32_t reserved;
} sluice_gemm_options_t;

enum { /* sluice_gemm_mapping_t.certificate */
  SLUICE_CERTIFICATE_NONE = 0,     /* not asked for, or not proved */
  SLUICE_CERTIFICATE_ACCEPTED = 1,
  SLUICE_CERTIFICATE_REJECTED = 2
};

typedef struct sluice_gemm_mapping {
  uint32_t struct_size;
  uint32_t proved;      /* objective == bound */
  uint32_t certificate; /* SLUICE_CERTIFICATE_ */
  uint32_t outer_level, middle_level, inner_level; /* or SLUICE_NO_INDEX */
  int64_t middle_tile[3]; /* elements of each axis in the middle memory */
  int64_t spatial[3];     /* PEs along each axis */
  int64_t inner_tile[3];  /* elements of each axis in one PE */
  uint8_t outer_order[4];  /* loops over middle tiles, innermost first; [3] is 0 */
  uint8_t middle_order[4]; /* loops over array tiles in a middle tile */
  uint8_t middle_holds;    /* bit d: the datum of axis d lives there; else bypassed */
  uint8_t inner_holds;
  uint8_t reserved[6];
  int64_t macs, cycles, pe_used; /* cycles: memories are taken as fast enough */
  int64_t reads[3][3], writes[3][3]; /* words; [outer, middle, inner][datum] */
  double memory_pj[3];               /* outer, middle, inner */
  double mac_pj, leak_pj, energy_pj, energy_pj_per_mac;
  double objective; /* ENERGY, LATENCY: pJ per MAC; EDP: that by PEs used; COSA: its own */
  double bound;     /* no mapping's objective is below */
  uint64_t nodes;   /* of the search */
} sluice_gemm_mapping_t;

/* options may be NULL. SLUICE_INFEASIBLE: no split of the axes uses exactly all PEs. */
SLUICE_API sluice_status_t sluice_map_gemm(sluice_context_t* context,
                                           const sluice_hardware_t* hardware, int64_t m,
                                           int64_t n, int64_t k,
                                           const sluice_gemm_options_t* options,
                                           sluice_gemm_mapping_t* out_mapping,
                                           sluice_diagnostic_t* diagnostic);

/* Static placement: buffers with known lifetimes -> offsets within a capacity. */
enum { SLUICE_BUFFER_FIXED = 1,      /* must lie at fixed_offset */
       SLUICE_BUFFER_SINGLE_BANK = 2 /* must not straddle a bank border */ };

typedef struct sluice_buffer {
  int64_t begin, end;   /* lives during [begin, end) */
  int64_t bytes;        /* > 0 */
  int64_t alignment;    /* of its offset; power of two; 0 = 1 */
  int64_t fixed_offset; /* with SLUICE_BUFFER_FIXED */
  uint64_t banks;       /* bit i: may touch bank i; 0 = any */
  uint32_t flags;       /* SLUICE_BUFFER_ */
  uint32_t gap_begin, gap_count; /* into sluice_placement_problem_t.gaps */
  uint32_t reserved;
} sluice_buffer_t;

/* During [begin, end) the buffer uses only its bytes [first_byte, last_byte), counted from
 * its offset; equal bounds: none. Gaps of one buffer are sorted and disjoint. */
typedef struct sluice_buffer_gap {
  int64_t begin, end, first_byte, last_byte;
} sluice_buffer_gap_t;

/* Bytes nobody may use during [begin, end). */
typedef struct sluice_reserved_region {
  int64_t begin, end, offset, bytes;
} sluice_reserved_region_t;

typedef struct sluice_placement_problem {
  uint32_t struct_size;
  uint32_t buffer_count, gap_count, region_count;
  const sluice_buffer_t* buffers;
  const sluice_buffer_gap_t* gaps;
  const sluice_reserved_region_t* regions;
  int64_t capacity_bytes;
  int64_t bank_bytes; /* 0 = one bank */
} sluice_placement_problem_t;

typedef struct sluice_placement_options {
  uint32_t struct_size;
  uint32_t smallest;    /* do not stop at a fit: minimise the peak */
  uint32_t fast;        /* heuristics only: no proofs */
  uint32_t no_conflict; /* do not look for a conflicting set when infeasible */
  uint64_t max_nodes;   /* of the exact search; 0 = none */
  uint64_t deadline_ns; /* from the call on; 0 = none */
  const uint32_t* cancel;
} sluice_placement_options_t;

typedef struct sluice_placement {
  uint32_t struct_size;
  uint32_t placed;      /* offsets hold a placement; at SLUICE_STOPPED one above capacity */
  uint32_t proved;      /* smallest: no lower peak exists; infeasible: always */
  uint32_t irreducible; /* without any one of the conflicting buffers a fit exists */
  uint32_t conflict_count;
  uint32_t reserved;
  int64_t peak_bytes;        /* highest byte used */
  int64_t lower_bound_bytes; /* no placement has a lower peak */
  uint64_t nodes;            /* of the exact search */
} sluice_placement_t;

/* offsets and conflict: buffer_count entries each; conflict may be NULL. options may be
 * NULL. out_placement and offsets are also filled at SLUICE_STOPPED (the lowest peak that
 * was found) and at SLUICE_INFEASIBLE (proved; conflict names buffers that cannot lie
 * together, diagnostic.tensor the first of them). Bad buffers are named the same way. */
SLUICE_API sluice_status_t sluice_place(sluice_context_t* context,
                                        const sluice_placement_problem_t* problem,
                                        const sluice_placement_options_t* options,
                                        int64_t* offsets, uint32_t* conflict,
                                        sluice_placement_t* out_placement,
                                        sluice_diagnostic_t* diagnostic);

/* Replacement: operators that take whole tensors, in which order, what leaves the
 * scratchpad and returns, and where everything lies; the fewest bytes off chip. */
enum { SLUICE_ROLE_INTERMEDIATE = 0, SLUICE_ROLE_INPUT = 1, SLUICE_ROLE_OUTPUT = 2 };
enum {
  /* What the first departure of a tensor costs besides each return. */
  SLUICE_CHARGE_HOST = 0, /* a write of intermediates; inputs and outputs are in DRAM */
  SLUICE_CHARGE_PAPER = 1 /* a write of every tensor */
};

/* Operators in any order. Lists of lists are CSR: begin has operator_count + 1 entries.
 * Every tensor but the inputs is written by one operator. */
typedef struct sluice_operator_graph {
  uint32_t struct_size;
  uint32_t tensor_count, operator_count;
  uint32_t edge_count;
  const int64_t* tensor_bytes;  /* > 0 */
  const uint8_t* tensor_role;   /* SLUICE_ROLE_ */
  const uint32_t* input_begin;
  const uint32_t* inputs;       /* tensors */
  const uint32_t* output_begin;
  const uint32_t* outputs;
  /* Per operator which of its inputs the first output may take over, or SLUICE_NO_INDEX;
   * NULL = none. Holds when sizes are equal and nobody reads the input any more. */
  const uint32_t* in_place;
  const uint32_t* edges; /* 2 * edge_count operators: before, after; beyond the tensors */
} sluice_operator_graph_t;

typedef struct sluice_replacement_options {
  uint32_t struct_size;
  uint32_t charge;        /* SLUICE_CHARGE_ */
  uint32_t parameters;    /* of a graph: constants count, else activations only */
  uint32_t in_place;      /* of a graph: elementwise and reshape may reuse an operand */
  uint32_t keep_order;    /* the order is the given one */
  uint32_t fast;          /* no exact search */
  int64_t capacity_bytes; /* of the scratchpad; > 0 */
  int64_t alignment;      /* of sizes and offsets; power of two; 0 = 1 */
  const uint32_t* order;  /* with keep_order; NULL = as numbered */
  uint64_t max_states;    /* of the exact search; 0 = 65536 */
  uint64_t deadline_ns;   /* from the call on; 0 = none */
  const uint32_t* cancel;
} sluice_replacement_options_t;

/* A tensor's stay in the scratchpad during the steps [begin, end). */
typedef struct sluice_residence {
  uint32_t tensor, begin, end;
  uint32_t retrieved;  /* begins by a counted read; else created, or loaded once */
  uint32_t spilled;    /* ends by a counted write */
  uint32_t takes_over; /* residence whose bytes it takes in place, or SLUICE_NO_INDEX */
  int64_t offset;
} sluice_residence_t;

typedef struct sluice_replacement_summary {
  uint32_t struct_size;
  uint32_t proved;            /* spill + retrieve bytes are the fewest possible */
  uint32_t operator_count, residence_count;
  int64_t spill_bytes, retrieve_bytes;
  int64_t lower_bound_bytes;  /* of spill + retrieve */
  int64_t peak_bytes;         /* highest byte used */
  int64_t largest_operator_bytes; /* the least capacity any plan needs, rounded; less in
                                     place */
  uint64_t states;            /* of the searches */
} sluice_replacement_summary_t;

typedef struct sluice_replacement sluice_replacement_t;

/* Of a network's layers (tensor and operator numbers are the graph's) or of operators. */
SLUICE_API sluice_status_t sluice_replace(sluice_context_t* context,
                                          const sluice_graph_t* graph,
                                          const sluice_replacement_options_t* options,
                                          sluice_replacement_t** out_replacement,
                                          sluice_diagnostic_t* diagnostic);
SLUICE_API sluice_status_t sluice_replace_operators(
    sluice_context_t* context, const sluice_operator_graph_t* operators,
    const sluice_replacement_options_t* options, sluice_replacement_t** out_replacement,
    sluice_diagnostic_t* diagnostic);
SLUICE_API void sluice_replacement_destroy(sluice_replacement_t* replacement);

SLUICE_API sluice_status_t sluice_replacement_report(
    const sluice_replacement_t* replacement, sluice_replacement_summary_t* out_report);
/* Borrowed; order: the operator of each step; residences in order of begin. */
SLUICE_API sluice_status_t sluice_replacement_plan(
    const sluice_replacement_t* replacement, const uint32_t** out_order,
    const sluice_residence_t** out_residences);

/* The order with the least sum of live bytes, nothing leaving (addresses may need more).
 * order: operator_count entries. options: parameters, in_place, deadline, cancel. */
SLUICE_API sluice_status_t sluice_minimum_footprint(
    sluice_context_t* context, const sluice_operator_graph_t* operators,
    const sluice_replacement_options_t* options, uint32_t* order,
    int64_t* out_peak_bytes, uint32_t* out_proved, sluice_diagnostic_t* diagnostic);

/* Layers of a graph on the memories of a descriptor, each by itself, from DRAM down; or a
 * tile of a layer whose operands lie in the scratchpad. Dims are N K C P Q R S G (batch,
 * output and input channels of a group, output rows and columns, filter rows and columns,
 * groups); operands 0 1 2 = input, weight, output. Convolutions (depthwise, grouped,
 * dilated), fully connected, batched matmul, pooling, elementwise. */
enum {
  SLUICE_MAP_KAPLA = 0,  /* exact where that is affordable, else the best search known */
  SLUICE_MAP_EXACT = 1,  /* the exact search over KAPLA's space, or SLUICE_UNSUPPORTED */
  SLUICE_MAP_GREEDY = 2, /* KAPLA's cost descending as published */
  SLUICE_MAP_COSA = 3,   /* CoSA's assignment of prime factors, by its own objective */
  SLUICE_MAP_SEARCH = 4  /* local search, any hierarchy */
};
enum { SLUICE_MAP_DIMS = 8, SLUICE_MAP_LEVELS = 6, SLUICE_MAP_AXES = 3 };

typedef struct sluice_map_options {
  uint32_t struct_size;
  uint32_t solver;          /* SLUICE_MAP_ */
  uint32_t row_stationary;  /* GREEDY: unit tensors of a row-stationary array, else of a
                               systolic one */
  uint32_t energy_exponent; /* cost = energy^n * delay^m; both 0 = energy alone, with
                               tile_only energy * delay */
  uint32_t delay_exponent;
  uint32_t bypass;          /* operands may pass a memory by that need not hold them */
  uint32_t wide;            /* EXACT: also arrays that leave usable units idle */
  uint32_t tile_only;       /* one tile from the scratchpad down, as plans declare it */
  int32_t tile[4];          /* its output extents N H W K; 0 = the layer's */
  int32_t tile_channels;    /* of its input, summed over; 0 = all */
  uint32_t resident;        /* bits 1 input 2 weight 4 output: whole in the scratchpad,
                               neither fetched nor stored */
  int64_t top_tile[8];      /* extents of the scratchpad tile by dim; 0 = free */
  double cosa_utilisation, cosa_compute, cosa_traffic; /* weights; all 0 = -0.1 10 1 */
  uint32_t cosa_balance;    /* minimise |traffic - compute|, weighted */
  uint32_t reserved;
  uint64_t deadline_ns;     /* from the call on; 0 = none */
  const uint32_t* cancel;   /* polled; nonzero stops; may be NULL */
} sluice_map_options_t;

/* Level 0 is nearest the MACs. Level l runs `temporal` steps, order[l][0] innermost, over
 * groups of `spatial` units (by fanout of that level), each with a tile of level l-1. */
typedef struct sluice_layer_mapping {
  uint32_t struct_size;
  sluice_status_t status; /* of this layer; all else is 0 unless SLUICE_OK */
  uint32_t layer;
  uint32_t same_as;       /* index of the first layer of this call with equal loops */
  uint32_t proved;        /* nothing in the solver's space is better */
  uint32_t levels;        /* 0: a core array computes the tile, there are no loops */
  uint32_t operands;      /* bits 1 input 2 weight 4 output */
  uint32_t vector;        /* vector operations instead of MACs */
  int64_t extent[8];
  int32_t stride[2], dilation[2];
  int64_t temporal[6][8];
  int64_t spatial[6][3][8];
  uint8_t order[6][8];
  uint8_t hold[8];        /* by level: operand bits; a clear bit is a bypass */
  int64_t operations, cycles, compute_cycles;
  int64_t level_cycles[6]; /* bytes of one instance / bandwidth; 0 = never limits */
  int64_t reads[6][3], writes[6][3]; /* words, over all instances of one node */
  double operations_pj, level_pj[6], transfer_pj, leakage_pj, energy_pj; /* their sum */
  double utilisation; /* operations / (cycles x peak) */
  double objective;   /* energy^n * delay^m; of COSA the formulation's */
  double bound;       /* no mapping's objective is below */
  uint64_t evaluated;
  uint32_t element_bytes[3], partial_bytes;
} sluice_layer_mapping_t;

/* mappings: count structs; the first one's struct_size is that of all. Equal layers are
 * solved once. With one layer its failure is the call's; with more it stands in `status`
 * and the call goes on, unless memory or the deadline ends. options may be NULL. */
SLUICE_API sluice_status_t sluice_map_layers(
    sluice_context_t* context, const sluice_graph_t* graph,
    const sluice_hardware_t* hardware, const uint32_t* layers, size_t count,
    const sluice_map_options_t* options, sluice_layer_mapping_t* mappings,
    sluice_diagnostic_t* diagnostic);

/* A mapping as tensor, stack and update directives (KAPLA), with a NUL. names: layer,
 * input, weight, output; NULL = "layer", "in", "w", "out". tile_only as it was mapped.
 * buffer NULL or too small: SLUICE_BUFFER_TOO_SMALL and the required size in *size. */
SLUICE_API sluice_status_t sluice_mapping_directives(
    sluice_context_t* context, const sluice_hardware_t* hardware,
    const sluice_layer_mapping_t* mapping, uint32_t tile_only,
    const char* const names[4], char* buffer, size_t* size,
    sluice_diagnostic_t* diagnostic);

/* How fast a graph runs in how much scratchpad. */
typedef struct sluice_curve_point {
  uint64_t scratchpad_bytes; /* ascending; the last is the hardware's, or the budget */
  uint64_t plan_bytes;       /* that the best plan for it uses: never more */
  uint64_t latency_cycles;   /* never rises: a plan for less is a plan for more */
  double energy_pj;          /* of that plan */
} sluice_curve_point_t;

/* *count: in, the points wanted (at least 2); out, those made: spread evenly by ratio from
 * the smallest scratchpad that works up; fewer when the deadline (of the whole call)
 * ends. options may be NULL; max_iterations hold for each plan, and without exponents
 * latency is minimised. */
SLUICE_API sluice_status_t sluice_curve(sluice_context_t* context,
                                        const sluice_graph_t* graph,
                                        const sluice_hardware_t* hardware,
                                        const sluice_schedule_options_t* options,
                                        sluice_curve_point_t* points, uint32_t* count,
                                        sluice_diagnostic_t* diagnostic);

/* Parametric families: one dimension of a graph (KV length, batch, tokens) over a range,
 * planned once for the tops of buckets, selected at run time by a binary search. The
 * plan of a bucket is that of its top: a smaller value runs in it padded, or masked as a
 * KV position is. Between buckets tensors lie elsewhere (sluice_plan_tensor): states
 * are moved when the bucket changes. */
typedef struct sluice_family sluice_family_t;

/* graph.fbs bytes of the graph with this value; they must live until the next call.
 * Nonzero: the family cannot be made, SLUICE_BAD_ARGUMENT. */
typedef int32_t (*sluice_family_graph_fn)(void* user, int64_t value,
                                          const void** bytes, size_t* size);

typedef struct sluice_family_options {
  uint32_t struct_size;
  uint32_t tops;            /* entries of `top`; 0 = chosen: buckets are halved where the
                               top costs more than tolerance above the bucket below */
  const int64_t* top;       /* ascending; the last one is `last` */
  int64_t first, last;      /* the range, both ends in it; 0 < first */
  uint32_t most;            /* buckets, where they are chosen; 0 = 16 */
  uint32_t tolerance_percent; /* 0 = 10 */
  sluice_family_graph_fn graph;
  void* user;
  const sluice_schedule_options_t* schedule; /* of every plan; may be NULL */
} sluice_family_options_t;

SLUICE_API sluice_status_t sluice_family_create(sluice_context_t* context,
                                                const sluice_hardware_t* hardware,
                                                const sluice_family_options_t* options,
                                                sluice_family_t** out_family,
                                                sluice_diagnostic_t* diagnostic);
SLUICE_API void sluice_family_destroy(sluice_family_t* family);
/* The plan for a value, borrowed, and the top of its bucket; no allocation, no lock: any
 * number of threads may select from a family at a time. NULL outside the range. */
SLUICE_API const sluice_plan_t* sluice_family_select(const sluice_family_t* family,
                                                     int64_t value, int64_t* out_top);
/* Bucket i by number: NULL behind the last. */
SLUICE_API const sluice_plan_t* sluice_family_bucket(const sluice_family_t* family,
                                                     uint32_t i, int64_t* out_top);

/* Where another stream may have the machine: in front of block instance k of a stream
 * (and behind the last), all engines drained. */
typedef struct sluice_preemption_point {
  uint64_t cycles;      /* of instance k - 1 by itself, from drained to drained */
  uint64_t dead_offset; /* the longest run of scratchpad bytes that no later instance */
  uint64_t dead_bytes;  /* reads before it has written them: another may use them */
  uint64_t live_bytes;  /* that must be as they were when the stream goes on */
} sluice_preemption_point_t;

/* *count: in, room in points (NULL: 0); out, instances + 1. Too little room:
 * SLUICE_BUFFER_TOO_SMALL. The plan is verified first. One node only. See
 * max_block_cycles of the schedule options for more points. */
SLUICE_API sluice_status_t sluice_preemption_points(
    sluice_context_t* context, const sluice_graph_t* graph,
    const sluice_hardware_t* hardware, const sluice_plan_t* plan,
    sluice_preemption_point_t* points, uint32_t* count,
    sluice_diagnostic_t* diagnostic);

/* Several models on one machine and in one scratchpad. Each has a plan of its own, and
 * regions of its own in DRAM. They take turns: a turn is a run of block instances of one
 * stream, from drained to drained; the next turn starts when the last one has drained. All
 * are ready at cycle 0 and run once. */
enum {
  SLUICE_SHARE_AUTO = 0, /* the lower weighted sum of finish_cycles of both */
  /* Each model has a range of the scratchpad for itself: turns may end at any block. The
   * weighted sum of latencies is least over all choices from the models' curves. */
  SLUICE_SHARE_PARTITION = 1,
  /* Each model has the whole scratchpad (but the reserved ranges) during its turns, which
   * end only where none of its bytes there is live. */
  SLUICE_SHARE_TIME = 2
};
enum { SLUICE_MODELS_MAX = 8 };

typedef struct sluice_model {
  const sluice_graph_t* graph;
  uint32_t weight; /* of its cycles in the sums; 0 = 1 */
  uint32_t reserved;
  /* This model has [reserved_offset, + reserved_bytes), and nobody else; offset aligned to
   * 64 and the scratchpad's alignment. 0 bytes: the scheduler decides. */
  uint64_t reserved_offset, reserved_bytes;
} sluice_model_t;

typedef struct sluice_coschedule_options {
  uint32_t struct_size;
  uint32_t share;            /* SLUICE_SHARE_ */
  uint64_t scratchpad_bytes; /* for all; 0 = the hardware's capacity, never above it */
  /* No turn takes longer while another model waits: blocks are cut to it. 0 = no limit:
   * each model runs to its end. */
  uint64_t max_turn_cycles;
  uint64_t deadline_ns;    /* of the whole call; 0 = none */
  uint64_t max_iterations; /* of each plan; 0 = none */
  uint64_t seed;
  const uint32_t* cancel;
  uint32_t points; /* of each curve, planned where they matter; 0 = 12 */
  uint32_t reserved;
} sluice_coschedule_options_t;

typedef struct sluice_turn {
  uint32_t model;
  uint32_t first_instance, end_instance; /* [first, end) */
  uint32_t reserved;
  uint64_t cycles; /* drained to drained */
} sluice_turn_t;

typedef struct sluice_member {
  uint32_t struct_size;
  uint32_t turns;
  const sluice_plan_t* plan; /* borrowed; its stream's GBUF slots are bound to the range */
  uint64_t offset, bytes;    /* the range of the scratchpad its stream stays in */
  uint64_t latency_cycles;   /* of the plan by itself, undisturbed */
  uint64_t finish_cycles;    /* when its last turn ends */
  uint64_t equal_cycles;     /* its latency in an equal share; 0 = no plan for it */
  uint64_t longest_wait_cycles; /* that others ran while it was ready */
} sluice_member_t;

typedef struct sluice_cohort_summary {
  uint32_t struct_size;
  uint32_t share;  /* SLUICE_SHARE_PARTITION or _TIME: the mode that was taken */
  uint32_t models, turns;
  uint32_t proved; /* PARTITION: no other sizes of the curves have a lower sum, where
                      less scratchpad is never faster */
  uint32_t stop_reason;
  uint64_t total_cycles;         /* when the last turn ends */
  uint64_t latency_sum;          /* weight * latency_cycles, over the models */
  uint64_t finish_sum;           /* weight * finish_cycles */
  uint64_t equal_latency_sum;    /* weight * equal_cycles; 0 = one has no plan */
  uint64_t partition_finish_sum; /* of either mode, where it was looked at and is */
  uint64_t time_finish_sum;      /* possible; else 0 */
} sluice_cohort_summary_t;

typedef struct sluice_cohort sluice_cohort_t;

/* Every plan has passed verify, and all together sluice_verify_together.
 * SLUICE_INFEASIBLE: no division holds all models (diagnostic: bytes), or no turn can be
 * as short as asked for. options may be NULL. Graphs and hardware are not kept. */
SLUICE_API sluice_status_t sluice_coschedule(
    sluice_context_t* context, const sluice_hardware_t* hardware,
    const sluice_model_t* models, uint32_t model_count,
    const sluice_coschedule_options_t* options, sluice_cohort_t** out_cohort,
    sluice_diagnostic_t* diagnostic);
SLUICE_API void sluice_cohort_destroy(sluice_cohort_t* cohort);
SLUICE_API sluice_status_t sluice_cohort_report(const sluice_cohort_t* cohort,
                                                sluice_cohort_summary_t* out_summary);
SLUICE_API sluice_status_t sluice_cohort_member(const sluice_cohort_t* cohort,
                                                uint32_t model,
                                                sluice_member_t* out_member);
/* Borrowed; in the order of time. */
SLUICE_API sluice_status_t sluice_cohort_turns(const sluice_cohort_t* cohort,
                                               const sluice_turn_t** out_turns,
                                               uint32_t* out_count);

/* The judge of streams that take turns; shares no code with the scheduler. Each plan must
 * be valid by itself; turns must cover each stream once and in order; in each turn, every
 * scratchpad byte that is read must have been written last by the same stream.
 * SLUICE_REJECTED: rule "turns" or "foreign", or the plan's own; diagnostic.model: whose. */
SLUICE_API sluice_status_t sluice_verify_together(
    sluice_context_t* context, const sluice_hardware_t* hardware,
    const sluice_graph_t* const* graphs, const sluice_plan_t* const* plans,
    uint32_t model_count, const sluice_turn_t* turns, uint32_t turn_count,
    sluice_diagnostic_t* diagnostic);

/* Layers of a graph on a mesh of nodes (KAPLA): which run together, on which nodes, what
 * stays on the chip between them. Spatial segments: every stage has nodes of its own and
 * all work at once, slice of the batch after slice. Temporal ones: layer after layer on
 * all nodes. Costs are those of the mesh model, leakage of the whole chip. */
enum { SLUICE_SEGMENTS_CHAIN = 0, /* the best chain, layers priced where it matters */
       SLUICE_SEGMENTS_TOP_K = 1, /* published: the top_k best chains by estimates, the
                                     segments on them solved */
       SLUICE_SEGMENTS_LAYERS = 2 /* every layer by itself */ };
enum { SLUICE_SEGMENT_SINGLE = 0, SLUICE_SEGMENT_SPATIAL = 1,
       SLUICE_SEGMENT_TEMPORAL = 2 };

typedef struct sluice_segment_options {
  uint32_t struct_size;
  uint32_t solver;          /* SLUICE_SEGMENTS_ */
  uint32_t energy_exponent; /* cost = energy^n * delay^m; both 0: energy */
  uint32_t delay_exponent;
  uint32_t top_k;           /* 0 = 4, at most 64 */
  uint32_t max_stages;      /* 0 = 5, at most 8 */
  uint32_t proof;           /* leave nothing out: for small meshes and networks */
  uint32_t word_bytes;      /* of every word; 0 = as the tensors are */
  uint32_t no_spatial, no_temporal;
  uint64_t max_prices;      /* layers mapped beyond each by itself; 0 = 500, or two per
                               layer; with proof no limit */
  uint64_t deadline_ns;     /* from the call on; 0 = none */
  const uint32_t* cancel;   /* polled; nonzero stops; may be NULL */
} sluice_segment_options_t;

typedef struct sluice_segment_cost {
  double operations_pj, registers_pj, transfer_pj, scratchpad_pj, dram_pj, noc_pj,
      leakage_pj, energy_pj; /* the last is their sum */
  uint64_t cycles, dram_read_bytes, dram_write_bytes;
} sluice_segment_cost_t;

typedef struct sluice_segment {
  uint32_t kind;        /* SLUICE_SEGMENT_ */
  uint32_t first_layer; /* into the schedule's layers */
  uint32_t layer_count;
  uint32_t stages;
  uint32_t top_batch;   /* slices of the batch */
  uint32_t reserved;
  uint64_t node_cycles, dram_cycles; /* cost.cycles is the larger one */
  sluice_segment_cost_t cost;
} sluice_segment_t;

typedef struct sluice_segment_layer {
  uint32_t layer;             /* of the graph */
  uint32_t segment, stage;
  uint32_t producer;          /* index of the layer whose output it takes on the chip, or
                                 SLUICE_NO_INDEX */
  uint32_t column, row, columns, rows; /* its nodes */
  uint32_t top_ifm, top_ofm;  /* groups of channels its input and output move in */
  uint32_t fetches, stores;   /* from and to DRAM, beside what stays on the chip */
  uint32_t kept;              /* bits 1 input 2 weight 4 output: whole in scratchpads */
  uint32_t reserved;
  int32_t split[2][8];        /* parts along columns and rows: N K C P Q R S G */
  double energy_pj;           /* without leakage */
  uint64_t busy_cycles;       /* of its nodes, DRAM left out */
  uint64_t scratchpad_bytes;  /* of the fullest node */
} sluice_segment_layer_t;

typedef struct sluice_segment_schedule {
  uint32_t struct_size;
  uint32_t proved;     /* no schedule of the space costs less */
  uint32_t capacity;   /* in: of the arrays; as many as the graph has layers suffice */
  uint32_t segment_count, layer_count; /* what there is */
  uint32_t stop_reason;                /* SLUICE_STOP_ */
  sluice_segment_t* segments;          /* the caller's, or NULL */
  sluice_segment_layer_t* layers;
  sluice_segment_cost_t cost;
  sluice_segment_cost_t layers_cost; /* of layer by layer, sums only */
  double objective, layers_objective;
  double bound;        /* no schedule of the space is below */
  uint64_t vertices;   /* layers with MACs and what follows them */
  uint64_t candidates, spatial_candidates; /* segments; spatial ones */
  uint64_t schemes;    /* candidates with slices and groups */
  uint64_t valid;      /* of them that may fit the scratchpads */
  uint64_t priced;     /* of them solved */
  uint64_t prices;     /* layers mapped for that */
  char* text;          /* in: the caller's or NULL; the schedule as directives (KAPLA:
                          same names, same sizes, matched updates) with a NUL */
  uint64_t text_bytes; /* in: of text; out: what is needed, text is left if more */
} sluice_segment_schedule_t;

SLUICE_API sluice_status_t sluice_segments(sluice_context_t* context,
                                           const sluice_graph_t* graph,
                                           const sluice_hardware_t* hardware,
                                           const sluice_segment_options_t* options,
                                           sluice_segment_schedule_t* schedule,
                                           sluice_diagnostic_t* diagnostic);

#ifdef __cplusplus
}
#endif

#endif /* SLUICE_EXPERIMENTAL_H_ */
