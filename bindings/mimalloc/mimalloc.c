/* SPDX-License-Identifier: Apache-2.0 */
#include "sluice/mimalloc.h"

#include <dlfcn.h>
#include <string.h>

static void* Allocate(void* user, size_t bytes, size_t alignment) {
  sluice_mimalloc_t* m = user;
  return m->allocate(m->heap, bytes, alignment);
}

static void Release(void* user, void* pointer, size_t bytes, size_t alignment) {
  sluice_mimalloc_t* m = user;
  (void)bytes;
  (void)alignment;
  m->release(pointer);
}

/* C99 has no conversion from object to function pointers, so the bytes are copied. */
static int Find(void* library, const char* name, void* function, size_t bytes) {
  void* symbol = dlsym(library, name);
  if (symbol == NULL || bytes != sizeof symbol) return 0;
  memcpy(function, &symbol, bytes);
  return 1;
}

int sluice_mimalloc_create(const char* library, sluice_mimalloc_t* out) {
  void* (*create)(void) = NULL;
  memset(out, 0, sizeof *out);
  /* RTLD_LOCAL: the program must not resolve malloc to the library's. */
  const int flags = RTLD_NOW | RTLD_LOCAL;
  if (library != NULL) {
    out->library = dlopen(library, flags);
  } else {
    out->library = dlopen("libmimalloc.so.2", flags);
    if (out->library == NULL) out->library = dlopen("libmimalloc.so.2.0", flags);
    if (out->library == NULL) out->library = dlopen("libmimalloc.so", flags);
  }
  if (out->library == NULL) return 0;
  if (Find(out->library, "mi_heap_new", &create, sizeof create) &&
      Find(out->library, "mi_heap_malloc_aligned", &out->allocate,
           sizeof out->allocate) &&
      Find(out->library, "mi_free", &out->release, sizeof out->release) &&
      Find(out->library, "mi_heap_destroy", &out->destroy, sizeof out->destroy)) {
    out->heap = create();
  }
  if (out->heap == NULL) {
    /* mimalloc is never unloaded: it keeps state in every thread that has called it. */
    memset(out, 0, sizeof *out);
    return 0;
  }
  out->allocator.struct_size = sizeof out->allocator;
  out->allocator.user = out;
  out->allocator.allocate = Allocate;
  out->allocator.release = Release;
  return 1;
}

void sluice_mimalloc_destroy(sluice_mimalloc_t* heap) {
  if (heap->heap != NULL) heap->destroy(heap->heap);
  memset(heap, 0, sizeof *heap);
}
