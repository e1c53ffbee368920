/* SPDX-License-Identifier: Apache-2.0 */
/* libsluice_import: models as people have them -> graphs as sluice.h reads them.
 *
 * C99. A library of its own (pkg-config sluice-import, CMake sluice::import): programs
 * that only schedule do not carry importers. It needs libsluice, whose reader checks
 * every graph before it is handed over. Three more headers belong to it: build.h (graphs
 * and descriptors piece by piece), presets.h (machines by name, JSON), zoo.h (known
 * networks).
 * Rules that hold for all four headers:
 *   Structs that may grow start with struct_size, as in sluice.h: a missing tail reads as
 *     zero, zero means default, a longer struct is accepted when its unknown tail is
 *     zero, results are written up to struct_size.
 *   Memory: bytes that a function hands over (sluice_bytes_t) come from the allocator of
 *     the call. Working memory and the objects of this library come from the C++ heap;
 *     when that is exhausted the call returns SLUICE_OUT_OF_MEMORY.
 *   Errors: a status of sluice.h and, where the caller gives one, a diagnostic with one
 *     sentence. No exception leaves the library. Output pointers are cleared first, and
 *     stay cleared when a call fails unless its comment says otherwise.
 *   Nothing is printed, and no file is opened: constants in other files are read by the
 *     caller's functions (sluice_external_files_t).
 *   Threads: functions may be called from several threads at once; one object belongs to
 *     one thread at a time.
 *   Same version, bytes and options: same bytes, on every machine. */
#ifndef SLUICE_IMPORT_H_
#define SLUICE_IMPORT_H_

#include "sluice/sluice.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that this library made: `size` bytes at `data`, 16-byte aligned; NULL and 0 when
 * there are none. They belong to the caller, who gives them back with
 * sluice_bytes_release, or calls the allocator's release with alignment 16. */
typedef struct sluice_bytes {
  void* data;  /* NULL: none */
  size_t size; /* in bytes */
} sluice_bytes_t;

/* Gives bytes back to the allocator that they came from (NULL: malloc and free) and
 * clears *bytes. Bytes that are cleared already, and a NULL pointer, are fine. */
SLUICE_API void sluice_bytes_release(const sluice_allocator_t* allocator,
                                     sluice_bytes_t* bytes);

enum { /* sluice_import_options_t.format, sluice_import_summary_t.format */
  SLUICE_MODEL_DETECT = 0, /* TensorFlow Lite has an identifier; the rest is ONNX */
  SLUICE_MODEL_TFLITE = 1, /* fixed shapes; quantised: exact; floats alone: shapes */
  SLUICE_MODEL_ONNX = 2    /* quantised: exact; floating point: shapes only */
};

/* 1: this build reads models of that format, 0: it does not, or there is no such format.
 * ONNX is read where libonnx and protobuf were found when the library was built. */
SLUICE_API int32_t sluice_import_reads(uint32_t format);

/* Files that an ONNX model names for its constants. Both functions are called from within
 * the import, on its thread, and return 0 when they have done their work; anything else
 * makes the import fail with SLUICE_BAD_INPUT. `file` is a path relative to the model's
 * folder, NUL-terminated, never absolute and without "..". */
typedef struct sluice_external_files {
  uint32_t struct_size;
  uint32_t reserved;
  void* user; /* first argument of both functions */
  /* Writes the length of the file in bytes to *out_bytes. */
  int32_t (*size)(void* user, const char* file, uint64_t* out_bytes);
  /* Copies `bytes` bytes, from byte `offset` of the file on, to `into`. The range lies
   * inside the size that was reported. */
  int32_t (*read)(void* user, const char* file, uint64_t offset, uint64_t bytes,
                  void* into);
} sluice_external_files_t;

/* The extent of a dynamic dimension of an ONNX model. */
typedef struct sluice_import_dim {
  const char* name; /* the model's name for it ("batch"), or INPUT:AXIS ("image:0") */
  int64_t extent;   /* at least 1 */
} sluice_import_dim_t;

/* An output whose bytes an input has in the next run, as caches of keys and values. */
typedef struct sluice_import_state {
  const char* input;  /* its name in the model */
  const char* output; /* of the same extents and type */
} sluice_import_state_t;

/* Between which numbers a float tensor of a model lies. */
typedef struct sluice_import_range {
  const char* name; /* of the tensor in the model */
  float min, max;   /* finite; min is not above max */
} sluice_import_range_t;

