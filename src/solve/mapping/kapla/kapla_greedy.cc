// SPDX-License-Identifier: Apache-2.0
#include "base/checked.h"
#include "solve/mapping/kapla/kapla_scheme.h"

namespace sluice {

using namespace kapla;

Status MapKaplaGreedy(const KaplaRequest& request, Budget* budget, MappedNest* mapped,
                      Diagnostic* diagnostic) {
  const MappingProblem& problem = request.problem;
  const Hardware& hardware = request.hardware;
  const KaplaOptions& options = request.options;
  SLUICE_TRY(CheckProblem(problem, diagnostic));
  SLUICE_TRY(CheckHierarchy(hardware, diagnostic));
  const uint32_t levels = static_cast<uint32_t>(hardware.levels.size());
  if (levels > 4) {
    return Fail(diagnostic, Status::kUnsupported, "mapping")
        .Text("the greedy mapper takes at most 4 levels, not ")
        .Number(levels);
  }
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
          .Text("the budget ended before any nest was found");
    }
    return Fail(diagnostic, Status::kInfeasible, "mapping")
        .Text("none of ")
        .Number(schemes)
        .Text(" greedy schemes meets the constraints");
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
  SLUICE_TRY(CheckProblem(problem, diagnostic));
  SLUICE_TRY(CheckHierarchy(hardware, diagnostic));
  if (hardware.levels.size() > 4) {
    return Fail(diagnostic, Status::kUnsupported, "mapping")
        .Text("the greedy mapper takes at most 4 levels, not ")
        .Number(static_cast<int64_t>(hardware.levels.size()));
  }
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
