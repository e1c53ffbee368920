/* SPDX-License-Identifier: Apache-2.0 */
/* sluice: schedules a quantised network on an accelerator, at run time, in fixed memory.
 * C99. ABI version 1: bindings/guides/abi.md says what that promises.
 *
 *   graph.fbs bytes    -> sluice_graph_create    -+
 *   hardware.fbs bytes -> sluice_hardware_create -+-> sluice_schedule -> sluice_plan_stream
 *                                                                        sluice_plan_report
 *
 * Rules that hold for every function:
 *   Structs    A struct that may grow starts with struct_size, which the caller sets to
 *              sizeof of the struct. Fields behind the caller's struct_size read as zero,
 *              and zero means the default. A longer struct is accepted when the bytes that
 *              this version does not know are all zero. Results are written up to
 *              struct_size, which is set to the bytes written. Fields named reserved are
 *              zero.
 *   Status     0: done. > 0: an answer other than a plan. < 0: an error, after which the
 *              objects are as they were before the call. Where a call gives no object, the
 *              pointer to it is NULL. A null pointer where none is allowed is
 *              SLUICE_BAD_ARGUMENT.
 *   Diagnostic Every function that can fail for more than one reason takes a diagnostic,
 *              which may be NULL. Each call overwrites it.
 *   Memory     comes from the context's allocator or block alone, is counted, and never
 *              exceeds max_bytes. Nothing is printed. The library has no globals, no
 *              threads, no exceptions, and does not abort.
 *   Lifetime   Input bytes and structs are read during the call and may go after it. Every
 *              object owns what it needs: a plan outlives its graph, its machine and the
 *              plan it was made from. Destroy functions take NULL and then do nothing.
 *              Pointers that a function lends ("borrowed") hold until their object is
 *              destroyed.
 *   Threads    A context serves one thread at a time, also when its objects are destroyed; a
 *              call while another works gets SLUICE_BAD_ARGUMENT. Graphs, machines and plans
 *              do not change: many threads may read the same one at the same time, also in
 *              calls on other contexts.
 *   Results    The same version, inputs, options, seed and iteration bound give the same
 *              bytes on every machine. */
#ifndef SLUICE_SLUICE_H_
#define SLUICE_SLUICE_H_

#include <stddef.h>
#include <stdint.h>

/* Marks what the shared library exports. */
#if defined(_WIN32)
#define SLUICE_API
#else
#define SLUICE_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The ABI that this header describes; the SONAME carries it (libsluice.so.1). */
#define SLUICE_ABI_VERSION 1

/* What a call came to. */
typedef int32_t sluice_status_t;
enum { /* sluice_status_t */
  SLUICE_OK = 0,                /* what was asked for is done */
  SLUICE_INFEASIBLE = 1,        /* proved: no legal plan exists; numbers in diagnostic */
  SLUICE_STOPPED = 2,           /* a limit was reached before any legal plan existed */
  SLUICE_REJECTED = 3,          /* a judge found the plan wrong; rule in diagnostic */
  SLUICE_BAD_ARGUMENT = -1,     /* a null pointer, a value out of range, a bad struct_size */
  SLUICE_BAD_INPUT = -2,        /* bytes are no valid graph, machine or plan */
  SLUICE_UNSUPPORTED = -3,      /* valid, but this library cannot do it; named */
  SLUICE_OUT_OF_MEMORY = -4,    /* allocator refused or max_bytes would be exceeded */
  SLUICE_BUFFER_TOO_SMALL = -5, /* the required size is in *size (or *count) */
  SLUICE_INTERNAL = -6          /* a defect of this library: its plan failed verify */
};

enum { /* sluice_report_t.stop_reason */
  SLUICE_STOP_COMPLETE = 0,  /* the search ended by itself */
  SLUICE_STOP_DEADLINE = 1,  /* deadline_ns passed */
  SLUICE_STOP_ITERATIONS = 2, /* max_iterations were made */
  SLUICE_STOP_CANCELLED = 3, /* the cancel word or the progress callback said so */
  SLUICE_STOP_PROVED = 4     /* the cost equals the lower bound: no plan is better, energies to
                                a part in 1e9; also where a limit ended the search */
};

/* In fields that hold an index: there is none. */
#define SLUICE_NO_INDEX 0xffffffffu

