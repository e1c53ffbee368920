// SPDX-License-Identifier: Apache-2.0
// What a plan is asked for: the network, the chip, the caller's options and the plans
// that a call may start from.
//
// Input    nothing: this is data that a C function fills for the planner.
// Output   nothing.
// Errors   none.
#ifndef SLUICE_PLAN_REQUEST_H_
#define SLUICE_PLAN_REQUEST_H_

#include "model/graph.h"
#include "model/hardware.h"
#include "model/plan.h"

namespace sluice {

struct PlanRequest {
  const Graph& graph;
  const Hardware& hardware;
  // The planner does not read options.resume, which is a C object; see `resume`.
  const sluice_schedule_options_t& options;
  // A plan of this graph and machine that the search starts from; NULL = none. The
  // result is never worse. It is checked like any plan before it is used.
  const Plan* resume = nullptr;
  uint64_t resume_bytes = 0;  // size of its serialised form
  // A plan of a similar graph, machine or budget: its valid parts are kept, the rest is
  // planned again. NULL = plan from scratch.
  const Plan* before = nullptr;
  bool minimise_changes =
      false;  // with `before`: prefer a similar plan to a cheaper one
  // The plan is moved to another range of the scratchpad: its bounds hold in all of it.
  bool is_moved = false;
};

// Bytes of the scratchpad that the plan may use: the machine's, or fewer if the caller
// said so.
inline int64_t ScratchpadBytes(const PlanRequest& request) {
  const int64_t capacity = request.hardware.scratchpad().capacity_bytes;
  const uint64_t asked = request.options.scratchpad_bytes;
  if (asked == 0 || asked >= static_cast<uint64_t>(capacity)) return capacity;
  return static_cast<int64_t>(asked);
}

}  // namespace sluice

#endif  // SLUICE_PLAN_REQUEST_H_
