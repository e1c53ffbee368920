// SPDX-License-Identifier: Apache-2.0
// A search for a better plan on a mesh. Layers are dealt out one by one to all nodes and
// to parts of the mesh, and together as segments say, in two ways. Each of these plans
// is written and timed; the plan that is taken has for each segment, or each of its
// layers, the way that costs least there. One node with the space of plans is tried too
// where it may pay. So more nodes, or layers together, are used only where they pay.
//
// Input    the call: lowered graph, tile costs, the plain plan or how long it is at least.
// Output   call->best, when a better plan was found.
// Errors   kInternal when a planner is stuck or the judge refuses a plan; anything else
//          leaves the best plan as it was, with kOk.
// Cost     a plan for each part of the mesh that is tried for layers one by one, and
//          FindSegments and up to three plans for each that is tried for segments: the
//          whole, then halves until two in a row are no better or cannot be.
#ifndef SLUICE_PLAN_MESH_TAKE_ON_NODES_H_
#define SLUICE_PLAN_MESH_TAKE_ON_NODES_H_

#include "plan/plan_call.h"

namespace sluice {

// One node with the space of plans is tried only where there is a plain plan.
Status TakeOnMesh(PlanCall* call);

}  // namespace sluice

#endif  // SLUICE_PLAN_MESH_TAKE_ON_NODES_H_
