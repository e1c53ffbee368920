// SPDX-License-Identifier: Apache-2.0
// What the levels of a nest cost at least, whatever stands above them. Private to
// nest_refute.
//
// Input    a case; its units and lengths
// Output   for every level, energy of the transfers out of it and of those further in, and the
//          most units below it
// Errors   none. A level with too many tiles costs nothing at least
// Cost     at most kMostLimitSteps of 0.2 microseconds
// Source   At one level the innermost loops keep one operand at most. That one moves once for
//          each unit that is there for the same words; the others move once for each tile and
//          each step of the loops that do not move them. The units that share one read are at
//          most those of the level, times all below memories that are bypassed.
#ifndef SLUICE_VERIFY_NEST_NEST_LIMITS_H_
#define SLUICE_VERIFY_NEST_NEST_LIMITS_H_

#include "verify/nest/nest_tiles.h"

namespace sluice::nest_claims {

struct Limits {
  double pj[kLevelsMost];
  double units[kLevelsMost];
  uint64_t steps;
};

Limits LimitLevels(const Case& one, const Span<const Units> units[kLevelsMost],
                   const Lengths lengths[kDimCount]);

}  // namespace sluice::nest_claims

#endif  // SLUICE_VERIFY_NEST_NEST_LIMITS_H_
