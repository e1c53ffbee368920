/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated accelerator as a driver sees it: device memory and streams, behind one
 * ioctl-like entry. C99.
 *
 * Input    a hardware descriptor; requests below; everything untrusted
 * Output   0, or a negative SLUICE_DEVICE_ code; for a fault, its place and cause
 * Errors   a refused request changes nothing; a faulting stream stops at the fault, and
 *          the device accepts the next request
 * Cost     memory: dram_bytes; a run: the operators' work
 *
 * A stream can access only the windows submitted with it, as behind an IOMMU. The
 * scratchpads keep nothing from one run to the next. One thread at a time. */
#ifndef SLUICE_FIRMWARE_SIM_DEVICE_H_
#define SLUICE_FIRMWARE_SIM_DEVICE_H_

#include <stddef.h>
#include <stdint.h>

#include "sluice/stream.h"

#if defined(_WIN32)
#define SLUICE_DEVICE_API
#else
#define SLUICE_DEVICE_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum {
  SLUICE_DEVICE_OK = 0,
  SLUICE_DEVICE_INVALID = -1, /* null, unknown request, addresses outside the device */
  SLUICE_DEVICE_MEMORY = -2,  /* the host has no memory left */
  SLUICE_DEVICE_FAULT = -3    /* the stream was stopped; see the submission */
};

typedef struct sluice_device sluice_device_t;

/* hardware: a hardware.fbs buffer. */
SLUICE_DEVICE_API int sluice_device_open(const void* hardware, size_t hardware_bytes,
                                         uint64_t dram_bytes, sluice_device_t** out);
SLUICE_DEVICE_API void sluice_device_close(sluice_device_t* device);

enum {                               /* request      argument */
       SLUICE_DEVICE_GET_INFO = 1,   /* sluice_device_info_t */
       SLUICE_DEVICE_WRITE_DRAM = 2, /* sluice_device_copy_t: host -> device */
       SLUICE_DEVICE_READ_DRAM = 3,  /* sluice_device_copy_t: device -> host */
       SLUICE_DEVICE_SUBMIT = 4      /* sluice_device_submission_t: runs to its end */
};
SLUICE_DEVICE_API int sluice_device_control(sluice_device_t* device, uint32_t request,
                                            void* argument);

typedef struct {
  uint64_t dram_bytes;
  uint64_t scratchpad_bytes; /* of one node */
  uint32_t node_cols, node_rows;
} sluice_device_info_t;

typedef struct {
  uint64_t address; /* in device memory */
  uint64_t bytes;
  void* host;
} sluice_device_copy_t;

typedef struct { /* [begin, end) */
  uint64_t begin, end;
} sluice_device_window_t;

typedef struct {
  const void* stream; /* relocated: its bindings are device addresses */
  size_t stream_bytes;
  const void* graph; /* graph.fbs: the simulator checks every tile against its layer */
  size_t graph_bytes;
  /* GBUF: part of every node's scratchpad; other regions: part of DRAM. Windows that
   * the stream writes must not overlap any other. */
  sluice_device_window_t window[SLUICE_REGION_COUNT];
  const int32_t* parameters; /* values of the graph's parameters for this run */
  uint32_t parameter_count;

  uint32_t fault_engine; /* out; SLUICE_NONE: the fault is not at an instruction */
  uint32_t fault_instance, fault_instruction;
  uint64_t cycles;
  uint64_t instructions;
  char fault[160]; /* a sentence; "" without a fault */
} sluice_device_submission_t;

#ifdef __cplusplus
}
#endif

#endif /* SLUICE_FIRMWARE_SIM_DEVICE_H_ */
