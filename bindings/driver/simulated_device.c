/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "npu_device.h"

typedef struct {
  sluice_device_t* device;
  sluice_device_submission_t submission;
  int submitted;
} simulated_t;

static void simulated_close(void* device) {
  simulated_t* s = (simulated_t*)device;
  if (s == NULL) return;
  sluice_device_close(s->device);
  free(s);
}

static int simulated_open(const void* hardware, size_t hardware_bytes,
                          uint64_t dram_bytes, const char* options, void** out) {
  simulated_t* s;
  int code;
  *out = NULL;
  if (options != NULL && options[0] != '\0') return SLUICE_DEVICE_INVALID;
  s = (simulated_t*)calloc(1, sizeof *s);
  if (s == NULL) return SLUICE_DEVICE_MEMORY;
  code = sluice_device_open(hardware, hardware_bytes, dram_bytes, &s->device);
  if (code != SLUICE_DEVICE_OK) {
    free(s);
    return code;
  }
  *out = s;
  return SLUICE_DEVICE_OK;
}

static int simulated_info(void* device, sluice_device_info_t* out) {
  return sluice_device_control(((simulated_t*)device)->device, SLUICE_DEVICE_GET_INFO,
                               out);
}

static int64_t copy(void* device, uint64_t address, void* host, uint64_t bytes,
                    uint32_t request) {
  sluice_device_copy_t c;
  int code;
  c.address = address;
  c.bytes = bytes;
  c.host = host;
  code = sluice_device_control(((simulated_t*)device)->device, request, &c);
  return code == SLUICE_DEVICE_OK ? (int64_t)bytes : code;
}

static int64_t simulated_write(void* device, uint64_t address, const void* host,
                               uint64_t bytes) {
  /* The request to write only reads what it is given. */
  return copy(device, address, (void*)(uintptr_t)host, bytes, SLUICE_DEVICE_WRITE_DRAM);
}

static int64_t simulated_read(void* device, uint64_t address, void* host,
                              uint64_t bytes) {
  return copy(device, address, host, bytes, SLUICE_DEVICE_READ_DRAM);
}

static int simulated_submit(void* device,
                            const sluice_device_submission_t* submission) {
  simulated_t* s = (simulated_t*)device;
  if (s->submitted) return SLUICE_DEVICE_INVALID;
  s->submission = *submission;
  s->submitted = 1;
  return SLUICE_DEVICE_OK;
}

static int simulated_wait(void* device, uint64_t timeout_ns,
                          sluice_device_submission_t* out) {
  simulated_t* s = (simulated_t*)device;
  int code;
  (void)timeout_ns;
  if (!s->submitted) return SLUICE_DEVICE_INVALID;
  s->submitted = 0;
  code = sluice_device_control(s->device, SLUICE_DEVICE_SUBMIT, &s->submission);
  *out = s->submission;
  return code;
}

static int simulated_reset(void* device) {
  ((simulated_t*)device)->submitted = 0;
  return SLUICE_DEVICE_OK;
}

const npu_device_table_t* npu_simulated_device(void) {
  static const npu_device_table_t table = {NPU_DEVICE_VERSION, 0,
                                           simulated_open,     simulated_close,
                                           simulated_info,     simulated_write,
                                           simulated_read,     simulated_submit,
                                           simulated_wait,     simulated_reset};
  return &table;
}
