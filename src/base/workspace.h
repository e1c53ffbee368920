// SPDX-License-Identifier: Apache-2.0
// What a solver works with, besides its problem.
//
// Input    nothing: this is data.
// Output   nothing.
// Errors   none.
#ifndef SLUICE_BASE_WORKSPACE_H_
#define SLUICE_BASE_WORKSPACE_H_

#include "base/budget.h"
#include "base/memory.h"
#include "base/status.h"

namespace sluice {

struct Workspace {
  Budget* budget;          // when to stop
  Arena* arena;            // of the result; scratch lies behind it and is given back
  Diagnostic* diagnostic;  // filled on failure
};

}  // namespace sluice

#endif  // SLUICE_BASE_WORKSPACE_H_
