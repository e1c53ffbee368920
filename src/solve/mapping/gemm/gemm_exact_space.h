// SPDX-License-Identifier: Apache-2.0
// The search space of one GEMM: branches, spatial splits, and bounds for any pair of
// them.
//
// Input    shape, machine, options, all checked
// Output   GemmSpace: divisors, splits, branches, tables that add up to a lower bound,
//          and the exact terms of the energy per MAC
//            E = fixed + sum_d outer_weight_d / L1_d + sum_d inner_weight_d / L3_d
// Errors   kInfeasible when no split uses the PEs asked for; kStopped; kOutOfMemory
// Cost     tens of microseconds; all memory from the arena
// Source   GOMA equations (10)-(30), regrouped: the boundary factors rho collapse into
//          constants, so that lengths occur as 1/L only. Walking axes are chosen among
//          the data a level holds (never worse), which leaves 13 x 13 branches
#ifndef SLUICE_SOLVE_MAPPING_GEMM_GEMM_EXACT_SPACE_H_
#define SLUICE_SOLVE_MAPPING_GEMM_GEMM_EXACT_SPACE_H_

#include <stdint.h>

#include "solve/mapping/gemm/gemm_exact.h"
#include "solve/mapping/gemm/gemm_exact_tile.h"

namespace sluice {

// Bounds that reach the objective within this are closed: rounding of a few operations.
constexpr double kGemmRounding = 1e-12;

struct GemmSplit {
  uint16_t index[kGemmAxes];  // into GemmSpace::spatial
  double per_pe;              // 1 / PEs used
};

struct GemmBranch {
  bool stays;  // the datum of walk_outer stays in the PEs over all its loops
  uint8_t middle_holds;
  uint8_t inner_holds;
  uint8_t walk_outer;
  uint8_t walk_middle;
  uint8_t row;                 // of the outer table; stays: none
  uint8_t variant[kGemmAxes];  // of the axis tables
  double bound;                // cheap to compute: every part at its own best
};

// The cost of one datum per MAC, given the memories that hold it.
struct DatumTerms {
  double fixed;
  double middle_weight;  // over L1
  double inner_weight;   // over L3
};

constexpr int kGemmRows = 13;
constexpr int kGemmVariants = 15;

struct GemmSpace {
  const GemmShape* shape;
  const GemmMachine* machine;
  GemmExactOptions options;
  Span<const uint32_t> divisors[kGemmAxes];
  Span<const uint32_t> spatial[kGemmAxes];  // divisors an axis may unroll
  Span<GemmSplit> splits;
  int64_t most_pes;  // of any split
  Span<GemmBranch> branches;
  // Lower bounds on the energy of one axis without the outer traffic.
  Span<double> axis_bound[kGemmAxes][kGemmVariants];
  double axis_least[kGemmAxes][kGemmVariants];
  // Lower bounds on the traffic of the outer memory by PEs along the walking axis;
  // minus infinity is not yet computed.
  Span<double> outer_bound[kGemmRows];
  TileScratch scratch;
};

Status BuildGemmSpace(const GemmRequest& request, Arena* arena, Budget* budget,
                      GemmSpace* space, Diagnostic* diagnostic);

// The branches' numbers by ascending bound; ties keep their order.
void SortBranches(Span<const GemmBranch> branches, Span<uint8_t> order);

// The terms of the datum of axis d with s PEs along d: traffic with the outer memory to
// fill the middle one, and everything below.
DatumTerms OuterTerms(const GemmSpace& space, int d, bool in_middle, bool walks);
DatumTerms InnerTerms(const GemmSpace& space, int d, bool in_middle, bool in_inner,
                      bool walks, int64_t s);

// A lower bound on the objective within a branch and a split.
double SplitBound(GemmSpace* space, const GemmBranch& branch, const GemmSplit& split);
// Energy per MAC with leakage, in the unit of the objective.
double GemmObjectiveOf(const GemmSpace& space, double energy, double per_pe);

}  // namespace sluice

#endif  // SLUICE_SOLVE_MAPPING_GEMM_GEMM_EXACT_SPACE_H_
