/* SPDX-License-Identifier: Apache-2.0 */
/* What is being tried out. Everything in this header may change or go in any release,
 * without notice and without a new ABI version; what proves itself moves to sluice.h. The
 * functions are not in libsluice.so but, together with all of sluice.h, in
 * libsluice_experimental.so (and in libsluice.a): link one or the other. C99.
 *
 * The rules at the head of sluice.h hold here too. In options, energy_exponent n and
 * delay_exponent m mean cost = energy^n * delay^m, in pJ and cycles; deadline_ns counts from
 * the start of the call, 0: none; *cancel is polled, nonzero stops the call, NULL: nothing to
 * poll. */
#ifndef SLUICE_EXPERIMENTAL_H_
#define SLUICE_EXPERIMENTAL_H_

#include "sluice/layers.h"
#include "sluice/machine.h"
#include "sluice/place.h"
#include "sluice/schedule.h"
#include "sluice/sluice.h"
#include "sluice/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a given schedule (schedule.h) costs; nothing is searched. The notation orders layers
 * of the graph by index: any set of layers that compute, without their views. Tensors of
 * other layers go through DRAM. SLUICE_REJECTED: not a legal schedule; `fault` says why, the
 * diagnostic names layer and tile. SLUICE_SCHEDULE_BUFFER: the diagnostic has the missing
 * bytes, and the numbers hold as if the buffer were larger. A plan made from a schedule has
 * this energy and at most this latency: its waits follow from addresses and may let transfers
 * start earlier.
 * Arrays of the evaluation are NULL or as long as schedule.h says; a call without them gives
 * the lengths. */
SLUICE_API sluice_status_t sluice_evaluate(
    sluice_context_t* context, const sluice_graph_t* graph,
    const sluice_hardware_t* hardware, const sluice_notation_t* notation,
    sluice_evaluation_t* evaluation, sluice_diagnostic_t* diagnostic);
/* The same for a resolved schedule, of any machine. */
SLUICE_API sluice_status_t sluice_evaluate_timed(
    sluice_context_t* context, const sluice_timed_schedule_t* schedule,
    sluice_evaluation_t* evaluation, sluice_diagnostic_t* diagnostic);

/* One GEMM on the memories of a descriptor, without a graph: P(m, n) += A(m, k) B(n, k),
 * 8-bit words. Axes 0 1 2 are M N K. The datum "of axis d" is the one without d: 0 is B,
 * 1 is A, 2 is P. Memories: outer (DRAM, or any level), middle (one; absent when the outer
 * one feeds the PEs), inner (one per PE; absent when there is none). Of a deeper hierarchy
 * the best two memories below the outer one are used, the others bypassed. A hierarchy with
 * memories for some operands only is SLUICE_UNSUPPORTED.
 *
 * sluice_gemm_options_t.solver: the proved optimum; or CoSA's one-shot assignment of prime
 * factors, by its own objective, on at most all PEs. */
enum { SLUICE_GEMM_EXACT = 0, SLUICE_GEMM_COSA = 1 };
/* sluice_gemm_options_t.objective. */
enum { SLUICE_GEMM_ENERGY = 0, SLUICE_GEMM_EDP = 1, SLUICE_GEMM_LATENCY = 2 };

/* How to map a GEMM. */
typedef struct sluice_gemm_options {
  uint32_t struct_size;
  uint32_t solver;     /* SLUICE_GEMM_EXACT or _COSA */
  uint32_t objective;  /* EXACT: SLUICE_GEMM_ENERGY, _EDP or _LATENCY */
  uint32_t at_most;    /* EXACT: 0: use exactly all PEs; 1: at most all */
  uint32_t paper_form; /* 0: count accesses as a walk through the loops does; 1: by the
                          published closed form, which misses reuse across loops of one
                          trip */
  uint32_t certify;    /* EXACT: 1: write a proof too, and check it by separate code */
  uint64_t deadline_ns;   /* of the call; 0: none */
  const uint32_t* cancel; /* nonzero stops the call; may be NULL */
  uint32_t from_level;    /* of the descriptor, where the operands lie; 0: DRAM */
  uint32_t reserved;
} sluice_gemm_options_t;

