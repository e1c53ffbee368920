/* SPDX-License-Identifier: Apache-2.0 */
#include "device_memory.h"

#include <string.h>

void device_memory_init(device_memory_t* m, uint64_t bytes) {
  memset(m, 0, sizeof *m);
  m->bytes = bytes;
}

int device_memory_take(device_memory_t* m, uint64_t bytes, uint64_t alignment,
                       uint64_t* begin) {
  uint64_t at = 0;
  uint32_t i;
  if (bytes == 0 || bytes > m->bytes || m->count == kMaxExtents) return 0;
  for (i = 0; i < m->count; ++i) {
    at = (at + alignment - 1) & ~(alignment - 1);
    if (at <= m->extent[i].begin && bytes <= m->extent[i].begin - at) break;
    at = m->extent[i].end;
  }
  at = (at + alignment - 1) & ~(alignment - 1);
  if (at > m->bytes - bytes) return 0;
  memmove(&m->extent[i + 1], &m->extent[i], (m->count - i) * sizeof m->extent[0]);
  m->extent[i].begin = at;
  m->extent[i].end = at + bytes;
  ++m->count;
  m->used += bytes;
  if (m->used > m->peak) m->peak = m->used;
  *begin = at;
  return 1;
}

int device_memory_give(device_memory_t* m, uint64_t begin) {
  uint32_t i;
  for (i = 0; i < m->count; ++i) {
    if (m->extent[i].begin != begin) continue;
    m->used -= m->extent[i].end - m->extent[i].begin;
    --m->count;
    memmove(&m->extent[i], &m->extent[i + 1], (m->count - i) * sizeof m->extent[0]);
    return 1;
  }
  return 0;
}
