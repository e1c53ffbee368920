/* SPDX-License-Identifier: Apache-2.0 */
/* sluice: schedules a quantised network on an accelerator, at run time, in fixed memory.
 *
 * C99. ABI version 1: what that promises is in the README. What is being tried out:
 * experimental.h, another library.
 * Rules that hold everywhere:
 *   Structs that may grow start with struct_size = sizeof of the caller's struct. A
 *     missing tail reads as zero, zero means default. A longer struct is accepted when
 *     its unknown tail is all zero. Results are written up to struct_size.
 *   Status: 0 done, > 0 an answer that is not a plan, < 0 an error. Every function that
 *     can fail takes an optional diagnostic that says what, where and how much.
 *   Memory comes from the caller's allocator or block only, is counted, and never exceeds
 *     max_bytes. Nothing is printed; no globals, no threads, no exceptions, no abort.
 *   Input buffers are copied: they need to live only during the call.
 *   A context and all that was made from it belong to one thread at a time. Objects must
 *     be destroyed before their context.
 *   Same version, inputs, options, seed and iteration bound: same bytes, everywhere. */
#ifndef SLUICE_SLUICE_H_
#define SLUICE_SLUICE_H_

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define SLUICE_API
#else
#define SLUICE_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define SLUICE_ABI_VERSION 1

typedef int32_t sluice_status_t;
enum {
  SLUICE_OK = 0,
  SLUICE_INFEASIBLE = 1,        /* proved: no legal plan exists; numbers in diagnostic */
  SLUICE_STOPPED = 2,           /* a limit was reached before any legal plan existed */
  SLUICE_REJECTED = 3,          /* a judge found the plan wrong; rule in diagnostic */
  SLUICE_BAD_ARGUMENT = -1,     /* null, unknown flag, unknown struct tail */
  SLUICE_BAD_INPUT = -2,        /* buffer is not a valid graph, hardware or plan */
  SLUICE_UNSUPPORTED = -3,      /* valid, but this version does not do it; named */
  SLUICE_OUT_OF_MEMORY = -4,    /* allocator refused or max_bytes would be exceeded */
  SLUICE_BUFFER_TOO_SMALL = -5, /* required size is written to *size */
  SLUICE_INTERNAL = -6          /* a defect of this library: the plan failed verify */
};

enum { /* sluice_report_t.stop_reason */
  SLUICE_STOP_COMPLETE = 0,  /* the search ended by itself */
  SLUICE_STOP_DEADLINE = 1,
  SLUICE_STOP_ITERATIONS = 2,
  SLUICE_STOP_CANCELLED = 3,
  SLUICE_STOP_PROVED = 4     /* cost equals the lower bound */
};

#define SLUICE_NO_INDEX 0xffffffffu

/* What went wrong and where. Filled on every status but SLUICE_OK. */
typedef struct sluice_diagnostic {
  uint32_t struct_size;
  sluice_status_t status;
  uint32_t layer;           /* graph layer, or SLUICE_NO_INDEX */
  uint32_t tensor;          /* graph tensor, or SLUICE_NO_INDEX */
  uint32_t instruction;     /* of a rejected stream, or SLUICE_NO_INDEX */
  uint32_t model;           /* of several (experimental.h); else 0 */
  uint64_t required_bytes;  /* 0 = not about memory */
  uint64_t available_bytes;
  uint64_t smallest_scratchpad_bytes; /* that would do, with SLUICE_INFEASIBLE */
  char stage[16];           /* "graph", "hardware", "lowering", "baseline", "verify" ... */
  char rule[32];            /* of a rejected stream: "order", "bounds", ... */
  char message[256];        /* one English sentence, NUL-terminated */
} sluice_diagnostic_t;

/* alignment is a power of two; bytes > 0. allocate may return NULL. */
typedef struct sluice_allocator {
  uint32_t struct_size;
  uint32_t reserved;
  void* user;
  void* (*allocate)(void* user, size_t bytes, size_t alignment);
  void (*release)(void* user, void* pointer, size_t bytes, size_t alignment);
} sluice_allocator_t;