enum { /* sluice_gemm_mapping_t.certificate */
  SLUICE_CERTIFICATE_NONE = 0,     /* not asked for, or not proved */
  SLUICE_CERTIFICATE_ACCEPTED = 1, /* the separate code found the proof right */
  SLUICE_CERTIFICATE_REJECTED = 2  /* it found a fault: a defect of this library */
};

/* A loop nest of a GEMM and its cost. */
typedef struct sluice_gemm_mapping {
  uint32_t struct_size;
  uint32_t proved;      /* 1: objective == bound */
  uint32_t certificate; /* SLUICE_CERTIFICATE_ */
  uint32_t outer_level, middle_level, inner_level; /* of the descriptor; or SLUICE_NO_INDEX */
  int64_t middle_tile[3]; /* elements of each axis in the middle memory */
  int64_t spatial[3];     /* PEs along each axis */
  int64_t inner_tile[3];  /* elements of each axis in one PE */
  uint8_t outer_order[4];  /* loops over middle tiles, innermost first; [3] is 0 */
  uint8_t middle_order[4]; /* loops over array tiles in a middle tile, alike */
  uint8_t middle_holds;    /* bit d: the datum of axis d is held there; else it bypasses */
  uint8_t inner_holds;     /* the same of the inner memory */
  uint8_t reserved[6];
  int64_t macs, cycles, pe_used; /* work; the largest of compute_cycles and memory_cycles;
                                   PEs at work */
  int64_t reads[3][3], writes[3][3]; /* words; [outer, middle, inner][datum] */
  double memory_pj[3];               /* outer, middle, inner */
  double mac_pj, leak_pj, energy_pj, energy_pj_per_mac; /* parts; the sum; sum / macs */
  double objective; /* ENERGY, LATENCY: pJ per MAC (LATENCY: of those with the fewest
                       cycles); EDP: that x cycles / MACs; COSA: its own */
  double bound;     /* no mapping's objective is below */
  uint64_t nodes;   /* of the search, that were visited */
  int64_t compute_cycles;   /* macs / pe_used */
  int64_t memory_cycles[3]; /* words of one instance / bandwidth; 0: never limits */
} sluice_gemm_mapping_t;

/* The extents of a GEMM, each >= 1: m * n * k MACs. */
typedef struct sluice_gemm {
  int64_t m, n, k; /* rows of A and P; columns of P, rows of B; the axis summed over */
} sluice_gemm_t;

/* Maps one GEMM. options may be NULL. SLUICE_INFEASIBLE: no split of the axes uses exactly
 * all PEs. */
SLUICE_API sluice_status_t sluice_map_gemm(sluice_context_t* context,
                                           const sluice_hardware_t* hardware,
                                           const sluice_gemm_t* gemm,
                                           const sluice_gemm_options_t* options,
                                           sluice_gemm_mapping_t* out_mapping,
                                           sluice_diagnostic_t* diagnostic);

/* Layers of a graph on the memories of a descriptor, each by itself, from DRAM down; or a
 * tile of a layer whose operands lie in the scratchpad. Dims are N K C P Q R S G (batch,
 * output and input channels of a group, output rows and columns, filter rows and columns,
 * groups). Operands 0 1 2 are input, weight, output; in masks they are bits 1 2 4.
 * Convolutions (depthwise, grouped, dilated), fully connected, batched matmul, pooling and
 * elementwise layers have loop nests; others are SLUICE_UNSUPPORTED. */
enum { /* sluice_map_options_t.solver */
  SLUICE_MAP_BEST = 0,   /* the best that any of the others finds, improved: never worse */
  SLUICE_MAP_EXACT = 1,  /* exact search over KAPLA's space, or SLUICE_UNSUPPORTED */
  SLUICE_MAP_GREEDY = 2, /* KAPLA's cost descending, as published */
  SLUICE_MAP_COSA = 3,   /* CoSA's assignment of prime factors, by its own objective */
  SLUICE_MAP_SEARCH = 4, /* local search, any hierarchy */
  SLUICE_MAP_KAPLA = 5,  /* EXACT where that is affordable, else GREEDY or SEARCH; with
                            tile_only and no exponents, as BEST, what plans declare */
  SLUICE_MAP_GIVEN = 6   /* none: counts and prices the loops of `given` */
};
/* Lengths of arrays: dims; memory levels; array axes below a level. */
enum { SLUICE_MAP_DIMS = 8, SLUICE_MAP_LEVELS = 6, SLUICE_MAP_AXES = 3 };

