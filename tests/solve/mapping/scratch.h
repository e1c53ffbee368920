// SPDX-License-Identifier: Apache-2.0
// Memory, an arena and a diagnostic for one call.
#ifndef SLUICE_TESTS_SOLVE_MAPPING_SCRATCH_H_
#define SLUICE_TESTS_SOLVE_MAPPING_SCRATCH_H_

#include "base/memory.h"
#include "support/malloc_allocator.h"

namespace sluice {

struct Scratch {
  Memory memory{sluice_test::Malloc(), 0};
  Arena arena{&memory};
  Diagnostic diagnostic;
  Scratch() { ClearDiagnostic(&diagnostic); }
};

}  // namespace sluice

#endif  // SLUICE_TESTS_SOLVE_MAPPING_SCRATCH_H_
