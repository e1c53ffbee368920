// SPDX-License-Identifier: Apache-2.0
// Whether the schedule found for one run of layers is valid for another one as it is.
//
// Input    two fusion runs.
// Output   true when all that a search or a program depends on is equal: operators,
//          attributes, shapes, edges, appends, what else reads a layer.
// Errors   none.
// Cost     linear in layers and edges.
#ifndef SLUICE_SOLVE_FUSION_SAME_RUN_H_
#define SLUICE_SOLVE_FUSION_SAME_RUN_H_

#include "solve/fusion/problem.h"

namespace sluice {

bool SameRun(const FusionRun& a, const FusionRun& b);

}  // namespace sluice

#endif  // SLUICE_SOLVE_FUSION_SAME_RUN_H_