/* How to map layers. Flags are 0 or 1. */
typedef struct sluice_map_options {
  uint32_t struct_size;
  uint32_t solver;          /* SLUICE_MAP_ */
  uint32_t row_stationary;  /* GREEDY: unit tensors of a row-stationary array, else of a
                               systolic one */
  uint32_t energy_exponent; /* n; both 0: energy alone, with tile_only energy * delay */
  uint32_t delay_exponent;  /* m: energy^n * delay^m is minimised */
  uint32_t bypass;          /* operands may bypass memories that need not hold them */
  uint32_t wide;            /* EXACT: also arrays that leave usable units idle, as BEST */
  uint32_t tile_only;       /* one tile from the scratchpad down, as plans declare it */
  int32_t tile[4];          /* its output extents N H W K; 0: the layer's */
  int32_t tile_channels;    /* of its input, summed over; 0: all */
  uint32_t resident;        /* mask of operands that lie whole in the scratchpad and are
                               neither fetched nor stored */
  int64_t top_tile[8];      /* extents of the scratchpad tile by dim; 0: free */
  double cosa_utilisation, cosa_compute, cosa_traffic; /* weights; all 0: -0.1, 10, 1 */
  uint32_t cosa_balance;    /* minimise |traffic - compute|, weighted */
  uint32_t certify;         /* BEST, of a whole layer: 1: separate code judges the nest */
  uint64_t deadline_ns;     /* of the call; 0: none */
  const uint32_t* cancel;   /* nonzero stops the call; may be NULL */
  const struct sluice_layer_mapping* given; /* GIVEN: levels, temporal, spatial, order and
                                               hold are read, of a struct of this version */
} sluice_map_options_t;

/* A loop nest of a layer and its cost. Level 0 is nearest the MACs. Level l runs `temporal`
 * steps over groups of `spatial` units, each with a tile of level l-1. */
typedef struct sluice_layer_mapping {
  uint32_t struct_size;
  sluice_status_t status; /* of this layer; all else is 0 unless SLUICE_OK */
  uint32_t layer;         /* index in the graph */
  uint32_t same_as;       /* index of the first mapping of this call with equal loops */
  uint32_t proved;        /* 1: nothing in the solver's space is better */
  uint32_t levels;        /* 0: a core array computes the tile, there are no loops */
  uint32_t operands;      /* mask of those the layer has */
  uint32_t vector;        /* 1: vector operations instead of MACs */
  int64_t extent[8];      /* of the layer, by dim */
  int32_t stride[2], dilation[2]; /* along rows and columns */
  int64_t temporal[6][8];   /* trips by level and dim */
  int64_t spatial[6][3][8]; /* units by level, axis (fanout of that level) and dim */
  uint8_t order[6][8];      /* dims by level, innermost loop first */
  uint8_t hold[8];        /* by level: mask of operands held; the others bypass it */
  int64_t operations, cycles, compute_cycles; /* work; time; time if memories never limit */
  int64_t level_cycles[6]; /* bytes of one instance / bandwidth; 0 = never limits */
  int64_t reads[6][3], writes[6][3]; /* words, over all instances of one node */
  double operations_pj, level_pj[6], transfer_pj, leakage_pj, energy_pj; /* pJ; the
                                               last is the sum of the others */
  double utilisation; /* operations / (cycles x peak) */
  double objective;   /* energy^n * delay^m in pJ and cycles; of COSA the formulation's */
  double bound;       /* no mapping's objective is below */
  uint64_t evaluated; /* loop nests that the solver looked at */
  uint32_t element_bytes[3], partial_bytes; /* of each operand; of a partial sum */
  /* With certify. ACCEPTED: by counts and a search of its own, that code found the nest legal,
   * its energy, cycles and objective right, and no nest whose factors divide the extents below
   * certified_bound; with certified_uneven none at all. NONE also where a limit ended it. */
  uint32_t certificate; /* SLUICE_CERTIFICATE_ */
  uint32_t certified_uneven; /* 1: the bound also holds for factors that do not divide */
  double certified_bound; /* 0 unless ACCEPTED */
} sluice_layer_mapping_t;

