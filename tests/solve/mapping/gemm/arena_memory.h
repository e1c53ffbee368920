// SPDX-License-Identifier: Apache-2.0
// An arena over malloc, for tests.
#ifndef SLUICE_TESTS_SOLVE_MAPPING_GEMM_ARENA_MEMORY_H_
#define SLUICE_TESTS_SOLVE_MAPPING_GEMM_ARENA_MEMORY_H_

#include "base/memory.h"
#include "support/malloc_allocator.h"

namespace sluice_tests {

struct ArenaMemory {
  explicit ArenaMemory(uint64_t max_bytes = 0)
      : memory(sluice_test::Malloc(), max_bytes), arena(&memory) {}
  sluice::Memory memory;
  sluice::Arena arena;
};

}  // namespace sluice_tests

#endif  // SLUICE_TESTS_SOLVE_MAPPING_GEMM_ARENA_MEMORY_H_