/* What went wrong, where, and how much is missing. With SLUICE_OK only status counts. */
typedef struct sluice_diagnostic {
  uint32_t struct_size;
  sluice_status_t status;   /* what the call returned */
  uint32_t layer;           /* index in the graph, or SLUICE_NO_INDEX */
  uint32_t tensor;          /* index in the graph, or SLUICE_NO_INDEX */
  uint32_t instruction;     /* of a rejected stream, or SLUICE_NO_INDEX */
  uint32_t model;           /* index among several (experimental.h); else 0 */
  uint64_t required_bytes;  /* that would be enough; 0: the failure is not about memory */
  uint64_t available_bytes; /* what there is; 0: the failure is not about memory */
  uint64_t smallest_scratchpad_bytes; /* with SLUICE_INFEASIBLE: there is a plan for so many;
                                         0: not known */
  char stage[16];           /* "graph", "hardware", "options", "lowering", "verify", ... */
  char rule[32];            /* of a rejected stream: "order", "bounds", ... */
  char message[256];        /* one English sentence, NUL-terminated, cut where too long */
} sluice_diagnostic_t;

/* Where a context takes its memory from. The struct is copied; `user` and the functions must
 * live as long as the context. They are called on the thread of the call that needs them. */
typedef struct sluice_allocator {
  uint32_t struct_size;
  uint32_t reserved;
  void* user; /* handed to both functions as it is; may be NULL */
  /* bytes > 0; alignment is a power of two. NULL: there is no memory. */
  void* (*allocate)(void* user, size_t bytes, size_t alignment);
  /* pointer came from allocate with these bytes and this alignment; never NULL. */
  void (*release)(void* user, void* pointer, size_t bytes, size_t alignment);
} sluice_allocator_t;

/* An allocator or a block, not both; with neither, malloc and free. A clock, or NULL. */
typedef struct sluice_context_options {
  uint32_t struct_size;
  uint32_t reserved;
  const sluice_allocator_t* allocator; /* may be NULL */
  void* block;          /* all memory lies in here, the context too; may be NULL. It must
                           live until the context and all objects are destroyed */
  uint64_t block_bytes; /* how many the block has */
  uint64_t max_bytes;   /* cap on live bytes; 0: none but the block's size */
  /* The clock of deadlines and of progress: nanoseconds since any moment, rising. NULL: the
   * system's monotonic clock. Only a call with deadline_ns or a progress callback reads it,
   * on the call's thread or on a runner's, as often as the call polls its limits: up to a
   * million times a second. The library uses only differences, so any unit works if
   * deadline_ns has the same unit. While the clock stands still or goes back, no deadline
   * passes. */
  uint64_t (*now_ns)(void* user);
  void* clock_user; /* handed to now_ns as it is; may be NULL */
} sluice_context_options_t;

/* Memory and its limits. Every object is made from one. */
typedef struct sluice_context sluice_context_t;
/* A network that has been checked: tensors, layers, parameters. */
typedef struct sluice_graph sluice_graph_t;
/* A machine that has been checked. */
typedef struct sluice_hardware sluice_hardware_t;
/* An instruction stream with its report, its places in DRAM and its schedule. */
typedef struct sluice_plan sluice_plan_t;

/* "0.1.0"; static storage. */
SLUICE_API const char* sluice_version(void);
/* Parts of the library that a build may leave out (CMake: SLUICE_WITH_MESH and so on). A
 * function whose part is missing returns SLUICE_UNSUPPORTED, and its message names the
 * part and the CMake option. */
enum { /* sluice_components: bits */
  SLUICE_COMPONENT_MESH = 1,      /* plans for several nodes; sluice_segments */
  SLUICE_COMPONENT_MAPPERS = 2,   /* loop nests of tiles and layers: exact GEMM and
                                     convolution, CoSA, KAPLA */
  SLUICE_COMPONENT_OPERATORS = 4, /* SLUICE_GRANULARITY_OPERATOR; sluice_replace */
  SLUICE_COMPONENT_COSCHEDULE = 8, /* sluice_curve, sluice_coschedule,
                                      sluice_preemption_points */
  SLUICE_COMPONENT_TOKENS = 16,   /* sluice_tokens (lowering.h) */
  SLUICE_COMPONENT_FUSION = 32,   /* SLUICE_SOLVER_FUSION, _COCCO and _SOMA;
                                     sluice_evaluate */
  SLUICE_COMPONENT_REPEATS = 64   /* loops are proved without unrolling them; without
                                     it the same is said later */
};
/* The SLUICE_COMPONENT_ bits of this build. Any thread may call it at any time. */
SLUICE_API uint32_t sluice_components(void);
/* "infeasible", ...; static storage. "unknown" for other values. */
SLUICE_API const char* sluice_status_name(sluice_status_t status);

/* Makes a context. options may be NULL: malloc, free and no cap. SLUICE_OUT_OF_MEMORY: the
 * allocator refused, or the block is too small to hold a context. */
SLUICE_API sluice_status_t sluice_context_create(const sluice_context_options_t* options,
                                                 sluice_context_t** out_context,
                                                 sluice_diagnostic_t* diagnostic);
/* Gives the context back; no call may use it any more. Objects made from it may live on and
 * be read; its memory is given back when the last of them is destroyed. NULL: nothing. */
SLUICE_API void sluice_context_destroy(sluice_context_t* context);

