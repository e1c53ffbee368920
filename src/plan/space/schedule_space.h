// SPDX-License-Identifier: Apache-2.0
// A whole program from the space of plans: search, place, write, order the transfers.
//
// Input    graph, hardware, lowering, scratchpad bytes, what tiles cost; the weights of
//          energy and time.
// Output   the program and its lowering, whose places differ: what stays on chip has
//          none, and no two tensors share bytes of the workspace.
// Errors   kInfeasible: no plan, or its images do not lie; kUnsupported, kStopped,
//          kOutOfMemory.
// Cost     a search (solve/space/search.h), then linear in steps.
#ifndef SLUICE_PLAN_SPACE_SCHEDULE_SPACE_H_
#define SLUICE_PLAN_SPACE_SCHEDULE_SPACE_H_

#include "plan/candidate.h"
#include "solve/space/search.h"

namespace sluice {

struct SpaceCall {
  const Graph& graph;
  const Hardware& hardware;
  const Lowering& lowering;
  int64_t scratchpad_bytes;
  const TileCoster& coster;
  SpaceSearch search;
};

// Fills program, places and lowering of the candidate. groups: how many segments.
Status ScheduleSpace(const SpaceCall& call, Arena* scratch, Candidate* out,
                     uint32_t* groups);

}  // namespace sluice

#endif  // SLUICE_PLAN_SPACE_SCHEDULE_SPACE_H_