/* How a model is imported. All zero but struct_size: defaults. */
typedef struct sluice_import_options {
  uint32_t struct_size;
  uint32_t format;                     /* SLUICE_MODEL_ */
  const sluice_allocator_t* allocator; /* of the graph's bytes; NULL: malloc and free */
  const char* name;                    /* of the graph; NULL: "" */
  /* 1: operators that cannot be expressed become OPAQUE layers, which the host executes.
   * 0: a model with such operators is refused. */
  uint32_t allow_opaque;
  /* 1: the graph is one training step: forward, errors, gradients of all weights. */
  uint32_t training;
  uint64_t opaque_cycles; /* declared for each opaque layer; 0: one per element */
  const sluice_import_dim_t* dims; /* extents of dynamic dimensions; read in the call */
  uint32_t dim_count;              /* how many of them */
  /* 1: layers compute all rows and columns of their outputs, also those that no layer reads.
   * 0: such rows and columns are left out (SLUICE_IMPORT_SKIPPED), unless training is 1. */
  uint32_t keep_unread;
  const sluice_external_files_t* external; /* NULL: constants in other files are refused */
  /* Most bytes of constants that the graph may hold. The import fails with
   * SLUICE_OUT_OF_MEMORY before it makes more. 0: 64 MiB more than 16 times the model and
   * its external files, and never more than 2 GiB. */
  uint64_t max_constant_bytes;
  const sluice_import_state_t* states; /* inputs and outputs that become states of the graph */
  uint32_t state_count;                /* how many of them */
  /* 1: also pairs that their names tell, past.../present..., ..._in/..._out, prev.../next...,
   * old.../new..., if extents and types are equal. */
  uint32_t find_states;
  /* Ranges by which a model of floats alone is quantised to int8, with the model's weights.
   * Tensors that only move another's elements, and functions of known range, need none. */
  const sluice_import_range_t* ranges;
  uint32_t range_count; /* how many of them; 0: floats are imported for their shapes */
  uint32_t reserved;
  /* Not NULL: large constants that the graph has as a TensorFlow Lite model stores them are not
   * copied; the graph refers to their bytes in this file (external sources of graph.fbs), which
   * is the model's under the name that the driver knows it by. Other formats are refused. */
  const char* model_file;
  /* Not NULL: called from within the import, on its thread, with ranges of the model's bytes
   * that it does not need again, so that pages of a mapped file can be given back. */
  void (*model_done)(void* user, const void* bytes, size_t size);
  void* model_user; /* first argument of model_done */
  /* Not NULL: the graph is for this machine (hardware.fbs, 8-byte aligned). Products that its
   * units do not take (uint8, zero points of weights or of a second operand, transposed
   * convolutions) get a form that they do and that computes the same bytes, with more products
   * where it must. A training step stays as it is. */
  const void* hardware;
  size_t hardware_size; /* in bytes */
} sluice_import_options_t;

/* What the import did, beside the graph. Created by sluice_import_model. */
typedef struct sluice_import_report sluice_import_report_t;

/* Model bytes -> graph bytes (graph.fbs), for sluice_graph_create.
 * model: model_size bytes in memory, any alignment, read during the call.
 * options: NULL means defaults.
 * out_graph: the graph, in memory of options->allocator.
 * out_report: NULL: not wanted. Else the caller destroys it. When the import fails it is
 *   still made, unless memory is exhausted: it then has the whole message and, with
 *   SLUICE_UNSUPPORTED, the list of refused operators.
 * SLUICE_BAD_INPUT: damaged bytes, or a model that contradicts itself.
 * SLUICE_UNSUPPORTED: operators that cannot be expressed, all listed in the report; an
 *   input or output of a type or extent that no graph has; or a format that this build does
 *   not read.
 * SLUICE_BAD_ARGUMENT: an unknown format; a dimension, state or ranged tensor that the model
 *   does not have; ranges for a model that is quantised; a model of which nothing can be
 *   trained.
 * SLUICE_OUT_OF_MEMORY: memory is exhausted, or max_constant_bytes would be exceeded. */
SLUICE_API sluice_status_t sluice_import_model(const void* model, size_t model_size,
                                               const sluice_import_options_t* options,
                                               sluice_bytes_t* out_graph,
                                               sluice_import_report_t** out_report,
                                               sluice_diagnostic_t* diagnostic);

/* Frees the report and the texts that its functions returned. The graph of the same import
 * is not part of it and stays. NULL is fine. */
SLUICE_API void sluice_import_report_destroy(sluice_import_report_t* report);

enum { /* sluice_import_summary_t.numbers */
  SLUICE_NUMBERS_EXACT = 0,  /* the graph computes the integers that the model computes */
  /* Floating-point operators became int8 layers of the same shapes with seeded weights:
   * plans and their costs are the model's, computed values are not. */
  SLUICE_NUMBERS_SHAPES_ONLY = 1,
  /* As EXACT, but operators of the model's runtime add or scale floats: where a result lies
   * beside a tie between two integers, theirs may be the other one. The list
   * SLUICE_IMPORT_ROUNDED names them. */
  SLUICE_NUMBERS_ROUNDED = 2,
  /* Floats were quantised to int8 by the ranges given: the graph computes the model's numbers
   * as closely as 8 bits hold them. */
  SLUICE_NUMBERS_QUANTISED = 3
};

