// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/nest/nest_scatter.h"

#include "base/checked.h"
#include "base/rng.h"
#include "solve/mapping/nest_search.h"

namespace sluice {
namespace {

constexpr int kStarts = 60;
constexpr int kFinalists = 3;
constexpr int64_t kFirstRound = 150;  // evaluations
constexpr int64_t kLastRound = 3000;

// Gives units of one axis to dims drawn at random, all that are left every other time.
void FillAxis(Rng* rng, const Fanout& fanout, int64_t left[kDims],
              int64_t factor[kDims]) {
  int64_t units = fanout.extent;
  for (int draw = 0; draw < 3 && units > 1; ++draw) {
    const uint32_t d = rng->Below(kDims);
    if (!MayUnroll(fanout, d) || factor[d] > 1) continue;
    const bool all = rng->Below(2) == 0;
    const int64_t most = Min(units, left[d]);
    const int64_t drawn = 1 + rng->Below(static_cast<uint32_t>(most));
    factor[d] = all ? most : drawn;
    left[d] = CeilDivide(left[d], factor[d]);
    units /= factor[d];
  }
}

LoopNest DrawNest(Rng* rng, const NestRequest& request) {
  LoopNest nest = EmptyNest(request.hardware, request.problem);
  int64_t left[kDims];
  for (uint32_t d = 0; d < kDims; ++d) left[d] = request.problem.extent[d];
  for (uint32_t l = 0; l < nest.levels; ++l) {
    for (uint32_t a = 0; a < kMaxAxes; ++a) {
      const Fanout* fanout = FanoutAt(request.hardware, l, a);
      if (fanout == nullptr) break;
      FillAxis(rng, *fanout, left, nest.spatial[l][a]);
    }
    for (uint32_t i = kDims - 1; i > 0; --i) {
      const uint32_t other = rng->Below(i + 1);
      const uint8_t dim = nest.order[l][i];
      nest.order[l][i] = nest.order[l][other];
      nest.order[l][other] = dim;
    }
  }
  for (uint32_t d = 0; d < kDims; ++d) nest.temporal[nest.levels - 1][d] = left[d];
  return nest;
}

// Improves a nest by at most so many evaluations.
void Improve(const NestRequest& request, int64_t most, Budget* budget,
             MappedNest* mapped, int64_t* evaluated) {
  mapped->evaluated = 0;
  ImproveNest(request, most, budget, mapped);
  *evaluated += mapped->evaluated;
}

// Whether the nest is legal; *mapped: with its cost.
bool Begin(const NestRequest& request, const LoopNest& nest, MappedNest* mapped) {
  *mapped = MappedNest{};
  mapped->nest = nest;
  CostOptions options;
  options.resident = request.constraints.resident;
  Diagnostic ignored = {};
  if (EvaluateNest(request.problem, request.hardware, nest, options, &mapped->cost,
                   &ignored) != Status::kOk) {
    return false;
  }
  mapped->objective = MapObjective(request.constraints, mapped->cost.energy_pj,
                                   static_cast<double>(mapped->cost.cycles));
  return true;
}

}  // namespace

void ScatterNests(const NestRequest& request, Budget* budget, MappedNest* mapped) {
  Rng rng(1);
  MappedNest best[kFinalists] = {};  // levels 0: none; the best first
  int64_t evaluated = 0;
  for (int i = 0; i < kStarts && !budget->Exhausted(); ++i) {
    MappedNest one;
    if (!Begin(request, DrawNest(&rng, request), &one)) continue;
    Improve(request, kFirstRound, budget, &one, &evaluated);
    for (MappedNest& other : best) {
      if (other.nest.levels != 0 && other.objective <= one.objective) continue;
      const MappedNest worse = other;
      other = one;
      one = worse;
      if (one.nest.levels == 0) break;
    }
  }
  *mapped = MappedNest{};
  for (MappedNest& one : best) {
    if (one.nest.levels == 0) break;
    Improve(request, kLastRound, budget, &one, &evaluated);
    if (mapped->nest.levels == 0 || one.objective < mapped->objective) *mapped = one;
  }
  mapped->evaluated = evaluated;
}

}  // namespace sluice