typedef struct sluice_context_options {
  uint32_t struct_size;
  uint32_t reserved;
  const sluice_allocator_t* allocator; /* NULL: malloc and free */
  void* block;         /* instead of an allocator: all memory lies in here */
  uint64_t block_bytes;
  uint64_t max_bytes;  /* cap on live bytes; 0 = none (the block is a cap by itself) */
} sluice_context_options_t;

typedef struct sluice_context sluice_context_t;
typedef struct sluice_graph sluice_graph_t;
typedef struct sluice_hardware sluice_hardware_t;
typedef struct sluice_plan sluice_plan_t;

/* "0.1.0"; static storage. */
SLUICE_API const char* sluice_version(void);

/* Parts of the library that a build may leave out (CMake: SLUICE_WITH_MESH and so on). A
 * function whose part is missing returns SLUICE_UNSUPPORTED, and its message names the
 * part and the CMake option. */
enum {
  SLUICE_COMPONENT_MESH = 1,      /* plans for several nodes; sluice_segments */
  SLUICE_COMPONENT_MAPPERS = 2,   /* loop nests of tiles and layers: exact GEMM and
                                     convolution, CoSA, KAPLA */
  SLUICE_COMPONENT_OPERATORS = 4, /* SLUICE_GRANULARITY_OPERATOR; sluice_replace */
  SLUICE_COMPONENT_COSCHEDULE = 8 /* sluice_curve, sluice_coschedule,
                                     sluice_preemption_points */
};
/* The SLUICE_COMPONENT_ bits of this build. Any thread may call it at any time. */
SLUICE_API uint32_t sluice_components(void);
/* "infeasible", ...; static storage; "unknown" for other values. */
SLUICE_API const char* sluice_status_name(sluice_status_t status);

/* With a block, the context itself lies in it. */
SLUICE_API sluice_status_t sluice_context_create(const sluice_context_options_t* options,
                                                 sluice_context_t** out_context,
                                                 sluice_diagnostic_t* diagnostic);
SLUICE_API void sluice_context_destroy(sluice_context_t* context);

typedef struct sluice_memory_stats {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t live_bytes; /* what a late call left for the next to give back is in it */
  uint64_t peak_bytes; /* high-water mark since creation */
  uint64_t allocations;
} sluice_memory_stats_t;
SLUICE_API sluice_status_t sluice_context_memory(const sluice_context_t* context,
                                                 sluice_memory_stats_t* out_stats);

/* graph.fbs and hardware.fbs. Checked in linear time before anything else. */
SLUICE_API sluice_status_t sluice_graph_create(sluice_context_t* context,
                                               const void* bytes, size_t size,
                                               sluice_graph_t** out_graph,
                                               sluice_diagnostic_t* diagnostic);
SLUICE_API void sluice_graph_destroy(sluice_graph_t* graph);
SLUICE_API sluice_status_t sluice_hardware_create(sluice_context_t* context,
                                                  const void* bytes, size_t size,
                                                  sluice_hardware_t** out_hardware,
                                                  sluice_diagnostic_t* diagnostic);
SLUICE_API void sluice_hardware_destroy(sluice_hardware_t* hardware);

enum { /* sluice_tensor_info_t.kind */
  SLUICE_TENSOR_INTERMEDIATE = 0,
  SLUICE_TENSOR_INPUT = 1,
  SLUICE_TENSOR_OUTPUT = 2,
  SLUICE_TENSOR_CONSTANT = 3,
  SLUICE_TENSOR_STATE = 4
};
enum { /* sluice_tensor_info_t.source: where a constant's bytes come from */
  SLUICE_SOURCE_NONE = 0,
  SLUICE_SOURCE_INLINE = 1,   /* source_offset: byte of the graph's buffer */
  SLUICE_SOURCE_EXTERNAL = 2, /* source_offset: byte of `file` */
  SLUICE_SOURCE_SEEDED = 3    /* source_offset: the seed of ops.h */
};

