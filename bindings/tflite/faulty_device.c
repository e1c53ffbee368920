/* SPDX-License-Identifier: Apache-2.0 */
/* A device library for tests: the simulated device, one call of which fails. Its
 * options are KIND@N: the Nth call (from 1) of that kind fails, and no other.
 *
 *   timeout@N  wait does not end        fault@N  wait stops the stream
 *   submit@N   submit is refused        read@N, write@N  one byte less is moved */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "npu_device.h"

typedef struct {
  void* device;
  char kind[16];
  unsigned long at, calls;
} faulty_t;

static int now(faulty_t* f, const char* kind) {
  return strcmp(f->kind, kind) == 0 && ++f->calls == f->at;
}

static int faulty_open(const void* hardware, size_t hardware_bytes, uint64_t dram_bytes,
                       const char* options, void** out) {
  faulty_t* f = (faulty_t*)calloc(1, sizeof *f);
  int code;
  if (f == NULL) return SLUICE_DEVICE_MEMORY;
  if (options[0] != '\0' && sscanf(options, "%15[a-z]@%lu", f->kind, &f->at) != 2) {
    free(f);
    return SLUICE_DEVICE_INVALID;
  }
  code = npu_simulated_device()->open(hardware, hardware_bytes, dram_bytes, "",
                                      &f->device);
  if (code != SLUICE_DEVICE_OK) {
    free(f);
    return code;
  }
  *out = f;
  return code;
}

static void faulty_close(void* device) {
  if (device == NULL) return;
  npu_simulated_device()->close(((faulty_t*)device)->device);
  free(device);
}

static int faulty_info(void* device, sluice_device_info_t* out) {
  return npu_simulated_device()->info(((faulty_t*)device)->device, out);
}

static int64_t faulty_write(void* device, uint64_t address, const void* host,
                            uint64_t bytes) {
  faulty_t* f = (faulty_t*)device;
  if (now(f, "write")) --bytes;
  return npu_simulated_device()->write(f->device, address, host, bytes);
}

static int64_t faulty_read(void* device, uint64_t address, void* host, uint64_t bytes) {
  faulty_t* f = (faulty_t*)device;
  if (now(f, "read")) --bytes;
  return npu_simulated_device()->read(f->device, address, host, bytes);
}

static int faulty_submit(void* device, const sluice_device_submission_t* submission) {
  faulty_t* f = (faulty_t*)device;
  if (now(f, "submit")) return SLUICE_DEVICE_MEMORY;
  return npu_simulated_device()->submit(f->device, submission);
}

static int faulty_wait(void* device, uint64_t timeout_ns,
                       sluice_device_submission_t* out) {
  faulty_t* f = (faulty_t*)device;
  if (now(f, "timeout")) return NPU_DEVICE_TIMEOUT;
  if (now(f, "fault")) {
    snprintf(out->fault, sizeof out->fault, "an engine has stopped");
    return SLUICE_DEVICE_FAULT;
  }
  return npu_simulated_device()->wait(f->device, timeout_ns, out);
}

static int faulty_reset(void* device) {
  return npu_simulated_device()->reset(((faulty_t*)device)->device);
}

SLUICE_DEVICE_API const npu_device_table_t* npu_device_table(void);
const npu_device_table_t* npu_device_table(void) {
  static const npu_device_table_t table = {
      NPU_DEVICE_VERSION, 0,           faulty_open,   faulty_close, faulty_info,
      faulty_write,       faulty_read, faulty_submit, faulty_wait,  faulty_reset};
  return &table;
}
