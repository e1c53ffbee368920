// SPDX-License-Identifier: Apache-2.0
#include "plan/better_plan.h"

#include "base/checked.h"
#include "plan/best_plan.h"
#include "plan/fused/take_fused.h"
#include "plan/mesh/take_on_nodes.h"
#include "plan/objective.h"
#include "plan/space/take_space.h"

namespace sluice {

double LeastCost(const PlanCall& call) {
  return call.has_plan() ? call.best_cost : PlanCost(call.options, call.plain.report);
}

bool MayPay(const PlanCall& call, int64_t nodes) {
  const sluice_certificate_t& least = call.bound.certificate;
  const double bound = static_cast<double>(call.bound.cycles);
  const double tiles = static_cast<double>(least.all.cycles - least.host_cycles);
  const double cycles = Max(bound, tiles / static_cast<double>(nodes));
  sluice_report_t report = {};
  report.latency_cycles = static_cast<uint64_t>(cycles);
  report.energy_pj =
      call.bound.energy_pj + (cycles - bound) * call.hardware.leakage_pj_per_cycle;
  return !call.has_plan() || PlanCost(call.options, report) < call.best_cost;
}

bool IsBetter(PlanCall* call, Candidate* c, Arena* scratch) {
  if (CompleteCandidate({call->graph, call->hardware, call->bound}, scratch, c) !=
      Status::kOk) {
    return false;
  }
  if (!call->has_plan() && call->lacks_plain) return true;
  return PlanCost(call->options, c->report) < LeastCost(*call);
}

Status TakeFound(PlanCall* call, bool better, Candidate* found) {
  SLUICE_TRY(call->offered);
  if (call->clock->stop_reason() != SLUICE_STOP_COMPLETE) return Status::kOk;
  const Status priced = call->costs->status(call->diagnostic);
  if (priced == Status::kOutOfMemory) return Status::kOk;
  SLUICE_TRY(priced);
  if (!better) return Status::kOk;
  const Status status = TakePlan(call, found);
  // These failures do not end the call: it has a plan already, or the plain plan may
  // still fit.
  const bool large = status == Status::kOutOfMemory || status == Status::kUnsupported;
  call->too_large = call->too_large || large;
  const bool stands = large || status == Status::kStopped;
  return stands ? Status::kOk : status;
}

// The order of the searches.
Status TakeBetter(PlanCall* call) {
  if (call->on_many_nodes()) return TakeOnMesh(call);
  const uint64_t live = call->scratch->memory()->live_bytes();
  SLUICE_TRY(TakeFromSpace(call));
  // A caller that limits time or iterations expects the search to use them up.
  if (call->spaced && !call->has_limits()) return Status::kOk;
  SLUICE_TRY(TakeFusedWithin(call, live));
  if (call->wants_iterations) call->search.Spend(call->options.max_iterations);
  return Status::kOk;
}

}  // namespace sluice
