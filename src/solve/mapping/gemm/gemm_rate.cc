// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/gemm/gemm_rate.h"

#include "base/checked.h"
#include "base/heap.h"
#include "solve/mapping/gemm/gemm_exact_node.h"
#include "solve/mapping/gemm/gemm_exact_space.h"

namespace sluice {
namespace {

constexpr double kInfinity = __builtin_huge_val();
// What is summed up per MAC: pJ, then the words of each memory.
constexpr int kSums = 4;

// Less is better; the second number decides between equal first ones.
struct Score {
  double first = kInfinity;
  double second = kInfinity;
};

bool Beats(const Score& a, const Score& b) {
  if (a.first < b.first * (1 - kGemmRounding)) return true;
  return a.first <= b.first && a.second < b.second * (1 - kGemmRounding);
}

struct Sums {
  double of[kSums];
};

struct RateSearch {
  const GemmRequest& request;
  Budget* budget;
  GemmMachine machine[kSums];  // on which the energy is that sum
  GemmSpace space[kSums];
  double macs;
  double leak;  // pJ per cycle
  Score best;
  GemmMapping mapping;
  int64_t nodes;
  bool stopped;
};

struct OpenSplit {
  Score bound;
  uint32_t split;
};

GemmMachine MachineOfSum(const GemmMachine& machine, int sum) {
  GemmMachine m = WithoutRates(machine);
  m.middle_leak_pj = m.inner_leak_pj = 0;
  if (sum == 0) return m;
  m.outer_read_pj = m.outer_write_pj = sum == 1 ? 1 : 0;
  m.middle_read_pj = m.middle_write_pj = sum == 2 ? 1 : 0;
  m.inner_read_pj = m.inner_write_pj = sum == 3 ? 1 : 0;
  m.mac_pj = 0;
  return m;
}

// The least score of mappings with at least these sums.
Score ScoreOf(const RateSearch& search, const Sums& sums, double per_pe) {
  double cycles = search.macs * per_pe;
  for (int m = 0; m < 3; ++m) {
    const Rational& rate = search.request.machine.bandwidth[m];
    if (rate.numerator == 0) continue;
    double words = search.macs * sums.of[1 + m];
    if (m == kGemmInner) words *= per_pe;
    const double time = words * static_cast<double>(rate.denominator) /
                        static_cast<double>(rate.numerator);
    // Whole cycles; a little less than the sum says may be one cycle less.
    cycles = Max(cycles, RoundUpToWhole(time * (1 - kGemmRounding)));
  }
  const double energy = search.macs * sums.of[0] + search.leak * cycles;
  switch (search.request.options.objective) {
    case GemmObjective::kEnergy:
      return {energy, cycles};
    case GemmObjective::kEnergyDelay:
      return {energy * cycles, energy};
    default:
      return {cycles, energy};
  }
}

Score ScoreOfCost(const RateSearch& search, const GemmCost& cost) {
  const double cycles = static_cast<double>(cost.cycles);
  switch (search.request.options.objective) {
    case GemmObjective::kEnergy:
      return {cost.energy_pj, cycles};
    case GemmObjective::kEnergyDelay:
      return {cost.energy_pj * cycles, cost.energy_pj};
    default:
      return {cycles, cost.energy_pj};
  }
}

void Attempt(RateSearch* search, const GemmMapping& mapping) {
  const GemmCost cost = EvaluateGemm(search->request.shape, search->request.machine,
                                     mapping, search->request.options.form);
  const Score score = ScoreOfCost(*search, cost);
  const Score& best = search->best;
  const bool better = score.first < best.first ||
                      (score.first == best.first && score.second < best.second);
  if (!better) return;
  search->best = score;
  search->mapping = mapping;
}

// One branch and split: sums = fixed + weights over the lengths of both tiles.
struct RateNode {
  const GemmBranch& branch;
  const GemmSplit& split;
  double fixed[kSums];
  double middle[kSums][kGemmAxes];
  double inner[kSums][kGemmAxes];
  double least_middle[kSums];
  bool middle_moves[kGemmAxes];
  bool inner_moves[kGemmAxes];
  uint32_t spatial[kGemmAxes];
  uint32_t inner_bound[kGemmAxes];
};

void AddTerms(const RateSearch& search, int sum, RateNode* node) {
  const GemmSpace& space = search.space[sum];
  const GemmBranch& branch = node->branch;
  for (int d = 0; d < kGemmAxes; ++d) {
    const bool in_middle = (branch.middle_holds >> d & 1) != 0;
    const bool in_inner = (branch.inner_holds >> d & 1) != 0;
    const uint32_t s = node->spatial[d];
    const bool stays = branch.stays && d == branch.walk_outer;
    const DatumTerms outer =
        OuterTerms(space, d, in_middle, !branch.stays && d == branch.walk_outer);
    const DatumTerms inner =
        InnerTerms(space, d, in_middle, in_inner,
                   stays || (!branch.stays && d == branch.walk_middle), s);
    node->fixed[sum] += outer.fixed + inner.fixed;
    if (stays) {  // once over the whole extent
      node->fixed[sum] +=
          inner.middle_weight / static_cast<double>(search.request.shape.extent[d]);
    } else if (branch.stays) {  // the middle tile is that of all PEs
      node->inner[sum][d] =
          outer.middle_weight / static_cast<double>(s) + inner.inner_weight;
    } else {
      node->middle[sum][d] = outer.middle_weight + inner.middle_weight;
      node->inner[sum][d] = inner.inner_weight;
    }
  }
}

RateNode MakeRateNode(const RateSearch& search, const GemmBranch& branch,
                      const GemmSplit& split) {
  RateNode node = {branch, split, {}, {}, {}, {}, {}, {}, {}, {}};
  for (int d = 0; d < kGemmAxes; ++d) {
    node.spatial[d] = search.space[0].spatial[d][split.index[d]];
    node.inner_bound[d] =
        static_cast<uint32_t>(search.request.shape.extent[d]) / node.spatial[d];
  }
  for (int sum = 0; sum < kSums; ++sum) {
    AddTerms(search, sum, &node);
    for (int d = 0; d < kGemmAxes; ++d) {
      node.middle_moves[d] = node.middle_moves[d] || node.middle[sum][d] > 0;
      node.inner_moves[d] = node.inner_moves[d] || node.inner[sum][d] > 0;
    }
    if (branch.stays) continue;
    TileProblem problem = {};
    problem.holds = branch.middle_holds;
    problem.words = search.request.machine.middle_words;
    for (int d = 0; d < kGemmAxes; ++d) {
      problem.weight[d] = node.middle[sum][d];
      problem.step[d] = node.spatial[d];
      problem.bound[d] = static_cast<uint32_t>(search.request.shape.extent[d]);
    }
    uint32_t best[kGemmAxes];
    node.least_middle[sum] =
        BestTile(search.space[0].divisors, problem, search.space[0].scratch, best);
  }
  return node;
}

Sums Add(const Sums& sums, const double weight[kSums][kGemmAxes], int d,
         uint32_t length) {
  Sums more = sums;
  for (int i = 0; i < kSums; ++i) {
    more.of[i] += weight[i][d] / static_cast<double>(length);
  }
  return more;
}

// Middle tiles above one inner tile; of the third axis the longest that fits, because
// no sum rises with it.
void TryMiddles(RateSearch* search, const RateNode& node, const Sums& below,
                GemmTiles* tiles) {
  const Span<const uint32_t>* divisors = search->space[0].divisors;
  uint32_t step[kGemmAxes];
  for (int d = 0; d < kGemmAxes; ++d) step[d] = node.spatial[d] * tiles->inner[d];
  const auto allowed = [&](int d, uint32_t length) {
    return node.middle_moves[d] ? length % step[d] == 0 : length == step[d];
  };
  for (const uint32_t x : divisors[0]) {
    if (!allowed(0, x)) continue;
    const Sums sums_x = Add(below, node.middle, 0, x);
    for (const uint32_t y : divisors[1]) {
      if (!allowed(1, y)) continue;
      const Sums sums_y = Add(sums_x, node.middle, 1, y);
      for (size_t i = divisors[2].size(); i > 0; --i) {
        const uint32_t z = divisors[2][i - 1];
        if (!allowed(2, z)) continue;
        const uint32_t tile[kGemmAxes] = {x, y, z};
        if (!TileFits(tile, node.branch.middle_holds,
                      search->request.machine.middle_words)) {
          continue;
        }
        const Sums sums = Add(sums_y, node.middle, 2, z);
        if (Beats(ScoreOf(*search, sums, node.split.per_pe), search->best)) {
          for (int d = 0; d < kGemmAxes; ++d) tiles->middle[d] = tile[d];
          Attempt(search, MappingOf(search->space[0], node.branch, node.split, *tiles));
        }
        break;
      }
    }
    search->stopped = search->stopped || search->budget->Tick();
    if (search->stopped) return;
  }
}

void TryInner(RateSearch* search, const RateNode& node, const Sums& sums,
              GemmTiles* tiles) {
  const GemmMachine& machine = search->request.machine;
  if (!TileFits(tiles->inner, node.branch.inner_holds, machine.inner_words)) return;
  if (node.branch.stays) {
    for (int d = 0; d < kGemmAxes; ++d) {
      tiles->middle[d] = node.spatial[d] * tiles->inner[d];
    }
    if (TileFits(tiles->middle, node.branch.middle_holds, machine.middle_words) &&
        Beats(ScoreOf(*search, sums, node.split.per_pe), search->best)) {
      Attempt(search, MappingOf(search->space[0], node.branch, node.split, *tiles));
    }
    return;
  }
  Sums least = sums;
  for (int i = 0; i < kSums; ++i) least.of[i] += node.least_middle[i];
  if (!Beats(ScoreOf(*search, least, node.split.per_pe), search->best)) return;
  TryMiddles(search, node, sums, tiles);
}

void VisitNode(RateSearch* search, const GemmBranch& branch, const GemmSplit& split) {
  ++search->nodes;
  const RateNode node = MakeRateNode(*search, branch, split);
  Sums fixed;
  for (int i = 0; i < kSums; ++i) fixed.of[i] = node.fixed[i];
  const auto allowed = [&](int d, uint32_t length) {
    return node.inner_moves[d] ? node.inner_bound[d] % length == 0 : length == 1;
  };
  const Span<const uint32_t>* divisors = search->space[0].divisors;
  GemmTiles tiles;
  // Long tiles first: they are the better ones.
  for (size_t i = divisors[0].size(); i > 0; --i) {
    if (!allowed(0, tiles.inner[0] = divisors[0][i - 1])) continue;
    const Sums sums_x = Add(fixed, node.inner, 0, tiles.inner[0]);
    for (size_t j = divisors[1].size(); j > 0; --j) {
      if (!allowed(1, tiles.inner[1] = divisors[1][j - 1])) continue;
      const Sums sums_y = Add(sums_x, node.inner, 1, tiles.inner[1]);
      for (size_t k = divisors[2].size(); k > 0; --k) {
        if (!allowed(2, tiles.inner[2] = divisors[2][k - 1])) continue;
        TryInner(search, node, Add(sums_y, node.inner, 2, tiles.inner[2]), &tiles);
        if (search->stopped) return;
      }
    }
  }
}

Score BoundOfSplit(RateSearch* search, size_t branch, const GemmSplit& split) {
  Sums sums;
  for (int i = 0; i < kSums; ++i) {
    GemmSpace* space = &search->space[i];
    sums.of[i] = SplitBound(space, space->branches[branch], split);
  }
  return ScoreOf(*search, sums, split.per_pe);
}

bool Less(const OpenSplit& a, const OpenSplit& b) {
  if (a.bound.first != b.bound.first) return a.bound.first < b.bound.first;
  if (a.bound.second != b.bound.second) return a.bound.second < b.bound.second;
  return a.split < b.split;
}

void VisitBranch(RateSearch* search, size_t index, Span<OpenSplit> room) {
  const GemmSpace& space = search->space[0];
  size_t count = 0;
  for (size_t i = 0; i < space.splits.size() && !search->stopped; ++i) {
    const Score bound = BoundOfSplit(search, index, space.splits[i]);
    search->stopped = search->budget->Tick();
    if (Beats(bound, search->best)) room[count++] = {bound, static_cast<uint32_t>(i)};
  }
  Span<OpenSplit> heap = room.Slice(0, count);
  MakeHeap(heap, Less);
  while (!heap.empty() && !search->stopped && Beats(heap[0].bound, search->best)) {
    VisitNode(search, space.branches[index], space.splits[heap[0].split]);
    PopHeap(&heap, Less);
  }
}

// Branches by the energy that they have at least.
Status SearchRates(RateSearch* search, Arena* arena, Diagnostic* diagnostic) {
  GemmExactOptions options = search->request.options;
  // Where memories limit, fewer PEs than most may be as fast, with less energy.
  const bool most =
      options.objective == GemmObjective::kDelay && options.pe_use == GemmPeUse::kExact;
  options.objective = most ? GemmObjective::kDelay : GemmObjective::kEnergy;
  for (int i = 0; i < kSums; ++i) {
    search->machine[i] = MachineOfSum(search->request.machine, i);
    SLUICE_TRY(BuildGemmSpace({search->request.shape, search->machine[i], options},
                              arena, search->budget, &search->space[i], diagnostic));
  }
  const Span<GemmBranch> branches = search->space[0].branches;
  Span<OpenSplit> room;
  SLUICE_TRY(arena->Allocate(search->space[0].splits.size(), &room));
  Span<uint8_t> order;
  SLUICE_TRY(arena->Allocate(branches.size(), &order));
  SortBranches(branches, order);
  for (const uint8_t index : order) {
    if (search->stopped) break;
    VisitBranch(search, index, room);
  }
  return Status::kOk;
}

double ObjectiveOf(const GemmRequest& request, const GemmCost& cost) {
  if (request.options.objective != GemmObjective::kEnergyDelay) {
    return cost.energy_pj_per_mac;
  }
  if (cost.cycles == cost.compute_cycles) {
    return cost.energy_pj_per_mac / static_cast<double>(cost.pe_used);
  }
  return cost.energy_pj_per_mac * static_cast<double>(cost.cycles) /
         static_cast<double>(cost.macs);
}

}  // namespace

GemmMachine WithoutRates(const GemmMachine& machine) {
  GemmMachine without = machine;
  for (Rational& rate : without.bandwidth) rate = Rational{0, 1};
  return without;
}

Status SolveGemmRates(const GemmRequest& request, Arena* arena, Budget* budget,
                      GemmSolution* solution, bool* limited, Diagnostic* diagnostic) {
  SLUICE_TRY(CheckGemm(request.shape, request.machine, diagnostic));
  const GemmMachine plain = WithoutRates(request.machine);
  SLUICE_TRY(SolveGemmExact({request.shape, plain, request.options}, arena, budget,
                            solution, diagnostic));
  solution->cost = EvaluateGemm(request.shape, request.machine, solution->mapping,
                                request.options.form);
  // Without bandwidths no mapping is better than this one. If no memory limits it, it
  // is optimal with bandwidths too.
  *limited = solution->cost.cycles != solution->cost.compute_cycles;
  if (!*limited) return Status::kOk;
  ArenaScope scope(arena);
  RateSearch search = {request, budget, {}, {}, 0, 0, {}, {}, 0, false};
  search.macs = static_cast<double>(solution->cost.macs);
  search.leak =
      request.machine.middle_leak_pj +
      request.machine.inner_leak_pj * static_cast<double>(request.machine.pe_count);
  Attempt(&search, solution->mapping);
  search.stopped = !solution->proved;
  SLUICE_TRY(SearchRates(&search, arena, diagnostic));
  const double bound = solution->lower_bound;  // without bandwidths
  solution->mapping = search.mapping;
  solution->cost = EvaluateGemm(request.shape, request.machine, search.mapping,
                                request.options.form);
  solution->objective = ObjectiveOf(request, solution->cost);
  solution->proved = !search.stopped;
  solution->lower_bound =
      search.stopped ? Min(bound, solution->objective) : solution->objective;
  solution->nodes += search.nodes;
  return Status::kOk;
}

}  // namespace sluice