/* Layers to map, and where their mappings go. Both arrays are the caller's, not NULL, and
 * have `count` entries. */
typedef struct sluice_mapping_list {
  uint32_t struct_size;
  uint32_t count;         /* at least 1 */
  const uint32_t* layers; /* indices in the graph */
  sluice_layer_mapping_t* mappings; /* filled; the first one's struct_size is that of all */
} sluice_mapping_list_t;

/* Maps layers; equal layers are solved once. With one layer, its failure is the call's. With
 * more, a failure stands in the mapping's status and the call goes on, unless memory or the
 * deadline ends. options may be NULL. */
SLUICE_API sluice_status_t sluice_map_layers(
    sluice_context_t* context, const sluice_graph_t* graph,
    const sluice_hardware_t* hardware, const sluice_map_options_t* options,
    const sluice_mapping_list_t* list, sluice_diagnostic_t* diagnostic);

/* A mapping as KAPLA's tensor, stack and update directives. */
typedef struct sluice_directives {
  uint32_t struct_size;
  uint32_t tile_only;   /* as the layer was mapped */
  const char* names[4]; /* of layer, input, weight, output, read during the call; NULL:
                           "layer", "in", "w", "out" */
  char* text;           /* array to be filled, with a NUL at the end; or NULL */
  uint64_t text_bytes;  /* in: room in text; out: what is needed, with the NUL */
} sluice_directives_t;

/* Writes a mapping as directives. SLUICE_BUFFER_TOO_SMALL: text is NULL or has too little
 * room for all of it; what it then holds is no directive. */
SLUICE_API sluice_status_t sluice_mapping_directives(
    sluice_context_t* context, const sluice_hardware_t* hardware,
    const sluice_layer_mapping_t* mapping, sluice_directives_t* directives,
    sluice_diagnostic_t* diagnostic);

/* A point of a curve: how fast a graph runs in how much scratchpad. */
typedef struct sluice_curve_point {
  uint64_t scratchpad_bytes; /* ascending; the last is the hardware's capacity, or the
                                budget of the options */
  uint64_t plan_bytes;       /* that the best plan for it uses; at most scratchpad_bytes */
  uint64_t latency_cycles;   /* never above the point before: its plan fits here too */
  double energy_pj;          /* of that plan */
} sluice_curve_point_t;

/* The points of a curve. */
typedef struct sluice_curve_list {
  uint32_t struct_size;
  uint32_t count; /* in: the points wanted, 2 to 256; out: those made */
  sluice_curve_point_t* points; /* in: array to be filled, not NULL, room for the points
                                   wanted */
} sluice_curve_list_t;

/* Latency over scratchpad. The points are spread evenly by ratio, from the smallest
 * scratchpad that has a plan up. When the deadline (of the whole call) ends there are fewer.
 * options may be NULL; max_iterations hold for each plan; without exponents latency is
 * minimised. */
SLUICE_API sluice_status_t sluice_curve(
    sluice_context_t* context, const sluice_graph_t* graph,
    const sluice_hardware_t* hardware, const sluice_schedule_options_t* options,
    sluice_curve_list_t* curve, sluice_diagnostic_t* diagnostic);

/* Parametric families: plans for one dimension of a graph (KV length, batch, tokens) over a
 * range. The range is cut into buckets; each has one plan, made for its top. At run time a
 * binary search selects. A smaller value runs in the plan padded, or masked as a KV position
 * is. Buckets place tensors differently (sluice_plan_tensor): states must be moved when the
 * bucket changes. A family owns its plans. */
typedef struct sluice_family sluice_family_t;

/* Gives the graph.fbs bytes of the graph for a value; they must live until its next call or
 * the end of sluice_family_create. Nonzero: sluice_family_create fails with
 * SLUICE_BAD_ARGUMENT. */
typedef int32_t (*sluice_family_graph_fn)(void* user, int64_t value,
                                          const void** bytes, size_t* size);

