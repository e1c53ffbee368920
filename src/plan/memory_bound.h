// SPDX-License-Identifier: Apache-2.0
// How much memory a plan takes: said before a call, and when there was not enough.
//
// Input    the request; for searches, the steps of the plain plan.
// Output   bytes.
// Errors   BoundMemory: as Lower and the plain plan. RefuseMemory: always kOutOfMemory,
//          with the bytes that are enough in the diagnostic.
// Cost     the plain plan, layer by layer, so that little memory is used.
// Source   own; measured over the zoo, with a quarter to spare.
#ifndef SLUICE_PLAN_MEMORY_BOUND_H_
#define SLUICE_PLAN_MEMORY_BOUND_H_

#include "base/memory.h"
#include "plan/request.h"

namespace sluice {

// Of the plain plan, with its lowering, its waits and its judge.
uint64_t PlainBytes(const PlanRequest& request, uint64_t steps);

// Added while better plans are searched for; the search does with that.
uint64_t SearchBytes(const PlanRequest& request, uint64_t steps);

// The most bytes that MakePlan may take, its plan included.
Status BoundMemory(const PlanRequest& request, Arena* scratch, uint64_t* bytes,
                   Diagnostic* diagnostic);

// There was not even room for the plain plan: says how much would be.
Status RefuseMemory(const PlanRequest& request, Arena* scratch, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_PLAN_MEMORY_BOUND_H_
