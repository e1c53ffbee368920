// SPDX-License-Identifier: Apache-2.0
// What the machine's engines can do, and what the host takes for the rest.
//
// Input    a layer of the graph; the machine's rows and host
// Output   SLUICE_WHY_ an engine cannot do the layer, 0 = it can; cycles; work
// Errors   none
// Cost     rows; of parameters, their multipliers
// Source   OpSupport and Host of hardware.fbs; ops.h
#ifndef SLUICE_FIRMWARE_SIM_ABILITY_H_
#define SLUICE_FIRMWARE_SIM_ABILITY_H_

#include "kernels.h"
#include "wire.h"

namespace sluice_sim {

uint32_t WhyNot(const Graph& graph, const Hardware& hardware, const Layer& layer);

uint64_t CallCycles(const Graph& graph, const Hardware& hardware, const Layer& layer);

// Of a HOST call, and of each part of what it takes.
constexpr uint64_t kMostCycles = uint64_t{1} << 50;

// times * each MACs or vector operations.
struct Work {
  uint64_t times, each;
  bool macs;
};
Work WorkOf(const Tile& tile);

// ceil(bytes * denominator / numerator); numerator 0 = unlimited.
uint64_t BandwidthCycles(uint64_t bytes, uint64_t numerator, uint64_t denominator);

}  // namespace sluice_sim

#endif  // SLUICE_FIRMWARE_SIM_ABILITY_H_