/* What a family is for. */
typedef struct sluice_family_options {
  uint32_t struct_size;
  uint32_t tops;            /* entries of `top`; 0: tops are chosen. The bucket whose cost
                               has the largest ratio to its lower neighbour's is halved, as
                               long as that is above tolerance */
  const int64_t* top;       /* tops of the buckets, ascending; the last one is `last` */
  int64_t first, last;      /* the range, both ends in it; 0 < first */
  uint32_t most;            /* buckets, where tops are chosen; 0: 16 */
  uint32_t tolerance_percent; /* a bucket may cost this more than its lower neighbour,
                               where tops are chosen; 0: 10 */
  sluice_family_graph_fn graph; /* not NULL */
  void* user;               /* handed to graph as it is */
  const sluice_schedule_options_t* schedule; /* of every plan; may be NULL */
} sluice_family_options_t;

/* Plans the buckets, the first from scratch, the others from their neighbours. Errors: those
 * of sluice_schedule for the first bucket that fails. */
SLUICE_API sluice_status_t sluice_family_create(sluice_context_t* context,
                                                const sluice_hardware_t* hardware,
                                                const sluice_family_options_t* options,
                                                sluice_family_t** out_family,
                                                sluice_diagnostic_t* diagnostic);
/* Gives the family's memory back to its context, its plans too. NULL: nothing. */
SLUICE_API void sluice_family_destroy(sluice_family_t* family);
/* The plan for a value, borrowed, and the top of its bucket (out_top may be NULL). NULL:
 * the value is outside the range. No allocation, no lock: any number of threads may select
 * from a family at a time. */
SLUICE_API const sluice_plan_t* sluice_family_select(const sluice_family_t* family,
                                                     int64_t value, int64_t* out_top);
/* The same for bucket i, from 0. NULL: there is no such bucket. */
SLUICE_API const sluice_plan_t* sluice_family_bucket(const sluice_family_t* family,
                                                     uint32_t i, int64_t* out_top);

/* A border between visits of blocks where another stream may have the machine: all engines
 * are drained. Point k is in front of visit k; the last is behind the last visit. An
 * instance in loops has a visit for each iteration (stream.h). */
typedef struct sluice_preemption_point {
  uint64_t cycles;      /* that visit k - 1 takes by itself; 0 for point 0 */
  uint64_t dead_offset; /* the longest run of scratchpad bytes that no later visit */
  uint64_t dead_bytes;  /* reads before it has written them: free for another stream */
  uint64_t live_bytes;  /* bytes that must be unchanged when the stream goes on */
} sluice_preemption_point_t;

/* The points of a plan. */
typedef struct sluice_preemption_list {
  uint32_t struct_size;
  uint32_t count; /* in: room in points; out: visits + 1 */
  sluice_preemption_point_t* points; /* in: array to be filled; NULL: there is no room */
} sluice_preemption_list_t;

/* Finds the points of a plan, which is verified first; one node and one queue only.
 * SLUICE_BUFFER_TOO_SMALL: there is too little room, and count alone is written. A plan made
 * with max_block_cycles has more points. */
SLUICE_API sluice_status_t sluice_preemption_points(
    sluice_context_t* context, const sluice_graph_t* graph,
    const sluice_hardware_t* hardware, const sluice_plan_t* plan,
    sluice_preemption_list_t* list, sluice_diagnostic_t* diagnostic);

/* Several models on one machine of one node and in one scratchpad. Each model has a plan of
 * its own, and regions of its own in DRAM. They take turns: a turn is a run of visits of
 * one stream's blocks; the next turn starts when all engines have drained. All models
 * are ready at cycle 0 and run once. */
enum { /* sluice_coschedule_options_t.share */
  SLUICE_SHARE_AUTO = 0, /* the mode below with the lower weighted sum of finish_cycles */
  /* Each model has a range of the scratchpad for itself, and turns may end at any block.
   * The ranges are those sizes of the models' curves whose weighted sum of latencies is
   * least. */
  SLUICE_SHARE_PARTITION = 1,
  /* Each model has the whole scratchpad, without reserved ranges, during its turns. They end
   * only where none of its bytes there is live. */
  SLUICE_SHARE_TIME = 2
};
/* The most models of one call. */
enum { SLUICE_MODELS_MAX = 8 };

/* One model of several. */
typedef struct sluice_model {
  const sluice_graph_t* graph; /* read during the call alone */
  uint32_t weight; /* of its cycles in the sums; 0: 1 */
  uint32_t reserved;
  /* Bytes [reserved_offset, + reserved_bytes) of the scratchpad are this model's alone, and
   * it uses no others. The offset is a multiple of 64 and of the scratchpad's alignment.
   * 0 bytes: the call decides. */
  uint64_t reserved_offset, reserved_bytes;
} sluice_model_t;

