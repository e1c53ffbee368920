// SPDX-License-Identifier: Apache-2.0
// Chooses the chain of segments. Finds the best chain by the values known so far and
// prices its segments, until all segments of the best chain are priced.
#include "base/checked.h"
#include "solve/segments/value.h"

namespace sluice {

namespace {

constexpr int kWeightRounds = 3;  // for products: WeightsAt follows the best so far
// Machines and networks small enough for a complete search.
constexpr int64_t kFewNodes = 4;
constexpr size_t kFewLayers = 6;
constexpr uint64_t kMostPrices = 500;  // unless said otherwise, or two per layer
constexpr double kEnough = 1e-9;       // relative; smaller gains do not count

struct Search {
  Search(Space* s, Values* v, Budget* b, Diagnostic* d)
      : space(s), values(v), budget(b), diagnostic(d) {}
  Space* space;
  Values* values;
  Budget* budget;
  Diagnostic* diagnostic;
  Weights weights;
  Ranking ranking = Ranking::kEstimate;
  Span<double> best;      // of the layers before a position
  Span<uint32_t> by;      // run that ends there
  Span<uint32_t> chain;   // runs, last first
  Span<uint32_t> scheme;  // of each
  size_t length = 0;
  uint64_t limit = 0;  // calls of the pricer; 0: none
};

double Scalar(const Weights& weights, const SchemeValue& value) {
  if (value.infeasible) return kNoValue;
  return weights.per_pj * value.pj +
         weights.per_cycle * static_cast<double>(value.cycles);
}

void Revalue(Search* search, Run* run, uint32_t index) {
  SegmentScheme* scheme = &search->space->schemes[index];
  const SchemeValue value = ValueOf(*search->values, *run, *scheme, search->ranking);
  scheme->priced = value.priced || value.infeasible;
  scheme->value = Scalar(search->weights, value);
  if (!scheme->priced || scheme->value >= run->known_value) return;
  run->known = index;
  run->known_value = scheme->value;
}

void FindBest(Search* search, Run* run) {
  run->best = run->beyond;
  run->value = kNoValue;
  for (uint32_t i = run->schemes; i < run->beyond; ++i) {
    const SegmentScheme& scheme = search->space->schemes[i];
    if (scheme.value >= run->value) continue;
    run->best = i;
    run->value = scheme.value;
  }
}

// Prices raise values, so the least value is looked for again until it no longer
// changes.
void Settle(Search* search, Run* run) {
  for (;;) {
    FindBest(search, run);
    if (run->best == run->beyond) return;
    const double before = run->value;
    Revalue(search, run, run->best);
    run->value = search->space->schemes[run->best].value;
    if (run->value <= before) return;
  }
}

// Computes all values again for other weights or another ranking.
void RevalueAll(Search* search) {
  for (Run& run : search->space->runs) {
    run.known = run.beyond;
    run.known_value = kNoValue;
    for (uint32_t i = run.schemes; i < run.beyond; ++i) {
      if (search->budget->Exhausted() && run.stages > 0) {
        search->space->schemes[i].value = kNoValue;
        continue;
      }
      Revalue(search, &run, i);
    }
    FindBest(search, &run);
  }
}

// Finds the best chain, of priced schemes only or of all, and returns its value. Runs
// are in the order of their first layer.
double FindChain(Search* search, bool priced) {
  const Space& space = *search->space;
  const size_t n = space.layers.size();
  for (size_t i = 0; i <= n; ++i) search->best[i] = kNoValue;
  search->best[0] = 0;
  for (uint32_t r = 0; r < space.runs.size(); ++r) {
    const Run& run = space.runs[r];
    if ((priced ? run.known : run.best) == run.beyond) continue;
    const double value =
        search->best[run.first] + (priced ? run.known_value : run.value);
    if (value >= search->best[run.last]) continue;
    search->best[run.last] = value;
    search->by[run.last] = r;
  }
  search->length = 0;
  if (search->best[n] >= kNoValue) return kNoValue;
  for (uint32_t at = static_cast<uint32_t>(n); at > 0;) {
    const Run& run = space.runs[search->by[at]];
    search->chain[search->length] = search->by[at];
    search->scheme[search->length++] = priced ? run.known : run.best;
    at = run.first;
  }
  return search->best[n];
}

bool MayPrice(const Search& search) {
  return !search.budget->Exhausted() &&
         (search.limit == 0 || search.values->calls < search.limit);
}

// Prices a scheme's layers while its value stays below `limit`.
Status PriceScheme(Search* search, Run* run, uint32_t index, double limit) {
  const SegmentScheme& scheme = search->space->schemes[index];
  bool all = false;
  while (!all && scheme.value < limit && MayPrice(*search)) {
    SLUICE_TRY(PriceNext(search->values, *run, scheme, &all, search->diagnostic));
    Revalue(search, run, index);
  }
  return Status::kOk;
}

Status PriceSingles(Search* search) {
  for (Run& run : search->space->runs) {
    if (run.stages != 0) continue;
    bool all;
    SLUICE_TRY(PriceNext(search->values, run, search->space->schemes[run.schemes], &all,
                         search->diagnostic));
    Revalue(search, &run, run.schemes);
    FindBest(search, &run);
  }
  return Status::kOk;
}

// The cost of a run's layers one by one.
double SinglesOf(Span<const double> singles, const Run& run) {
  double sum = 0;
  for (uint32_t i = run.first; i < run.last; ++i) sum += singles[i];
  return sum;
}

// Prices the schemes of the chain with the least value, again and again, until no chain
// can be better than the best priced one. *complete is false when the budget or the
// limit ended it.
Status PriceChains(Search* search, Span<const double> singles, bool* complete) {
  Space& space = *search->space;
  const double gap = space.options.proof ? 0 : space.options.gap;
  *complete = false;
  for (;;) {
    const double best = FindChain(search, true);
    const double promise = FindChain(search, false);
    if (promise >= best * (1 - gap)) break;
    for (size_t k = 0; k < search->length; ++k) {
      Run* run = &space.runs[search->chain[k]];
      SegmentScheme* scheme = &space.schemes[run->best];
      if (scheme->priced) continue;
      if (!MayPrice(*search)) return Status::kOk;
      const double alone = SinglesOf(singles, *run) * (1 - kEnough);
      // A segment above this value is in no chain that beats the best.
      const double limit = Min(alone, scheme->value + (best - promise));
      SLUICE_TRY(PriceScheme(search, run, run->best, limit));
      if (!scheme->priced && scheme->value >= alone) scheme->value = kNoValue;
      Settle(search, run);
    }
  }
  *complete = true;
  return Status::kOk;
}

// ---- the published way ----

struct ChainEntry {
  double value;
  uint32_t run;
  uint32_t scheme;
  uint32_t previous;  // which of the entries at the run's first layer
};

// Marks the schemes of the k chains with the least estimates. Of each run and kind only
// the first scheme that may fit is looked at.
Status MarkTopChains(Search* search, uint32_t k, Span<uint8_t> wanted, Arena* arena) {
  Space& space = *search->space;
  const size_t n = space.layers.size();
  Span<ChainEntry> entries;
  SLUICE_TRY(arena->Allocate((n + 1) * k, &entries));
  for (ChainEntry& entry : entries) entry.value = kNoValue;
  entries[0].value = 0;
  for (uint32_t r = 0; r < space.runs.size(); ++r) {
    const Run& run = space.runs[r];
    bool seen[3] = {};
    for (uint32_t i = run.schemes; i < run.beyond; ++i) {
      const SegmentScheme& scheme = space.schemes[i];
      if (seen[static_cast<int>(scheme.kind)]) continue;
      seen[static_cast<int>(scheme.kind)] = true;
      const SchemeValue estimate =
          ValueOf(*search->values, run, scheme, Ranking::kPublished);
      for (uint32_t j = 0; j < k; ++j) {
        const ChainEntry& from = entries[size_t{run.first} * k + j];
        if (from.value >= kNoValue) break;
        ChainEntry entry = {from.value + Scalar(search->weights, estimate), r, i, j};
        ChainEntry* to = &entries[size_t{run.last} * k];
        for (uint32_t m = 0; m < k; ++m) {
          if (entry.value >= to[m].value) continue;
          const ChainEntry moved = to[m];
          to[m] = entry;
          entry = moved;
        }
      }
    }
  }
  for (uint32_t j = 0; j < k; ++j) {
    const ChainEntry* entry = &entries[n * k + j];
    for (size_t at = n; at > 0 && entry->value < kNoValue;) {
      wanted[entry->scheme] = 1;
      at = space.runs[entry->run].first;
      entry = &entries[at * k + entry->previous];
    }
  }
  return Status::kOk;
}

// Prices every scheme of the marked segments; stops at a scheme once it exceeds the
// best.
Status PriceTop(Search* search, uint32_t k, Arena* arena) {
  Space& space = *search->space;
  Span<uint8_t> wanted;
  SLUICE_TRY(arena->Allocate(space.schemes.size(), &wanted));
  SLUICE_TRY(MarkTopChains(search, k, wanted, arena));
  for (Run& run : space.runs) {
    if (run.stages == 0) continue;
    bool kind[3] = {};
    for (uint32_t i = run.schemes; i < run.beyond; ++i) {
      if (wanted[i] != 0) kind[static_cast<int>(space.schemes[i].kind)] = true;
    }
    double best = kNoValue;
    for (uint32_t i = run.schemes; i < run.beyond; ++i) {
      const SegmentScheme& scheme = space.schemes[i];
      if (!kind[static_cast<int>(scheme.kind)]) continue;
      SLUICE_TRY(PriceScheme(search, &run, i, best));
      if (scheme.priced) best = Min(best, scheme.value);
    }
  }
  return Status::kOk;
}

// ---- the result ----

void CostOfLayer(const MeshCost& mesh, SegmentCost* cost) {
  *cost = SegmentCost{};
  cost->operations_pj = mesh.layer.operations_pj;
  cost->registers_pj = mesh.registers_pj;
  cost->transfer_pj = mesh.layer.transfer_pj;
  cost->scratchpad_pj = mesh.scratchpad_pj;
  cost->dram_pj = mesh.dram_pj;
  cost->noc_pj = mesh.noc_pj;
  cost->dram_read_bytes = mesh.dram_read_bytes;
  cost->dram_write_bytes = mesh.dram_write_bytes;
}

Status WriteSegment(const Search& search, const Run& run, const SegmentScheme& scheme,
                    Arena* arena, Segment* segment) {
  const Space& space = *search.space;
  LayerRole role[kMaxRunLayers];
  const LayerPrice* price[kMaxRunLayers];
  if (!PricesOf(*search.values, run, scheme, role, price)) return Status::kInternal;
  const SchemeValue value = ValueOf(*search.values, run, scheme, search.ranking);
  segment->kind = scheme.kind;
  segment->begin = run.first;
  segment->top_batch = scheme.top_batch;
  segment->stages = scheme.kind == SegmentKind::kSpatial ? run.stages : 1;
  SLUICE_TRY(arena->Allocate(run.last - run.first, &segment->layers));
  segment->cost = SegmentCost{};
  for (uint32_t i = 0; i < run.last - run.first; ++i) {
    const SegmentLayer& from = space.layers[run.first + i];
    LayerOnNodes* layer = &segment->layers[i];
    layer->layer = from.layer;
    layer->stage = role[i].stage;
    layer->producer = role[i].producer == kNone ? kNone : role[i].producer - run.first;
    layer->consumers = role[i].consumers;
    layer->fetches = role[i].fetched > 0;
    layer->stores = role[i].stores;
    layer->region = role[i].query.region;
    layer->terms = role[i].query.terms;
    layer->split = price[i]->split;
    layer->nest = price[i]->nest;
    layer->kept = price[i]->kept;
    layer->problem = from.problem;
    layer->cost = price[i]->cost;
    MeshCost all = price[i]->cost;
    AddCrossings(space.hardware, from.problem, role[i], &all);
    SegmentCost cost;
    CostOfLayer(all, &cost);
    AddCost(cost, &segment->cost);
  }
  SegmentCost rest = {};
  rest.cycles = value.cycles;
  rest.leakage_pj = space.hardware.leakage_pj_per_cycle *
                    static_cast<double>(NodesOf(WholeMesh(space.hardware))) *
                    static_cast<double>(value.cycles);
  AddCost(rest, &segment->cost);
  segment->node_cycles = value.node_cycles;
  segment->dram_cycles = value.dram_cycles;
  return Status::kOk;
}

// The chain of the search, without its segments' layers.
SegmentCost CostOfChain(const Search& search) {
  SegmentCost cost = {};
  for (size_t k = 0; k < search.length; ++k) {
    const Run& run = search.space->runs[search.chain[k]];
    const SchemeValue value = ValueOf(
        *search.values, run, search.space->schemes[search.scheme[k]], search.ranking);
    cost.energy_pj += value.pj;
    cost.cycles += value.cycles;
  }
  return cost;
}

Status WriteSchedule(const Search& search, Span<const uint32_t> chain,
                     Span<const uint32_t> scheme, Arena* arena,
                     SegmentSchedule* schedule) {
  const Space& space = *search.space;
  SLUICE_TRY(arena->Allocate(space.layers.size(), &schedule->order));
  for (size_t i = 0; i < space.layers.size(); ++i) {
    schedule->order[i] = space.layers[i].layer;
  }
  SLUICE_TRY(arena->Allocate(chain.size(), &schedule->segments));
  schedule->cost = SegmentCost{};
  for (size_t k = 0; k < chain.size(); ++k) {
    Segment* segment = &schedule->segments[k];
    const size_t at = chain.size() - 1 - k;
    SLUICE_TRY(WriteSegment(search, space.runs[chain[at]], space.schemes[scheme[at]],
                            arena, segment));
    AddCost(segment->cost, &schedule->cost);
  }
  return Status::kOk;
}

// Remembers the best priced chain when it beats the best so far.
struct Incumbent {
  Span<uint32_t> chain;
  Span<uint32_t> scheme;
  size_t length = 0;
  double objective = kNoValue;
};

void TakeBest(Search* search, Incumbent* best) {
  FindChain(search, true);
  const double objective =
      SegmentObjective(search->space->options, CostOfChain(*search));
  if (search->length == 0 || objective >= best->objective * (1 - kEnough)) return;
  best->objective = objective;
  best->length = search->length;
  for (size_t k = 0; k < search->length; ++k) {
    best->chain[k] = search->chain[k];
    best->scheme[k] = search->scheme[k];
  }
}

// Weights of a linear objective: the objective itself if it counts only energy or only
// cycles, else its tangent at this cost.
Weights WeightsAt(const SegmentOptions& options, const SegmentCost& cost) {
  Weights weights;
  if (options.delay_exponent == 0) return weights;
  if (options.energy_exponent == 0) return Weights{0, 1};
  weights.per_pj = options.energy_exponent / Max(1.0, cost.energy_pj);
  weights.per_cycle =
      options.delay_exponent / Max(1.0, static_cast<double>(cost.cycles));
  return weights;
}

// Searches once for a better chain under the present weights.
Status Improve(Search* search, Span<double> singles, Incumbent* best, Arena* arena,
               bool* complete) {
  RevalueAll(search);
  for (const Run& run : search->space->runs) {
    if (run.stages == 0) singles[run.first] = run.value;
  }
  if (search->space->options.solver == SegmentSolver::kTopK) {
    const uint32_t k = Max(1u, Min(search->space->options.top_k, 64u));
    SLUICE_TRY(PriceTop(search, k, arena));
    *complete = true;
  } else {
    // The published first choice is priced first, because other segments are priced
    // only if they may beat it.
    if (search->ranking == Ranking::kEstimate) SLUICE_TRY(PriceTop(search, 1, arena));
    for (Run& run : search->space->runs) FindBest(search, &run);
    SLUICE_TRY(PriceChains(search, singles, complete));
  }
  TakeBest(search, best);
  return Status::kOk;
}

// A lower bound on every chain: the least energy and the least cycles, each by itself. 0
// where the budget has ended, even while it is computed: then segments are missing.
double BoundOf(Search* search) {
  if (search->budget->Exhausted()) return 0;
  const SegmentOptions& options = search->space->options;
  search->ranking = Ranking::kBound;
  SegmentCost least = {};
  if (options.energy_exponent > 0) {
    search->weights = Weights{1, 0};
    RevalueAll(search);
    least.energy_pj = FindChain(search, false);
  }
  if (options.delay_exponent > 0) {
    search->weights = Weights{0, 1};
    RevalueAll(search);
    least.cycles = static_cast<int64_t>(FindChain(search, false));
  }
  return search->budget->Exhausted() ? 0 : SegmentObjective(options, least);
}

Status AllocateSearch(Search* search, Incumbent* best, Arena* arena) {
  const size_t n = search->space->layers.size();
  SLUICE_TRY(arena->Allocate(n + 1, &search->best));
  SLUICE_TRY(arena->Allocate(n + 1, &search->by));
  SLUICE_TRY(arena->Allocate(n, &search->chain));
  SLUICE_TRY(arena->Allocate(n, &search->scheme));
  SLUICE_TRY(arena->Allocate(n, &best->chain));
  return arena->Allocate(n, &best->scheme);
}

}  // namespace

double SegmentObjective(const SegmentOptions& options, const SegmentCost& cost) {
  double objective = 1;
  for (uint32_t i = 0; i < options.energy_exponent; ++i) objective *= cost.energy_pj;
  for (uint32_t i = 0; i < options.delay_exponent; ++i) {
    objective *= static_cast<double>(cost.cycles);
  }
  return objective;
}

Status ChooseSegments(const SegmentRequest& request, Budget* budget, Arena* arena,
                      ChosenSegments* chosen, Diagnostic* diagnostic) {
  const Span<const SegmentLayer> layers = request.layers;
  const Hardware& hardware = request.hardware;
  const SegmentOptions& asked = request.options;
  *chosen = ChosenSegments{};
  SegmentOptions options = asked;
  // On small machines and networks a last round ranks by bounds even if no proof is
  // asked for.
  const bool small = !asked.proof && asked.solver == SegmentSolver::kChain &&
                     NodesOf(WholeMesh(hardware)) <= kFewNodes &&
                     layers.size() <= kFewLayers;
  options.proof |= small;
  if (options.max_priced == 0 && !asked.proof &&
      options.solver == SegmentSolver::kChain) {
    options.max_priced = Max(kMostPrices, uint64_t{2} * layers.size());
  }
  Arena memory(arena->memory());
  Space space(layers, hardware, options, &memory);
  SLUICE_TRY(MakeSpace(&space, budget, &memory, &chosen->counts));
  Values values(space, request.pricer, &memory);
  SLUICE_TRY(InitValues(&values));
  Search search(&space, &values, budget, diagnostic);
  Incumbent best;
  SLUICE_TRY(AllocateSearch(&search, &best, &memory));
  Span<double> singles;
  SLUICE_TRY(memory.Allocate(layers.size(), &singles));
  SLUICE_TRY(PriceSingles(&search));
  TakeBest(&search, &best);
  SegmentCost cost = CostOfChain(search);
  chosen->layers_cost = cost;
  chosen->layers_objective = best.objective;
  search.limit = options.max_priced == 0 ? 0 : values.calls + options.max_priced;
  search.ranking = asked.proof ? Ranking::kBound : Ranking::kEstimate;
  const bool product = options.energy_exponent > 0 && options.delay_exponent > 0;
  bool complete = true;
  for (int round = 0; round < (product ? kWeightRounds : 1); ++round) {
    if (options.solver == SegmentSolver::kLayers) break;
    search.weights = WeightsAt(options, cost);
    SLUICE_TRY(Improve(&search, singles, &best, &memory, &complete));
    cost = CostOfChain(search);
  }
  if (small && !product) {
    search.ranking = Ranking::kBound;
    SLUICE_TRY(Improve(&search, singles, &best, &memory, &complete));
  }
  for (const SegmentScheme& scheme : space.schemes)
    chosen->counts.priced += scheme.priced;
  chosen->counts.prices = values.calls;
  SLUICE_TRY(WriteSchedule(search, best.chain.Slice(0, best.length),
                           best.scheme.Slice(0, best.length), arena,
                           &chosen->schedule));
  chosen->schedule.objective = best.objective;
  chosen->schedule.bound = Min(best.objective, BoundOf(&search));
  chosen->proved = options.proof && complete && !product &&
                   options.solver == SegmentSolver::kChain &&
                   budget->stop_reason() == SLUICE_STOP_COMPLETE;
  return Status::kOk;
}

}  // namespace sluice
