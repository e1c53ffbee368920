/* SPDX-License-Identifier: Apache-2.0 */
/* A user-space driver that schedules what it is given: models arrive at run time, are
 * scheduled with a deadline in the driver's own memory, placed, patched and submitted;
 * when the driver's share of the scratchpad changes, they are rescheduled. C99.
 *
 * It is small on purpose: a device (npu_device.h in place of ioctls), a list of extents for
 * device memory, one sluice context in a block. Clients are not trusted:
 * their data are checked before use, and no client can harm another one.
 *
 * Input    graph.fbs buffers, dense tensors; deadlines in nanoseconds
 * Output   dense output tensors; cycles
 * Errors   npu_status_t; npu_last_error says in a sentence what the client did wrong
 * Cost     host memory: the block, all of it given to npu_open; no allocation but that of
 *          the device model */
#ifndef SLUICE_BINDINGS_DRIVER_NPU_H_
#define SLUICE_BINDINGS_DRIVER_NPU_H_

#include <stddef.h>
#include <stdint.h>

#include "npu_device.h"
#include "sluice/sluice.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  NPU_OK = 0,
  NPU_BAD_CALL = -1,     /* null, unknown handle, sizes that do not match the model */
  NPU_BAD_MODEL = -2,    /* not a graph this driver can run */
  NPU_DOES_NOT_FIT = -3, /* no plan within the share, or no device memory left */
  NPU_NO_TIME = -4,      /* the deadline passed before there was a plan */
  NPU_DEVICE_FAULT =
      -5 /* the device stopped the stream, did not end it in time, or moved
                            fewer bytes than it should; the next run starts afresh */
} npu_status_t;

typedef struct npu npu_t;
typedef uint32_t npu_model_t; /* handle; never reused */

typedef struct {
  const void* hardware; /* hardware.fbs of the device */
  size_t hardware_bytes;
  uint64_t device_dram_bytes;
  void* block; /* all host memory of the driver; outlives it */
  uint64_t block_bytes;
  uint64_t share_begin, share_end; /* of every scratchpad; 0, 0: all of it */
  const npu_device_table_t*
      device;                 /* must live as long as the driver; NULL: simulated */
  const char* device_options; /* for its open; NULL: none */
  uint64_t timeout_ns;        /* of a run on the device; 0: none */
} npu_options_t;

/* Bytes [offset, offset + bytes) of an external file of constants; 0 = done. */
typedef int (*npu_read_fn)(void* user, const char* file, uint32_t file_size,
                           uint64_t offset, uint64_t bytes, void* out);

npu_status_t npu_open(const npu_options_t* options, npu_t** out);
void npu_close(npu_t* npu);
const char* npu_last_error(const npu_t* npu); /* of the last call that failed */

/* The graph is copied. read may be NULL when all constants are inline or seeded. */
npu_status_t npu_load(npu_t* npu, const void* graph, size_t graph_bytes,
                      uint64_t deadline_ns, npu_read_fn read, void* user,
                      npu_model_t* out);
npu_status_t npu_unload(npu_t* npu, npu_model_t model);

/* The address of the same bytes if the host has them in memory already, else NULL. They are
 * read only during the call that was given the function. */
typedef const void* (*npu_map_fn)(void* user, const char* file, uint32_t file_size,
                                  uint64_t offset, uint64_t bytes);

/* A model whose plan was made outside of the driver. */
typedef struct {
  const void* graph; /* copied */
  size_t graph_bytes;
  const void* plan; /* plan.fbs for that graph and the driver's hardware; copied */
  size_t plan_bytes;
  uint64_t share_begin, share_end; /* of every scratchpad; 0, 0: the driver's share */
  npu_read_fn read;                /* as for npu_load */
  npu_map_fn map;                  /* asked before read; NULL: nothing is in memory */
  void* user;                      /* of both */
} npu_planned_t;

/* Loads a model with its plan. The plan is verified first; if it is wrong, the answer is
 * NPU_BAD_MODEL and nothing changes. npu_set_share plans the model again, as all others. */
npu_status_t npu_load_planned(npu_t* npu, const npu_planned_t* planned,
                              npu_model_t* out);

typedef struct {
  void* data; /* dense bytes */
  uint64_t bytes;
} npu_buffer_t;

typedef struct {
  const npu_buffer_t* inputs; /* in tensor order */
  uint32_t input_count;
  npu_buffer_t* outputs;
  uint32_t output_count;
  const int32_t* parameters;
  uint32_t parameter_count;
  uint64_t cycles; /* out */
} npu_run_t;

/* States (KV caches) keep their values from run to run. */
npu_status_t npu_run(npu_t* npu, npu_model_t model, npu_run_t* run);

/* Another share of the scratchpads: every model is rescheduled into it. A model that does
 * not fit stays loaded and returns NPU_DOES_NOT_FIT until a share is large enough;
 * *unfit counts them. Weights and states stay where they are. */
npu_status_t npu_set_share(npu_t* npu, uint64_t begin, uint64_t end,
                           uint64_t deadline_ns, uint32_t* unfit);

uint64_t npu_scratchpad(const npu_t* npu); /* bytes of one node's */

/* Bytes of device memory in use, and of the host block at most so far. */
void npu_memory(const npu_t* npu, uint64_t* device_bytes, uint64_t* host_peak_bytes);

#ifdef __cplusplus
}
#endif

#endif /* SLUICE_BINDINGS_DRIVER_NPU_H_ */