/* How much memory a context uses. */
typedef struct sluice_memory_stats {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t live_bytes;  /* taken and not given back. Includes memory that a call past its
                           deadline left for the next call to free */
  uint64_t peak_bytes;  /* the most that was live since the context was made */
  uint64_t allocations; /* calls of the allocator since then */
} sluice_memory_stats_t;
/* Counts as they are between two calls. */
SLUICE_API sluice_status_t sluice_context_memory(const sluice_context_t* context,
                                                 sluice_memory_stats_t* out_stats);

/* Makes a graph from graph.fbs bytes, which are checked in linear time before anything else
 * and need no alignment. SLUICE_BAD_INPUT: no valid graph; SLUICE_UNSUPPORTED: valid, but
 * this library does not have it. Both name the layer or tensor. */
SLUICE_API sluice_status_t sluice_graph_create(sluice_context_t* context,
                                               const void* bytes, size_t size,
                                               sluice_graph_t** out_graph,
                                               sluice_diagnostic_t* diagnostic);
/* Gives the graph's memory back to its context. NULL: nothing. */
SLUICE_API void sluice_graph_destroy(sluice_graph_t* graph);
/* Makes a machine of the bytes of a hardware.fbs; errors and ownership as of a graph. */
SLUICE_API sluice_status_t sluice_hardware_create(sluice_context_t* context,
                                                  const void* bytes, size_t size,
                                                  sluice_hardware_t** out_hardware,
                                                  sluice_diagnostic_t* diagnostic);
/* Gives the machine's memory back to its context. NULL: nothing. */
SLUICE_API void sluice_hardware_destroy(sluice_hardware_t* hardware);

enum { /* sluice_tensor_info_t.kind */
  SLUICE_TENSOR_INTERMEDIATE = 0, /* one layer writes it, others read it */
  SLUICE_TENSOR_INPUT = 1,    /* each run gives it */
  SLUICE_TENSOR_OUTPUT = 2,   /* each run makes it */
  SLUICE_TENSOR_CONSTANT = 3, /* weights, parameters, tables */
  SLUICE_TENSOR_STATE = 4     /* persists over runs, zero at first (KV cache),
                                 or what its source says */
};
enum { /* sluice_tensor_info_t.source: where the bytes of a constant, or of a
         state before the first run, come from */
  SLUICE_SOURCE_NONE = 0,     /* neither; a state: zeros */
  SLUICE_SOURCE_INLINE = 1,   /* source_offset: byte of the buffer the graph was made from */
  SLUICE_SOURCE_EXTERNAL = 2, /* source_offset: byte of `file` */
  SLUICE_SOURCE_SEEDED = 3    /* source_offset: the seed (ops.h) */
};

/* What a graph holds; indices go from 0 to one less. */
typedef struct sluice_graph_counts {
  uint32_t struct_size;
  uint32_t tensors, layers, parameters; /* how many */
} sluice_graph_counts_t;

/* One tensor. */
typedef struct sluice_tensor_info {
  uint32_t struct_size;
  uint32_t kind;     /* SLUICE_TENSOR_ */
  uint32_t dtype;    /* SLUICE_DTYPE_ of ops.h */
  uint32_t rank;     /* 0 to 4, as written in the graph */
  int32_t extent[4]; /* elements along N H W C; ones stand in front of a lower rank */
  uint64_t bytes;    /* of all elements, dense */
  uint32_t source;   /* SLUICE_SOURCE_ */
  uint32_t name_size, file_size; /* bytes of name and file */
  uint32_t reserved;
  uint64_t source_offset; /* see SLUICE_SOURCE_ */
  const char* name; /* borrowed from the graph, UTF-8, without a NUL; NULL: none */
  const char* file; /* borrowed alike; of SLUICE_SOURCE_EXTERNAL alone */
} sluice_tensor_info_t;

/* One layer. Indices of tensors; the lists are borrowed from the graph. */
typedef struct sluice_layer_info {
  uint32_t struct_size;
  uint32_t op;              /* SLUICE_OP_ of ops.h */
  uint32_t input_count;     /* entries of inputs */
  uint32_t output_count;    /* entries of outputs */
  uint32_t attribute_count; /* entries of attributes; those behind them are zero */
  uint32_t name_size;       /* bytes of name */
  const uint32_t* inputs;   /* tensors in the order of ops.h; SLUICE_NO_INDEX: an optional
                               one that is absent */
  const uint32_t* outputs;  /* tensors */
  const int32_t* attributes; /* in the order of ops.h */
  const char* name;         /* UTF-8, without a NUL; NULL: none */
} sluice_layer_info_t;

/* A value that each run gives: min <= value <= max (the position in a KV cache). */
typedef struct sluice_parameter_info {
  uint32_t struct_size;
  int32_t min, max;   /* both ends are allowed */
  uint32_t name_size; /* bytes of name */
  const char* name;   /* borrowed from the graph, UTF-8, without a NUL; NULL: none */
} sluice_parameter_info_t;

