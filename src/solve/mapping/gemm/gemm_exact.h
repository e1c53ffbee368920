// SPDX-License-Identifier: Apache-2.0
// The best mapping of one GEMM on three memories, proved: tiling, walking axes, bypass.
//
// Input    model/gemm_cost.h; form, PE use and objective below.
// Output   an optimal mapping; on request a certificate that src/verify checks.
// Errors   kBadInput (numbers); kInfeasible: no split uses exactly the PEs asked for;
//          kStopped: budget gone before any mapping; kOutOfMemory.
// Cost     about 0.1 ms for layers of language models; scratch in the arena, rewound.
// Source   GOMA equations (29)-(34). Branch and bound over (bypass, walking axes),
//          spatial splits and inner tiles. Optimal up to 1e-12 relative (rounding).
//          kReuse adds the mappings in which a datum stays in the PEs over all loops of
//          its axis.
#ifndef SLUICE_SOLVE_MAPPING_GEMM_GEMM_EXACT_H_
#define SLUICE_SOLVE_MAPPING_GEMM_GEMM_EXACT_H_

#include <stdint.h>

#include "base/array.h"
#include "base/budget.h"
#include "base/memory.h"
#include "base/status.h"
#include "model/gemm_cost.h"

namespace sluice {

enum class GemmPeUse : uint8_t { kExact = 0, kAtMost = 1 };

enum class GemmObjective : uint8_t {
  kEnergy = 0,
  kEnergyDelay = 1,  // energy x cycles
  kDelay = 2,        // most PEs of all splits, then energy; pe_use is ignored
};

struct GemmExactOptions {
  GemmForm form = GemmForm::kReuse;
  GemmPeUse pe_use = GemmPeUse::kExact;
  GemmObjective objective = GemmObjective::kEnergy;
};

struct GemmSolution {
  GemmMapping mapping;
  GemmCost cost;
  double objective;    // pJ per MAC; for kEnergyDelay divided by the PEs used
  double lower_bound;  // same unit; equals objective when proved
  bool proved;         // false only when a limit or a cancel ended the search
  int64_t nodes;       // (branch, split) pairs looked into
};

struct GemmRequest {
  const GemmShape& shape;
  const GemmMachine& machine;
  const GemmExactOptions& options;
};

Status SolveGemmExact(const GemmRequest& request, Arena* arena, Budget* budget,
                      GemmSolution* solution, Diagnostic* diagnostic);

// The proof as data. A branch whose bound reaches the objective is closed; an open one
// lists its open splits; a split whose bound does not reach it lists its open inner
// tiles. Bounds are in the unit of the objective. Infinity means that nothing fits.
struct GemmProofBranch {
  // 0: walking axes as in the paper. 1: the datum of outer_axis stays in the PEs and
  // the middle loops of the other two axes have trip 1.
  uint8_t kind;
  uint8_t middle_holds;
  uint8_t inner_holds;
  uint8_t outer_axis;
  uint8_t middle_axis;
  double bound;
  uint32_t split_count;
};
struct GemmProofSplit {
  int64_t spatial[kGemmAxes];
  double bound;
  uint32_t tile_count;
};
struct GemmProofTile {
  int64_t inner_tile[kGemmAxes];
  double bound;
};
struct GemmCertificate {  // splits and tiles in the order of their branches and splits
  double objective;
  Span<const GemmProofBranch> branches;
  Span<const GemmProofSplit> splits;
  Span<const GemmProofTile> tiles;
};

// Writes the proof of a proved solution; costs about one solve. The certificate lives
// in the arena.
Status CertifyGemm(const GemmRequest& request, const GemmSolution& solution,
                   Arena* arena, Budget* budget, GemmCertificate* certificate,
                   Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_SOLVE_MAPPING_GEMM_GEMM_EXACT_H_
