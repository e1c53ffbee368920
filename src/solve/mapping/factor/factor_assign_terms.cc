// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/factor/factor_assign_terms.h"

#include "base/checked.h"
#include "solve/mapping/factor/factor_assign_log.h"

namespace sluice {
namespace {

constexpr char kStage[] = "mapping";
constexpr const char* kDimName[kFactorDims] = {"R", "S", "P", "Q", "C", "K", "N"};
// [dim][weight, input, output]
constexpr bool kRelevant[kFactorDims][kFactorTensors] = {
    {true, false, false}, {true, false, false}, {false, true, true},
    {false, true, true},  {true, true, false},  {true, false, true},
    {false, true, true}};
// Coefficients of the published objective.
constexpr double kUtilisationOf[kFactorGlobal] = {1, 1, 1.01, 1};
constexpr double kInnerTraffic = 0.99;
constexpr double kTrafficBase = 0.8;
constexpr double kTrafficStep = 0.04;
constexpr double kWeightDramTraffic = 1.01;
bool IsRow(int dim) { return dim == kFactorR || dim == kFactorP; }
bool IsFilter(int dim) { return dim == kFactorR || dim == kFactorS; }
bool IsWindow(int dim) { return dim == kFactorP || dim == kFactorQ; }

double TemporalTraffic() { return 1 + 1 + kWeightDramTraffic; }

// Iterations of the global buffer that a tensor does not see, per loop of a dim, when
// `inner` is the innermost group.
double InnerSaving(int dim, int inner) {
  const bool any = inner == kRelaxedInner;
  switch (dim) {
    case kFactorR:
    case kFactorS:
      return any || inner != 2 ? 2 : 0;
    case kFactorC:
      return any || inner == 0 ? 1 : 0;
    case kFactorK:
      return any || inner == 1 ? 1 : 0;
    default:
      return any || inner == 2 ? 1 : 0;
  }
}

// --- Value of an assignment. ---

struct Parts {
  double utilisation;
  double compute;
  double traffic;
  double saved[3];  // at the global buffer, by innermost group
};

struct Cell {
  int dim, level;
  bool spatial;
};

void AddCell(const FactorProblem& problem, const Cell& cell, int64_t product,
             const FactorHalo& halo, Parts* parts) {
  const int dim = cell.dim, level = cell.level;
  const bool spatial = cell.spatial;
  ForPrimes(product, [&](int64_t prime, int times) {
    const double count = static_cast<double>(times);
    const double bits = Log2(prime) * count;
    parts->utilisation += count * FactorUtilisation(problem, dim, prime, level, halo);
    if (!spatial) parts->compute += bits;
    if (level == kFactorGlobal && !spatial) {
      parts->traffic += bits * kFactorTensors;
      for (int g = 0; g < 3; ++g) parts->saved[g] += bits * InnerSaving(dim, g);
    } else {
      parts->traffic += bits * FactorTraffic(dim, level, spatial, 0);
    }
  });
}

int BestInner(const Parts& parts) {
  int best = 0;
  for (int g = 1; g < 3; ++g) {
    if (parts.saved[g] > parts.saved[best]) best = g;
  }
  return best;
}

FactorHalo HaloOf(const FactorAssignment& a) {
  FactorHalo halo = {false, false};
  for (int level = 0; level <= kFactorInputBuffer; ++level) {
    if (a.temporal[level][kFactorP] > 1 || a.spatial[level][kFactorP] > 1)
      halo.rows = true;
    if (a.temporal[level][kFactorQ] > 1 || a.spatial[level][kFactorQ] > 1) {
      halo.columns = true;
    }
  }
  return halo;
}

// The footprint of a tensor within a level.
bool FitsLevel(const FactorProblem& problem, const FactorAssignment& a,
               const FactorHalo& halo, int level, int tensor) {
  const int64_t words = problem.machine->words[level][tensor];
  int64_t product = 1;
  bool fits = true;
  for (int inside = 0; inside <= level; ++inside) {
    for (int d = 0; d < kFactorDims; ++d) {
      const int64_t factors[] = {a.temporal[inside][d], a.spatial[inside][d]};
      for (const int64_t factor : factors) {
        ForPrimes(factor, [&](int64_t prime, int times) {
          for (int i = 0; i < times && fits; ++i) {
            const int64_t load = FactorLoad(problem, d, prime, level, tensor, halo);
            fits = CheckedMultiply(product, load, &product) && product <= words;
          }
        });
      }
    }
  }
  return fits;
}

Status CheckAssignment(const FactorProblem& problem, const FactorAssignment& a,
                       const FactorHalo& halo, Diagnostic* diagnostic) {
  for (int d = 0; d < kFactorDims; ++d) {
    int64_t rest = problem.layer->extent[d];
    for (int level = 0; level < kFactorLevels; ++level) {
      const int64_t factors[] = {a.temporal[level][d], a.spatial[level][d]};
      for (const int64_t factor : factors) {
        if (factor < 1 || rest % factor != 0) rest = 0;
        if (rest != 0) rest /= factor;
      }
    }
    if (rest != 1) {
      return Fail(diagnostic, Status::kRejected, kStage)
          .Text("the factors of ")
          .Text(kDimName[d])
          .Say(" do not multiply to #", problem.layer->extent[d]);
    }
  }
  for (int level = 0; level < kFactorLevels; ++level) {
    int64_t used = 1;
    const int64_t instances = level < kFactorDram ? problem.machine->spatial[level] : 1;
    for (int d = 0; d < kFactorDims; ++d) {
      if (a.spatial[level][d] > instances / used) {
        return Fail(diagnostic, Status::kRejected, kStage)
            .Say("level # unrolls more than its # instances", level, instances);
      }
      used *= a.spatial[level][d];
    }
    for (int v = 0; level < kFactorDram && v < kFactorTensors; ++v) {
      if (problem.machine->words[level][v] == 0) continue;
      if (FitsLevel(problem, a, halo, level, v)) continue;
      return Fail(diagnostic, Status::kRejected, kStage)
          .Say("tensor # needs more than the # words of level #", v,
               problem.machine->words[level][v], level);
    }
  }
  return Status::kOk;
}

}  // namespace

int64_t FactorLoad(const FactorProblem& problem, int dim, int64_t prime, int level,
                   int tensor, const FactorHalo& halo) {
  if (tensor == kFactorInput && IsFilter(dim)) {
    if (level < kFactorInputBuffer) return 1;
    return (IsRow(dim) ? halo.rows : halo.columns) ? 2 : prime;
  }
  if (!kRelevant[dim][tensor]) return 1;
  if (tensor != kFactorInput || !IsWindow(dim)) return prime;
  return prime * (dim == kFactorP ? problem.layer->stride_p : problem.layer->stride_q);
}

double FactorTraffic(int dim, int level, bool spatial, int inner) {
  if (level < kFactorGlobal) {
    double sum = 0;
    for (int v = 0; v < kFactorTensors; ++v) {
      if (kRelevant[dim][v]) {
        sum +=
            kInnerTraffic * (kTrafficBase + kTrafficStep * static_cast<double>(level));
      }
    }
    return sum;
  }
  if (level == kFactorGlobal) {
    return spatial ? kInnerTraffic * kFactorTensors
                   : kFactorTensors - InnerSaving(dim, inner);
  }
  return TemporalTraffic();
}

double FactorUtilisation(const FactorProblem& problem, int dim, int64_t prime, int at,
                         const FactorHalo& halo) {
  double sum = 0;
  for (int level = at; level < kFactorGlobal; ++level) {
    for (int v = 0; v < kFactorTensors; ++v) {
      if (problem.machine->words[level][v] == 0) continue;
      sum +=
          kUtilisationOf[level] * Log2(FactorLoad(problem, dim, prime, level, v, halo));
    }
  }
  return sum;
}

Status CheckFactorInput(const FactorProblem& problem, Diagnostic* diagnostic) {
  for (int d = 0; d < kFactorDims; ++d) {
    const int64_t extent = problem.layer->extent[d];
    if (extent < 1 || extent > int64_t{1} << 31) {
      return Fail(diagnostic, Status::kBadInput, kStage)
          .Text("layer extent ")
          .Text(kDimName[d])
          .Say(" is #, must be 1 to 2147483648", extent);
    }
  }
  const int64_t strides[] = {problem.layer->stride_p, problem.layer->stride_q};
  for (const int64_t stride : strides) {
    if (stride < 1 || stride > 1024) {
      return Fail(diagnostic, Status::kBadInput, kStage)
          .Say("stride is #, must be 1 to 1024", stride);
    }
  }
  for (int level = 0; level < kFactorDram; ++level) {
    const int64_t spatial = problem.machine->spatial[level];
    int64_t least = spatial < 1 || spatial > INT32_MAX ? spatial : 1;
    for (const int64_t words : problem.machine->words[level]) {
      if (words < 0 || words > INT32_MAX) least = words;
    }
    if (least != 1) {
      return Fail(diagnostic, Status::kBadInput, kStage)
          .Say("level # has # words or instances", level, least);
    }
  }
  const FactorWeights& w = *problem.weights;
  const double bound = 1e6;
  if (!(w.traffic >= 0 && w.traffic <= bound && w.compute >= -bound &&
        w.compute <= bound && w.utilisation >= -bound && w.utilisation <= bound)) {
    return Fail(diagnostic, Status::kBadInput, kStage)
        .Text("an objective weight is not a number, above 1e6, or traffic below 0");
  }
  return Status::kOk;
}

void ValueFactors(const FactorProblem& problem, const FactorAssignment& a,
                  FactorValue* value, uint8_t* inner) {
  const FactorHalo halo = HaloOf(a);
  Parts parts = {};
  for (int level = 0; level < kFactorLevels; ++level) {
    for (int d = 0; d < kFactorDims; ++d) {
      AddCell(problem, {d, level, false}, a.temporal[level][d], halo, &parts);
      AddCell(problem, {d, level, true}, a.spatial[level][d], halo, &parts);
    }
  }
  const int best = BestInner(parts);
  *inner = static_cast<uint8_t>(best);
  value->utilisation = parts.utilisation;
  value->compute = parts.compute;
  value->traffic = parts.traffic - parts.saved[best];
  const FactorWeights& w = *problem.weights;
  value->objective = w.utilisation * value->utilisation + w.compute * value->compute +
                     w.traffic * value->traffic;
}

Status EvaluateFactors(const FactorLayer& layer, const FactorMachine& machine,
                       const FactorWeights& weights, const FactorAssignment& assignment,
                       FactorValue* value, Diagnostic* diagnostic) {
  const FactorProblem problem = {&layer, &machine, &weights};
  SLUICE_TRY(CheckFactorInput(problem, diagnostic));
  SLUICE_TRY(CheckAssignment(problem, assignment, HaloOf(assignment), diagnostic));
  uint8_t inner;
  ValueFactors(problem, assignment, value, &inner);
  return Status::kOk;
}

}  // namespace sluice
