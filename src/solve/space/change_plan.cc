// SPDX-License-Identifier: Apache-2.0
#include "solve/space/change_plan.h"

#include "solve/space/join_sums.h"

namespace sluice {
namespace {

// Changes that save a smaller part of the cost are not worth a second plan.
constexpr double kWorthPlan = 1.0 / 512;
constexpr uint64_t kRuns = 4;            // of random changes, at most
constexpr double kNearBound = 9.0 / 8;   // a plan's cost over the bound's
constexpr double kAlmostNothing = 1e-4;  // of the cost

Status List(const Improver& improver, size_t layers, Arena* arena,
            UnchangedPlan* plan) {
  SLUICE_TRY(arena->Allocate(layers, &plan->segment));
  improver.List(plan->segment);
  plan->total = improver.total();
  return Status::kOk;
}

Status ChangeAtRandom(uint64_t work, uint64_t runs, uint64_t seed, Improver* improver) {
  for (uint64_t run = 0; run < runs; ++run) {
    const double before = improver->gain();
    SLUICE_TRY(improver->Anneal(work / runs, seed + run));
    if (improver->gain() - before < kAlmostNothing) break;
  }
  return improver->Descend();
}

}  // namespace

Status ChangePlan(const PlanChange& call, const Sequence<SpaceNode>& nodes,
                  uint32_t last, Arena* arena, ChangedPlan* out) {
  const SpaceSearch& search = call.search;
  const size_t layers = call.problem.layer.size();
  const uint64_t runs = search.found != nullptr ? kRuns : 1;
  const double worth = search.found != nullptr ? kWorthPlan : kAlmostNothing;
  KnownSegments fixed = {search.known, static_cast<uint32_t>(layers)};
  if (!search.keeps_known) fixed.at = {};
  Improver improver({call.problem, search.goal, call.segments, call.prices, fixed,
                     search.most_iterations, search.improving * layers, search.budget},
                    arena);
  SLUICE_TRY(improver.Init(nodes, last));
  SLUICE_TRY(List(improver, layers, arena, &out->before));
  SLUICE_TRY(improver.Descend());
  const double gain = improver.gain();
  uint64_t work = search.annealing;
  if (work == SpaceSearch::kByWork) work = call.work;
  const double over =
      RatioOf(search.goal, {search.least_pj, search.least_cycles}, improver.total());
  if (work != 0 && over >= kNearBound) {
    UnchangedPlan descended;
    SLUICE_TRY(List(improver, layers, arena, &descended));
    const Status status = ChangeAtRandom(work, runs, search.seed, &improver);
    if (status != Status::kOk || improver.gain() - gain < worth) {
      SLUICE_TRY(improver.Restore(descended.segment));
    } else if (gain >= worth) {
      out->before = descended;
    }
  }
  if (search.improving != 0) {
    SLUICE_TRY(JoinSums(call.problem, &improver, search.budget));
  }
  if (improver.gain() >= worth) out->links = improver.links();
  return Status::kOk;
}

}  // namespace sluice