typedef struct sluice_graph_counts {
  uint32_t struct_size;
  uint32_t tensors, layers, parameters;
} sluice_graph_counts_t;

typedef struct sluice_tensor_info {
  uint32_t struct_size;
  uint32_t kind;     /* SLUICE_TENSOR_ */
  uint32_t dtype;    /* SLUICE_DTYPE_ of ops.h */
  uint32_t rank;     /* as written in the graph */
  int32_t extent[4]; /* N H W C, ones in front */
  uint64_t bytes;    /* dense */
  uint32_t source;   /* SLUICE_SOURCE_ */
  uint32_t name_size, file_size;
  uint32_t reserved;
  uint64_t source_offset;
  const char* name; /* borrowed, without a NUL; NULL: none */
  const char* file;
} sluice_tensor_info_t;

typedef struct sluice_parameter_info { /* a value that runs give: min <= value <= max */
  uint32_t struct_size;
  int32_t min, max;
  uint32_t name_size;
  const char* name; /* as above */
} sluice_parameter_info_t;

/* SLUICE_BAD_ARGUMENT: no such index. */
SLUICE_API sluice_status_t sluice_graph_count(const sluice_graph_t* graph,
                                             sluice_graph_counts_t* out_counts);
SLUICE_API sluice_status_t sluice_graph_tensor(const sluice_graph_t* graph,
                                               uint32_t index,
                                               sluice_tensor_info_t* out_tensor);
SLUICE_API sluice_status_t sluice_graph_parameter(
    const sluice_graph_t* graph, uint32_t index, sluice_parameter_info_t* out_parameter);

enum {
  SLUICE_SOLVER_DEFAULT = 0,  /* as FUSION; the plain plan when limits leave no more */
  SLUICE_SOLVER_BASELINE = 1, /* every layer by itself: the first plan, in milliseconds */
  SLUICE_SOLVER_FUSION = 2,   /* layers fused where that is cheaper, else as BASELINE */
  SLUICE_SOLVER_COCCO = 3,    /* published: order and DRAM cuts, double buffering */
  SLUICE_SOLVER_SOMA = 4      /* published: fusion, then DRAM order and durations */
};

/* What computing one tile costs on chip, its operands in the scratchpad. */
typedef struct sluice_tile_cost {
  int64_t cycles;       /* 1 to 2^32 - 1; raised to work / peak where lower */
  double energy_pj;     /* without leakage; 0 = not known, counted from bytes and work */
  double scratchpad_pj; /* the part of energy_pj that the scratchpad takes */
} sluice_tile_cost_t;

/* One tile of one layer: output extents N H W K (as its output tensor, filled with ones
 * from the left), and how many input channels it sums over: all of them, fewer where the
 * layer is accumulated in parts, 0 where it sums over none. */
typedef struct sluice_tile_row {
  uint32_t layer;
  int32_t extent[4];
  int32_t channels;
  sluice_tile_cost_t cost;
} sluice_tile_row_t;

/* Returns 1 with *out filled; 0: not known; below 0: the schedule fails with
 * SLUICE_BAD_ARGUMENT. Must be pure: equal tiles have equal costs. Called from within
 * sluice_schedule on its thread, at most once per distinct tile; it must not use the
 * context. */
typedef int32_t (*sluice_tile_cost_fn)(void* user, uint32_t layer,
                                       const int32_t extent[4], int32_t channels,
                                       sluice_tile_cost_t* out);

/* The caller's threads. run calls job(argument, i) once for every i in [0, jobs), in any
 * order, on any threads, and returns when all are done. Which threads and how many changes
 * nothing about the plan. */
typedef struct sluice_runner {
  uint32_t struct_size;
  uint32_t reserved;
  void* user;
  void (*run)(void* user, void (*job)(void* argument, uint32_t index), void* argument,
              uint32_t jobs);
} sluice_runner_t;

