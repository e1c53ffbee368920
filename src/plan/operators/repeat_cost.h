// SPDX-License-Identifier: Apache-2.0
// What it costs to run a whole layer again, in bytes that could move off chip instead.
//
// Input    a layer and who prices it
// Output   bytes whose transfer takes as much energy and as many cycles, whichever are more;
//          -1 where no number of bytes does
// Errors   none
// Cost     that of one tile
// Source   ours
#ifndef SLUICE_PLAN_OPERATORS_REPEAT_COST_H_
#define SLUICE_PLAN_OPERATORS_REPEAT_COST_H_

#include "model/tile_cycles.h"

namespace sluice {

int64_t RepeatCost(const PricedLayer& priced);

}  // namespace sluice

#endif  // SLUICE_PLAN_OPERATORS_REPEAT_COST_H_
