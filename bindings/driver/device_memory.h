/* SPDX-License-Identifier: Apache-2.0 */
/* First fit over a sorted list of extents: addresses of memory that the host cannot read.
 *
 * Cost     linear in the extents in use; at most kMaxExtents of them */
#ifndef SLUICE_BINDINGS_DRIVER_DEVICE_MEMORY_H_
#define SLUICE_BINDINGS_DRIVER_DEVICE_MEMORY_H_

#include <stdint.h>

enum { kMaxExtents = 512 };

typedef struct {
  uint64_t bytes; /* of the memory */
  uint64_t used, peak;
  uint32_t count;
  struct {
    uint64_t begin, end;
  } extent[kMaxExtents]; /* ascending, disjoint */
} device_memory_t;

void device_memory_init(device_memory_t* m, uint64_t bytes);
/* 0: no gap that large. alignment is a power of two; bytes > 0. */
int device_memory_take(device_memory_t* m, uint64_t bytes, uint64_t alignment,
                       uint64_t* begin);
/* 0: nothing was taken there. */
int device_memory_give(device_memory_t* m, uint64_t begin);

#endif /* SLUICE_BINDINGS_DRIVER_DEVICE_MEMORY_H_ */
