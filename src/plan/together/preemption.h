// SPDX-License-Identifier: Apache-2.0
// Block borders of a plan at which its stream may be stopped for another one.
//
// Input    a plan and what it was made for
// Output   per border: cycles of the block before it, the largest range of scratchpad
//          that holds no live byte, and the bytes that are live
// Errors   those of Verify; kBufferTooSmall: *count is what is needed
// Cost     Verify, then linear in the stream for each border
#ifndef SLUICE_PLAN_TOGETHER_PREEMPTION_H_
#define SLUICE_PLAN_TOGETHER_PREEMPTION_H_

#include "base/memory.h"
#include "model/graph.h"
#include "model/hardware.h"
#include "model/plan.h"
#include "sluice/experimental.h"

namespace sluice {

struct PreemptionQuery {
  const Graph& graph;
  const Hardware& hardware;
  const Plan& plan;
};

// *count: room in `points` on entry, borders on return. points may be null.
Status FindPreemptionPoints(const PreemptionQuery& query, Arena* scratch,
                            sluice_preemption_point_t* points, uint32_t* count,
                            Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_PLAN_TOGETHER_PREEMPTION_H_
