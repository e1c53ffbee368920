// SPDX-License-Identifier: Apache-2.0
// Latency over scratchpad size: the plan of a point is the best found for its size or a
// smaller one.
//
// Input    how many points, the schedule's options: objective, iterations and seed of
//          each plan.
// Output   points ascending in bytes with latency never rising.
// Errors   those of MakePlan for the whole scratchpad; other points that cannot be
//          planned, or come after the deadline, are left out.
// Cost     a schedule per point: the whole scratchpad has half of the time, the others
//          equal shares of the rest.
#ifndef SLUICE_PLAN_TOGETHER_CURVE_H_
#define SLUICE_PLAN_TOGETHER_CURVE_H_

#include "base/memory.h"
#include "plan/request.h"

namespace sluice {

struct CurvePoint {
  int64_t bytes;    // budget, a multiple of the alignment or the whole scratchpad
  int64_t need;     // peak of the plan, rounded up to the alignment
  int64_t latency;  // cycles
  double energy_pj;
  Span<const uint8_t> plan;
  bool cut;         // the deadline ended its search
  int64_t longest;  // cycles of its longest block; 0 when blocks are not limited
};

struct CurveRequest {
  sluice_schedule_options_t options;  // of each plan; scratchpad_bytes: the last point
  uint32_t points;
  uint64_t end_ns;     // of the whole, absolute; 0 = none
  const Plan* resume;  // where each plan starts, as PlanRequest; NULL = none
  uint64_t resume_bytes;
};

// Alignment of scratchpad ranges that streams are bound to, bytes.
int64_t RangeAlignment(const Hardware& hardware);

// The factor between neighbours, so that n steps lead from `from` to `to`.
double GeometricRatio(double from, double to, uint32_t n);

// Makes one plan and fills all of *point but its bytes. arena: of the plan's own bytes;
// NULL = they are not kept. before: a plan for another budget to start from, 16-byte
// aligned, or empty.
Status PlanPoint(const PlanRequest& request, Span<const uint8_t> before, Arena* arena,
                 Arena* scratch, CurvePoint* point, Diagnostic* diagnostic);

Status MakeCurve(const Graph& graph, const Hardware& hardware,
                 const CurveRequest& request, Arena* scratch, Vector<CurvePoint>* out,
                 Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_PLAN_TOGETHER_CURVE_H_
