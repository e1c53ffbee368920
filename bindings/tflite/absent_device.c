/* SPDX-License-Identifier: Apache-2.0 */
/* A template for a vendor's device library: the eight functions, for a device that does not
 * exist. It needs only the installed headers. */
#include "npu_device.h"

static int absent_open(const void* hardware, size_t hardware_bytes, uint64_t dram_bytes,
                       const char* options, void** out) {
  (void)hardware; /* compare it with what the device is */
  (void)hardware_bytes;
  (void)dram_bytes;
  (void)options;
  *out = NULL;
  return SLUICE_DEVICE_INVALID;
}

static void absent_close(void* device) { (void)device; }

static int absent_info(void* device, sluice_device_info_t* out) {
  (void)device;
  (void)out; /* bytes of device memory and of the scratchpad */
  return SLUICE_DEVICE_INVALID;
}

static int64_t absent_write(void* device, uint64_t address, const void* host,
                            uint64_t bytes) {
  (void)device;
  (void)address;
  (void)host;
  (void)bytes;
  return SLUICE_DEVICE_INVALID;
}

static int64_t absent_read(void* device, uint64_t address, void* host, uint64_t bytes) {
  (void)device;
  (void)address;
  (void)host;
  (void)bytes;
  return SLUICE_DEVICE_INVALID;
}

static int absent_submit(void* device, const sluice_device_submission_t* submission) {
  (void)device;
  (void)
      submission; /* translate the stream here, if the device has its own instructions */
  return SLUICE_DEVICE_INVALID;
}

static int absent_wait(void* device, uint64_t timeout_ns,
                       sluice_device_submission_t* out) {
  (void)device;
  (void)timeout_ns;
  (void)out; /* cycles, and where and why it stopped */
  return NPU_DEVICE_TIMEOUT;
}

static int absent_reset(void* device) {
  (void)device;
  return SLUICE_DEVICE_INVALID;
}

SLUICE_DEVICE_API const npu_device_table_t* npu_device_table(void);
const npu_device_table_t* npu_device_table(void) {
  static const npu_device_table_t table = {
      NPU_DEVICE_VERSION, 0,           absent_open,   absent_close, absent_info,
      absent_write,       absent_read, absent_submit, absent_wait,  absent_reset};
  return &table;
}
