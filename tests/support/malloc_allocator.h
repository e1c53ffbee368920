// SPDX-License-Identifier: Apache-2.0
// An allocator on malloc and free, for tests that make a Memory of their own.
#ifndef SLUICE_TESTS_SUPPORT_MALLOC_ALLOCATOR_H_
#define SLUICE_TESTS_SUPPORT_MALLOC_ALLOCATOR_H_

#include <cstdlib>

#include "sluice/sluice.h"

namespace sluice_test {

inline sluice_allocator_t Malloc() {
  sluice_allocator_t a = {};
  a.struct_size = sizeof a;
  a.allocate = [](void*, size_t bytes, size_t alignment) {
    return std::aligned_alloc(alignment,
                              (bytes + alignment - 1) / alignment * alignment);
  };
  a.release = [](void*, void* p, size_t, size_t) { std::free(p); };
  return a;
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_MALLOC_ALLOCATOR_H_
