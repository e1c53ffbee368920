// SPDX-License-Identifier: Apache-2.0
// How many units a machine's fanouts feed, and how many places its MAC array has.
//
// Input    a descriptor's numbers
// Output   products; kManyUnits where they would be larger
// Errors   none
// Cost     O(fanouts)
#ifndef SLUICE_MODEL_MACHINE_UNITS_H_
#define SLUICE_MODEL_MACHINE_UNITS_H_

#include "base/checked.h"
#include "model/hardware.h"

namespace sluice {

constexpr int64_t kManyUnits = int64_t{1} << 60;

// Units below the fanouts of levels [lowest, end), of one instance of the highest.
inline int64_t UnitsFed(const Hardware& hardware, uint32_t end, uint32_t lowest) {
  int64_t units = 1;
  for (const Fanout& fanout : hardware.fanouts) {
    if (fanout.level >= end || fanout.level < lowest) continue;
    if (!CheckedMultiply(units, fanout.extent, &units) || units > kManyUnits) {
      return kManyUnits;
    }
  }
  return units;
}

// MACs of one pass; 0: no array.
inline int64_t PlacesOf(const MacArray& array) {
  return int64_t{array.k} * array.c * array.p;
}

}  // namespace sluice

#endif  // SLUICE_MODEL_MACHINE_UNITS_H_
