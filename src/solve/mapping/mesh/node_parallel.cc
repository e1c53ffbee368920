// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/mesh/node_parallel.h"

#include "base/checked.h"
#include "solve/mapping/mesh/node_split.h"

namespace sluice {

namespace node_split {
namespace {

constexpr int kMore = 6;         // parts solved beyond the last that promises a gain
constexpr int kFruitless = 100;  // parts placed in a row that are not worth solving
constexpr int kFruitlessPiped = 40;  // of a layer in passes, which is asked for often
constexpr int kMisses = 30;          // splits in a row that gain nothing

// Remembers the nest if on the mesh it is better than what was found before.
Status TakeNest(Search* search, const Parts& parts, const LoopNest& nest,
                uint32_t rotated, Diagnostic* diagnostic) {
  MeshCost cost;
  CostOptions options;
  options.resident = search->kept;
  options.rotated = rotated;
  const NodeSplit split = SplitOf(*search, parts);
  const Status status = EvaluateOnMesh(
      {search->layer, search->hardware, search->region, split, search->options.terms},
      nest, options, &cost, diagnostic);
  // Array steps that exceed a pass's slice cannot be written as loops over all passes.
  if (status == Status::kBadInput && search->all_passes > 1) return Status::kInfeasible;
  SLUICE_TRY(status);
  const double objective =
      MapObjective(search->options.node.constraints, cost.layer.energy_pj,
                   static_cast<double>(cost.layer.cycles));
  if (search->best > 0 && objective >= search->best) return Status::kOk;
  search->best = objective;
  search->mapped->split = split;
  search->mapped->nest = nest;
  search->mapped->kept = search->kept;
  search->mapped->rotated = rotated;
  search->mapped->cost = cost;
  search->mapped->objective = objective;
  return Status::kOk;
}

Status SolveParts(Search* search, const Parts& parts, Budget* budget, Arena* arena,
                  Diagnostic* diagnostic) {
  const MappingProblem part = PartOf(search->problem, parts);
  const OuterPrice price = PriceOf(*search, parts);
  NodeView view;
  ViewNode(*search, parts, part, &view);
  const Hardware& node = view.hardware;
  KaplaOptions options = search->options.node;
  options.constraints.outer = &price;
  options.constraints.resident = search->kept;
  options.constraints.wide |= search->options.exact;
  if (search->best > 0 && !search->options.every) {
    options.constraints.upper = UpperOf(*search, parts, node);
    options.constraints.gap = search->options.exact ? 0 : kSlack;
    if (options.constraints.upper <= 0) return Status::kInfeasible;
  }
  MappedNest nest;
  ++search->mapped->solved;
  const bool quick = !search->options.every && NodesOf(search->region) > 1 &&
                     IsPlainNode(part, node, options.constraints);
  Status status = Status::kInfeasible;
  if (quick) {
    PartNest found;
    status = MapPart({part, node, options.constraints, SharingOf(*search, parts)},
                     parts.dram_pj, search->table, &found, &nest.nest, diagnostic);
    if (status == Status::kOk) {
      status = TakeNest(search, parts, nest.nest, found.rotated, diagnostic);
    }
    if (status != Status::kOk && status != Status::kInfeasible) return status;
    if (!search->options.exact && search->best > 0) return status;
  }
  if (status == Status::kOk && !search->options.exact) return status;
  SLUICE_TRY(MapConvExact({part, node, options.constraints}, budget, arena, &nest,
                          diagnostic));
  return TakeNest(search, parts, nest.nest, 0, diagnostic);
}

// Placed parts are solved if their estimate is below this.
double WantedOf(const Search& search) {
  if (search.best == 0 || search.options.every) return kNever;
  return search.best * (search.options.exact ? 1 + kEstimateError : 1 - kSlack);
}

// The next parts to solve: those of the least estimate, placed. *next is nullptr where
// none are left that can be placed, or the budget has ended.
Status NextParts(Search* search, Budget* budget, Arena* arena, Parts** next,
                 Diagnostic* diagnostic) {
  Vector<Waiting>& heap = search->heap;
  const int most = search->all_passes > 1 ? kFruitlessPiped : kFruitless;
  *next = nullptr;
  while (heap.size() > 0 && !budget->Exhausted()) {
    Parts* parts = &search->parts[heap[0].parts];
    if (parts->stage == kPlaced) {
      *next = parts;
      return Status::kOk;
    }
    const double wanted = search->best > 0 && !search->options.every
                              ? search->best * (1 - kSlack)
                              : kNever;
    if (parts->estimate >= wanted || search->fruitless > most) {
      Drop(search);
      Sink(search, 0);
      continue;
    }
    bool fits;
    SLUICE_TRY(FindPlace(search, arena, parts, &fits));
    if (fits) SLUICE_TRY(EstimatePlaced(search, parts, &fits, diagnostic));
    ++search->fruitless;
    if (fits) {
      if (parts->estimate < wanted) search->fruitless = 0;
      heap[0].estimate = parts->estimate;
    } else {
      Drop(search);
    }
    Sink(search, 0);
  }
  return Status::kOk;
}

// Solves waiting parts. *failure: why the first parts could not be solved.
Status SolveWaiting(Search* search, Budget* budget, Arena* arena, Diagnostic* failure) {
  int more = 0, misses = 0;
  for (;;) {
    Parts* next;
    SLUICE_TRY(NextParts(search, budget, arena, &next, failure));
    if (next == nullptr) return Status::kOk;
    const double before = search->best;
    if (before > 0 && !search->options.every) {
      // Estimates may be a little high, so a few more parts are solved.
      if (next->estimate >= before * (1 + kEstimateError)) return Status::kOk;
      const bool patient = search->options.exact;
      if (next->estimate >= WantedOf(*search) && ++more > kMore && !patient) {
        return Status::kOk;
      }
      if (misses > kMisses && !patient) return Status::kOk;
    }
    Diagnostic tried = {};
    const Status status = SolveParts(search, *next, budget, arena, &tried);
    Drop(search);
    Sink(search, 0);
    misses = search->best < before * (1 - kSlack) ? 0 : misses + 1;
    if (status == Status::kOk) continue;
    if (before == 0) *failure = tried;
    if (status != Status::kInfeasible && status != Status::kStopped) return status;
  }
  return Status::kOk;
}

Status SolveAll(Search* search, Budget* budget, Arena* arena, Diagnostic* diagnostic) {
  Diagnostic why = {};
  SLUICE_TRY(SolveWaiting(search, budget, arena, &why));
  if (search->best == 0 && search->cut != ~0u) {
    const Status status =
        SolveParts(search, search->parts[search->cut], budget, arena, &why);
    if (status != Status::kInfeasible && status != Status::kStopped) {
      *diagnostic = why;
      return status;
    }
  }
  if (search->best > 0) return Status::kOk;
  if (budget->Exhausted()) {
    return Fail(diagnostic, Status::kStopped, "mesh")
        .Text("a limit or a cancel ended the call before any split was solved");
  }
  *diagnostic = why;
  if (search->parts.size() > 0) return Status::kInfeasible;
  const int64_t capacity =
      search->hardware.levels[search->hardware.levels.size() - 2].capacity_bytes;
  return Fail(diagnostic, Status::kInfeasible, "mesh")
      .Say("what stays in a node's scratchpad takes # bytes of #", search->least_kept,
           capacity)
      .Bytes(static_cast<uint64_t>(search->least_kept),
             static_cast<uint64_t>(capacity));
}

// Searches all parts for one set of kept operands.
Status SolveSet(Search* search, Budget* budget, Arena* arena, Diagnostic* diagnostic) {
  search->least_kept = INT64_MAX;
  search->cut = ~0u;
  search->fruitless = 0;
  SLUICE_TRY(ListAllParts(search));
  search->mapped->splits += search->parts.size();
  return SolveAll(search, budget, arena, diagnostic);
}

// Searches every set of operands that may be kept besides those that must be; then all
// sets again with operands handed round.
Status SolveSets(Search* search, Budget* budget, Arena* arena, Diagnostic* diagnostic) {
  const LayerTerms& terms = search->options.terms;
  const uint32_t must = KeptOperands(terms, search->passes);
  uint32_t may = must;
  if (search->options.stay && search->all_passes > 1 && Has(search->problem, kWeight)) {
    may |= OperandBit(kWeight);
  }
  if (search->passes[kDimK] > 1) may |= OperandBit(kInput);
  SLUICE_TRY(LeastArray(search, budget, arena, diagnostic));
  const bool rotate = search->options.rotate && !search->options.exact;
  Status found = Status::kInfeasible;
  Diagnostic why = {};
  for (uint32_t i = 0; i < (rotate ? 2u : 1u) << kOperands; ++i) {
    search->kept = i & ((1u << kOperands) - 1);
    search->rotates = i >> kOperands != 0;
    if ((search->kept & must) != must || (search->kept & ~may) != 0) continue;
    Diagnostic tried = {};
    const Status status = SolveSet(search, budget, arena, &tried);
    if (status == Status::kOk) {
      found = status;
    } else if (status == Status::kInfeasible) {
      if (search->kept == must) why = tried;
    } else if (found != Status::kOk) {
      *diagnostic = tried;
      return status;
    }
  }
  if (found != Status::kOk) *diagnostic = why;
  return found;
}

}  // namespace
}  // namespace node_split

Status MapOnNodes(const NodeRequest& request, Budget* budget, Arena* arena,
                  NodeMapping* mapped, Diagnostic* diagnostic) {
  const MappingProblem& problem = request.problem;
  const Hardware& hardware = request.hardware;
  const NodeRegion& region = request.region;
  const NodeParallelOptions& options = request.options;
  if (options.node.greedy) {
    return MapGreedyOnNodes(request, budget, mapped, diagnostic);
  }
  SLUICE_TRY(CheckProblem(problem, diagnostic));
  MeshMachine machine;
  SLUICE_TRY(MakeMeshMachine(hardware, region, &machine, diagnostic));
  int64_t passes[kDims];
  SLUICE_TRY(PassesOf(problem, options.terms, passes, diagnostic));
  ArenaScope scope(arena);
  node_split::Search search(problem, passes, hardware, region, options, arena);
  *mapped = NodeMapping{};
  search.mapped = mapped;
  search.best = 0;
  node_split::OrderDims(&search);
  SLUICE_TRY(node_split::MeasureCorners(&search, arena));
  SLUICE_TRY(node_split::ListFactors(&search, arena));
  mapped->bound = node_split::BoundOf(search);
  return node_split::SolveSets(&search, budget, arena, diagnostic);
}

Status MapTableOnNodes(const NodeRequest& request, Span<const LayerTerms> terms,
                       Budget* budget, Arena* arena, const TermMappings& out,
                       Diagnostic* diagnostic) {
  NodeParallelOptions each = request.options;
  Arena kept(arena->memory());
  ArrayTable table(&kept, request.hardware.leakage_pj_per_cycle);
  if (each.table == nullptr) each.table = &table;
  for (size_t i = 0; i < terms.size(); ++i) {
    each.terms = terms[i];
    out.status[i] =
        MapOnNodes({request.problem, request.hardware, request.region, each}, budget,
                   arena, &out.mapped[i], diagnostic);
    if (out.status[i] != Status::kOk && out.status[i] != Status::kInfeasible)
      return out.status[i];
  }
  return Status::kOk;
}

}  // namespace sluice