enum { /* lists of a report: operators of the model that ... */
  SLUICE_IMPORT_REFUSED = 0,     /* ... cannot be expressed; the import failed */
  SLUICE_IMPORT_OPAQUE = 1,      /* ... were left to the host */
  SLUICE_IMPORT_SHAPES_ONLY = 2, /* ... became layers of the same shapes only */
  SLUICE_IMPORT_FOLDED = 3,      /* ... left no layer: computed at import, or dropped */
  SLUICE_IMPORT_OPEN_DIMS = 4,   /* (dimensions that need an extent; the import failed) */
  SLUICE_IMPORT_ROUNDED = 5,     /* ... round ties as their reason says */
  /* (layers, by operator, that do not compute rows and columns which no layer reads; the
   * graph's outputs have the same bytes) */
  SLUICE_IMPORT_SKIPPED = 6,
  SLUICE_IMPORT_UNRANGED = 7, /* (tensors that need a range; the import failed) */
  SLUICE_IMPORT_LISTS = 8     /* one past the last list */
};

/* Figures of an import. */
typedef struct sluice_import_summary {
  uint32_t struct_size;
  uint32_t format;                  /* SLUICE_MODEL_TFLITE or SLUICE_MODEL_ONNX */
  uint32_t numbers;                 /* SLUICE_NUMBERS_ */
  uint32_t operators;               /* of the model, as far as an output needs them */
  uint32_t layers, tensors;         /* of the graph */
  uint32_t inputs, outputs;         /* tensors of the graph that are its border */
  uint64_t constant_bytes;          /* stored in the graph */
  uint64_t graph_bytes;             /* all of it */
  uint32_t lists[8];                /* entries of each list, by SLUICE_IMPORT_ */
  uint32_t interface_lines;         /* of sluice_import_report_interface */
  uint32_t reserved;
} sluice_import_summary_t;

/* Writes the figures of an import to *out_summary.
 * SLUICE_BAD_ARGUMENT: a NULL pointer, or a struct_size of 0. */
SLUICE_API sluice_status_t sluice_import_report_summary(
    const sluice_import_report_t* report, sluice_import_summary_t* out_summary);

/* One line of a list. */
typedef struct sluice_import_entry {
  uint32_t struct_size;
  uint32_t count;     /* operators of the model that this entry stands for */
  /* "CONV_2D", "CUSTOM:Foo", "Conv"; of a dimension what to call it in
   * sluice_import_options_t.dims. Lives as long as the report, as reason does. */
  const char* name;
  const char* reason; /* one phrase; "": the importer does not know the operator */
} sluice_import_entry_t;

/* Entry `index` of a list (SLUICE_IMPORT_), in the order of first appearance.
 * SLUICE_BAD_ARGUMENT: no such list or entry. */
SLUICE_API sluice_status_t sluice_import_report_entry(
    const sluice_import_report_t* report, uint32_t list, uint32_t index,
    sluice_import_entry_t* out_entry);

/* Why the import failed, whole: a diagnostic cuts a long list of operators or dimensions
 * off. Several lines. "" when it did not fail. The text lives as long as the report. */
SLUICE_API const char* sluice_import_report_message(const sluice_import_report_t* report);

/* One line for people about an input or output of an ONNX model: name, type, extents,
 * order of axes where it is not the model's, quantisation. NULL: there is no such line.
 * The text lives as long as the report. */
SLUICE_API const char* sluice_import_report_interface(
    const sluice_import_report_t* report, uint32_t index);

/* What the elements of a graph's input or output mean. Whoever has floats stores
 * real / scale, rounded to nearest, + zero_point, clamped to the dtype. */
typedef struct sluice_graph_port {
  uint32_t struct_size;
  uint32_t tensor;    /* its index among the graph's tensors */
  const char* name;   /* the model's; lies inside the graph's bytes; "": none */
  uint32_t dtype;     /* SLUICE_DTYPE_ */
  uint32_t rank;      /* number of axes, 0 to 4 */
  int32_t extent[4];  /* of `rank` axes, outermost first; 1 behind them */
  int32_t zero_point; /* real = scale * (stored - zero_point) */
  float scale;        /* 0: not quantised as a whole; the elements are what they are */
} sluice_graph_port_t;

/* Input `index` of a graph (graph.fbs bytes, 8-byte aligned), counted in the graph's order.
 * SLUICE_BAD_INPUT: damaged bytes; SLUICE_BAD_ARGUMENT: there is none, or a NULL pointer. */
SLUICE_API sluice_status_t sluice_graph_input(const void* graph, size_t graph_size,
                                              uint32_t index,
                                              sluice_graph_port_t* out_port);
/* The same for outputs. */
SLUICE_API sluice_status_t sluice_graph_output(const void* graph, size_t graph_size,
                                               uint32_t index,
                                               sluice_graph_port_t* out_port);

/* The graph of one training step of an inference graph (graph.fbs bytes): its layers
 * first; then, backwards, the error of every layer behind which something is trained, and
 * the gradient of every weight. New inputs: "target", one per 8-bit output. New outputs:
 * "NAME.gradient" of each weight.
 * SLUICE_BAD_INPUT: damaged bytes; nothing is trained; an output without an error.
 * SLUICE_BAD_ARGUMENT: the graph's constants lie in other files. */
SLUICE_API sluice_status_t sluice_import_training_step(
    const void* graph, size_t graph_size, const sluice_allocator_t* allocator,
    sluice_bytes_t* out_graph, sluice_diagnostic_t* diagnostic);

#ifdef __cplusplus
}
#endif

#endif /* SLUICE_IMPORT_H_ */
