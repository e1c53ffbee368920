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
constexpr int kRelaxedInner = 3;  // every dim gets its best innermost group
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

struct Kinds {
  Span<FactorItem> items;  // room for kMaxKinds
  Span<uint8_t> times;
  int count;
  Span<uint8_t> kind_of;  // room for kMaxFactors
  Span<uint8_t> choices;
  size_t factors;
};

// Largest primes first, then the dims in the order below: what fits worst is placed
// while there is room.
void ListKinds(const FactorLayer& layer, Kinds* kinds) {
  constexpr int kOrder[] = {kDimR, kDimS, kDimC, kDimK, kDimP, kDimQ, kDimN};
  kinds->count = 0;
  for (const int d : kOrder) {
    ForPrimes(layer.extent[d], [&](int64_t prime, int times) {
      int at = kinds->count++;
      for (; at > 0 && kinds->items[at - 1].prime < prime; --at) {
        kinds->items[at].dim = kinds->items[at - 1].dim;
        kinds->items[at].prime = kinds->items[at - 1].prime;
        kinds->times[at] = kinds->times[at - 1];
      }
      kinds->items[at].dim = static_cast<uint8_t>(d);
      kinds->items[at].prime = static_cast<uint32_t>(prime);
      kinds->times[at] = static_cast<uint8_t>(times);
    });
  }
  kinds->factors = 0;
  for (int i = 0; i < kinds->count; ++i) {
    for (int n = 0; n < kinds->times[i]; ++n) {
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
  for (int i = 0; i < l; ++i) choice->log_load[i] = Log2(choice->load[i]);
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

FactorCase MakeCase(const Problem& problem, const CaseOf& which, Kinds* kinds) {
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
  for (int i = 0; i < kinds->count; ++i) {
    ListChoices(problem, which, result, &kinds->items[i]);
  }
  result.kinds = kinds->items.Slice(0, static_cast<size_t>(kinds->count));
  result.kind_of = kinds->kind_of.Slice(0, kinds->factors);
  result.required = (which.rows_matter && which.halo.rows ? kInsideP : 0) |
                    (which.columns_matter && which.halo.columns ? kInsideQ : 0);
  return result;
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

struct Driver {
  Problem problem;
  Kinds kinds;
  Arena* arena;
  Budget* budget;
  FactorSolution* solution;
  double best;
  double lower_bound;  // of the cases looked into
  bool stopped;
};

// Searches one case; true when its optimum was worth its price in `which`, which is
// false only when the relaxed innermost group promised more than any real one keeps.
Status SearchCase(Driver* driver, const CaseOf& which, bool* kept) {
  *kept = true;
  const FactorCase problem = MakeCase(driver->problem, which, &driver->kinds);
  const FactorMultipliers multipliers = TuneMultipliers(problem, driver->best);
  FactorPick pick = {};
  pick.choices = driver->kinds.choices;
  SLUICE_TRY(SearchFactors(problem, multipliers, driver->best, driver->arena,
                           driver->budget, &pick));
  driver->solution->labels += pick.labels;
  if (pick.stopped) {
    driver->stopped = true;
    driver->lower_bound = Min(driver->lower_bound, pick.lower_bound);
  }
  if (!pick.found) return Status::kOk;
  const FactorAssignment assignment =
      AssignmentOf(problem, pick.choices.Slice(0, problem.kind_of.size()));
  FactorValue value;
  uint8_t inner;
  ValueOf(driver->problem, assignment, &value, &inner);
  *kept = value.objective <= pick.cost + 1e-9;
  if (value.objective < driver->best) {
    driver->best = value.objective;
    driver->solution->assignment = assignment;
    driver->solution->value = value;
    driver->solution->global_inner = inner;
  }
  return Status::kOk;
}

Status SearchHalo(Driver* driver, CaseOf which) {
  bool kept;
  which.inner = kRelaxedInner;
  SLUICE_TRY(SearchCase(driver, which, &kept));
  for (which.inner = 0; !kept && which.inner < 3; ++which.inner) {
    bool ignored;
    SLUICE_TRY(SearchCase(driver, which, &ignored));
  }
  return Status::kOk;
}

Status SearchAll(Driver* driver) {
  const FactorLayer& layer = *driver->problem.layer;
  CaseOf which = {};
  which.rows_matter = layer.extent[kDimR] > 1;
  which.columns_matter = layer.extent[kDimS] > 1;
  const bool alike = layer.extent[kDimR] == layer.extent[kDimS] &&
                     layer.extent[kDimP] == layer.extent[kDimQ] &&
                     layer.stride_p == layer.stride_q;
  for (int index = 3; index >= 0; --index) {  // both inside is the best most often
    which.halo = {(index & 1) != 0, (index & 2) != 0};
    if (which.halo.rows && (!which.rows_matter || layer.extent[kDimP] == 1)) continue;
    if (which.halo.columns && (!which.columns_matter || layer.extent[kDimQ] == 1)) {
      continue;
    }
    if (alike && index == 1) continue;  // the mirror image of 2
    if (driver->budget->Exhausted()) driver->stopped = true;
    if (driver->stopped) {
      driver->lower_bound = -kInfinity;
      return Status::kOk;
    }
    SLUICE_TRY(SearchHalo(driver, which));
  }
  return Status::kOk;
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
  Driver driver = {};
  driver.problem = {&layer, &machine, &weights};
  SLUICE_TRY(CheckInput(driver.problem, diagnostic));
  driver.arena = arena;
  driver.budget = budget;
  driver.solution = solution;
  driver.best = driver.lower_bound = kInfinity;
  SLUICE_TRY(arena->Allocate(kMaxKinds, &driver.kinds.items));
  SLUICE_TRY(arena->Allocate(kMaxKinds, &driver.kinds.times));
  SLUICE_TRY(arena->Allocate(kMaxFactors, &driver.kinds.kind_of));
  SLUICE_TRY(arena->Allocate(kMaxFactors, &driver.kinds.choices));
  ListKinds(layer, &driver.kinds);
  SLUICE_TRY(SearchAll(&driver));
  if (driver.best == kInfinity) {
    if (driver.stopped) {
      return Fail(diagnostic, Status::kStopped, kStage)
          .Text("the budget ended before the first factor assignment");
    }
    // All factors in DRAM always fit.
    return Fail(diagnostic, Status::kInternal, kStage).Text("no assignment found");
  }
  solution->lower_bound = Min(driver.lower_bound, driver.best);
  solution->proved = !driver.stopped;
  return Status::kOk;
}

}  // namespace sluice
