// SPDX-License-Identifier: Apache-2.0
// What every solver gets besides its problem: a budget, memory, a diagnostic.
//
// Input    filled by the caller of the solver
// Output   none: plain data
// Errors   none
// Cost     none
#ifndef SLUICE_BASE_WORKSPACE_H_
#define SLUICE_BASE_WORKSPACE_H_

#include "base/budget.h"
#include "base/memory.h"
#include "base/status.h"

namespace sluice {

struct Workspace {
  Budget* budget;  // when to stop
  Arena* arena;    // holds the result; scratch is allocated above it and rewound
  Diagnostic* diagnostic;  // filled on failure
};

}  // namespace sluice

#endif  // SLUICE_BASE_WORKSPACE_H_
