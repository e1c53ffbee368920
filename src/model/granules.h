// SPDX-License-Identifier: Apache-2.0
// Granules that a machine's MAC array demands of the tiles of a layer (hardware.fbs),
// and the cuts that are left.
//
// Input    the array, a layer.
// Output   the units in which its output and its sum may be cut.
// Errors   none; without demands the units are those of the operator alone.
// Cost     constant.
#ifndef SLUICE_MODEL_GRANULES_H_
#define SLUICE_MODEL_GRANULES_H_

#include "model/hardware.h"
#include "model/tile_geometry.h"

namespace sluice {

// Ranges of tiles begin and end at multiples of these, or at the end of the axis. 1:
// anywhere.
struct Granules {
  int32_t unit[kAxes];
  int32_t sum;
};
Granules DemandedOf(const MacArray& array, const Graph& graph, const Layer& layer);

// CutsOf in units that keep to the demanded granules too.
CutRule CutsOn(const MacArray& array, const Graph& graph, const Layer& layer);

}  // namespace sluice

#endif  // SLUICE_MODEL_GRANULES_H_
