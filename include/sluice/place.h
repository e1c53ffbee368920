/* SPDX-License-Identifier: Apache-2.0 */
/* Placement by itself: addresses of buffers with known lifetimes; in which order operators run
 * and which tensors leave the scratchpad. Experimental: see experimental.h, whose rules for
 * options hold here. C99. */
#ifndef SLUICE_PLACE_H_
#define SLUICE_PLACE_H_

#include "sluice/sluice.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Static placement: buffers with known lifetimes -> offsets within a capacity. Times are any
 * steps, in half-open intervals; the caller's arrays are read during the call alone.
 * sluice_buffer_t.flags: bits. */
enum { SLUICE_BUFFER_FIXED = 1,      /* must lie at fixed_offset */
       SLUICE_BUFFER_SINGLE_BANK = 2 /* must not straddle a bank border */ };

/* A buffer to place. */
typedef struct sluice_buffer {
  int64_t begin, end;   /* lives during [begin, end) */
  int64_t bytes;        /* that it occupies; above 0 */
  int64_t alignment;    /* of its offset; power of two; 0 = 1 */
  int64_t fixed_offset; /* with SLUICE_BUFFER_FIXED */
  uint64_t banks;       /* bit i: may touch bank i; 0: any */
  uint32_t flags;       /* SLUICE_BUFFER_ bits */
  uint32_t gap_begin, gap_count; /* its entries of sluice_placement_problem_t.gaps */
  uint32_t reserved;
} sluice_buffer_t;

/* A time in which only a part of a buffer is in use. Gaps of one buffer are sorted and
 * disjoint. */
typedef struct sluice_buffer_gap {
  int64_t begin, end;            /* during [begin, end) ... */
  int64_t first_byte, last_byte; /* ... only [first_byte, last_byte) are, counted from the
                                    buffer's offset; equal: none */
} sluice_buffer_gap_t;

/* Bytes that no buffer may use for a time. */
typedef struct sluice_reserved_region {
  int64_t begin, end;    /* during [begin, end) ... */
  int64_t offset, bytes; /* ... these bytes, from offset on */
} sluice_reserved_region_t;

/* What is to be placed, and where. */
typedef struct sluice_placement_problem {
  uint32_t struct_size;
  uint32_t buffer_count, gap_count, region_count; /* entries of the arrays */
  const sluice_buffer_t* buffers;          /* NULL where there are none */
  const sluice_buffer_gap_t* gaps;         /* NULL where there are none */
  const sluice_reserved_region_t* regions; /* NULL where there are none */
  int64_t capacity_bytes; /* offsets are in [0, capacity_bytes) */
  int64_t bank_bytes;     /* bank i is [i * bank_bytes, (i + 1) * bank_bytes); 0: one bank */
} sluice_placement_problem_t;

/* How to place. Flags are 0 or 1. */
typedef struct sluice_placement_options {
  uint32_t struct_size;
  uint32_t smallest;    /* do not stop at the first fit: minimise the peak */
  uint32_t fast;        /* heuristics only: no proofs */
  uint32_t no_conflict; /* do not look for a conflicting set when infeasible */
  uint64_t max_nodes;   /* of the exact search; 0: no bound */
  uint64_t deadline_ns; /* of the call; 0: none */
  const uint32_t* cancel; /* nonzero stops the call; may be NULL */
} sluice_placement_options_t;

/* What was found. Flags are 0 or 1. Fields marked "in" are the caller's. */
typedef struct sluice_placement {
  uint32_t struct_size;
  uint32_t placed;      /* offsets hold a placement; with SLUICE_OK it fits, with other
                           statuses its peak is above the capacity */
  uint32_t proved;      /* smallest: no lower peak exists; infeasible: always 1 */
  uint32_t irreducible; /* without any one of the conflicting buffers a fit exists */
  uint32_t conflict_count; /* entries written to conflict */
  uint32_t reserved;
  int64_t peak_bytes;        /* highest byte used */
  int64_t lower_bound_bytes; /* no placement has a lower peak */
  uint64_t nodes;            /* of the exact search, that were visited */
  int64_t* offsets;   /* in: array to be filled, an entry per buffer: bytes from the start;
                         NULL only where there are no buffers */
  uint32_t* conflict; /* in: array to be filled, room for an entry per buffer: indices of
                         buffers; may be NULL */
} sluice_placement_t;

