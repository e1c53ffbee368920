// SPDX-License-Identifier: Apache-2.0
// The certificate: one more pass over the branches with the optimum known.
#include "solve/mapping/gemm/gemm_exact.h"
#include "solve/mapping/gemm/gemm_exact_node.h"
#include "solve/mapping/gemm/gemm_exact_space.h"

namespace sluice {
namespace {

constexpr double kInfinity = __builtin_huge_val();

struct Proof {
  Vector<GemmProofBranch> branches;
  Vector<GemmProofSplit> splits;
  Vector<GemmProofTile> tiles;
  double closed;  // bounds from here on close
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
          .Text("the budget ended before the certificate was complete");
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