typedef struct sluice_schedule_options {
  uint32_t struct_size;
  uint32_t solver;            /* SLUICE_SOLVER_ */
  uint64_t scratchpad_bytes;  /* budget; 0 = the hardware's capacity, never above it */
  uint64_t deadline_ns;       /* from the call on; 0 = none */
  uint64_t max_iterations;    /* of improvement; 0 = none */
  uint64_t seed;
  const uint32_t* cancel;     /* polled; nonzero stops; may be NULL */
  /* Called for every better plan and every 2 ms or so, on the thread of the call; nonzero
   * stops, as cancel does. cost: of the best plan so far, 0 = there is none yet. It must
   * not use the context. May be NULL. */
  int32_t (*progress)(void* user, uint64_t iterations, double cost);
  void* progress_user;
  uint32_t energy_exponent;   /* cost = energy^n * delay^m; both 0 = 1, 1 */
  uint32_t delay_exponent;
  /* Cycles and energy of tiles: the first that knows a tile of table, callback, the
   * library's own loop nests (see sluice_map_layer), peak rates. May be NULL. */
  const sluice_tile_row_t* tile_rows; /* read during the call; no tile twice */
  uint64_t tile_row_count;
  sluice_tile_cost_fn tile_cost;
  void* tile_cost_user;
  uint32_t granularity; /* SLUICE_GRANULARITY_ */
  uint32_t reserved;
  /* Blocks of the stream are cut so that none takes longer by itself (single instructions
   * excepted): between blocks another stream may have the machine. 0 = as they come. */
  uint64_t max_block_cycles;
  /* A plan of the same graph and hardware to go on from; it is judged first. The result is
   * never worse by the objective: the same bytes but for how the search ended, or better.
   * One that needs more scratchpad than the budget is only a start. May be NULL. */
  const sluice_plan_t* resume;
  /* Annealing is done from several starts at a time, each with max_iterations of its own.
   * A tile_cost callback is then called from the runner's threads, never from two at a
   * time for one start. NULL: one start, on the thread of the call. */
  const sluice_runner_t* runner;
} sluice_schedule_options_t;

enum { /* sluice_schedule_options_t.granularity */
  SLUICE_GRANULARITY_TILE = 0,
  /* Every layer is one instruction on whole tensors that lie in the scratchpad; what does
   * not fit is spilled and retrieved, in the order that moves the fewest bytes. Infeasible
   * when the operands of one layer do not fit together. */
  SLUICE_GRANULARITY_OPERATOR = 1
};

/* options may be NULL. The plan has passed verify before it is returned.
 * Limits: with a deadline, a cancel word or a progress callback, a first plan is written
 * and verified before anything is improved: the plain one, or where that would take more
 * than a quarter of the time one with layers fused at once. Once that is there, a limit
 * that is reached means SLUICE_OK with the best verified plan and its stop_reason. Before,
 * it means SLUICE_STOPPED. The search ends early enough to write and verify what it found; when
 * that takes longer than predicted, it is given up for the plan before it. All work is
 * polled, writing and verifying too, and ends when the deadline or the cancel is seen:
 * mostly within half a millisecond of CPU, which sluice-bench deadline measures.
 * max_iterations limits by count alone: the same bytes on every machine. */
SLUICE_API sluice_status_t sluice_schedule(sluice_context_t* context,
                                           const sluice_graph_t* graph,
                                           const sluice_hardware_t* hardware,
                                           const sluice_schedule_options_t* options,
                                           sluice_plan_t** out_plan,
                                           sluice_diagnostic_t* diagnostic);
/* What has become of a plan. */
typedef struct sluice_change {
  uint32_t struct_size;
  uint32_t changed;      /* SLUICE_CHANGED_ */
  uint32_t from_scratch; /* 1: nothing of the plan before could be used */
  /* Layers of the new graph as the plan before had them, with other shapes or
   * attributes, new; layers that are gone. */
  uint32_t layers_kept, layers_changed, layers_inserted, layers_removed;
  uint32_t blocks;         /* bodies of the new stream */
  uint32_t blocks_changed; /* of which not the same bytes at the same index */
  uint32_t reserved;
  uint64_t stream_bytes;
  uint64_t patch_bytes; /* of the new stream that differ from the old one's */
} sluice_change_t;

