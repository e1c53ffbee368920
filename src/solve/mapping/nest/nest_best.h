// SPDX-License-Identifier: Apache-2.0
// The best loop nest that any of the mappers finds. All of them are asked, and the
// local search improves the best answer.
//
// Input    a problem, hardware, constraints; the weights that CoSA's formulation gets
// Output   the nest with the least objective, of equal ones that with the least energy,
//          then cycles. proved: no nest of an exact mapper's space (conv_exact.h,
//          nest_exact.h) is better, and no other mapper knows a better one. bound: of all
//          nests, or of that space
// Errors   kBadInput; kUnsupported with the hierarchy; kInfeasible with bytes; kStopped
//          when the budget ends before any nest is found; kOutOfMemory
// Bypass   operands also bypass memories, unasked, where a word of each does not fit
// Cost     the sum of the mappers', twice for energy and for latency: 10 to 150 ms, and up
//          to half a second where the proof over all levels is long
// Source   none. The result is never worse than that of a mapper that can be asked for
//          by its name, nor worse with more freedom (bypass, wide) than without. Asked
//          for energy or latency it also tries the best nest by energy times delay, so
//          that asking for another objective never finds a better nest for this one
#ifndef SLUICE_SOLVE_MAPPING_NEST_NEST_BEST_H_
#define SLUICE_SOLVE_MAPPING_NEST_NEST_BEST_H_

#include "solve/mapping/factor/factor_nest.h"

namespace sluice {

struct BestNest : MappedNest {
  // No nest whose factors divide the extents is below, if it may bypass memories as
  // `bypasses` says; uneven: no nest at all.
  double level_bound;
  bool uneven;
  bool bypasses;
};

Status MapBestNest(const NestRequest& request, const FactorObjective& factors,
                   Budget* budget, Arena* arena, BestNest* mapped,
                   Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_SOLVE_MAPPING_NEST_NEST_BEST_H_
