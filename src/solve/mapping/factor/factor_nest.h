// SPDX-License-Identifier: Apache-2.0
// CoSA's assignment of prime factors for a layer on any hierarchy, as a loop nest.
//
// Input    a problem, hardware of 2 to 6 levels, weights of the objective
// Output   the nest; objective and bound are the formulation's own, cost is the model's
// Errors   those of SolveFactorAssign; kInfeasible with bytes when nothing fits;
//          kUnsupported: resident operands and fixed tiles, which the formulation lacks
// Cost     that of SolveFactorAssign, which stops at 262,144 states of one search (not
//          proved), and some evaluations
// Source   CoSA III; the outermost level is its DRAM, the next one its global buffer.
//          What the formulation ignores is repaired afterwards: factors that overflow a
//          memory (halo, partial sums) move one level up; spatial factors that no
//          fanout takes become loops. Groups are looped over outermost; the outermost
//          order is the cheapest of three
#ifndef SLUICE_SOLVE_MAPPING_FACTOR_FACTOR_NEST_H_
#define SLUICE_SOLVE_MAPPING_FACTOR_FACTOR_NEST_H_

#include "solve/mapping/conv/conv_exact.h"

namespace sluice {

struct FactorObjective {
  double utilisation = -0.1, compute = 10, traffic = 1;
  // Least |traffic x t - compute x c| instead, CoSA's other objective: proved where
  // even the least signed difference is not negative, else the best of a search over
  // weights.
  bool balance = false;
};

Status MapFactorNest(const NestRequest& request, const FactorObjective& objective,
                     Budget* budget, Arena* arena, MappedNest* mapped,
                     Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_SOLVE_MAPPING_FACTOR_FACTOR_NEST_H_