enum { /* sluice_change_t.changed */
  SLUICE_CHANGED_GRAPH = 1,
  SLUICE_CHANGED_HARDWARE = 2,
  SLUICE_CHANGED_SCRATCHPAD = 4 /* bytes of it that may be used */
};

typedef struct sluice_reschedule_options {
  uint32_t struct_size;
  uint32_t minimise_changes; /* keep addresses, orders and blocks wherever they hold */
  const sluice_schedule_options_t* schedule; /* as for sluice_schedule; may be NULL */
} sluice_reschedule_options_t;

/* A plan for what the graph, the hardware or the scratchpad has become since `previous`
 * was made, which may have been read from bytes. What still holds of its schedule is
 * kept and what does not is reworked, in a fraction of the time; with a deadline or
 * iterations the rest of them improves it. Falls back on sluice_schedule where the
 * previous plan is of no use. The plan has passed verify. options and out_change may be
 * NULL. */
SLUICE_API sluice_status_t sluice_reschedule(
    sluice_context_t* context, const sluice_plan_t* previous,
    const sluice_graph_t* graph, const sluice_hardware_t* hardware,
    const sluice_reschedule_options_t* options, sluice_plan_t** out_plan,
    sluice_change_t* out_change, sluice_diagnostic_t* diagnostic);

/* Bytes of the new plan's stream, from `offset` of its image on. */
typedef struct sluice_patch_range {
  uint64_t offset, bytes;
} sluice_patch_range_t;

/* What a device that holds the old plan's stream image has to copy, ascending, to hold
 * the new one's (whose length the header tells; the old image's buffer must have room
 * for it). Bytes that differ fewer than gap_bytes apart share a range; 0 = 64. ranges
 * NULL or too few: SLUICE_BUFFER_TOO_SMALL and the required number in *count. */
SLUICE_API sluice_status_t sluice_plan_patch(const sluice_plan_t* before,
                                             const sluice_plan_t* after,
                                             uint64_t gap_bytes,
                                             sluice_patch_range_t* ranges,
                                             size_t* count);

/* Content hashes, for caches: equal inputs have equal ones on every machine and in every
 * process (FNV-1a 64). A graph's leaves the values of inline constants out: no plan
 * depends on them. A plan's is of all its bytes; `made_for` are the hashes of graph and
 * hardware that a plan was made for, scratchpad_bytes what it may use. */
SLUICE_API uint64_t sluice_graph_hash(const sluice_graph_t* graph);
SLUICE_API uint64_t sluice_hardware_hash(const sluice_hardware_t* hardware);
typedef struct sluice_plan_hashes {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t plan;
  uint64_t made_for_graph, made_for_hardware;
  uint64_t scratchpad_bytes;
} sluice_plan_hashes_t;
SLUICE_API sluice_status_t sluice_plan_hash(const sluice_plan_t* plan,
                                            sluice_plan_hashes_t* out_hashes);
/* How much memory sluice_schedule takes at most with these options (may be NULL), beyond
 * what lives in the context when it is called; the plan's own memory is part of it. A
 * context with room for that does not make the search smaller. With less it is smaller,
 * down to what the plain plan needs; below, SLUICE_OUT_OF_MEMORY names in required_bytes a
 * cap of the context that suffices. The layers are looked at as for the plain plan, which
 * takes time and some of the context's memory. */
SLUICE_API sluice_status_t sluice_schedule_memory_bound(
    sluice_context_t* context, const sluice_graph_t* graph,
    const sluice_hardware_t* hardware, const sluice_schedule_options_t* options,
    uint64_t* out_bytes, sluice_diagnostic_t* diagnostic);
/* Reads a plan.fbs back in (structure only: verify it against graph and hardware). */
SLUICE_API sluice_status_t sluice_plan_create(sluice_context_t* context,
                                              const void* bytes, size_t size,
                                              sluice_plan_t** out_plan,
                                              sluice_diagnostic_t* diagnostic);
SLUICE_API void sluice_plan_destroy(sluice_plan_t* plan);

