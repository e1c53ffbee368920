// SPDX-License-Identifier: Apache-2.0
// How much memory a plan takes: asked before a call, or reported when it was too
// little.
//
// Input    the request; for searches, the steps of the plain plan.
// Output   bytes.
// Errors   BoundMemory: as Lower and the plain plan. RefuseMemory: always kOutOfMemory,
//          with the bytes that are enough in the diagnostic.
// Cost     BoundMemory: that of the plain plan, which it makes, and its memory.
//          RefuseMemory: that of writing the plain plan, one layer at a time in little
//          memory.
// Source   own. The plain plan's bytes are counted while it is made. A search gets at most
//          SearchBytes, so the sum is a bound, whatever the search does.
#ifndef SLUICE_PLAN_MEMORY_BOUND_H_
#define SLUICE_PLAN_MEMORY_BOUND_H_

#include "base/memory.h"
#include "plan/request.h"

namespace sluice {

// Bytes for the plain plan by a rule of thumb, for callers without room to make it: to
// lower the graph, to derive the waits, and to judge.
uint64_t PlainBytes(const PlanRequest& request, uint64_t steps);

// The most that a call may hold while it searches for better plans, the plain plan
// included. quick: no tile cost needs a search (plan/tile_costs.h).
uint64_t SearchBytes(const PlanRequest& request, uint64_t steps, bool quick);

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
