// SPDX-License-Identifier: Apache-2.0
// A search for a better plan on a mesh: layers dealt out to all nodes or to a part of
// them, together in segments or one by one, or all on one node by the space of plans.
// Plans are compared by their final numbers, so that more nodes are used only where
// they pay.
//
// Input    the call: lowered graph, tile costs, the plain plan.
// Output   call->best, when a better plan was found.
// Errors   kInternal when a planner is stuck or the judge refuses a plan; anything else
//          leaves the best plan as it was, with kOk.
// Cost     FindSegments and up to three plans for each part of the mesh that is tried:
//          the whole, then halves until two in a row are no better or cannot be.
#ifndef SLUICE_PLAN_MESH_TAKE_ON_NODES_H_
#define SLUICE_PLAN_MESH_TAKE_ON_NODES_H_

#include "plan/plan_call.h"

namespace sluice {

Status TakeOnMesh(PlanCall* call);

}  // namespace sluice

#endif  // SLUICE_PLAN_MESH_TAKE_ON_NODES_H_
