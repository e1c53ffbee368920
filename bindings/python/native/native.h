/* SPDX-License-Identifier: Apache-2.0 */
/* What the Python package needs of C++ beside the public headers: the simulator, and a word
 * that Ctrl-C sets while a call works. Part of the package, not of the library. C99. */
#ifndef SLUICE_BINDINGS_PYTHON_NATIVE_H_
#define SLUICE_BINDINGS_PYTHON_NATIVE_H_

#include <stddef.h>
#include <stdint.h>

#include "sluice/sluice.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Until sluice_native_unwatch an interrupt (SIGINT) writes 1 to *word, then calls the previous
 * handler. One word at a time, only on the main thread; returns 0 where this fails. */
SLUICE_API int32_t sluice_native_watch(uint32_t* word);
SLUICE_API void sluice_native_unwatch(void);

/* Inputs and options of a run; bytes are read during the call. */
typedef struct sluice_native_run {
  const void* graph;
  size_t graph_size;
  const void* hardware;
  size_t hardware_size;
  const void* plan; /* NULL: the untiled graph alone, layer by layer */
  size_t plan_size;
  uint32_t functional, contention; /* 0 or 1 */
  uint64_t interleaving, seed;
  const void* const*
      inputs; /* dense bytes of each input, in the graph's order, or NULL */
  const size_t* input_sizes;
  uint32_t input_count, parameter_count;
  const int32_t* parameters;
  const void* state; /* of the region STATE before the run, or NULL */
  size_t state_size;
  uint32_t trace; /* 1: events are kept */
  uint32_t reserved;
  const uint32_t* cancel; /* another thread sets it not 0: the run ends; or NULL */
  const char* data_dir;   /* of constants in files of their own; NULL: "." */
} sluice_native_run_t;

/* One executed instruction, as TraceEvent of the simulator. */
typedef struct sluice_native_event {
  uint32_t engine, node, instance, visit, instruction, opcode, op, layer;
  uint64_t start, end, bytes;
} sluice_native_event_t;

/* The result of a run; all pointers are owned by it. */
typedef struct sluice_native_result {
  int32_t ok;
  uint32_t output_count, event_count, engine_count;
  const char* error_code;
  const char* error;
  uint64_t cycles, predicted_cycles, contended_cycles;
  uint64_t dram_read_bytes, dram_write_bytes, instructions, tiles, macs;
  uint64_t compared_bytes, mismatches, output_fnv1a;
  const sluice_native_event_t* events;
  const char* const* engines;
  const uint32_t* output_tensors;
  const void* const* outputs;
  const size_t* output_sizes;
  const void* state;
  size_t state_size;
} sluice_native_result_t;

/* Runs the simulator. The caller destroys the result; NULL: out of memory. */
SLUICE_API sluice_native_result_t* sluice_native_simulate(
    const sluice_native_run_t* run);
SLUICE_API void sluice_native_simulate_destroy(sluice_native_result_t* result);

/* A plan with its graph and hardware. */
typedef struct sluice_native_files {
  const void* graph;
  size_t graph_size;
  const void* hardware;
  size_t hardware_size;
  const void* plan;
  size_t plan_size;
  const char* hardware_name; /* for titles */
} sluice_native_files_t;

/* Sets segment[i] to the number of layer i's segment, counted as by `sluice schedule --explain`,
 * or to SLUICE_NO_INDEX: the plan was not made of segments, or this layer has none. Returns 0
 * where the plan is damaged or memory is used up. */
SLUICE_API int32_t sluice_native_segments(const void* plan, size_t plan_size,
                                          uint32_t* segment, size_t layers);

/* A text or an error; the caller destroys it. NULL: out of memory. */
typedef struct sluice_native_text {
  const char* text; /* NULL: error says why */
  size_t size;
  const char* error;
  const char* error_code; /* the simulator's, where it refused the plan */
} sluice_native_text_t;

/* Plans, side by side, as one page of HTML: `sluice report`. */
SLUICE_API sluice_native_text_t* sluice_native_report(
    const sluice_native_files_t* plans, size_t count);
/* A plan's run as a trace for Perfetto: `sluice simulate --trace`, with --contention if
 * that is not 0. */
SLUICE_API sluice_native_text_t* sluice_native_trace(const sluice_native_files_t* plan,
                                                     uint32_t contention);
SLUICE_API void sluice_native_text_destroy(sluice_native_text_t* text);

#ifdef __cplusplus
}
#endif

#endif /* SLUICE_BINDINGS_PYTHON_NATIVE_H_ */
