/* SPDX-License-Identifier: Apache-2.0 */
/* A context's memory from a mimalloc heap of its own (target sluice_mimalloc).
 *
 * mimalloc's shared library, where a program is linked with it, replaces the program's
 * malloc. Nothing here is linked with it: it is loaded by name, apart from the program's
 * own symbols, and only its heap functions are used. The host's malloc does not change.
 *
 * Input    a library's name, or NULL for libmimalloc.so.2, then libmimalloc.so.
 * Output   an allocator for sluice_context_options_t.
 * Errors   sluice_mimalloc_create returns 0 when the library or one of its functions is
 *          missing, or the heap cannot be made.
 * Cost     loading once per process; a heap per call.
 *
 * A heap allocates on the thread that made it: create it, the context and its objects
 * there, and use them there. */
#ifndef SLUICE_MIMALLOC_H_
#define SLUICE_MIMALLOC_H_

#include "sluice/sluice.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sluice_mimalloc {
  sluice_allocator_t allocator; /* its user is this struct, which must not move */
  void* heap;
  void* library;
  void* (*allocate)(void* heap, size_t bytes, size_t alignment);
  void (*release)(void* pointer);
  void (*destroy)(void* heap);
} sluice_mimalloc_t;

/* 1, or 0 with *out all zero. */
int sluice_mimalloc_create(const char* library, sluice_mimalloc_t* out);
/* Call it after the context's destroy: frees all memory at once, leaked memory too. */
void sluice_mimalloc_destroy(sluice_mimalloc_t* heap);

#ifdef __cplusplus
}
#endif

#endif /* SLUICE_MIMALLOC_H_ */
