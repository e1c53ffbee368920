// SPDX-License-Identifier: Apache-2.0
// Which layers the machine's engines can execute, and the host's cycles for the others.
//
// Input    a layer of the graph; the machine's rows and host
// Output   SLUICE_WHY_: why the engines cannot execute the layer, 0 = they can; cycles;
//          work
// Errors   none
// Cost     linear in the machine's rows and in the multipliers of a layer's parameters
// Source   OpSupport and Host of hardware.fbs; ops.h
#ifndef SLUICE_FIRMWARE_SIM_ABILITY_H_
#define SLUICE_FIRMWARE_SIM_ABILITY_H_

#include "kernels.h"
#include "wire.h"

namespace sluice_sim {

uint32_t WhyNot(const Graph& graph, const Hardware& hardware, const Layer& layer);

// Bytes that a HOST call of the layer reads and writes: whole tensors, but of a GATHER's
// table a row for each row of the output.
uint64_t CallBytes(const Graph& graph, const Layer& layer);

uint64_t CallCycles(const Graph& graph, const Hardware& hardware, const Layer& layer);

// Upper bound on the cycles of a HOST call, and on each term of their sum.
constexpr uint64_t kMostCycles = uint64_t{1} << 50;

// The work is times * each MACs or vector operations.
struct Work {
  uint64_t times, each;
  bool macs;
};
Work WorkOf(const Tile& tile);

// ceil(bytes * denominator / numerator); numerator 0 = unlimited.
uint64_t BandwidthCycles(uint64_t bytes, uint64_t numerator, uint64_t denominator);

}  // namespace sluice_sim

#endif  // SLUICE_FIRMWARE_SIM_ABILITY_H_
