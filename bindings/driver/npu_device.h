/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's interface to a device: memory and streams, as a table of functions. The
 * simulated device has such a table. For another device, write these eight functions: the
 * driver above them does not change. C99.
 *
 * A library that is loaded at run time exports the function npu_device_table, which returns
 * its table.
 *
 * Input    addresses in device memory; relocated streams with the windows they may access
 * Output   SLUICE_DEVICE_OK or another code of firmware-sim/device.h, or NPU_DEVICE_TIMEOUT
 * Errors   after a fault or a timeout the driver calls reset, and then submits again
 * Threads  one at a time for each device */
#ifndef SLUICE_BINDINGS_DRIVER_NPU_DEVICE_H_
#define SLUICE_BINDINGS_DRIVER_NPU_DEVICE_H_

#include "firmware-sim/device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  NPU_DEVICE_VERSION = 1,  /* of the table */
  NPU_DEVICE_TIMEOUT = -16 /* of wait: the stream has not ended in time */
};

typedef struct npu_device_table {
  uint32_t version; /* NPU_DEVICE_VERSION */
  uint32_t reserved;
  /* hardware: hardware.fbs of the machine that plans are made for; a device of another kind
   * refuses it. options: the user's text for this device, "" without one. */
  int (*open)(const void* hardware, size_t hardware_bytes, uint64_t dram_bytes,
              const char* options, void** out);
  void (*close)(void* device);
  int (*info)(void* device, sluice_device_info_t* out);
  /* Both return the bytes that were moved, from the first on; fewer than asked for is a
   * fault, as is a code below 0. */
  int64_t (*write)(void* device, uint64_t address, const void* host, uint64_t bytes);
  int64_t (*read)(void* device, uint64_t address, void* host, uint64_t bytes);
  /* Starts a stream. What the submission points to stays until wait or reset. */
  int (*submit)(void* device, const sluice_device_submission_t* submission);
  /* Returns when the stream has ended: out gets cycles, instructions and, with a fault, its
   * place and a sentence. timeout_ns 0: however long it takes. */
  int (*wait)(void* device, uint64_t timeout_ns, sluice_device_submission_t* out);
  /* Stops what is running. Memory keeps its contents where the stream has not written. */
  int (*reset)(void* device);
} npu_device_table_t;

/* The symbol of a library that is loaded at run time. */
#define NPU_DEVICE_TABLE_SYMBOL "npu_device_table"
typedef const npu_device_table_t* (*npu_device_table_fn)(void);

/* The simulated device: wait executes the stream and ignores the timeout. No options. */
const npu_device_table_t* npu_simulated_device(void);

#ifdef __cplusplus
}
#endif

#endif /* SLUICE_BINDINGS_DRIVER_NPU_DEVICE_H_ */
