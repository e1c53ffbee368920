// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/factor_assign.h"

#include "base/checked.h"
#include "solve/mapping/factor_assign_log.h"
#include "solve/mapping/factor_assign_search.h"

namespace sluice {
namespace {

constexpr double kInfinity = __builtin_huge_val();
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
constexpr int kMaxKinds = kFactorDims * 10;  // ten different primes reach 2^31
constexpr int kMaxFactors = kFactorDims * 31;
constexpr int kRelaxedInner = 3;    // every dim gets its best innermost group
constexpr double kGain = 1e-9;      // differences below count as none
constexpr double kFirstStep = 0.2;  // of the value to beat above the bound
constexpr size_t kBeam = 48;
constexpr uint8_t kInsideP = 1;
constexpr uint8_t kInsideQ = 2;

// Whether the halo of filter rows (P) and columns (Q) is one more row or column per
// filter factor (a factor of P or Q lies inside the input buffer), or the whole filter.
struct Halo {
  bool rows;
  bool columns;
};

struct Problem {
  const FactorLayer* layer;
  const FactorMachine* machine;
  const FactorWeights* weights;
};

bool IsRow(int dim) { return dim == kDimR || dim == kDimP; }
bool IsFilter(int dim) { return dim == kDimR || dim == kDimS; }
bool IsWindow(int dim) { return dim == kDimP || dim == kDimQ; }

// What a factor multiplies into the footprint of a tensor at a level that holds it,
// when the factor lies at that level or inside it.
int64_t LoadOf(const Problem& problem, int dim, int64_t prime, int level, int tensor,
               const Halo& halo) {
  if (tensor == kFactorInput && IsFilter(dim)) {
    if (level < kFactorInputBuffer) return 1;
    return (IsRow(dim) ? halo.rows : halo.columns) ? 2 : prime;
  }
  if (!kRelevant[dim][tensor]) return 1;
  if (tensor != kFactorInput || !IsWindow(dim)) return prime;
  return prime * (dim == kDimP ? problem.layer->stride_p : problem.layer->stride_q);
}

double TemporalTraffic() { return 1 + 1 + kWeightDramTraffic; }

// Iterations of the global buffer that a tensor does not see, per loop of a dim, when
// `inner` is the innermost group.
double InnerSaving(int dim, int inner) {
  const bool any = inner == kRelaxedInner;
  switch (dim) {
    case kDimR:
    case kDimS:
      return any || inner != 2 ? 2 : 0;
    case kDimC:
      return any || inner == 0 ? 1 : 0;
    case kDimK:
      return any || inner == 1 ? 1 : 0;
    default:
      return any || inner == 2 ? 1 : 0;
  }
}

// Traffic per bit of a factor, all tensors.
double TrafficOf(int dim, int level, bool spatial, int inner) {
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

double UtilisationOf(const Problem& problem, int dim, int64_t prime, int at,
                     const Halo& halo) {
  double sum = 0;
  for (int level = at; level < kFactorGlobal; ++level) {
    for (int v = 0; v < kFactorTensors; ++v) {
      if (problem.machine->words[level][v] == 0) continue;
      sum += kUtilisationOf[level] * Log2(LoadOf(problem, dim, prime, level, v, halo));
    }
  }
  return sum;
}

Status CheckInput(const Problem& problem, Diagnostic* diagnostic) {
  for (int d = 0; d < kFactorDims; ++d) {
    const int64_t extent = problem.layer->extent[d];
    if (extent < 1 || extent > int64_t{1} << 31) {
      return Fail(diagnostic, Status::kBadInput, kStage)
          .Text("layer extent ")
          .Text(kDimName[d])
          .Text(" is ")
          .Number(extent)
          .Text(", must be 1 to 2147483648");
    }
  }
  const int64_t strides[] = {problem.layer->stride_p, problem.layer->stride_q};
  for (const int64_t stride : strides) {
    if (stride < 1 || stride > 1024) {
      return Fail(diagnostic, Status::kBadInput, kStage)
          .Text("stride is ")
          .Number(stride)
          .Text(", must be 1 to 1024");
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
          .Text("level ")
          .Number(level)
          .Text(" has ")
          .Number(least)
          .Text(" words or instances");
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

// Calls visit(prime, times) for the factorisation of n, largest prime last.
template <typename Visit>
void ForPrimes(int64_t n, const Visit& visit) {
  for (int64_t p = 2; p * p <= n; p += p == 2 ? 1 : 2) {
    int times = 0;
    for (; n % p == 0; n /= p) ++times;
    if (times != 0) visit(p, times);
  }
  if (n > 1) visit(n, 1);
}

// --- Value of an assignment. ---

struct Parts {
  double utilisation;
  double compute;
  double traffic;
  double saved[3];  // at the global buffer, by innermost group
};

void AddCell(const Problem& problem, int dim, int level, bool spatial, int64_t product,
             const Halo& halo, Parts* parts) {
  ForPrimes(product, [&](int64_t prime, int times) {
    const double count = static_cast<double>(times);
    const double bits = Log2(prime) * count;
    parts->utilisation += count * UtilisationOf(problem, dim, prime, level, halo);
    if (!spatial) parts->compute += bits;
    if (level == kFactorGlobal && !spatial) {
      parts->traffic += bits * kFactorTensors;
      for (int g = 0; g < 3; ++g) parts->saved[g] += bits * InnerSaving(dim, g);
    } else {
      parts->traffic += bits * TrafficOf(dim, level, spatial, 0);
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

Halo HaloOf(const FactorAssignment& a) {
  Halo halo = {false, false};
  for (int level = 0; level <= kFactorInputBuffer; ++level) {
    if (a.temporal[level][kDimP] * a.spatial[level][kDimP] > 1) halo.rows = true;
    if (a.temporal[level][kDimQ] * a.spatial[level][kDimQ] > 1) halo.columns = true;
  }
  return halo;
}

// The footprint of a tensor within a level.
bool FitsLevel(const Problem& problem, const FactorAssignment& a, const Halo& halo,
               int level, int tensor) {
  const int64_t words = problem.machine->words[level][tensor];
  int64_t product = 1;
  bool fits = true;
  for (int inside = 0; inside <= level; ++inside) {
    for (int d = 0; d < kFactorDims; ++d) {
      const int64_t factors[] = {a.temporal[inside][d], a.spatial[inside][d]};
      for (const int64_t factor : factors) {
        ForPrimes(factor, [&](int64_t prime, int times) {
          for (int i = 0; i < times && fits; ++i) {
            product *= LoadOf(problem, d, prime, level, tensor, halo);
            fits = product <= words;
          }
        });
      }
    }
  }
  return fits;
}

Status CheckAssignment(const Problem& problem, const FactorAssignment& a,
                       const Halo& halo, Diagnostic* diagnostic) {
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
          .Text(" do not multiply to ")
          .Number(problem.layer->extent[d]);
    }
  }
  for (int level = 0; level < kFactorLevels; ++level) {
    int64_t used = 1;
    const int64_t instances = level < kFactorDram ? problem.machine->spatial[level] : 1;
    for (int d = 0; d < kFactorDims; ++d) {
      if (a.spatial[level][d] > instances / used) {
        return Fail(diagnostic, Status::kRejected, kStage)
            .Text("level ")
            .Number(level)
            .Text(" unrolls more than its ")
            .Number(instances)
            .Text(" instances");
      }
      used *= a.spatial[level][d];
    }
    for (int v = 0; level < kFactorDram && v < kFactorTensors; ++v) {
      if (problem.machine->words[level][v] == 0) continue;
      if (FitsLevel(problem, a, halo, level, v)) continue;
      return Fail(diagnostic, Status::kRejected, kStage)
          .Text("tensor ")
          .Number(v)
          .Text(" needs more than the ")
          .Number(problem.machine->words[level][v])
          .Text(" words of level ")
          .Number(level);
    }
  }
  return Status::kOk;
}

void ValueOf(const Problem& problem, const FactorAssignment& a, FactorValue* value,
             uint8_t* inner) {
  const Halo halo = HaloOf(a);
  Parts parts = {};
  for (int level = 0; level < kFactorLevels; ++level) {
    for (int d = 0; d < kFactorDims; ++d) {
      AddCell(problem, d, level, false, a.temporal[level][d], halo, &parts);
      AddCell(problem, d, level, true, a.spatial[level][d], halo, &parts);
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

// --- From the problem to cases of the search. ---

struct Kind {
  uint8_t dim;
  uint8_t times;
  uint32_t prime;
};

struct Kinds {
  Kind list[kMaxKinds];
  int count;
  uint8_t kind_of[kMaxFactors];
  size_t factors;
};

// Largest primes first, then the dims in the order below: what fits worst is placed
// while there is room.
void ListKinds(const FactorLayer& layer, Kinds* kinds) {
  constexpr int kOrder[] = {kDimR, kDimS, kDimP, kDimQ, kDimC, kDimK, kDimN};
  kinds->count = 0;
  for (const int d : kOrder) {
    ForPrimes(layer.extent[d], [&](int64_t prime, int times) {
      int at = kinds->count++;
      for (; at > 0 && kinds->list[at - 1].prime < prime; --at) {
        kinds->list[at] = kinds->list[at - 1];
      }
      kinds->list[at] = {static_cast<uint8_t>(d), static_cast<uint8_t>(times),
                         static_cast<uint32_t>(prime)};
    });
  }
  kinds->factors = 0;
  for (int i = 0; i < kinds->count; ++i) {
    for (int n = 0; n < kinds->list[i].times; ++n) {
      kinds->kind_of[kinds->factors++] = static_cast<uint8_t>(i);
    }
  }
}

struct CaseOf {
  Halo halo;
  bool rows_matter;  // the layer has a filter along rows and rows to slide over
  bool columns_matter;
  int inner;
};

// False when the limits cannot hold the load even alone.
bool SetLoads(const Problem& problem, const FactorItem& item, const CaseOf& which,
              const FactorCase& limits, FactorChoice* choice) {
  int l = 0;
  for (int level = 0; level < kFactorDram; ++level) {
    for (int v = 0; v < kFactorTensors; ++v) {
      if (problem.machine->words[level][v] == 0) continue;
      int64_t load = 1;
      if (choice->level <= level) {
        load = LoadOf(problem, item.dim, item.prime, level, v, which.halo);
      }
      if (load > limits.limit[l]) return false;
      choice->load[l++] = static_cast<uint32_t>(load);
    }
  }
  for (int level = 0; level < kFactorDram; ++level) {
    if (problem.machine->spatial[level] == 1) continue;
    const bool here = choice->spatial && choice->level == level;
    if (here && item.prime > limits.limit[l]) return false;
    choice->load[l++] = here ? item.prime : 1;
  }
  for (int i = 0; i < l; ++i) {
    if (choice->load[i] == 1) continue;
    choice->log_load[i] = Log2(choice->load[i]);
    choice->loaded[choice->load_count++] = static_cast<uint8_t>(i);
  }
  return true;
}

bool Dominates(const FactorChoice& a, const FactorChoice& b, int limits) {
  if (a.cost > b.cost || (a.flags & b.flags) != b.flags) return false;
  for (int l = 0; l < limits; ++l) {
    if (a.load[l] > b.load[l]) return false;
  }
  return true;
}

void AddChoice(const FactorChoice& choice, int limits, FactorItem* item) {
  for (int c = 0; c < item->choice_count; ++c) {
    if (Dominates(item->choice[c], choice, limits)) return;
  }
  int kept = 0;
  for (int c = 0; c < item->choice_count; ++c) {
    if (!Dominates(choice, item->choice[c], limits)) {
      item->choice[kept++] = item->choice[c];
    }
  }
  item->choice[kept++] = choice;
  item->choice_count = kept;
}

void ListChoices(const Problem& problem, const CaseOf& which, const FactorCase& limits,
                 FactorItem* item) {
  const FactorWeights& w = *problem.weights;
  const double bits = Log2(item->prime);
  item->choice_count = 0;
  const bool p = item->dim == kDimP && which.rows_matter;
  const bool q = item->dim == kDimQ && which.columns_matter;
  for (int level = 0; level < kFactorLevels; ++level) {
    for (int spatial = 0; spatial < 2; ++spatial) {
      if (spatial == 1 &&
          (level == kFactorDram || problem.machine->spatial[level] == 1)) {
        continue;
      }
      FactorChoice choice = {};
      choice.level = static_cast<uint8_t>(level);
      choice.spatial = spatial == 1;
      if (level <= kFactorInputBuffer) {
        // The case says whether such a factor lies inside.
        if ((p && !which.halo.rows) || (q && !which.halo.columns)) continue;
        choice.flags = (p ? kInsideP : 0) | (q ? kInsideQ : 0);
      }
      if (!SetLoads(problem, *item, which, limits, &choice)) continue;
      choice.cost =
          w.utilisation *
              UtilisationOf(problem, item->dim, item->prime, level, which.halo) +
          w.compute * (choice.spatial ? 0 : bits) +
          w.traffic * bits * TrafficOf(item->dim, level, choice.spatial, which.inner);
      AddChoice(choice, limits.limit_count, item);
    }
  }
}

Status MakeCase(const Problem& problem, const CaseOf& which, const Kinds& kinds,
                Arena* arena, FactorCase* out) {
  FactorCase result = {};
  for (int level = 0; level < kFactorDram; ++level) {
    for (int v = 0; v < kFactorTensors; ++v) {
      const int64_t words = problem.machine->words[level][v];
      if (words == 0) continue;
      result.limit[result.limit_count++] = static_cast<uint32_t>(words);
    }
  }
  for (int level = 0; level < kFactorDram; ++level) {
    const int64_t instances = problem.machine->spatial[level];
    if (instances == 1) continue;
    result.limit[result.limit_count++] = static_cast<uint32_t>(instances);
  }
  Span<FactorItem> items;
  SLUICE_TRY(arena->Allocate(static_cast<size_t>(kinds.count), &items));
  for (size_t i = 0; i < items.size(); ++i) {
    items[i].dim = kinds.list[i].dim;
    items[i].prime = kinds.list[i].prime;
    ListChoices(problem, which, result, &items[i]);
  }
  result.kinds = items;
  result.kind_of = Span<const uint8_t>(kinds.kind_of, kinds.factors);
  result.required = (which.rows_matter && which.halo.rows ? kInsideP : 0) |
                    (which.columns_matter && which.halo.columns ? kInsideQ : 0);
  *out = result;
  return Status::kOk;
}

FactorAssignment AssignmentOf(const FactorCase& problem, Span<const uint8_t> choices) {
  FactorAssignment a;
  for (int level = 0; level < kFactorLevels; ++level) {
    for (int d = 0; d < kFactorDims; ++d)
      a.temporal[level][d] = a.spatial[level][d] = 1;
  }
  for (size_t i = 0; i < problem.kind_of.size(); ++i) {
    const FactorItem& item = problem.kinds[problem.kind_of[i]];
    const FactorChoice& choice = item.choice[choices[i]];
    auto& table = choice.spatial ? a.spatial : a.temporal;
    table[choice.level][item.dim] *= item.prime;
  }
  return a;
}

struct Case {
  CaseOf which;
  FactorCase problem;
  FactorMultipliers multipliers;
  double bound;  // nothing in it is cheaper
};

constexpr int kMaxCases = 16;  // four halos, each once relaxed and once per group

struct Driver {
  Problem problem;
  Kinds kinds;
  Span<uint8_t> choices;
  Arena* arena;
  Budget* budget;
  FactorSolution* solution;
  Case cases[kMaxCases];
  int case_count;
  double best;
  bool stopped;
};

Status AddCase(Driver* driver, const CaseOf& which) {
  Case& added = driver->cases[driver->case_count++];
  added.which = which;
  added.multipliers = {};
  SLUICE_TRY(
      MakeCase(driver->problem, which, driver->kinds, driver->arena, &added.problem));
  TuneMultipliers(added.problem, driver->best, &added.multipliers);
  added.bound = added.multipliers.bound;
  return Status::kOk;
}

// Searches a case below `beat`; a solution found lowers driver->best.
Status SearchCase(Driver* driver, Case* at, double beat, size_t width,
                  FactorPick* pick) {
  *pick = {};
  pick->choices = driver->choices;
  SLUICE_TRY(SearchFactors(at->problem, at->multipliers, beat, width, driver->arena,
                           driver->budget, pick));
  driver->solution->labels += pick->labels;
  driver->stopped = driver->stopped || pick->stopped;
  if (!pick->found) return Status::kOk;
  const FactorAssignment assignment = AssignmentOf(at->problem, pick->choices);
  FactorValue value;
  uint8_t inner;
  ValueOf(driver->problem, assignment, &value, &inner);
  if (value.objective < driver->best) {
    driver->best = value.objective;
    driver->solution->assignment = assignment;
    driver->solution->value = value;
    driver->solution->global_inner = inner;
  }
  return Status::kOk;
}

// Closes a case or raises its bound to `beat`. When the optimum of the relaxed
// innermost group is worth more than its price, the three real groups take the case's
// place.
Status DeepenCase(Driver* driver, int index, double beat) {
  Case& at = driver->cases[index];
  FactorPick pick;
  SLUICE_TRY(SearchCase(driver, &at, beat, 0, &pick));
  if (pick.stopped) return Status::kOk;
  at.bound = pick.found ? pick.cost : beat;
  const bool relaxed = at.which.inner == kRelaxedInner;
  if (!pick.found || !relaxed || driver->best <= pick.cost + kGain) return Status::kOk;
  const double bound = at.bound;
  at.bound = kInfinity;
  CaseOf which = at.which;
  for (which.inner = 0; which.inner < kRelaxedInner; ++which.inner) {
    SLUICE_TRY(AddCase(driver, which));
    Case& added = driver->cases[driver->case_count - 1];
    added.bound = Max(added.bound, bound);
  }
  return Status::kOk;
}

// Some solution, and multipliers tuned towards it.
Status FindFirst(Driver* driver) {
  for (int i = 0; i < driver->case_count; ++i) {
    Case& at = driver->cases[i];
    FactorPick pick = {};
    if (driver->best == kInfinity) {
      SLUICE_TRY(SearchCase(driver, &at, kInfinity, kBeam, &pick));
      if (driver->stopped) return Status::kOk;
    }
    TuneMultipliers(at.problem, driver->best, &at.multipliers);
    at.bound = at.multipliers.bound;
  }
  return Status::kOk;
}

double LeastBound(const Driver& driver) {
  double least = driver.best;
  for (int i = 0; i < driver.case_count; ++i) {
    least = Min(least, driver.cases[i].bound);
  }
  return least;
}

// What must be kept grows fast with the gap, so the value to beat rises in steps from
// the least bound; the first solution below it is the optimum of its case.
Status Deepen(Driver* driver) {
  double step = kFirstStep;
  while (!driver->stopped && LeastBound(*driver) < driver->best - kGain) {
    const double aim = Min(driver->best, LeastBound(*driver) + step);
    const int count = driver->case_count;
    for (int i = 0; i < count && !driver->stopped; ++i) {
      const double beat = Min(aim, driver->best);
      if (!(driver->cases[i].bound < beat - kGain)) continue;
      SLUICE_TRY(DeepenCase(driver, i, beat));
    }
    step *= 2;
  }
  return Status::kOk;
}

Status SearchAll(Driver* driver) {
  const FactorLayer& layer = *driver->problem.layer;
  CaseOf which = {};
  which.inner = kRelaxedInner;
  which.rows_matter = layer.extent[kDimR] > 1;
  which.columns_matter = layer.extent[kDimS] > 1;
  const bool alike = layer.extent[kDimR] == layer.extent[kDimS] &&
                     layer.extent[kDimP] == layer.extent[kDimQ] &&
                     layer.stride_p == layer.stride_q;
  for (int index = 3; index >= 0; --index) {
    which.halo = {(index & 1) != 0, (index & 2) != 0};
    if (which.halo.rows && (!which.rows_matter || layer.extent[kDimP] == 1)) continue;
    if (which.halo.columns && (!which.columns_matter || layer.extent[kDimQ] == 1)) {
      continue;
    }
    if (alike && index == 1) continue;  // the mirror image of 2
    SLUICE_TRY(AddCase(driver, which));
  }
  SLUICE_TRY(FindFirst(driver));
  return Deepen(driver);
}

}  // namespace

Status EvaluateFactors(const FactorLayer& layer, const FactorMachine& machine,
                       const FactorWeights& weights, const FactorAssignment& assignment,
                       FactorValue* value, Diagnostic* diagnostic) {
  const Problem problem = {&layer, &machine, &weights};
  SLUICE_TRY(CheckInput(problem, diagnostic));
  SLUICE_TRY(CheckAssignment(problem, assignment, HaloOf(assignment), diagnostic));
  uint8_t inner;
  ValueOf(problem, assignment, value, &inner);
  return Status::kOk;
}

Status SolveFactorAssign(const FactorLayer& layer, const FactorMachine& machine,
                         const FactorWeights& weights, Arena* arena, Budget* budget,
                         FactorSolution* solution, Diagnostic* diagnostic) {
  *solution = FactorSolution{};
  ArenaScope scope(arena);
  const Problem problem = {&layer, &machine, &weights};
  SLUICE_TRY(CheckInput(problem, diagnostic));
  Span<Driver> room;  // too large for a small stack
  SLUICE_TRY(arena->Allocate(1, &room));
  Driver& driver = room[0];
  driver.problem = problem;
  driver.arena = arena;
  driver.budget = budget;
  driver.solution = solution;
  driver.best = kInfinity;
  ListKinds(layer, &driver.kinds);
  SLUICE_TRY(arena->Allocate(driver.kinds.factors, &driver.choices));
  SLUICE_TRY(SearchAll(&driver));
  if (driver.best == kInfinity) {
    if (driver.stopped) {
      return Fail(diagnostic, Status::kStopped, kStage)
          .Text("the budget ended before the first factor assignment");
    }
    // All factors in DRAM always fit.
    return Fail(diagnostic, Status::kInternal, kStage).Text("no assignment found");
  }
  solution->lower_bound = driver.stopped ? LeastBound(driver) : driver.best;
  solution->proved = !driver.stopped;
  return Status::kOk;
}

}  // namespace sluice