/* Places buffers. options may be NULL. SLUICE_STOPPED: the placement holds the lowest peak
 * that was found. SLUICE_INFEASIBLE: proved; conflict names buffers that cannot lie together,
 * the diagnostic's tensor is the first of them. SLUICE_BAD_INPUT: the diagnostic's tensor is
 * the bad buffer. */
SLUICE_API sluice_status_t sluice_place(sluice_context_t* context,
                                        const sluice_placement_problem_t* problem,
                                        const sluice_placement_options_t* options,
                                        sluice_placement_t* placement,
                                        sluice_diagnostic_t* diagnostic);

/* Replacement: operators on whole tensors; in which order they run, which tensors leave the
 * scratchpad and return, and where everything lies, so that the fewest bytes move off chip.
 *
 * sluice_operator_graph_t.tensor_role: */
enum { SLUICE_PLACED_INTERMEDIATE = 0, SLUICE_PLACED_INPUT = 1, SLUICE_PLACED_OUTPUT = 2 };
enum { /* sluice_replacement_options_t.charge: what a tensor's first spill costs */
  SLUICE_CHARGE_HOST = 0, /* a write of an intermediate; inputs and outputs are in DRAM */
  SLUICE_CHARGE_PAPER = 1 /* a write of every tensor */
};

/* Operators in any order. Lists of lists are CSR: begin has operator_count + 1 entries.
 * Every tensor but the inputs is written by one operator. */
typedef struct sluice_operator_graph {
  uint32_t struct_size;
  uint32_t tensor_count, operator_count; /* how many */
  uint32_t edge_count;          /* pairs in edges */
  const int64_t* tensor_bytes;  /* size of each tensor; above 0 */
  const uint8_t* tensor_role;   /* SLUICE_PLACED_ */
  const uint32_t* input_begin;  /* operator o reads inputs[input_begin[o]] to */
  const uint32_t* inputs;       /* inputs[input_begin[o + 1] - 1]: indices of tensors */
  const uint32_t* output_begin; /* operator o writes outputs[output_begin[o]] to */
  const uint32_t* outputs;      /* outputs[output_begin[o + 1] - 1]: indices of tensors */
  /* Per operator the number of the input whose bytes its first output may take over, or
   * SLUICE_NO_INDEX; NULL: none may. Done when sizes are equal and no operator reads the
   * input later. */
  const uint32_t* in_place;
  const uint32_t* edges; /* 2 * edge_count operators, one before the other; may be NULL */
} sluice_operator_graph_t;

/* What to look for. Flags are 0 or 1. */
typedef struct sluice_replacement_options {
  uint32_t struct_size;
  uint32_t charge;        /* SLUICE_CHARGE_ */
  uint32_t parameters;    /* of a graph: constants take room too, not activations alone */
  uint32_t in_place;      /* of a graph: elementwise and reshape may take over an operand */
  uint32_t keep_order;    /* do not change the order */
  uint32_t fast;          /* no exact search */
  int64_t capacity_bytes; /* of the scratchpad; > 0 */
  int64_t alignment;      /* of sizes and offsets; power of two; 0: 1 */
  const uint32_t* order;  /* with keep_order, operator_count entries; NULL: as numbered */
  uint64_t max_states;    /* of the exact search; 0: 65536 */
  uint64_t deadline_ns;   /* of the call; 0: none */
  const uint32_t* cancel; /* nonzero stops the call; may be NULL */
  const int64_t* again_bytes; /* per operator, what one more run of it costs, in bytes moved;
                                 < 0: it runs once, as do operators with two outputs and
                                 those that edges name. NULL: all run once */
} sluice_replacement_options_t;

