/* SPDX-License-Identifier: Apache-2.0 */
/* Known networks as graphs: published shapes, int8, weights that follow from seeds
 * instead of stored ones. Costs and plans are those of the network; computed values mean
 * nothing. Part of libsluice_import; the rules at the top of import.h hold. */
#ifndef SLUICE_ZOO_H_
#define SLUICE_ZOO_H_

#include "sluice/import.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How many networks there are; their indices go from 0 to one less, in the order of
 * names. */
SLUICE_API uint32_t sluice_zoo_count(void);

/* Name of network `index` ("resnet50"); static storage. NULL: there is no such one. */
SLUICE_API const char* sluice_zoo_name(uint32_t index);

/* One line about network `index`; static storage. NULL: there is no such one. */
SLUICE_API const char* sluice_zoo_text(uint32_t index);

/* Sizes of a network. All zero but struct_size: as it was published. */
typedef struct sluice_zoo_options {
  uint32_t struct_size;
  int32_t batch;   /* images or sequences at once; 0: 1 */
  int32_t seq;     /* tokens of GPT-2's prompt; 0: as it was published. A decode, which has
                      none of its own, is the same for all */
  int32_t context; /* positions of GPT-2's KV cache; 0: all that the network has */
  int32_t blocks;  /* only the first ones of a transformer; 0: all */
  uint32_t training;                   /* 1: one training step, as in import.h */
  const sluice_allocator_t* allocator; /* of the graph's bytes; NULL: malloc and free */
  /* 1: rows and columns that no layer reads are not computed, as sluice_import_model leaves
   * them out (SLUICE_IMPORT_SKIPPED). 0: as it was published. Not of training steps. */
  uint32_t skip_unread;
  uint32_t reserved;
  /* NULL: not wanted. Else *out_report becomes what import.h reports of a model, and the caller
   * destroys it; NULL when the call fails. Its list SLUICE_IMPORT_SKIPPED says what skip_unread
   * left out. */
  sluice_import_report_t** out_report;
} sluice_zoo_options_t;

/* The graph of a network. options: NULL means defaults. Same name and options: same
 * bytes.
 * SLUICE_BAD_ARGUMENT: no network has that name, or it cannot have these sizes. */
SLUICE_API sluice_status_t sluice_zoo_graph(const char* name,
                                            const sluice_zoo_options_t* options,
                                            sluice_bytes_t* out_graph,
                                            sluice_diagnostic_t* diagnostic);

#ifdef __cplusplus
}
#endif

#endif /* SLUICE_ZOO_H_ */