/* How many tensors, layers and parameters a graph has. */
SLUICE_API sluice_status_t sluice_graph_count(const sluice_graph_t* graph,
                                             sluice_graph_counts_t* out_counts);
/* Tensor `index`. SLUICE_BAD_ARGUMENT: there is no such tensor. */
SLUICE_API sluice_status_t sluice_graph_tensor(const sluice_graph_t* graph,
                                               uint32_t index,
                                               sluice_tensor_info_t* out_tensor);
/* Layer `index`. SLUICE_BAD_ARGUMENT: there is no such layer. */
SLUICE_API sluice_status_t sluice_graph_layer(const sluice_graph_t* graph, uint32_t index,
                                              sluice_layer_info_t* out_layer);
/* Parameter `index`. SLUICE_BAD_ARGUMENT: there is no such parameter. */
SLUICE_API sluice_status_t sluice_graph_parameter(
    const sluice_graph_t* graph, uint32_t index, sluice_parameter_info_t* out_parameter);

enum { /* sluice_schedule_options_t.solver */
  SLUICE_SOLVER_DEFAULT = 0,  /* first plans of segments: layers that share loops, tensors
                                 that stay on chip between them. FUSION (if the library has
                                 it) follows when there is a deadline or max_iterations, or
                                 when no segments fit; under a short deadline it may come
                                 first. When limits leave no time for either, or neither
                                 costs less, the BASELINE plan is returned */
  SLUICE_SOLVER_BASELINE = 1, /* every layer by itself: the plain plan, in milliseconds */
  SLUICE_SOLVER_FUSION = 2,   /* layers fused where that costs less, else as BASELINE */
  SLUICE_SOLVER_COCCO = 3,    /* as published: order and DRAM cuts, double buffering */
  SLUICE_SOLVER_SOMA = 4      /* as published: fusion, then DRAM order and durations */
};

/* What it costs to compute one tile whose operands lie in the scratchpad. */
typedef struct sluice_tile_cost {
  int64_t cycles;       /* 1 to 2^32 - 1; raised where lower than work / peak (ops.h), or
                           than the tile's bytes over the scratchpad's bandwidth */
  double energy_pj;     /* without leakage; 0: not known, counted from bytes and work */
  double scratchpad_pj; /* the part of energy_pj that the scratchpad takes */
} sluice_tile_cost_t;

/* The cost of one tile of one layer. */
typedef struct sluice_tile_row {
  uint32_t layer;    /* index in the graph */
  int32_t extent[4]; /* of the output box, N H W K: as the output tensor, ones in front */
  int32_t channels;  /* input channels summed over: all of the layer's, fewer where it is
                        accumulated in parts, 0 where it sums over none */
  sluice_tile_cost_t cost; /* what the tile costs */
} sluice_tile_row_t;

/* The cost of a tile, from the caller; arguments as in sluice_tile_row_t. Returns 1 with
 * *out filled; 0: not known; below 0: sluice_schedule fails with SLUICE_BAD_ARGUMENT. Equal
 * tiles must have equal costs. It is called during sluice_schedule on its thread (with a
 * runner: see there), once per distinct tile as long as there is memory to keep the answer
 * (sluice_schedule_memory_bound counts 128 KiB per layer for that), and must not use the
 * context. */
typedef int32_t (*sluice_tile_cost_fn)(void* user, uint32_t layer,
                                       const int32_t extent[4], int32_t channels,
                                       sluice_tile_cost_t* out);

/* The caller's threads. The plan does not depend on which or how many they are. The struct
 * and what it points to must live during the call. */
typedef struct sluice_runner {
  uint32_t struct_size;
  uint32_t reserved;
  void* user; /* handed to run as it is; may be NULL */
  /* Calls job(argument, i) once for every i in [0, jobs), in any order, on any threads, and
   * returns when all calls have returned. */
  void (*run)(void* user, void (*job)(void* argument, uint32_t index), void* argument,
              uint32_t jobs);
} sluice_runner_t;