/* Which models share, and how. */
typedef struct sluice_coschedule_options {
  uint32_t struct_size;
  uint32_t share;            /* SLUICE_SHARE_ */
  uint64_t scratchpad_bytes; /* for all; 0, or more than the hardware has: its capacity */
  /* The longest turn while another model waits; blocks are cut to it. 0: no limit, each
   * model runs to its end. */
  uint64_t max_turn_cycles;
  uint64_t deadline_ns;    /* of the whole call; see above */
  uint64_t max_iterations; /* of each plan; 0: no bound by count */
  uint64_t seed;           /* of each plan's search */
  const uint32_t* cancel;  /* nonzero stops the call; may be NULL */
  uint32_t points; /* of each curve, planned only where they matter; 0: 12 */
  uint32_t model_count;         /* entries of models: 1 to SLUICE_MODELS_MAX */
  const sluice_model_t* models; /* read during the call alone; not NULL */
} sluice_coschedule_options_t;

/* A run of visits of one stream's blocks. */
typedef struct sluice_turn {
  uint32_t model; /* index */
  uint32_t first_visit, end_visit; /* [first, end) */
  uint32_t reserved;
  uint64_t cycles; /* from drained to drained */
} sluice_turn_t;

/* What a model got. */
typedef struct sluice_member {
  uint32_t struct_size;
  uint32_t turns;            /* how many it has */
  const sluice_plan_t* plan; /* borrowed from the cohort; bound to the range */
  uint64_t offset, bytes;    /* the range of the scratchpad that its stream uses */
  uint64_t latency_cycles;   /* of the plan when it runs alone */
  uint64_t finish_cycles;    /* when its last turn ends */
  uint64_t equal_cycles;     /* its latency in an equal share; 0: there is no plan for it */
  uint64_t longest_wait_cycles; /* that it was ready and others ran */
} sluice_member_t;

/* What the models of a cohort got together. Sums are over the models. */
typedef struct sluice_cohort_summary {
  uint32_t struct_size;
  uint32_t share;  /* SLUICE_SHARE_PARTITION or _TIME: the mode that was taken */
  uint32_t models, turns; /* how many */
  uint32_t proved; /* PARTITION: 1: no other sizes of the curves have a lower sum, if no
                      plan for less scratchpad is faster than one for more */
  uint32_t stop_reason; /* SLUICE_STOP_ */
  uint64_t total_cycles;         /* when the last turn ends */
  uint64_t latency_sum;          /* weight * latency_cycles */
  uint64_t finish_sum;           /* weight * finish_cycles */
  uint64_t equal_latency_sum;    /* weight * equal_cycles; 0: one has no plan */
  /* finish_sum of the best plans of each mode; 0: the mode is not possible, or was not
   * looked at. */
  uint64_t partition_finish_sum, time_finish_sum;
} sluice_cohort_summary_t;

/* Plans and turns of several models; owns them. */
typedef struct sluice_cohort sluice_cohort_t;

/* Plans models together. Each plan has passed verify, and all plans and turns have passed
 * sluice_verify_together. options must not be NULL; graphs and hardware may go after the call.
 * SLUICE_INFEASIBLE: no division that was tried holds all models (the diagnostic has model and
 * bytes), or no plan that was made keeps turns within max_turn_cycles: the message has the
 * smallest limit that was seen, below which there is no use in trying again, and which need
 * not be enough. Unlike that of sluice_schedule this answer is no proof. */
SLUICE_API sluice_status_t sluice_coschedule(
    sluice_context_t* context, const sluice_hardware_t* hardware,
    const sluice_coschedule_options_t* options, sluice_cohort_t** out_cohort,
    sluice_diagnostic_t* diagnostic);
/* Gives its memory back to the context, with all plans. NULL: nothing. */
SLUICE_API void sluice_cohort_destroy(sluice_cohort_t* cohort);
/* Copies what the models got together: the mode that was taken, how many turns, cycles and
 * their sums over the models. The caller sets out_summary->struct_size.
 * SLUICE_BAD_ARGUMENT: the cohort or out_summary is NULL. */
