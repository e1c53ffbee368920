// SPDX-License-Identifier: Apache-2.0
// Memory, an arena and a diagnostic for one call.
#ifndef SLUICE_TESTS_SOLVE_MAPPING_SCRATCH_H_
#define SLUICE_TESTS_SOLVE_MAPPING_SCRATCH_H_

#include <cstdlib>

#include "base/memory.h"

namespace sluice {

inline sluice_allocator_t MallocAllocator() {
  sluice_allocator_t a = {};
  a.struct_size = sizeof a;
  a.allocate = [](void*, size_t bytes, size_t alignment) {
    return std::aligned_alloc(alignment,
                              (bytes + alignment - 1) / alignment * alignment);
  };
  a.release = [](void*, void* p, size_t, size_t) { std::free(p); };
  return a;
}

struct Scratch {
  Memory memory{MallocAllocator(), 0};
  Arena arena{&memory};
  Diagnostic diagnostic;
  Scratch() { ClearDiagnostic(&diagnostic); }
};

}  // namespace sluice

#endif  // SLUICE_TESTS_SOLVE_MAPPING_SCRATCH_H_
