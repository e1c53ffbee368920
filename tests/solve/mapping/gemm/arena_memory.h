// SPDX-License-Identifier: Apache-2.0
// An arena over malloc, for tests.
#ifndef SLUICE_TESTS_SOLVE_MAPPING_GEMM_ARENA_MEMORY_H_
#define SLUICE_TESTS_SOLVE_MAPPING_GEMM_ARENA_MEMORY_H_

#include <cstdlib>

#include "base/memory.h"

namespace sluice_tests {

inline void* MallocAligned(void*, size_t bytes, size_t alignment) {
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
inline void FreeAligned(void*, void* pointer, size_t, size_t) { std::free(pointer); }

struct ArenaMemory {
  explicit ArenaMemory(uint64_t max_bytes = 0)
      : memory({sizeof(sluice_allocator_t), 0, nullptr, MallocAligned, FreeAligned},
               max_bytes),
        arena(&memory) {}
  sluice::Memory memory;
  sluice::Arena arena;
};

}  // namespace sluice_tests

#endif  // SLUICE_TESTS_SOLVE_MAPPING_GEMM_ARENA_MEMORY_H_
