// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/gemm/gemm_exact.h"

#include "base/checked.h"
#include "base/heap.h"
#include "solve/mapping/gemm/gemm_exact_node.h"
#include "solve/mapping/gemm/gemm_exact_space.h"

namespace sluice {
namespace {

constexpr double kInfinity = __builtin_huge_val();

struct OpenSplit {
  double bound;
  uint32_t split;
};

struct Search {
  GemmSpace* space;
  Budget* budget;
  Span<OpenSplit> heap;  // room for all splits
  GemmMapping mapping;
  double value;  // of the mapping, evaluated from its access counts
  int64_t nodes;
  bool stopped;
};

bool Less(const OpenSplit& a, const OpenSplit& b) { return a.bound < b.bound; }

double ValueOf(const GemmSpace& space, const GemmCost& cost) {
  if (space.options.objective != GemmObjective::kEnergyDelay) {
    return cost.energy_pj_per_mac;
  }
  return cost.energy_pj_per_mac / static_cast<double>(cost.pe_used);
}

double ToBeat(const Search& search) { return search.value * (1 - kGemmRounding); }

void VisitNode(Search* search, const GemmBranch& branch, uint32_t index) {
  ++search->nodes;
  const GemmSpace& space = *search->space;
  const GemmSplit& split = space.splits[index];
  const NodeResult node =
      SolveNode(space, branch, split, ToBeat(*search), search->budget);
  search->stopped = !node.complete || search->budget->Exhausted();
  if (node.value == kInfinity) return;
  const GemmMapping mapping = MappingOf(space, branch, split, node.tiles);
  const GemmCost cost =
      EvaluateGemm(*space.shape, *space.machine, mapping, space.options.form);
  const double value = ValueOf(space, cost);
  if (value < search->value) {
    search->value = value;
    search->mapping = mapping;
  }
}

// Visits splits, best bound first. Returns the bound of those not visited.
double VisitBranch(Search* search, const GemmBranch& branch) {
  GemmSpace* space = search->space;
  size_t count = 0;
  double beat = ToBeat(*search);
  for (size_t i = 0; i < space->splits.size(); ++i) {
    const double bound = SplitBound(space, branch, space->splits[i]);
    if (!(bound < beat)) continue;
    search->heap[count++] = {bound, static_cast<uint32_t>(i)};
  }
  Span<OpenSplit> heap = search->heap.Slice(0, count);
  MakeHeap(heap, Less);
  while (!heap.empty() && heap[0].bound < ToBeat(*search)) {
    const OpenSplit top = heap[0];
    VisitNode(search, branch, top.split);
    if (search->stopped) return top.bound;
    PopHeap(&heap, Less);
  }
  return kInfinity;
}

Status RunSearch(GemmSpace* space, Arena* arena, Budget* budget, GemmSolution* solution,
                 Diagnostic* diagnostic) {
  Search search = {};
  search.space = space;
  search.budget = budget;
  search.value = kInfinity;
  SLUICE_TRY(arena->Allocate(space->splits.size(), &search.heap));
  Span<uint8_t> order;
  SLUICE_TRY(arena->Allocate(space->branches.size(), &order));
  SortBranches(space->branches, order);
  double left = kInfinity;
  for (size_t i = 0; i < order.size(); ++i) {
    const GemmBranch& branch = space->branches[order[i]];
    if (!(branch.bound < ToBeat(search))) break;
    if (budget->Exhausted()) search.stopped = true;
    if (!search.stopped) left = VisitBranch(&search, branch);
    if (search.stopped) {
      // Not searched: the rest of this branch and the next, if any.
      left = Min(left, branch.bound);
      break;
    }
  }
  if (search.value == kInfinity) {
    if (search.stopped) {
      return Fail(diagnostic, Status::kStopped, "mapping")
          .Text("a limit or a cancel ended the call before the first GEMM mapping");
    }
    // All-bypass mappings fit any machine.
    return Fail(diagnostic, Status::kInternal, "mapping").Text("no GEMM mapping found");
  }
  solution->mapping = search.mapping;
  solution->cost =
      EvaluateGemm(*space->shape, *space->machine, search.mapping, space->options.form);
  solution->objective = search.value;
  solution->lower_bound = search.stopped ? Min(left, search.value) : search.value;
  solution->proved = !search.stopped || !(left < ToBeat(search));
  solution->nodes = search.nodes;
  return Status::kOk;
}

}  // namespace

Status SolveGemmExact(const GemmRequest& request, Arena* arena, Budget* budget,
                      GemmSolution* solution, Diagnostic* diagnostic) {
  *solution = GemmSolution{};
  SLUICE_TRY(CheckGemm(request.shape, request.machine, diagnostic));
  ArenaScope scope(arena);
  GemmSpace space;
  const Status built = BuildGemmSpace(request, arena, budget, &space, diagnostic);
  if (built == Status::kStopped) {
    return Fail(diagnostic, built, "mapping")
        .Text("a limit or a cancel ended the call before the first GEMM mapping");
  }
  SLUICE_TRY(built);
  return RunSearch(&space, arena, budget, solution, diagnostic);
}

// ---- the certificate: one more pass over the branches with the optimum known ----

namespace {

struct Proof {
  Vector<GemmProofBranch> branches;
  Vector<GemmProofSplit> splits;
  Vector<GemmProofTile> tiles;
  double closed;  // a branch with this lower bound or a higher one needs no search
};

Status ListTiles(const GemmSpace& space, const GemmNode& node, double middle_sum,
                 Proof* proof, uint32_t* count) {
  Status status = Status::kOk;
  ForEachInner(space, node, middle_sum, proof->closed,
               [&](const uint32_t inner[kGemmAxes], double inner_sum) {
                 GemmProofTile tile = {};
                 uint32_t middle[kGemmAxes];
                 for (int d = 0; d < kGemmAxes; ++d) tile.inner_tile[d] = inner[d];
                 tile.bound = NodeWithInner(space, node, inner_sum, inner, middle);
                 ++*count;
                 status = proof->tiles.Push(tile);
                 return status == Status::kOk;
               });
  return status;
}

Status ListSplit(const GemmSpace& space, const GemmBranch& branch,
                 const GemmSplit& split, Proof* proof) {
  GemmProofSplit line = {};
  for (int d = 0; d < kGemmAxes; ++d) {
    line.spatial[d] = space.spatial[d][split.index[d]];
  }
  if (branch.stays) {
    GemmTiles tiles;
    line.bound = StayingNode(space, branch, split, &tiles);
  } else {
    const GemmNode node = MakeNode(space, branch, split);
    uint32_t inner[kGemmAxes];
    double middle_sum;
    line.bound = NodeRelaxation(space, node, inner, &middle_sum);
    if (line.bound < proof->closed) {
      SLUICE_TRY(ListTiles(space, node, middle_sum, proof, &line.tile_count));
    }
  }
  return proof->splits.Push(line);
}

Status ListBranch(GemmSpace* space, const GemmBranch& branch, Proof* proof) {
  GemmProofBranch line = {};
  line.kind = branch.stays ? 1 : 0;
  line.middle_holds = branch.middle_holds;
  line.inner_holds = branch.inner_holds;
  line.outer_axis = branch.walk_outer;
  line.middle_axis = branch.walk_middle;
  line.bound = branch.bound;
  if (branch.bound < proof->closed) {
    line.bound = kInfinity;
    for (const GemmSplit& split : space->splits) {
      const double bound = SplitBound(space, branch, split);
      if (bound < line.bound) line.bound = bound;
      if (!(bound < proof->closed)) continue;
      ++line.split_count;
      SLUICE_TRY(ListSplit(*space, branch, split, proof));
    }
  }
  return proof->branches.Push(line);
}

}  // namespace

Status CertifyGemm(const GemmRequest& request, const GemmSolution& solution,
                   Arena* arena, Budget* budget, GemmCertificate* certificate,
                   Diagnostic* diagnostic) {
  *certificate = GemmCertificate{};
  SLUICE_TRY(
      CheckGemmMapping(request.shape, request.machine, solution.mapping, diagnostic));
  if (!solution.proved) {
    return Fail(diagnostic, Status::kBadArgument, "mapping")
        .Text("only proved mappings have a certificate");
  }
  GemmSpace space;
  SLUICE_TRY(BuildGemmSpace(request, arena, budget, &space, diagnostic));
  Proof proof = {Vector<GemmProofBranch>(arena), Vector<GemmProofSplit>(arena),
                 Vector<GemmProofTile>(arena),
                 solution.objective * (1 - kGemmRounding)};
  SLUICE_TRY(proof.branches.Reserve(space.branches.size()));
  for (const GemmBranch& branch : space.branches) {
    if (budget->Exhausted()) {
      return Fail(diagnostic, Status::kStopped, "mapping")
          .Text(
              "a limit or a cancel ended the call before the certificate was complete");
    }
    SLUICE_TRY(ListBranch(&space, branch, &proof));
  }
  certificate->objective = solution.objective;
  certificate->branches = proof.branches.span();
  certificate->splits = proof.splits.span();
  certificate->tiles = proof.tiles.span();
  return Status::kOk;
}

}  // namespace sluice