SLUICE_API sluice_status_t sluice_cohort_report(const sluice_cohort_t* cohort,
                                                sluice_cohort_summary_t* out_summary);
/* What model `model` got. SLUICE_BAD_ARGUMENT: there is no such model. */
SLUICE_API sluice_status_t sluice_cohort_member(const sluice_cohort_t* cohort,
                                                uint32_t model,
                                                sluice_member_t* out_member);
/* The turns, borrowed, in the order of time. */
SLUICE_API sluice_status_t sluice_cohort_turns(const sluice_cohort_t* cohort,
                                               const sluice_turn_t** out_turns,
                                               uint32_t* out_count);

/* Streams that take turns. The arrays are read during the call alone. */
typedef struct sluice_turn_list {
  uint32_t struct_size;
  uint32_t model_count; /* entries of graphs and of plans: 1 to SLUICE_MODELS_MAX */
  uint32_t turn_count;  /* entries of turns */
  uint32_t reserved;
  const sluice_graph_t* const* graphs; /* of each model; none is NULL */
  const sluice_plan_t* const* plans;   /* for these graphs, alike */
  const sluice_turn_t* turns; /* in the order of time; NULL only where there are none */
} sluice_turn_list_t;

/* Judges streams that take turns; shares with the scheduler what sluice_verify shares. Each plan
 * must be valid by itself; turns must cover each stream once and in order; in each turn, every
 * scratchpad byte that is read must have been written last by the same stream.
 * SLUICE_REJECTED: the diagnostic has the model and a rule: "turns", "foreign", or the plan's
 * own. */
SLUICE_API sluice_status_t sluice_verify_together(
    sluice_context_t* context, const sluice_hardware_t* hardware,
    const sluice_turn_list_t* list, sluice_diagnostic_t* diagnostic);

/* Layers of a graph on a mesh of nodes (KAPLA): which run together, on which nodes, and what
 * stays on chip between them. In a spatial segment every stage has nodes of its own and
 * all work at once, slice of the batch after slice. In a temporal segment layer after layer
 * runs on all nodes. Costs are those of the mesh model, with the leakage of the whole machine.
 *
 * sluice_segment_options_t.solver: */
enum { SLUICE_SEGMENTS_CHAIN = 0, /* the best chain; layers are mapped where that may
                                     change it */
       SLUICE_SEGMENTS_TOP_K = 1, /* as published: the top_k best chains by estimates, and
                                     the segments on them solved */
       SLUICE_SEGMENTS_LAYERS = 2 /* every layer by itself */ };
enum { /* sluice_segment_t.kind */
  SLUICE_SEGMENT_SINGLE = 0,  /* one layer */
  SLUICE_SEGMENT_SPATIAL = 1, /* layers at a time, each on nodes of its own */
  SLUICE_SEGMENT_TEMPORAL = 2 /* layers in turn on all nodes */
};

/* What to look for. Flags are 0 or 1. */
typedef struct sluice_segment_options {
  uint32_t struct_size;
  uint32_t solver;          /* SLUICE_SEGMENTS_ */
  uint32_t energy_exponent; /* n; both 0: energy alone */
  uint32_t delay_exponent;  /* m: energy^n * delay^m is minimised */
  uint32_t top_k;           /* chains, at most 64; 0: 4 */
  uint32_t max_stages;      /* of a spatial segment, at most 8; 0: 5 */
  uint32_t proof;           /* leave nothing out: for small meshes and networks */
  uint32_t word_bytes;      /* of every word; 0: as the tensors' */
  uint32_t no_spatial, no_temporal; /* no segments of this kind */
  uint64_t max_prices;      /* layers mapped beyond each by itself; 0: 500, or two per
                               layer if more; with proof no limit */
  uint64_t deadline_ns;     /* of the call; 0: none */
  const uint32_t* cancel;   /* nonzero stops the call; may be NULL */
} sluice_segment_options_t;

/* What a segment or a schedule costs, of one run of the graph. */
typedef struct sluice_segment_cost {
  double operations_pj, registers_pj, transfer_pj, scratchpad_pj, dram_pj, noc_pj,
      leakage_pj, energy_pj; /* the last is the sum of the others */
  uint64_t cycles, dram_read_bytes, dram_write_bytes; /* latency; traffic */
} sluice_segment_cost_t;