/* What to plan for and when to stop. All pointers are read during the call alone. */
typedef struct sluice_schedule_options {
  uint32_t struct_size;
  uint32_t solver;            /* SLUICE_SOLVER_ */
  uint64_t scratchpad_bytes;  /* the most to use per node; 0, or more than the machine
                                 has: its capacity */
  uint64_t deadline_ns;       /* from the start of the call; 0: none */
  uint64_t max_iterations;    /* of improvement; 0: no bound by count */
  uint64_t seed;              /* of the search's random numbers */
  const uint32_t* cancel;     /* polled; nonzero stops. Another thread may write it (one
                                 aligned word, atomically). May be NULL */
  /* Called on the call's thread for every better plan and about every 2 ms, at most a tenth
   * of the time; nonzero stops, as cancel does. cost: of the best plan so far, energy^n *
   * delay^m in pJ and cycles; 0: there is none. It must not use the context. May be NULL. */
  int32_t (*progress)(void* user, uint64_t iterations, double cost);
  void* progress_user;        /* handed to progress as it is */
  uint32_t energy_exponent;   /* n of cost = energy^n * delay^m, in pJ and cycles; at
                                 most 16 */
  uint32_t delay_exponent;    /* m; at most 16. Both 0: 1 and 1 */
  /* Costs of tiles come from the first of these that knows the tile: tile_rows, tile_cost,
   * the library's own loop nests (as sluice_map_layers), the passes of the machine's array,
   * peak rates. */
  const sluice_tile_row_t* tile_rows; /* no tile twice; may be NULL */
  uint64_t tile_row_count;            /* entries of tile_rows */
  sluice_tile_cost_fn tile_cost;      /* may be NULL */
  void* tile_cost_user;               /* handed to tile_cost as it is */
  uint32_t granularity; /* SLUICE_GRANULARITY_ */
  uint32_t reserved;
  /* Blocks of the stream are cut so that each takes at most this many cycles by itself
   * (longer single instructions excepted). Between two blocks another stream may have the
   * machine. 0: no limit. */
  uint64_t max_block_cycles;
  /* A plan of the same graph and machine to go on from; it is verified first. The result
   * is never worse by the objective. A plan that needs more than scratchpad_bytes is a
   * start of the search and no more. May be NULL. */
  const sluice_plan_t* resume;
  /* A search over fused layers anneals from several starts at a time, each with
   * max_iterations of its own. tile_cost is then called from the runner's threads, one
   * call at a time per start. NULL: one start, on the thread of the call. */
  const sluice_runner_t* runner;
  /* With tile_rows or tile_cost: asked for each layer at most once, with tile_cost_user and
   * the box of all outputs that are needed. *out is the least that the layer's tiles take
   * together, however it is cut and whoever prices them: cycles (at most 2^50) and energy_pj.
   * It raises the report's bounds, which without it have work / peak and no energy of tiles.
   * SLUICE_BAD_ARGUMENT without either, where it returns less than 0, or a plan takes less.
   * May be NULL. */
  sluice_tile_cost_fn tile_bound;
} sluice_schedule_options_t;

enum { /* sluice_schedule_options_t.granularity */
  SLUICE_GRANULARITY_TILE = 0, /* layers are cut into tiles */
  /* Every layer is one instruction on whole tensors in the scratchpad. Tensors that do not
   * fit are spilled and retrieved, in the order that moves the fewest bytes.
   * SLUICE_INFEASIBLE when the operands of one layer do not fit together. */
  SLUICE_GRANULARITY_OPERATOR = 1,
  /* The same, and a layer may run again, where that takes no more energy and no more cycles
   * than to store its result and load it back. */
  SLUICE_GRANULARITY_RECOMPUTE = 2
};

/* Plans a graph on a machine. options may be NULL. *out_plan has passed verify.
 *
 * Limits. With a deadline, a cancel word or a progress callback, the call first writes and
 * verifies a plan without search: the plain plan or, where that would take more than a
 * quarter of the deadline, one with its layers fused by estimates. If a limit is reached
 * after that, the call returns SLUICE_OK with the best verified plan and its stop_reason;
 * before that, SLUICE_STOPPED. The search ends early enough to write and verify what it
 * found; if that takes longer than predicted, the plan before is returned. All work polls
 * its limits and mostly ends within half a millisecond of CPU after one is reached
 * (sluice-bench deadline measures it). max_iterations counts: it gives the same bytes on
 * every machine.
 *
 * SLUICE_INFEASIBLE: proved; the diagnostic names a layer, a tensor, required and available
 * bytes and the smallest scratchpad that has a plan. SLUICE_UNSUPPORTED: the graph needs
 * what the machine or this library does not have. SLUICE_OUT_OF_MEMORY: see
 * sluice_schedule_memory_bound. */
SLUICE_API sluice_status_t sluice_schedule(sluice_context_t* context,
                                           const sluice_graph_t* graph,
                                           const sluice_hardware_t* hardware,
                                           const sluice_schedule_options_t* options,
                                           sluice_plan_t** out_plan,
                                           sluice_diagnostic_t* diagnostic);

