// SPDX-License-Identifier: Apache-2.0
// How much memory a plan takes: asked before a call, or reported when it was too
// little.
//
// Input    the request; for searches, the steps of the plain plan.
// Output   bytes.
// Errors   BoundMemory: as Lower and the plain plan. RefuseMemory: always kOutOfMemory,
//          with the bytes that are enough in the diagnostic.
// Cost     that of writing the plain plan, one layer at a time in little memory.
// Source   own; measured over the zoo, with a quarter to spare.
#ifndef SLUICE_PLAN_MEMORY_BOUND_H_
#define SLUICE_PLAN_MEMORY_BOUND_H_

#include "base/memory.h"
#include "plan/request.h"

namespace sluice {

// Bytes for the plain plan: to lower the graph, to derive the waits, and to judge.
uint64_t PlainBytes(const PlanRequest& request, uint64_t steps);

// Further bytes for the search for better plans. The search takes no more than these.
uint64_t SearchBytes(const PlanRequest& request, uint64_t steps);

// The part of SearchBytes that fusion starts with. It takes more only where this part
// is too small: more memory lets fusion find other plans, not better ones.
uint64_t FusionBytes(const PlanRequest& request, uint64_t steps);

// The most bytes that MakePlan may take, its plan included.
Status BoundMemory(const PlanRequest& request, Arena* scratch, uint64_t* bytes,
                   Diagnostic* diagnostic);

// For a call without room for the plain plan: reports how many bytes are enough.
Status RefuseMemory(const PlanRequest& request, Arena* scratch, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_PLAN_MEMORY_BOUND_H_
