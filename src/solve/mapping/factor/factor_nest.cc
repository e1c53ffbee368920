// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/factor/factor_nest.h"

#include "base/checked.h"
#include "solve/mapping/factor/factor_assign.h"

namespace sluice {

namespace {

// Layers of networks take some thousand; products of 131072 x 28672 x 8192 on five levels
// would take millions, half a minute, and a gigabyte.
constexpr size_t kMostLabels = size_t{1} << 18;

// By Dim: the number of the FactorDim of the same loop; groups have none. By Operand:
// its FactorTensor.
constexpr int kFactorOf[kDims] = {6, 5, 4, 2, 3, 0, 1, -1};
constexpr int kTensorOf[kOperands] = {kFactorInput, kFactorWeight, kFactorOutput};
constexpr int64_t kEndless = int64_t{1} << 40;  // words of a memory without a limit
constexpr uint8_t kOrders[3][kDims] = {
    {5, 6, 2, 1, 4, 3, 0, 7}, {5, 6, 1, 2, 4, 3, 0, 7}, {4, 3, 0, 6, 5, 2, 1, 7}};

// The hardware level of a factor level, or -1.
int LevelOf(const Hardware& hardware, int factor_level) {
  return factor_level - (kFactorLevels - static_cast<int>(hardware.levels.size()));
}

int64_t WordsFor(const MappingProblem& problem, const MemoryLevel& level,
                 uint32_t operand) {
  if (!Has(problem, operand) || (level.may_hold >> operand & 1) == 0) return 0;
  if (level.capacity_bytes == 0) return kEndless;
  int64_t sharers = 0;
  bool shares = false;
  for (uint32_t v = 0; v < kOperands; ++v) {
    sharers += Has(problem, v) && (level.may_hold >> v & 1) != 0 ? 1 : 0;
    shares |= level.share_percent[v] != 0;
  }
  const int64_t bytes =
      shares ? level.capacity_bytes / 100 * level.share_percent[operand] +
                   level.capacity_bytes % 100 * level.share_percent[operand] / 100
             : level.capacity_bytes / sharers;
  return bytes / InnerBytes(problem, operand);
}

FactorMachine MachineOf(const MappingProblem& problem, const Hardware& hardware) {
  FactorMachine machine = {};
  for (int f = 0; f < kFactorDram; ++f) {
    machine.spatial[f] = 1;
    const int l = LevelOf(hardware, f);
    if (l < 0) continue;
    const uint32_t level = static_cast<uint32_t>(l);
    for (uint32_t v = 0; v < kOperands; ++v) {
      machine.words[f][kTensorOf[v]] = WordsFor(problem, hardware.levels[level], v);
    }
    for (uint32_t a = 0; a < kMaxAxes; ++a) {
      const Fanout* fanout = FanoutAt(hardware, level, a);
      if (fanout != nullptr) machine.spatial[f] *= fanout->extent;
    }
  }
  return machine;
}

double Magnitude(double x) { return x < 0 ? -x : x; }

int64_t SmallestPrime(int64_t n) {
  for (int64_t p = 2; p <= n / p; ++p) {
    if (n % p == 0) return p;
  }
  return n;
}

// The least |traffic - compute|, weighted. If even the least difference is not negative
// it is the answer, proved; else bisects the weight of compute to the change of sign.
Status Balance(const FactorRequest& request, Arena* arena, Budget* budget,
               FactorSolution* best, Diagnostic* diagnostic) {
  const FactorWeights& weights = request.weights;
  constexpr int kSteps = 12;  // leave a 4096th of the interval
  FactorWeights w = {0, -weights.compute, weights.traffic};
  SLUICE_TRY(SolveFactorAssign({request.layer, request.machine, w, request.most_labels},
                               arena, budget, best, diagnostic));
  const double least = best->lower_bound;
  best->value.objective = Magnitude(best->value.objective);
  best->lower_bound = Max(0.0, least);
  if (least >= 0) return Status::kOk;
  double low = -weights.compute, high = 100 * weights.compute;
  for (int i = 0; i < kSteps && !budget->Exhausted(); ++i) {
    w.compute = i == 0 ? high : 0.5 * (low + high);
    FactorSolution other;
    SLUICE_TRY(
        SolveFactorAssign({request.layer, request.machine, w, request.most_labels},
                          arena, budget, &other, diagnostic));
    const double difference =
        weights.traffic * other.value.traffic - weights.compute * other.value.compute;
    (difference < 0 ? low : high) = w.compute;
    if (Magnitude(difference) < best->value.objective) {
      *best = other;
      best->value.objective = Magnitude(difference);
      best->lower_bound = 0;
    }
    if (i == 0 && difference < 0) break;  // compute exceeds traffic at any weight
  }
  best->proved = best->value.objective <= best->lower_bound;
  return Status::kOk;
}

// Puts spatial factors on the level's fanouts; the rest becomes a loop.
void Spread(const Hardware& hardware, uint32_t level, uint32_t dim, int64_t factor,
            LoopNest* nest) {
  while (factor > 1) {
    const int64_t prime = SmallestPrime(factor);
    factor /= prime;
    bool taken = false;
    for (uint32_t a = 0; a < kMaxAxes && !taken; ++a) {
      const Fanout* fanout = FanoutAt(hardware, level, a);
      if (fanout == nullptr) break;
      int64_t used = prime;
      for (const int64_t f : nest->spatial[level][a]) used *= f;
      taken = MayUnroll(*fanout, dim) && used <= int64_t{fanout->extent};
      if (taken) nest->spatial[level][a][dim] *= prime;
    }
    if (!taken) nest->temporal[level][dim] *= prime;
  }
}

LoopNest NestOf(const MappingProblem& problem, const Hardware& hardware,
                const FactorMachine& machine, const FactorSolution& solution) {
  LoopNest nest = EmptyNest(hardware, problem);
  for (int f = 0; f < kFactorLevels; ++f) {
    const int l = LevelOf(hardware, f);
    for (uint32_t d = 0; d < kDims; ++d) {
      if (kFactorOf[d] < 0) continue;
      const int64_t time = solution.assignment.temporal[f][kFactorOf[d]];
      const int64_t space = solution.assignment.spatial[f][kFactorOf[d]];
      // Loops of levels that do not exist run in the lowest that does.
      const uint32_t level = l < 0 ? 0 : static_cast<uint32_t>(l);
      nest.temporal[level][d] *= time;
      if (f < kFactorDram) Spread(hardware, level, d, space, &nest);
    }
    if (l < 0 || f == kFactorDram) continue;
    for (uint32_t v = 0; v < kOperands; ++v) {
      if (machine.words[f][kTensorOf[v]] > 0) continue;
      nest.hold[l] = static_cast<uint8_t>(nest.hold[l] & ~OperandBit(v));
    }
  }
  nest.temporal[nest.levels - 1][kDimG] = problem.extent[kDimG];
  for (int i = 0; i < kDims; ++i) {
    nest.order[nest.levels - 2][i] = kOrders[solution.global_inner % 3][i];
  }
  return nest;
}

// Moves one factor of the level's largest operand to the loops of the level above.
bool MoveUp(const MappingProblem& problem, uint32_t level,
            const int64_t bytes[kOperands], LoopNest* nest) {
  uint32_t largest = 0;
  for (uint32_t v = 1; v < kOperands; ++v) {
    if (bytes[v] > bytes[largest]) largest = v;
  }
  for (uint32_t l = level + 1; l-- > 0;) {
    for (uint32_t d = 0; d < kDims; ++d) {
      if (!Moves(d, largest)) continue;
      for (uint32_t a = 0; a <= kMaxAxes; ++a) {
        int64_t* f = a == 0 ? &nest->temporal[l][d] : &nest->spatial[l][a - 1][d];
        if (*f == 1) continue;
        const int64_t prime = SmallestPrime(*f);
        *f /= prime;
        nest->temporal[level + 1][d] *= prime;
        return true;
      }
    }
  }
  (void)problem;
  return false;
}

Status Mend(const MappingProblem& problem, const Hardware& hardware, LoopNest* nest,
            Diagnostic* diagnostic) {
  for (uint32_t l = 0; l + 1 < nest->levels; ++l) {
    for (;;) {
      int64_t bytes[kOperands];
      SLUICE_TRY(LevelBytes(problem, *nest, l, 0, bytes, diagnostic));
      if (FitsLevel(hardware.levels[l], bytes)) break;
      if (!MoveUp(problem, l, bytes, nest)) return Status::kOk;  // CheckNest reports it
    }
  }
  return Status::kOk;
}

}  // namespace

Status MapFactorNest(const NestRequest& request, const FactorObjective& objective,
                     Budget* budget, Arena* arena, MappedNest* mapped,
                     Diagnostic* diagnostic) {
  const MappingProblem& problem = request.problem;
  const Hardware& hardware = request.hardware;
  const MapConstraints& constraints = request.constraints;
  SLUICE_TRY(CheckProblem(problem, diagnostic));
  SLUICE_TRY(CheckHierarchy(hardware, diagnostic));
  bool fixed = constraints.resident != 0;
  for (const int64_t top : constraints.top_tile) fixed |= top != 0;
  if (fixed) {
    return Fail(diagnostic, Status::kUnsupported, "mapping")
        .Text("the assignment of factors knows no fixed tiles or resident operands");
  }
  FactorLayer layer = {};
  for (int64_t& extent : layer.extent) extent = 1;
  for (uint32_t d = 0; d < kDims; ++d) {
    if (kFactorOf[d] >= 0) layer.extent[kFactorOf[d]] = problem.extent[d];
  }
  layer.stride_p = Min<int64_t>(problem.stride[0], 1024);
  layer.stride_q = Min<int64_t>(problem.stride[1], 1024);
  const FactorMachine machine = MachineOf(problem, hardware);
  FactorWeights weights;
  weights.utilisation = objective.utilisation;
  weights.compute = objective.compute;
  weights.traffic = objective.traffic;
  FactorSolution solution;
  const FactorRequest asked = {layer, machine, weights, kMostLabels};
  SLUICE_TRY(objective.balance
                 ? Balance(asked, arena, budget, &solution, diagnostic)
                 : SolveFactorAssign(asked, arena, budget, &solution, diagnostic));
  *mapped = MappedNest{};
  LoopNest nest = NestOf(problem, hardware, machine, solution);
  SLUICE_TRY(Mend(problem, hardware, &nest, diagnostic));
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < kDims; ++j) nest.order[nest.levels - 1][j] = kOrders[i][j];
    LayerCost cost;
    SLUICE_TRY(EvaluateNest(problem, hardware, nest, CostOptions{}, &cost, diagnostic));
    if (i > 0 && cost.energy_pj >= mapped->cost.energy_pj) continue;
    mapped->nest = nest;
    mapped->cost = cost;
  }
  mapped->objective = solution.value.objective;
  mapped->bound = solution.lower_bound;
  mapped->proved = solution.proved;
  mapped->evaluated = solution.labels;
  return Status::kOk;
}

}  // namespace sluice
