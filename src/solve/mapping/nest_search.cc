// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/nest_search.h"

#include "base/checked.h"

namespace sluice {

namespace {

constexpr int64_t kMostEvaluations = 12000;  // loop nests, over all starts
constexpr int64_t kPrimes[] = {2, 3, 5, 7};
// Which dims the arrays take first.
constexpr uint8_t kStarts[][kDims] = {
    {kDimK, kDimG, kDimC, kDimP, kDimQ, kDimN, kDimR, kDimS},
    {kDimC, kDimK, kDimG, kDimQ, kDimP, kDimN, kDimR, kDimS},
    {kDimP, kDimQ, kDimN, kDimK, kDimG, kDimC, kDimR, kDimS}};

struct LocalSearch {
  const MappingProblem* problem;
  const Hardware* hardware;
  const MapConstraints* constraints;
  Budget* budget;
  MappedNest* best;  // levels 0: none yet
  Diagnostic* diagnostic;
  Status failure;
};

// Limits every factor to the rest of its dim; the outermost level takes the remainder.
void Normalise(const LocalSearch& search, LoopNest* nest) {
  for (uint32_t d = 0; d < kDims; ++d) {
    const int64_t extent = search.problem->extent[d];
    int64_t tile = 1;
    for (uint32_t l = 0; l < nest->levels; ++l) {
      for (uint32_t a = 0; a <= kMaxAxes; ++a) {
        int64_t* f = a < kMaxAxes ? &nest->spatial[l][a][d] : &nest->temporal[l][d];
        const int64_t left = CeilDivide(extent, tile);
        if (a == kMaxAxes && l + 1 == nest->levels) *f = left;
        *f = Max(int64_t{1}, Min(*f, left));
        tile *= *f;
      }
    }
  }
}

bool KeepsTop(const LocalSearch& search, const LoopNest& nest) {
  int64_t tile[kDims];
  TileExtents(nest, static_cast<int>(nest.levels) - 2, tile);
  for (uint32_t d = 0; d < kDims; ++d) {
    const int64_t top = search.constraints->top_tile[d];
    const int64_t extent = search.problem->extent[d];
    if (top != 0 && Min(tile[d], extent) != Min(top, extent)) return false;
  }
  return true;
}

// Takes the nest if it is better than the best.
bool Try(LocalSearch* search, LoopNest nest) {
  Normalise(*search, &nest);
  if (!KeepsTop(*search, nest)) return false;
  CostOptions options;
  options.resident = search->constraints->resident;
  LayerCost cost;
  MappedNest* best = search->best;
  ++best->evaluated;
  const Status status = EvaluateNest(*search->problem, *search->hardware, nest, options,
                                     &cost, search->diagnostic);
  if (status != Status::kOk) {
    search->failure = status;
    return false;
  }
  const double objective = MapObjective(*search->constraints, cost.energy_pj,
                                        static_cast<double>(cost.cycles));
  if (best->nest.levels != 0 && objective >= best->objective) return false;
  best->nest = nest;
  best->cost = cost;
  best->objective = objective;
  return true;
}

bool Spent(const LocalSearch& search, int64_t until) {
  return search.best->evaluated >= until || search.budget->Tick();
}

// Tries other sizes of one factor: a prime more or less, all or nothing.
bool TryFactors(LocalSearch* search,
                int64_t* (*at)(LoopNest*, uint32_t, uint32_t, uint32_t), uint32_t l,
                uint32_t a, uint32_t d) {
  bool any = false;
  LoopNest nest = search->best->nest;
  const int64_t now = *at(&nest, l, a, d);
  const auto attempt = [&](int64_t value) {
    if (value == now || value < 1) return;
    LoopNest other = search->best->nest;
    *at(&other, l, a, d) = value;
    any |= Try(search, other);
  };
  for (const int64_t p : kPrimes) {
    if (now <= search->problem->extent[d] / p + 1) attempt(now * p);
    if (now > 1) attempt(CeilDivide(now, p));
  }
  attempt(1);
  attempt(search->problem->extent[d]);
  return any;
}

int64_t* Temporal(LoopNest* nest, uint32_t l, uint32_t, uint32_t d) {
  return &nest->temporal[l][d];
}
int64_t* Spatial(LoopNest* nest, uint32_t l, uint32_t a, uint32_t d) {
  return &nest->spatial[l][a][d];
}

// Moves a factor of a dim from the loops of one level to those of another.
bool MoveBetweenLevels(LocalSearch* search, uint32_t d, int64_t until) {
  bool any = false;
  const uint32_t inner = static_cast<uint32_t>(search->hardware->levels.size()) - 1;
  for (uint32_t from = 0; from < inner; ++from) {
    for (uint32_t to = 0; to < inner; ++to) {
      for (const int64_t p : kPrimes) {
        LoopNest nest = search->best->nest;
        if (from == to || nest.temporal[from][d] % p != 0) continue;
        nest.temporal[from][d] /= p;
        nest.temporal[to][d] *= p;
        any |= Try(search, nest);
        if (Spent(*search, until)) return any;
      }
    }
  }
  return any;
}

// Gives units of an axis to another dim, or all to one.
bool MoveInSpace(LocalSearch* search, uint32_t l, uint32_t a, const Fanout& fanout) {
  bool any = false;
  for (uint32_t d = 0; d < kDims; ++d) {
    if (!MayUnroll(fanout, d) || search->problem->extent[d] == 1) continue;
    any |= TryFactors(search, Spatial, l, a, d);
    LoopNest alone = search->best->nest;
    for (int64_t& f : alone.spatial[l][a]) f = 1;
    alone.spatial[l][a][d] = fanout.extent;
    any |= Try(search, alone);
    for (uint32_t other = 0; other < kDims; ++other) {
      if (other == d || !MayUnroll(fanout, other)) continue;
      for (const int64_t p : kPrimes) {
        LoopNest nest = search->best->nest;
        if (nest.spatial[l][a][other] < p) continue;
        nest.spatial[l][a][other] /= p;
        nest.spatial[l][a][d] *= p;
        any |= Try(search, nest);
      }
    }
  }
  return any;
}

bool MoveOrder(LocalSearch* search, uint32_t l) {
  bool any = false;
  for (uint8_t inner = 0; inner < kDims; ++inner) {
    LoopNest nest = search->best->nest;
    uint8_t* order = nest.order[l];
    if (nest.temporal[l][inner] == 1) continue;
    int at = 0;
    while (order[at] != inner) ++at;
    for (; at > 0; --at) order[at] = order[at - 1];
    order[0] = inner;
    any |= Try(search, nest);
  }
  return any;
}

bool MoveHolds(LocalSearch* search, uint32_t l) {
  bool any = false;
  const MemoryLevel& level = search->hardware->levels[l];
  for (uint32_t v = 0; v < kOperands; ++v) {
    const uint32_t bit = OperandBit(v);
    if ((level.may_hold & bit) == 0 || (level.must_hold & bit) != 0) continue;
    if (!Has(*search->problem, v)) continue;
    LoopNest nest = search->best->nest;
    nest.hold[l] = static_cast<uint8_t>(nest.hold[l] ^ bit);
    any |= Try(search, nest);
  }
  return any;
}

void Improve(LocalSearch* search, int64_t until) {
  const uint32_t levels = static_cast<uint32_t>(search->hardware->levels.size());
  for (bool any = true; any && !Spent(*search, until);) {
    any = false;
    for (uint32_t l = 0; l < levels; ++l) {
      for (uint32_t a = 0; a < kMaxAxes; ++a) {
        const Fanout* fanout = FanoutAt(*search->hardware, l, a);
        if (fanout == nullptr) break;
        if (fanout->extent > 1) any |= MoveInSpace(search, l, a, *fanout);
      }
      any |= MoveOrder(search, l);
      if (l + 1 == levels) break;
      if (search->constraints->bypass) any |= MoveHolds(search, l);
      for (uint32_t d = 0; d < kDims && !Spent(*search, until); ++d) {
        if (search->problem->extent[d] == 1) continue;
        any |= TryFactors(search, Temporal, l, 0, d);
      }
    }
    for (uint32_t d = 0; d < kDims && !Spent(*search, until); ++d) {
      any |= MoveBetweenLevels(search, d, until);
    }
  }
}

// Arrays filled from the outside in, the dims in the order of the start.
LoopNest StartNest(const LocalSearch& search, const uint8_t dims[kDims]) {
  LoopNest nest = EmptyNest(*search.hardware, *search.problem);
  int64_t left[kDims];
  for (uint32_t d = 0; d < kDims; ++d) left[d] = search.problem->extent[d];
  for (uint32_t l = nest.levels; l-- > 0;) {
    for (uint32_t a = 0; a < kMaxAxes; ++a) {
      const Fanout* fanout = FanoutAt(*search.hardware, l, a);
      if (fanout == nullptr) break;
      int64_t units = fanout->extent;
      for (int i = 0; i < kDims; ++i) {
        const uint8_t d = dims[i];
        if (!MayUnroll(*fanout, d) || units == 1) continue;
        const int64_t passes = CeilDivide(left[d], Min(units, left[d]));
        const int64_t factor = CeilDivide(left[d], passes);
        nest.spatial[l][a][d] = factor;
        left[d] = passes;
        units /= factor;
      }
    }
  }
  // The loops within a fixed scratchpad tile are those of the scratchpad's level.
  for (uint32_t d = 0; d < kDims; ++d) {
    const int64_t top = search.constraints->top_tile[d];
    if (top == 0) continue;
    int64_t spread = 1;
    for (uint32_t l = 0; l + 1 < nest.levels; ++l) spread *= SpatialFactor(nest, l, d);
    nest.temporal[nest.levels - 2][d] = CeilDivide(top, spread);
  }
  return nest;
}

// Puts the loops that do not move the operand innermost.
void MoveStillInside(uint32_t still, uint8_t order[kDims]) {
  if (still >= kOperands) return;
  uint8_t sorted[kDims];
  int n = 0;
  for (int moves = 0; moves < 2; ++moves) {
    for (int i = 0; i < kDims; ++i) {
      if (Moves(order[i], still) == (moves == 1)) sorted[n++] = order[i];
    }
  }
  for (int i = 0; i < kDims; ++i) order[i] = sorted[i];
}

}  // namespace

double NeededWords(const MappingProblem& problem) {
  const int64_t* e = problem.extent;
  double words = static_cast<double>(e[kDimN]) * static_cast<double>(e[kDimG]) *
                 static_cast<double>(e[kDimC]);
  for (int axis = 0; axis < 2; ++axis) {
    const int64_t outputs = e[kDimP + axis], taps = e[kDimR + axis];
    words *= static_cast<double>(problem.dilation[axis] == 1
                                     ? WindowSpan(problem, axis, outputs, taps)
                                     : outputs + taps - 1);
  }
  return words;
}

double NestBound(const MappingProblem& problem, const Hardware& hardware,
                 const MapConstraints& constraints) {
  const MemoryLevel& outer = hardware.dram();
  const double operations = static_cast<double>(OperationCount(problem));
  double energy =
      operations * (problem.vector ? hardware.vector_op_pj : hardware.mac_pj);
  double bytes = 0;
  for (uint32_t v = 0; v < kOperands; ++v) {
    if (!Has(problem, v) || (constraints.resident >> v & 1) != 0) continue;
    const int64_t width =
        Min(int64_t{problem.element_bytes[v]}, InnerBytes(problem, v));
    const double words =
        v == kInput ? NeededWords(problem)
                    : static_cast<double>(TileWords(problem, v, problem.extent));
    energy += words * (v == kOutput ? WritePj(outer, width) : ReadPj(outer, width));
    bytes += words * static_cast<double>(width);
  }
  double cycles = operations / static_cast<double>(PeakOperations(problem, hardware));
  if (outer.bandwidth.numerator > 0) {
    cycles = Max(cycles, bytes * static_cast<double>(outer.bandwidth.denominator) /
                             static_cast<double>(outer.bandwidth.numerator));
  }
  return MapObjective(constraints, energy + hardware.leakage_pj_per_cycle * cycles,
                      cycles);
}

void ImproveNest(const NestRequest& request, int64_t most, Budget* budget,
                 MappedNest* mapped) {
  Diagnostic diagnostic = {};
  LocalSearch search = {
      &request.problem, &request.hardware, &request.constraints, budget,
      mapped,           &diagnostic,       Status::kOk};
  Improve(&search, mapped->evaluated + most);
}

Status SearchFromTile(const NestRequest& request, const int64_t tile[kDims],
                      uint32_t still, Budget* budget, MappedNest* mapped) {
  const uint32_t outer = static_cast<uint32_t>(request.hardware.levels.size()) - 1;
  Diagnostic diagnostic = {};
  MappedNest best = {};
  LocalSearch search = {
      &request.problem, &request.hardware, &request.constraints, budget,
      mapped,           &diagnostic,       Status::kOk};
  for (const auto& start : kStarts) {
    *mapped = MappedNest{};
    LoopNest nest = StartNest(search, start);
    for (uint32_t d = 0; d < kDims; ++d) {
      int64_t below = 1;
      for (uint32_t l = 0; l < outer; ++l) below *= SpatialFactor(nest, l, d);
      // The array takes `steps` steps along d. Those of a tile are as many as fit, but not
      // more than equal numbers of steps in all tiles need.
      const int64_t spread = below * SpatialFactor(nest, outer, d);
      const int64_t steps = CeilDivide(request.problem.extent[d], spread);
      const int64_t most = Max(int64_t{1}, tile[d] / spread);
      nest.temporal[outer - 1][d] = CeilDivide(steps, CeilDivide(steps, most));
    }
    MoveStillInside(still, nest.order[outer]);
    Try(&search, nest);
    if (mapped->nest.levels != 0) Improve(&search, kMostEvaluations / 6);
    const int64_t evaluated = best.evaluated + mapped->evaluated;
    if (mapped->nest.levels != 0 &&
        (best.nest.levels == 0 || mapped->objective < best.objective)) {
      best = *mapped;
    }
    best.evaluated = evaluated;
  }
  *mapped = best;
  return best.nest.levels == 0 ? Status::kInfeasible : Status::kOk;
}

Status SearchNest(const MappingProblem& problem, const Hardware& hardware,
                  const MapConstraints& constraints, Budget* budget, MappedNest* mapped,
                  Diagnostic* diagnostic) {
  SLUICE_TRY(CheckProblem(problem, diagnostic));
  SLUICE_TRY(CheckHierarchy(hardware, diagnostic));
  MappedNest best = {};
  LocalSearch search = {&problem, &hardware,  &constraints, budget,
                        mapped,   diagnostic, Status::kOk};
  constexpr int64_t kStartCount = sizeof kStarts / sizeof kStarts[0];
  int64_t evaluated = 0;
  for (int64_t i = 0; i <= kStartCount; ++i) {
    *mapped = MappedNest{};
    const int64_t until = kMostEvaluations / kStartCount;
    if (i < kStartCount) {
      Try(&search, StartNest(search, kStarts[i]));
    } else if (best.nest.levels == 0) {
      Try(&search, EmptyNest(hardware, problem));  // one element at a time
    }
    if (mapped->nest.levels != 0) Improve(&search, until);
    evaluated += mapped->evaluated;
    if (mapped->nest.levels != 0 &&
        (best.nest.levels == 0 || mapped->objective < best.objective)) {
      best = *mapped;
    }
    if (budget->Exhausted()) break;
  }
  if (best.nest.levels == 0) {
    if (budget->Exhausted()) {
      return Fail(diagnostic, Status::kStopped, "mapping")
          .Text("a limit or a cancel ended the call before any nest was found");
    }
    if (search.failure == Status::kOk) {
      return Fail(diagnostic, Status::kInfeasible, "mapping")
          .Text("no nest found with the fixed scratchpad tile");
    }
    return search.failure;  // why the smallest tile failed
  }
  *mapped = best;
  mapped->evaluated = evaluated;
  mapped->bound = Min(NestBound(problem, hardware, constraints), best.objective);
  mapped->proved = best.objective * (1 - constraints.gap) <= mapped->bound;
  return Status::kOk;
}

}  // namespace sluice