/* What a new plan has kept of the one before. */
typedef struct sluice_change {
  uint32_t struct_size;
  uint32_t changed;      /* SLUICE_CHANGED_ bits */
  uint32_t from_scratch; /* 1: nothing of the plan before could be used */
  uint32_t layers_kept;  /* layers of the new graph that are as in the old one */
  uint32_t layers_changed;  /* that have other shapes or attributes */
  uint32_t layers_inserted; /* that the old graph does not have */
  uint32_t layers_removed;  /* layers of the old graph that are gone */
  uint32_t blocks;          /* bodies of the new stream */
  uint32_t blocks_changed;  /* of these, bodies whose bytes differ at their index */
  uint32_t reserved;
  uint64_t stream_bytes; /* of the new stream */
  uint64_t patch_bytes;  /* of these, bytes that differ from the old stream's */
} sluice_change_t;

enum { /* sluice_change_t.changed: bits */
  SLUICE_CHANGED_GRAPH = 1,     /* the bytes of the graph */
  SLUICE_CHANGED_HARDWARE = 2,  /* the bytes of the descriptor */
  SLUICE_CHANGED_SCRATCHPAD = 4 /* bytes of it that may be used */
};

/* How to plan again. The structs that it points to are read during the call alone. */
typedef struct sluice_reschedule_options {
  uint32_t struct_size;
  uint32_t minimise_changes; /* 1: keep addresses, orders and blocks wherever they are
                                valid, also where others would cost less */
  const sluice_plan_t* previous; /* the plan before; not NULL */
  const sluice_schedule_options_t* schedule; /* as for sluice_schedule; may be NULL */
  sluice_change_t* change; /* the caller's struct, written with every status but
                              SLUICE_BAD_ARGUMENT; may be NULL */
} sluice_reschedule_options_t;

/* Plans again after the graph, the machine or the scratchpad has changed; `graph` and
 * `hardware` are the new ones. `options.previous` is the plan before; it may have been read
 * from bytes. What is still valid of its schedule is kept, the rest is reworked, in a fraction
 * of the time of sluice_schedule; with a deadline or max_iterations the remaining time improves
 * the plan. Where nothing of the previous plan can be used the call is sluice_schedule. If that
 * plan has segments (plan.fbs) but an empty stream, nothing is searched: the plan is made of
 * exactly these segments, or the call is SLUICE_REJECTED. The plan has passed verify. options
 * must not be NULL. Errors: those of sluice_schedule. */
SLUICE_API sluice_status_t sluice_reschedule(sluice_context_t* context,
                                             const sluice_graph_t* graph,
                                             const sluice_hardware_t* hardware,
                                             const sluice_reschedule_options_t* options,
                                             sluice_plan_t** out_plan,
                                             sluice_diagnostic_t* diagnostic);

/* A run of bytes of a stream image. */
typedef struct sluice_patch_range {
  uint64_t offset, bytes; /* from the image's start; > 0 */
} sluice_patch_range_t;

/* The ranges that a device which holds the stream image of `before` must copy from that of
 * `after` to hold the latter, ascending. The device's buffer must have room for the longer
 * image. Bytes that differ and lie fewer than gap_bytes apart share a range; 0: 64.
 * *count: in, room in ranges; out, how many there are. ranges NULL or too few:
 * SLUICE_BUFFER_TOO_SMALL. */
SLUICE_API sluice_status_t sluice_plan_patch(const sluice_plan_t* before,
                                             const sluice_plan_t* after,
                                             uint64_t gap_bytes,
                                             sluice_patch_range_t* ranges,
                                             size_t* count);

/* Content hashes (FNV-1a 64), keys for caches of plans: equal inputs have equal hashes on
 * every machine and in every process. NULL has hash 0.
 *
 * Of the graph's bytes without its inline constants, on which no plan depends. */
SLUICE_API uint64_t sluice_graph_hash(const sluice_graph_t* graph);
/* Of the machine's descriptor. */
SLUICE_API uint64_t sluice_hardware_hash(const sluice_hardware_t* hardware);
/* A plan, and what it was made for. */
typedef struct sluice_plan_hashes {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t plan;              /* of all bytes of the plan */
  uint64_t made_for_graph;    /* sluice_graph_hash of its graph */
  uint64_t made_for_hardware; /* sluice_hardware_hash of its hardware */
  uint64_t scratchpad_bytes;  /* that it may use, per node */
} sluice_plan_hashes_t;
/* The hashes of a plan; takes time linear in its bytes. */
SLUICE_API sluice_status_t sluice_plan_hash(const sluice_plan_t* plan,
                                            sluice_plan_hashes_t* out_hashes);
/* The most memory that sluice_schedule with these options (may be NULL) takes beyond what is
 * live in the context when it is called; includes the plan's own memory. With that much room
 * the search has its full size. With less memory the search shrinks. Below what the plain
 * plan needs, the call fails with SLUICE_OUT_OF_MEMORY and required_bytes holds a larger cap
 * of the context. Mostly it is enough; the next refusal names a larger one where the plan's
 * steps did not fit, or its judge takes more of them than most. This function tiles the layers
 * as the plain plan does: it takes time, and memory of the context while it runs. */