/* A tensor's stay in the scratchpad during the steps [begin, end). */
typedef struct sluice_residence {
  uint32_t tensor, begin, end; /* index of the tensor; steps */
  uint32_t retrieved;  /* 1: begins with a counted read; else it is made, or loaded once */
  uint32_t spilled;    /* 1: ends with a counted write */
  uint32_t takes_over; /* the residence whose bytes it takes over, or SLUICE_NO_INDEX */
  int64_t offset;      /* bytes, in the scratchpad */
} sluice_residence_t;

/* What a replacement costs. */
typedef struct sluice_replacement_summary {
  uint32_t struct_size;
  uint32_t proved;            /* 1: spill + retrieve bytes are the fewest possible */
  uint32_t operator_count, residence_count; /* entries of sluice_replacement_plan */
  int64_t spill_bytes, retrieve_bytes;      /* written to and read from DRAM, counted */
  int64_t lower_bound_bytes;  /* of spill + retrieve: no replacement has fewer */
  int64_t peak_bytes;         /* highest byte used */
  int64_t largest_operator_bytes; /* of one operator's tensors: only in place needs less */
  uint64_t states;            /* of the searches, that were visited */
  int64_t again_bytes; /* of operators that ran again; the bound and proved count them */
} sluice_replacement_summary_t;

/* An order and residences; owns its arrays, outlives the graph. */
typedef struct sluice_replacement sluice_replacement_t;

/* Of a network's layers; indices of tensors and operators are the graph's. options must not
 * be NULL. SLUICE_INFEASIBLE: one operator's tensors do not fit together. */
SLUICE_API sluice_status_t sluice_replace(sluice_context_t* context,
                                          const sluice_graph_t* graph,
                                          const sluice_replacement_options_t* options,
                                          sluice_replacement_t** out_replacement,
                                          sluice_diagnostic_t* diagnostic);
/* Of any operators; lists are read during the call. */
SLUICE_API sluice_status_t sluice_replace_operators(
    sluice_context_t* context, const sluice_operator_graph_t* operators,
    const sluice_replacement_options_t* options, sluice_replacement_t** out_replacement,
    sluice_diagnostic_t* diagnostic);
/* Gives its memory back to the context. NULL: nothing. */
SLUICE_API void sluice_replacement_destroy(sluice_replacement_t* replacement);
/* What it costs. */
SLUICE_API sluice_status_t sluice_replacement_report(
    const sluice_replacement_t* replacement, sluice_replacement_summary_t* out_report);
/* Borrowed: the operator of each step, and the residences in order of begin. */
SLUICE_API sluice_status_t sluice_replacement_plan(
    const sluice_replacement_t* replacement, const uint32_t** out_order,
    const sluice_residence_t** out_residences);

/* An order of operators and the room that it needs. */
typedef struct sluice_footprint {
  uint32_t struct_size;
  uint32_t proved;    /* 1: no order has a lower peak */
  int64_t peak_bytes; /* the most bytes that are live at a time */
  uint32_t* order;    /* in: array to be filled, operator_count entries; NULL only where
                         there are no operators */
} sluice_footprint_t;

/* The order whose peak of live bytes is lowest when no tensor leaves the scratchpad
 * (addresses may need more). Of the options (may be NULL) deadline_ns and cancel count. */
SLUICE_API sluice_status_t sluice_minimum_footprint(
    sluice_context_t* context, const sluice_operator_graph_t* operators,
    const sluice_replacement_options_t* options, sluice_footprint_t* footprint,
    sluice_diagnostic_t* diagnostic);

#ifdef __cplusplus
}
#endif

#endif /* SLUICE_PLACE_H_ */
