// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/factor/factor_assign.h"

#include "base/checked.h"
#include "solve/mapping/factor/factor_assign_log.h"
#include "solve/mapping/factor/factor_assign_search.h"
#include "solve/mapping/factor/factor_assign_terms.h"

namespace sluice {
namespace {

constexpr double kInfinity = __builtin_huge_val();
constexpr char kStage[] = "mapping";
constexpr int kMaxKinds = kFactorDims * 10;    // ten different primes reach 2^31
constexpr int kMaxFactors = kFactorDims * 31;  // 2^31 has the most
constexpr double kGain = 1e-9;                 // differences below count as none
constexpr double kFirstStep = 0.2;             // of the value to beat above the bound
constexpr size_t kBeam = 48;                   // labels kept, for a first value to beat
// FactorChoice::flags: a factor of P, of Q lies inside the window.
constexpr uint8_t kInsideP = 1;
constexpr uint8_t kInsideQ = 2;

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

// Largest primes first, then the dims in the order below: the hardest to fit are placed
// while there is room.
void ListKinds(const FactorLayer& layer, Kinds* kinds) {
  constexpr int kOrder[] = {kFactorR, kFactorS, kFactorP, kFactorQ,
                            kFactorC, kFactorK, kFactorN};
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
  FactorHalo halo;
  bool rows_matter;  // the layer has a filter along rows and rows to slide over
  bool columns_matter;
  int inner;
};

// False when a limit cannot hold the load even alone.
bool SetLoads(const FactorProblem& problem, const FactorItem& item, const CaseOf& which,
              const FactorCase& limits, FactorChoice* choice) {
  int l = 0;
  for (int level = 0; level < kFactorDram; ++level) {
    for (int v = 0; v < kFactorTensors; ++v) {
      if (problem.machine->words[level][v] == 0) continue;
      int64_t load = 1;
      if (choice->level <= level) {
        load = FactorLoad(problem, item.dim, item.prime, level, v, which.halo);
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

void ListChoices(const FactorProblem& problem, const CaseOf& which,
                 const FactorCase& limits, FactorItem* item) {
  const FactorWeights& w = *problem.weights;
  const double bits = Log2(item->prime);
  item->choice_count = 0;
  const bool p = item->dim == kFactorP && which.rows_matter;
  const bool q = item->dim == kFactorQ && which.columns_matter;
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
        // A case either has factors of rows (columns) at or below the input buffer or
        // has none there: the filter's halo costs otherwise in each.
        if ((p && !which.halo.rows) || (q && !which.halo.columns)) continue;
        choice.flags = (p ? kInsideP : 0) | (q ? kInsideQ : 0);
      }
      if (!SetLoads(problem, *item, which, limits, &choice)) continue;
      choice.cost = w.utilisation * FactorUtilisation(problem, item->dim, item->prime,
                                                      level, which.halo) +
                    w.compute * (choice.spatial ? 0 : bits) +
                    w.traffic * bits *
                        FactorTraffic(item->dim, level, choice.spatial, which.inner);
      AddChoice(choice, limits.limit_count, item);
    }
  }
}

Status MakeCase(const FactorProblem& problem, const CaseOf& which, const Kinds& kinds,
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
  double bound;  // lower bound on its solutions
};

constexpr int kMaxCases = 16;  // four halos, each once relaxed and once per group

struct Driver {
  FactorProblem problem;
  Kinds kinds;
  Span<uint8_t> choices;
  Arena* arena;
  Budget* budget;
  FactorSolution* solution;
  Case cases[kMaxCases];
  int case_count;
  double best;
  size_t most_labels;
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
  SLUICE_TRY(
      SearchFactors({at->problem, at->multipliers, beat, width, driver->most_labels},
                    driver->arena, driver->budget, pick));
  driver->solution->labels += pick->labels;
  driver->stopped = driver->stopped || pick->stopped;
  if (!pick->found) return Status::kOk;
  const FactorAssignment assignment = AssignmentOf(at->problem, pick->choices);
  FactorValue value;
  uint8_t inner;
  ValueFactors(driver->problem, assignment, &value, &inner);
  if (value.objective < driver->best) {
    driver->best = value.objective;
    driver->solution->assignment = assignment;
    driver->solution->value = value;
    driver->solution->global_inner = inner;
  }
  return Status::kOk;
}

// Closes a case or raises its bound to `beat`. When no assignment reaches the relaxed
// optimum, cases for the three real innermost groups replace the case.
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

// Finds some solution, and tunes multipliers towards it.
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

// The number of labels to keep grows fast with the gap, so the value to beat rises in
// steps from the least bound; the first solution below it is the optimum of its case.
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
  which.rows_matter = layer.extent[kFactorR] > 1;
  which.columns_matter = layer.extent[kFactorS] > 1;
  const bool alike = layer.extent[kFactorR] == layer.extent[kFactorS] &&
                     layer.extent[kFactorP] == layer.extent[kFactorQ] &&
                     layer.stride_p == layer.stride_q;
  for (int index = 3; index >= 0; --index) {
    which.halo = {(index & 1) != 0, (index & 2) != 0};
    if (which.halo.rows && (!which.rows_matter || layer.extent[kFactorP] == 1))
      continue;
    if (which.halo.columns && (!which.columns_matter || layer.extent[kFactorQ] == 1)) {
      continue;
    }
    if (alike && index == 1) continue;  // the mirror image of 2
    SLUICE_TRY(AddCase(driver, which));
  }
  SLUICE_TRY(FindFirst(driver));
  return Deepen(driver);
}

}  // namespace

Status SolveFactorAssign(const FactorRequest& request, Arena* arena, Budget* budget,
                         FactorSolution* solution, Diagnostic* diagnostic) {
  *solution = FactorSolution{};
  ArenaScope scope(arena);
  const FactorProblem problem = {&request.layer, &request.machine, &request.weights};
  SLUICE_TRY(CheckFactorInput(problem, diagnostic));
  Span<Driver> room;  // too large for a small stack
  SLUICE_TRY(arena->Allocate(1, &room));
  Driver& driver = room[0];
  driver.problem = problem;
  driver.arena = arena;
  driver.budget = budget;
  driver.solution = solution;
  driver.best = kInfinity;
  driver.most_labels = request.most_labels;
  ListKinds(request.layer, &driver.kinds);
  SLUICE_TRY(arena->Allocate(driver.kinds.factors, &driver.choices));
  SLUICE_TRY(SearchAll(&driver));
  if (driver.best == kInfinity) {
    if (driver.stopped) {
      return Fail(diagnostic, Status::kStopped, kStage)
          .Text(
              "a limit or a cancel ended the call before the first factor assignment");
    }
    // All factors in DRAM always fit.
    return Fail(diagnostic, Status::kInternal, kStage).Text("no assignment found");
  }
  solution->lower_bound = driver.stopped ? LeastBound(driver) : driver.best;
  solution->proved = !driver.stopped;
  return Status::kOk;
}

}  // namespace sluice