SLUICE_API sluice_status_t sluice_schedule_memory_bound(
    sluice_context_t* context, const sluice_graph_t* graph,
    const sluice_hardware_t* hardware, const sluice_schedule_options_t* options,
    uint64_t* out_bytes, sluice_diagnostic_t* diagnostic);
/* Makes a plan from plan.fbs bytes, or from those of a plan file (plan.fbs), of which it keeps
 * the plan. The structure alone is checked: sluice_verify says whether the plan is right for a
 * graph and a machine. */
SLUICE_API sluice_status_t sluice_plan_create(sluice_context_t* context,
                                              const void* bytes, size_t size,
                                              sluice_plan_t** out_plan,
                                              sluice_diagnostic_t* diagnostic);
/* Gives the plan's memory back to its context: pointers that the plan returned become
 * invalid. NULL: nothing. */
SLUICE_API void sluice_plan_destroy(sluice_plan_t* plan);

/* The plan.fbs bytes, borrowed; 8-byte aligned. */
SLUICE_API sluice_status_t sluice_plan_bytes(const sluice_plan_t* plan,
                                             const void** out_bytes, size_t* out_size);
/* The stream image of stream.h, borrowed; 4-byte aligned. It lies inside the plan's bytes. */
SLUICE_API sluice_status_t sluice_plan_stream(const sluice_plan_t* plan,
                                              const void** out_stream, size_t* out_size);
/* Copies the plan.fbs bytes. *size: in, room in buffer; out, the plan's size. buffer NULL or
 * too small: SLUICE_BUFFER_TOO_SMALL and nothing is copied. */
SLUICE_API sluice_status_t sluice_plan_write(const sluice_plan_t* plan, void* buffer,
                                             size_t* size);

/* Where a tensor of the graph lies in DRAM: element (n, h, w, c) at offset + n * stride[0]
 * + h * stride[1] + w * stride[2] + c * stride[3] of the region. */
typedef struct sluice_tensor_place {
  uint32_t struct_size;
  uint32_t region;    /* SLUICE_REGION_ of stream.h; 255: it never leaves the scratchpad */
  uint64_t offset;    /* bytes from the region's start */
  uint32_t stride[4]; /* bytes along N H W C */
} sluice_tensor_place_t;
/* Tensor `index` of the plan's graph. SLUICE_BAD_ARGUMENT: there is no such tensor. */
SLUICE_API sluice_status_t sluice_plan_tensor(const sluice_plan_t* plan, uint32_t index,
                                              sluice_tensor_place_t* out_place);

/* Parts of sluice_schedule, by which the report tells its own memory. */
enum {
  SLUICE_PHASE_READ = 0,     /* graph and machine, when they were created */
  SLUICE_PHASE_LOWER = 1,    /* views, places in DRAM */
  SLUICE_PHASE_SCHEDULE = 2, /* tiles, order, waits: the search */
  SLUICE_PHASE_PLACE = 3,    /* scratchpad addresses, where they are searched apart */
  SLUICE_PHASE_EMIT = 4,     /* the stream and the plan's bytes */
  SLUICE_PHASE_VERIFY = 5,   /* the judge */
  SLUICE_PHASE_COUNT = 6     /* one past the last phase */
};

/* What a plan costs and how it was found. Energies are in pJ, of one run of the graph. */
typedef struct sluice_report {
  uint32_t struct_size;
  uint32_t stop_reason;    /* SLUICE_STOP_ */
  uint64_t latency_cycles; /* of one run; the simulator takes exactly as many */
  double energy_pj;        /* sum of the parts below, energy_noc_pj and
                              energy_host_pj */
  double energy_dram_pj;       /* DRAM reads and writes */
  double energy_scratchpad_pj; /* scratchpad reads and writes */
  double energy_compute_pj;    /* MACs, vector operations, memories below the scratchpad */
  double energy_leakage_pj;    /* latency * leakage per cycle */
  uint64_t dram_read_bytes, dram_write_bytes; /* moved by all transfers */
  uint64_t spill_bytes; /* written of tensors that are neither outputs nor states; part of
                           dram_write_bytes */
  uint64_t peak_buffer_bytes; /* highest scratchpad byte in use + 1, of any node */
  /* No plan of this graph on this machine is faster or takes less energy. Tiles cost what
   * the machine says. Where the caller supplies tile costs, the bound assumes work / peak
   * cycles and no energy for these tiles. */
  uint64_t bound_latency_cycles; /* cycles of a run */
  double bound_energy_pj;        /* of all parts above */
  uint64_t macs, vector_ops;     /* work as ops.h counts it */
  uint64_t iterations;           /* of improvement that were made */
  uint32_t layers;       /* layers that compute or move; views are none */
  uint32_t groups;       /* segments, or layer-fusion groups between DRAM cuts */
  uint32_t tiles;        /* computed, over all instances */
  uint32_t instructions; /* of the stream, over all instances */
  /* By SLUICE_PHASE_: the most bytes that were live in the context during the phase,
   * including what lived there before the call; 0: the phase did not take place. Not part
   * of the plan's bytes: all 0 for a plan that was read from bytes. */
  uint64_t phase_peak_bytes[8];
  double energy_noc_pj; /* links between nodes; part of energy_pj */
  /* SLUICE_COMPONENT_ bits of parts that this machine could have used and this build lacks.
   * Without SLUICE_COMPONENT_MAPPERS, tiles cost passes of the MAC array where the machine
   * describes one, else its peak rates. Not part of the plan's bytes: 0 for a plan that was
   * read from bytes. */
  uint32_t missing_components;
  uint32_t host_layers;  /* of `layers`, that HOST calls execute */
  uint64_t host_macs;    /* of those whose operator the machine lacks; not in macs */
  uint64_t host_bytes;   /* that HOST calls read and write in DRAM; not in dram_..._bytes */
  double energy_host_pj; /* HOST calls, with DRAM's for host_bytes where they use its port;
                            part of energy_pj */
} sluice_report_t;
/* What a plan costs and how it was found. */
SLUICE_API sluice_status_t sluice_plan_report(const sluice_plan_t* plan,
                                              sluice_report_t* out_report);