/* Borrowed; valid until the plan is destroyed. The plan.fbs bytes and, inside them, the
 * stream image of stream.h. */
SLUICE_API sluice_status_t sluice_plan_bytes(const sluice_plan_t* plan,
                                             const void** out_bytes, size_t* out_size);
SLUICE_API sluice_status_t sluice_plan_stream(const sluice_plan_t* plan,
                                              const void** out_stream, size_t* out_size);
/* Copies the plan.fbs bytes. buffer NULL or too small: SLUICE_BUFFER_TOO_SMALL and the
 * required size in *size. */
SLUICE_API sluice_status_t sluice_plan_write(const sluice_plan_t* plan, void* buffer,
                                             size_t* size);

/* Where a tensor of the graph lies in DRAM: element (n, h, w, c) at offset + n * stride[0]
 * + h * stride[1] + w * stride[2] + c * stride[3] of the region. */
typedef struct sluice_tensor_place {
  uint32_t struct_size;
  uint32_t region; /* SLUICE_REGION_ of stream.h; 255: never leaves the scratchpad */
  uint64_t offset; /* bytes */
  uint32_t stride[4];
} sluice_tensor_place_t;
SLUICE_API sluice_status_t sluice_plan_tensor(const sluice_plan_t* plan, uint32_t index,
                                              sluice_tensor_place_t* out_place);

/* Where the scheduler's own memory goes. */
enum {
  SLUICE_PHASE_READ = 0,     /* graph and hardware, when they were created */
  SLUICE_PHASE_LOWER = 1,    /* views, places in DRAM */
  SLUICE_PHASE_SCHEDULE = 2, /* tiles, order, waits: the search */
  SLUICE_PHASE_PLACE = 3,    /* scratchpad addresses, where they are a search by itself */
  SLUICE_PHASE_EMIT = 4,     /* the stream and the plan's bytes */
  SLUICE_PHASE_VERIFY = 5,
  SLUICE_PHASE_COUNT = 6
};

typedef struct sluice_report {
  uint32_t struct_size;
  uint32_t stop_reason; /* SLUICE_STOP_ */
  uint64_t latency_cycles;
  double energy_pj;
  double energy_dram_pj, energy_scratchpad_pj, energy_compute_pj, energy_leakage_pj;
  uint64_t dram_read_bytes, dram_write_bytes, spill_bytes, peak_buffer_bytes;
  uint64_t bound_latency_cycles; /* lower bounds over all plans of this graph */
  double bound_energy_pj;
  uint64_t macs, vector_ops;
  uint64_t iterations;
  uint32_t layers, groups, tiles, instructions;
  /* By SLUICE_PHASE_: the most bytes that were live in the context during the phase, with
   * all that lived there before; 0: did not take place. Not part of the plan's bytes: 0
   * for a plan that was read. */
  uint64_t phase_peak_bytes[8];
  double energy_noc_pj; /* links between nodes; part of energy_pj */
  /* SLUICE_COMPONENT_ bits of parts that this machine could have used and this build lacks.
   * Without SLUICE_COMPONENT_MAPPERS, tiles declare the machine's peak rates, and
   * bound_energy_pj is made from counts alone (MACs, compulsory DRAM bytes, leakage over
   * bound_latency_cycles). Not part of the plan's bytes: 0 for a plan that was read. */
  uint32_t missing_components;
  uint32_t reserved; /* 0 */
} sluice_report_t;
SLUICE_API sluice_status_t sluice_plan_report(const sluice_plan_t* plan,
                                              sluice_report_t* out_report);

/* The static judge: shares no code with the solver. SLUICE_OK, or SLUICE_REJECTED with
 * rule, instruction and message in the diagnostic. */
SLUICE_API sluice_status_t sluice_verify(sluice_context_t* context,
                                         const sluice_graph_t* graph,
                                         const sluice_hardware_t* hardware,
                                         const sluice_plan_t* plan,
                                         sluice_diagnostic_t* diagnostic);

#ifdef __cplusplus
}
#endif

#endif /* SLUICE_SLUICE_H_ */
