// SPDX-License-Identifier: Apache-2.0
// Algorithm 1: schemes of the array's unit tensors, stacking and caching, on one node
// and on several.
#include "base/checked.h"
#include "solve/mapping/mesh/node_parallel.h"

namespace sluice {

namespace {

struct Greedy {
  const MappingProblem* problem;
  const Hardware* hardware;
  const KaplaOptions* options;
  LoopNest nest;
  int64_t left[kDims];  // loop counts not yet given to a level
};

// How a layer is dealt out over a region, and what one node gets.
struct Deal {
  NodeRegion region;
  NodeSplit split;
  MappingProblem part;
};

// Loop groups, as in KAPLA's loops over batch and outputs, K, and C; G stays outermost.
enum Loop : uint32_t { kRows = 0, kChannels, kSum, kLoops };
constexpr uint32_t kLoopDims[kLoops][3] = {
    {kDimQ, kDimP, kDimN}, {kDimK, kDimK, kDimK}, {kDimC, kDimC, kDimC}};
constexpr size_t kMostLevels = 4;  // that the published method knows
constexpr uint32_t kTaps[] = {kDimR, kDimS};
constexpr int kLoopDimCount[kLoops] = {3, 1, 1};
// The loop that does not move an operand.
constexpr uint32_t kUnmoved[kOperands] = {kChannels, kRows, kSum};
constexpr uint32_t kPermutations[6][kLoops] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                               {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

int64_t LoopCount(const Greedy& greedy, uint32_t loop) {
  int64_t count = 1;
  for (int i = 0; i < kLoopDimCount[loop]; ++i) {
    count *= greedy.left[kLoopDims[loop][i]];
  }
  return count;
}

int64_t CommonDivisor(int64_t a, int64_t b) {
  while (b != 0) {
    const int64_t r = a % b;
    a = b;
    b = r;
  }
  return a;
}

// Gives `factor`, a divisor of the loop's count, to its dims, the first one first.
void Grow(Greedy* greedy, uint32_t level, uint32_t loop, int64_t factor) {
  for (int i = 0; i < kLoopDimCount[loop]; ++i) {
    const uint32_t d = kLoopDims[loop][i];
    const int64_t part = CommonDivisor(factor, greedy->left[d]);
    greedy->nest.temporal[level][d] *= part;
    greedy->left[d] /= part;
    factor /= part;
  }
}

// Words of the operand moved across a level once all loops left are outside; outputs
// count twice.
double RefetchVolume(const Greedy& greedy, uint32_t level, uint32_t operand,
                     uint32_t innermost) {
  if (!Has(*greedy.problem, operand)) return 0;
  int64_t tile[kDims];
  TileExtents(greedy.nest, static_cast<int>(level), tile);
  for (uint32_t d = 0; d < kDims; ++d) {
    tile[d] = Min(tile[d], greedy.problem->extent[d]);
  }
  double volume = static_cast<double>(TileWords(*greedy.problem, operand, tile));
  for (uint32_t loop = 0; loop < kLoops; ++loop) {
    if (loop == kUnmoved[operand] && loop == innermost) continue;
    volume *= static_cast<double>(LoopCount(greedy, loop));
  }
  return operand == kOutput ? 2 * volume : volume;
}

double RefetchSum(const Greedy& greedy, uint32_t level, uint32_t innermost) {
  double sum = 0;
  for (uint32_t v = 0; v < kOperands; ++v) {
    sum += RefetchVolume(greedy, level, v, innermost);
  }
  return sum;
}

int64_t SmallestPrime(int64_t n) {
  for (int64_t p = 2; p <= n / p; ++p) {
    if (n % p == 0) return p;
  }
  return n;
}

void StackDim(Greedy* greedy, uint32_t axis, uint32_t dim, int64_t factor) {
  greedy->nest.spatial[1][axis][dim] *= factor;
  greedy->left[dim] = CeilDivide(greedy->left[dim], factor);
}

// The dim of the loop to spread over `factor` more units of the axis, or kDims.
uint32_t StackableDim(const Greedy& greedy, const Fanout& fanout, uint32_t loop,
                      int64_t factor) {
  for (int i = 0; i < kLoopDimCount[loop]; ++i) {
    const uint32_t d = kLoopDims[loop][i];
    if (MayUnroll(fanout, d) && greedy.left[d] % factor == 0) return d;
  }
  return kDims;
}

// Gives spare units, one prime at a time, to the operand with the largest refetch
// volume.
void Stack(Greedy* greedy, uint32_t innermost) {
  for (uint32_t axis = 0; axis < kMaxAxes; ++axis) {
    const Fanout* fanout = FanoutAt(*greedy->hardware, 1, axis);
    if (fanout == nullptr) return;
    int64_t used = 1;
    for (uint32_t d = 0; d < kDims; ++d) used *= greedy->nest.spatial[1][axis][d];
    int64_t spare = int64_t{fanout->extent} / used;
    while (spare > 1) {
      const int64_t prime = SmallestPrime(spare);
      spare /= prime;
      uint32_t best = kDims;
      double most = -1;
      for (uint32_t v = 0; v < kOperands; ++v) {
        if (kUnmoved[v] == innermost) continue;
        const uint32_t d = StackableDim(*greedy, *fanout, kUnmoved[v], prime);
        const double volume = RefetchVolume(*greedy, 0, v, innermost);
        if (d == kDims || volume <= most) continue;
        most = volume;
        best = d;
      }
      if (best == kDims) best = StackableDim(*greedy, *fanout, innermost, prime);
      if (best != kDims) StackDim(greedy, axis, best, prime);
    }
  }
}

// Whether the tile of a level fits it.
bool Fits(const Greedy& greedy, uint32_t level) {
  int64_t bytes[kOperands];
  Diagnostic ignored;
  if (LevelBytes(*greedy.problem, greedy.nest, level,
                 greedy.options->constraints.resident, bytes,
                 &ignored) != Status::kOk) {
    return false;
  }
  MemoryLevel memory = greedy.hardware->levels[level];
  memory.capacity_bytes -= memory.capacity_bytes / 100;
  return FitsLevel(memory, bytes);
}

// Grows the two outer loops by divisors, the first best pair; then the innermost by
// primes.
void Cache(Greedy* greedy, uint32_t level, uint32_t innermost) {
  const uint32_t a = (innermost + 1) % kLoops, b = (innermost + 2) % kLoops;
  const Greedy before = *greedy;
  Greedy best = *greedy;
  double least = RefetchSum(*greedy, level, innermost);
  const int64_t count_a = LoopCount(before, a), count_b = LoopCount(before, b);
  constexpr int64_t kMostTried = 1 << 16;  // divisors above are left alone
  for (int64_t fa = 1; fa <= Min(count_a, kMostTried); ++fa) {
    if (count_a % fa != 0) continue;
    Greedy first = before;
    Grow(&first, level, a, fa);
    if (!Fits(first, level)) break;
    for (int64_t fb = 1; fb <= Min(count_b, kMostTried); ++fb) {
      if (count_b % fb != 0) continue;
      Greedy second = first;
      Grow(&second, level, b, fb);
      if (!Fits(second, level)) break;
      const double sum = RefetchSum(second, level, innermost);
      if (sum >= least) continue;
      least = sum;
      best = second;
    }
  }
  *greedy = best;
  while (LoopCount(*greedy, innermost) > 1) {
    Greedy grown = *greedy;
    Grow(&grown, level, innermost, SmallestPrime(LoopCount(*greedy, innermost)));
    if (!Fits(grown, level)) return;
    *greedy = grown;
  }
}

void SetOrder(LoopNest* nest, uint32_t level, const uint32_t loops[kLoops],
              Dataflow dataflow) {
  int n = 0;
  uint8_t* order = nest->order[level];
  const bool rows_first = dataflow == Dataflow::kRowStationary && level == 1;
  // A row-stationary pass slides along the output row before anything else.
  if (rows_first) order[n++] = kDimQ;
  order[n++] = kDimS;
  order[n++] = kDimR;
  for (uint32_t i = 0; i < kLoops; ++i) {
    for (int j = 0; j < kLoopDimCount[loops[i]]; ++j) {
      const uint32_t d = kLoopDims[loops[i]][j];
      if (rows_first && d == kDimQ) continue;
      order[n++] = static_cast<uint8_t>(d);
    }
  }
  order[n] = kDimG;
}

// Spreads a dim over as much of an axis as it fills.
void Spread(Greedy* greedy, uint32_t axis, uint32_t dim) {
  const Fanout* fanout = FanoutAt(*greedy->hardware, 1, axis);
  if (fanout == nullptr || !MayUnroll(*fanout, dim)) return;
  int64_t used = 1;
  for (uint32_t d = 0; d < kDims; ++d) used *= greedy->nest.spatial[1][axis][d];
  const int64_t units = int64_t{fanout->extent} / used;
  if (units < 2 || greedy->left[dim] < 2) return;
  const int64_t passes = CeilDivide(greedy->left[dim], units);
  const int64_t factor = CeilDivide(greedy->left[dim], passes);
  if (factor > 1) StackDim(greedy, axis, dim, factor);
}

constexpr uint32_t kNodeLoopDims[kLoops][3] = {
    {kDimN, kDimP, kDimQ}, {kDimK, kDimG, kDimG}, {kDimC, kDimC, kDimC}};

void DealDim(Greedy* greedy, Deal* deal, uint32_t axis, uint32_t dim, int64_t factor) {
  uint8_t* order = deal->split.order[axis];
  if (deal->split.factor[axis][dim] == 1) {  // after the dims chosen before
    uint32_t chosen = 0, at = 0;
    for (uint32_t d = 0; d < kDims; ++d) chosen += deal->split.factor[axis][d] > 1;
    while (order[at] != dim) ++at;
    for (; at > chosen; --at) order[at] = order[at - 1];
    order[chosen] = static_cast<uint8_t>(dim);
  }
  deal->split.factor[axis][dim] *= static_cast<int32_t>(factor);
  greedy->left[dim] = CeilDivide(greedy->left[dim], factor);
}

// The dim of the loop that `factor` divides; `all` counts what is left of the loop.
uint32_t DealableDim(const Greedy& greedy, uint32_t loop, int64_t factor,
                     int64_t* all) {
  uint32_t found = kDims;
  *all = 1;
  for (const uint32_t d : kNodeLoopDims[loop]) {
    *all *= greedy.left[d];
    if (found == kDims && greedy.left[d] % factor == 0) found = d;
  }
  return found;
}

// The dim that moves least when cut into `factor` parts that need not be equal.
uint32_t LeastWasteful(const Greedy& greedy, int64_t factor, uint32_t innermost) {
  uint32_t best = kDims;
  double least = -1;
  constexpr uint32_t kDealt[] = {kDimN, kDimP, kDimQ, kDimK, kDimG, kDimC};
  for (const uint32_t d : kDealt) {
    if (greedy.left[d] == 1) continue;
    Greedy tried = greedy;
    tried.left[d] = CeilDivide(tried.left[d], factor);
    const double sum = RefetchSum(tried, 1, innermost);
    if (least >= 0 && sum >= least) continue;
    least = sum;
    best = d;
  }
  return best;
}

// Gives nodes, one prime at a time, to the unmoved loop of the operand with the largest
// refetch volume; when that loop is used up, to the innermost loop.
void StackNodes(Greedy* greedy, Deal* deal, uint32_t innermost) {
  for (uint32_t axis = 0; axis < kMeshAxes; ++axis) {
    int64_t spare = deal->region.extent[axis];
    while (spare > 1) {
      const int64_t prime = SmallestPrime(spare);
      spare /= prime;
      uint32_t wanted = kLoops;
      double most = -1;
      int64_t all = 0;
      for (uint32_t v = 0; v < kOperands; ++v) {
        if (kUnmoved[v] == innermost || !Has(*greedy->problem, v)) continue;
        DealableDim(*greedy, kUnmoved[v], prime, &all);
        const double volume = RefetchVolume(*greedy, 1, v, innermost);
        if (all == 1 || volume <= most) continue;
        most = volume;
        wanted = kUnmoved[v];
      }
      if (wanted == kLoops) wanted = innermost;
      uint32_t dim = DealableDim(*greedy, wanted, prime, &all);
      if (dim == kDims) dim = LeastWasteful(*greedy, prime, innermost);
      if (dim != kDims) DealDim(greedy, deal, axis, dim, prime);
    }
  }
}

// What one pass of the array computes.
void MakeUnit(Greedy* greedy) {
  greedy->nest = EmptyNest(*greedy->hardware, *greedy->problem);
  for (uint32_t d = 0; d < kDims; ++d) greedy->left[d] = greedy->problem->extent[d];
  if (greedy->options->dataflow == Dataflow::kRowStationary) {
    greedy->nest.temporal[0][kDimS] = greedy->left[kDimS];
    greedy->left[kDimS] = 1;
    Spread(greedy, 0, kDimR);
    Spread(greedy, 1, kDimP);
    greedy->nest.temporal[1][kDimR] = greedy->left[kDimR];
    greedy->left[kDimR] = 1;
    greedy->nest.temporal[1][kDimQ] = greedy->left[kDimQ];  // one pass is a whole row
    greedy->left[kDimQ] = 1;
    return;
  }
  Spread(greedy, 0, kDimQ);
  Spread(greedy, 0, kDimP);
  Spread(greedy, 1, kDimK);
  Spread(greedy, 1, kDimG);
  for (const uint32_t d : kTaps) {
    greedy->nest.temporal[1][d] = greedy->left[d];
    greedy->left[d] = 1;
  }
}

Status FailUnit(const Greedy& greedy, uint32_t level, Diagnostic* diagnostic) {
  int64_t bytes[kOperands];
  SLUICE_TRY(LevelBytes(*greedy.problem, greedy.nest, level,
                        greedy.options->constraints.resident, bytes, diagnostic));
  const int64_t total = bytes[0] + bytes[1] + bytes[2];
  const int64_t capacity = greedy.hardware->levels[level].capacity_bytes;
  return Fail(diagnostic, Status::kInfeasible, "mapping")
      .Say("the unit tensor needs # bytes of level #, which has #", total, level,
           capacity)
      .Bytes(static_cast<uint64_t>(total), static_cast<uint64_t>(capacity));
}

// Whether the scratchpad's tile is the one that the constraints ask for.
bool KeepsTopTile(const Greedy& greedy) {
  int64_t tile[kDims];
  TileExtents(greedy.nest, static_cast<int>(greedy.nest.levels) - 2, tile);
  for (uint32_t d = 0; d < kDims; ++d) {
    const int64_t top = greedy.options->constraints.top_tile[d];
    const int64_t extent = greedy.problem->extent[d];
    if (top != 0 && Min(tile[d], extent) != Min(top, extent)) return false;
  }
  return true;
}

// One scheme for one choice of an order per level above the registers. orders: in base
// 6, the level nearest the array first. deal: nullptr for one node.
void BuildScheme(Greedy* greedy, uint32_t orders, Deal* deal) {
  const uint32_t outermost = greedy->nest.levels - 1;
  for (uint32_t l = 0; l < outermost; ++l) {
    const uint32_t* loops = kPermutations[orders % 6];
    orders /= 6;
    SetOrder(&greedy->nest, l + 1, loops, greedy->options->dataflow);
    if (l == 0) Stack(greedy, loops[0]);
    if (deal != nullptr && l + 1 == outermost) {
      StackNodes(greedy, deal, loops[0]);
      deal->part = PartOf(*greedy->problem, deal->split);
      greedy->problem = &deal->part;
    }
    Cache(greedy, l, loops[0]);
  }
  for (uint32_t d = 0; d < kDims; ++d) {
    greedy->nest.temporal[outermost][d] *= greedy->left[d];
    greedy->left[d] = 1;
  }
}

Status CheckInput(const MappingProblem& problem, const Hardware& hardware,
                  Diagnostic* diagnostic) {
  SLUICE_TRY(CheckProblem(problem, diagnostic));
  SLUICE_TRY(CheckHierarchy(hardware, diagnostic));
  if (hardware.levels.size() <= kMostLevels) return Status::kOk;
  return Fail(diagnostic, Status::kUnsupported, "mapping")
      .Say("the greedy mapper takes at most 4 levels, not #", hardware.levels.size());
}

}  // namespace

Status MapKaplaGreedy(const KaplaRequest& request, Budget* budget, MappedNest* mapped,
                      Diagnostic* diagnostic) {
  const MappingProblem& problem = request.problem;
  const Hardware& hardware = request.hardware;
  const KaplaOptions& options = request.options;
  SLUICE_TRY(CheckInput(problem, hardware, diagnostic));
  const uint32_t levels = static_cast<uint32_t>(hardware.levels.size());
  Greedy unit = {&problem, &hardware, &options, {}, {}};
  MakeUnit(&unit);
  for (uint32_t l = 0; l + 1 < levels; ++l) {
    if (!Fits(unit, l)) return FailUnit(unit, l, diagnostic);
  }
  uint32_t schemes = 1;
  for (uint32_t l = 1; l < levels; ++l) schemes *= 6;
  CostOptions cost_options;
  cost_options.resident = options.constraints.resident;
  double least = -1;
  mapped->evaluated = 0;
  for (uint32_t orders = 0; orders < schemes && !budget->Exhausted(); ++orders) {
    Greedy greedy = unit;
    BuildScheme(&greedy, orders, nullptr);
    LayerCost cost;
    if (!KeepsTopTile(greedy) ||
        EvaluateNest(problem, hardware, greedy.nest, cost_options, &cost, diagnostic) !=
            Status::kOk) {
      continue;
    }
    ++mapped->evaluated;
    const double dynamic =
        MapObjective(options.constraints, cost.energy_pj - cost.leakage_pj,
                     static_cast<double>(cost.cycles));
    if (least >= 0 && dynamic >= least) continue;
    least = dynamic;
    mapped->nest = greedy.nest;
    mapped->cost = cost;
  }
  if (least < 0) {
    if (budget->Exhausted()) {
      return Fail(diagnostic, Status::kStopped, "mapping")
          .Text("a limit or a cancel ended the call before any nest was found");
    }
    return Fail(diagnostic, Status::kInfeasible, "mapping")
        .Say("none of # greedy schemes meets the constraints", schemes);
  }
  mapped->objective = MapObjective(options.constraints, mapped->cost.energy_pj,
                                   static_cast<double>(mapped->cost.cycles));
  mapped->bound = 0;
  mapped->proved = false;
  return Status::kOk;
}

namespace {

// Which schemes on nodes are tried.
struct Trial {
  const MappingProblem& pass;  // problem of one pass
  uint32_t kept;               // operands that lie whole in the scratchpads
  bool idle;                   // nodes may be left idle
};

// The best of the schemes. *least: the best objective so far; false: no scheme is
// better.
bool TryKept(const NodeRequest& request, const Trial& trial, Budget* budget,
             double* least, NodeMapping* mapped) {
  const Hardware& hardware = request.hardware;
  const NodeParallelOptions& options = request.options;
  const uint32_t kept = trial.kept;
  KaplaOptions node = options.node;
  node.constraints.resident = kept;
  Greedy unit = {&trial.pass, &hardware, &node, {}, {}};
  MakeUnit(&unit);
  uint32_t schemes = 1;
  for (size_t l = 1; l < hardware.levels.size(); ++l) schemes *= 6;
  CostOptions cost_options;
  cost_options.resident = kept;
  bool found = false;
  for (uint32_t orders = 0; orders < schemes && !budget->Exhausted(); ++orders) {
    Greedy greedy = unit;
    Deal deal = {request.region, WholeOnEach(), {}};
    BuildScheme(&greedy, orders, &deal);
    MeshCost cost;
    Diagnostic ignored = {};
    if ((!trial.idle && NodesUsed(deal.split) < NodesOf(request.region)) ||
        EvaluateOnMesh(
            {request.problem, hardware, request.region, deal.split, options.terms},
            greedy.nest, cost_options, &cost, &ignored) != Status::kOk) {
      continue;
    }
    ++mapped->solved;
    const double dynamic =
        MapObjective(node.constraints, cost.layer.energy_pj - cost.layer.leakage_pj,
                     static_cast<double>(cost.layer.cycles));
    if (*least >= 0 && dynamic >= *least) continue;
    *least = dynamic;
    found = true;
    mapped->split = deal.split;
    mapped->nest = greedy.nest;
    mapped->kept = kept;
    mapped->cost = cost;
  }
  return found;
}

}  // namespace

Status MapGreedyOnNodes(const NodeRequest& request, Budget* budget, NodeMapping* mapped,
                        Diagnostic* diagnostic) {
  const MappingProblem& problem = request.problem;
  const Hardware& hardware = request.hardware;
  const NodeParallelOptions& options = request.options;
  SLUICE_TRY(CheckInput(problem, hardware, diagnostic));
  int64_t passes[kDims];
  SLUICE_TRY(PassesOf(problem, options.terms, passes, diagnostic));
  const MappingProblem pass = PassOf(problem, passes);
  const uint32_t kept = KeptOperands(options.terms, passes);
  *mapped = NodeMapping{};
  double least = -1;
  // Schemes that leave nodes idle only if there is no other, as published.
  for (int idle = 0; idle < 2 && least < 0; ++idle) {
    TryKept(request, {pass, kept, idle != 0}, budget, &least, mapped);
    if (!options.stay || !Has(problem, kWeight) || passes[kDimN] == 1) continue;
    TryKept(request, {pass, kept | OperandBit(kWeight), idle != 0}, budget, &least,
            mapped);
  }
  if (least < 0) {
    return Fail(diagnostic,
                budget->Exhausted() ? Status::kStopped : Status::kInfeasible, "mapping")
        .Text("no greedy scheme on these nodes");
  }
  mapped->objective =
      MapObjective(options.node.constraints, mapped->cost.layer.energy_pj,
                   static_cast<double>(mapped->cost.layer.cycles));
  return Status::kOk;
}

}  // namespace sluice