/* The least that any plan of the graph on the machine takes of a layer, with the tile costs
 * of the call. Loaded bytes are charged to the first layer that reads the tensor, stored ones
 * to the layer that makes it, even if that layer is a view. */
typedef struct sluice_layer_least {
  uint64_t cycles;         /* of its tiles together, or of its HOST call with its time at
                              DRAM's port */
  uint64_t constant_bytes; /* of constants, loaded */
  uint64_t loaded_bytes;   /* of anything else, loaded */
  uint64_t stored_bytes;   /* of anything, stored */
  double energy_pj;        /* of its tiles, on chip */
} sluice_layer_least_t;

/* What the bounds of a report are made of. sluice_verify counts every field again, in code of
 * its own, and refuses a plan whose certificate claims too much, does not add up, or does not
 * give the report's bounds, and one that has bounds and no certificate. What it cannot count are
 * caller_cycles and caller_pj: where they are not 0, the bounds rest on them.
 *
 * bound_latency_cycles is the largest of host_cycles, compute_cycles, port_cycles and
 * room_cycles. bound_energy_pj is the energy of all tiles and HOST calls, of the bytes at the
 * memories that they come from or the cheapest one, again_pj, caller_pj, and leakage for
 * bound_latency_cycles; a part in 1e9 is taken off for rounding. */
typedef struct sluice_certificate {
  uint32_t struct_size;
  uint32_t count; /* layers of the graph; 0: the plan has none, and no bounds */
  const sluice_layer_least_t* layers; /* by graph layer; lent by the plan */
  sluice_layer_least_t all;           /* their sums */
  uint64_t host_cycles;    /* of HOST calls, part of all.cycles */
  uint64_t compute_cycles; /* of tiles on all nodes, a load before and a store behind them */
  uint64_t port_cycles;    /* of transfers, and of HOST calls that hold DRAM's port */
  uint64_t room_cycles;    /* where it exceeds the three, else 0: what has no room is moved
                              later or again; loads wait for latencies one by one */
  double again_pj; /* of loads that the scratchpad's size makes necessary again */
  uint64_t caller_cycles; /* of tiles, beyond all.cycles: the word of tile_bound. Assumed, not
                             checked: sluice_verify knows no better than that this plan takes
                             as long */
  double caller_pj;       /* the same of their energy, beyond all.energy_pj */
} sluice_certificate_t;
/* What the bounds of a plan's report are made of. */
SLUICE_API sluice_status_t sluice_plan_certificate(const sluice_plan_t* plan,
                                                   sluice_certificate_t* out_certificate);

/* Judges a plan for a graph and a machine; shares only the structs of these three and basic
 * helpers (memory, checked arithmetic, texts) with the scheduler. SLUICE_OK: for every timing
 * that respects the waits, each read sees the bytes the graph means, every output is final at
 * the end, nothing deadlocks, and the report says what the stream costs.
 * The stream does not say why a tile costs what it does: its cycles are taken as declared, if
 * they are at least work / peak, and its energy is not recomputed. iterations and groups of
 * the report are not checked. SLUICE_REJECTED: the diagnostic has the rule, the instruction
 * and a sentence. */
SLUICE_API sluice_status_t sluice_verify(sluice_context_t* context,
                                         const sluice_graph_t* graph,
                                         const sluice_hardware_t* hardware,
                                         const sluice_plan_t* plan,
                                         sluice_diagnostic_t* diagnostic);

#ifdef __cplusplus
}
#endif

#endif /* SLUICE_SLUICE_H_ */