/* Layers that run together. */
typedef struct sluice_segment {
  uint32_t kind;        /* SLUICE_SEGMENT_ */
  uint32_t first_layer; /* index in the schedule's layers */
  uint32_t layer_count; /* from there on */
  uint32_t stages;      /* that work at once */
  uint32_t top_batch;   /* slices of the batch */
  uint32_t reserved;
  uint64_t node_cycles, dram_cycles; /* cost.cycles is the larger one */
  sluice_segment_cost_t cost;        /* of the segment */
} sluice_segment_t;

/* A layer of a schedule. */
typedef struct sluice_segment_layer {
  uint32_t layer;             /* index in the graph */
  uint32_t segment, stage;    /* index of its segment; its stage there */
  uint32_t producer;          /* index in the schedule's layers of the one whose output it
                                 takes on the chip, or SLUICE_NO_INDEX */
  uint32_t column, row, columns, rows; /* its rectangle of nodes */
  uint32_t top_ifm, top_ofm;  /* groups of channels its input and output move in */
  uint32_t fetches, stores;   /* from and to DRAM; tensors that stay on the chip not
                                 counted */
  uint32_t kept;              /* mask of operands that lie whole in scratchpads */
  uint32_t reserved;
  int32_t split[2][8];        /* parts along columns and rows: N K C P Q R S G */
  double energy_pj;           /* without leakage */
  uint64_t busy_cycles;       /* of its nodes, DRAM left out */
  uint64_t scratchpad_bytes;  /* of the fullest node */
} sluice_segment_layer_t;

/* A schedule on a mesh, and what was looked at. Fields marked "in" are the caller's. */
typedef struct sluice_segment_schedule {
  uint32_t struct_size;
  uint32_t proved;     /* 1: no schedule of the space costs less */
  uint32_t capacity;   /* in: entries of both arrays; the graph's layers are enough */
  uint32_t segment_count, layer_count; /* of the schedule, also where capacity is less */
  uint32_t stop_reason;                /* SLUICE_STOP_ */
  sluice_segment_t* segments;          /* in: array to be filled, or NULL */
  sluice_segment_layer_t* layers;      /* in: alike */
  sluice_segment_cost_t cost;          /* of the schedule */
  sluice_segment_cost_t layers_cost; /* of every layer by itself, sums only */
  double objective, layers_objective;  /* cost of the schedule; of every layer by itself */
  double bound;        /* no schedule of the space is below */
  /* What the search did. */
  uint64_t vertices;   /* units that segments are made of: a layer with MACs and the layers
                          without that follow it */
  uint64_t candidates; /* runs of vertices that were considered as segments */
  uint64_t spatial_candidates; /* candidates whose layers run side by side on nodes */
  uint64_t schemes;    /* candidates, each with every slicing and grouping of its batch */
  uint64_t valid;      /* schemes whose data may fit the scratchpads */
  uint64_t priced;     /* valid schemes whose layers were all mapped and priced */
  uint64_t prices;     /* mappings of single layers that this took */
  char* text;          /* in: to be filled, or NULL; the schedule as KAPLA's directives
                          (same names, same sizes, matched updates), with a NUL */
  uint64_t text_bytes; /* in: room in text; out: what is needed; if that is more, text is
                          not written */
} sluice_segment_schedule_t;

/* Plans a graph on a mesh. options may be NULL. SLUICE_UNSUPPORTED: the machine or a layer is
 * not of the mesh model, or the graph has a state. */
SLUICE_API sluice_status_t sluice_segments(
    sluice_context_t* context, const sluice_graph_t* graph,
    const sluice_hardware_t* hardware, const sluice_segment_options_t* options,
    sluice_segment_schedule_t* schedule, sluice_diagnostic_t* diagnostic);

/* Judges a plan as sluice_verify does, unless it comes from sluice_schedule or
 * sluice_reschedule, which have judged it; then fills in its layers; see layers.h. */
SLUICE_API sluice_status_t sluice_plan_layers(
    sluice_context_t* context, const sluice_graph_t* graph, const sluice_hardware_t* hardware,
    const sluice_plan_t* plan, sluice_layer_list_t* list, sluice_diagnostic_t* diagnostic);

#ifdef __cplusplus
}
#endif

#endif /* SLUICE_EXPERIMENTAL_H_ */
