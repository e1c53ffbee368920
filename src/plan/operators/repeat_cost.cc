// SPDX-License-Identifier: Apache-2.0
#include "plan/operators/repeat_cost.h"

#include "base/checked.h"

namespace sluice {
namespace {

// Energy on chip, by the table or from bytes and work as the report does.
double EnergyOf(const PricedLayer& of, const TileBoxes& boxes, TileSum sum,
                const TileCost& declared) {
  const Hardware& hardware = of.hardware;
  const MemoryLevel& pad = hardware.scratchpad();
  double energy = declared.energy_pj;
  if (energy <= 0) {
    const double bits =
        8 * static_cast<double>(ScratchpadBytes(
                of.graph, of.layer, hardware.accumulator_bytes, boxes, sum));
    energy = static_cast<double>(boxes.macs) * hardware.mac_pj +
             static_cast<double>(boxes.vector_ops) * hardware.vector_op_pj +
             bits * Max(pad.read_pj_per_bit, pad.write_pj_per_bit);
  }
  return energy + static_cast<double>(declared.cycles) * hardware.leakage_pj_per_cycle;
}

}  // namespace

int64_t RepeatCost(const PricedLayer& of) {
  constexpr double kMost = 1e15;  // bytes; more than any scratchpad has
  const Hardware& hardware = of.hardware;
  const MemoryLevel& dram = hardware.dram();
  const TileOperands roles = OperandsOf(of.layer);
  const TileSum sum = {AccumulatedChannels(of.graph, of.layer)};
  const TileBoxes boxes =
      BoxesOf(of.graph, of.layer, WholeBox(of.graph.tensors[roles.tensor[kRoleOutput]]),
              0, sum.channels);
  const TileCost declared = DeclaredCost(of, boxes, sum);
  const double energy = EnergyOf(of, boxes, sum, declared);
  const double per_byte = 8 * Min(dram.read_pj_per_bit, dram.write_pj_per_bit);
  const double by_cycles = static_cast<double>(declared.cycles) *
                           static_cast<double>(dram.bandwidth.numerator) /
                           static_cast<double>(dram.bandwidth.denominator);
  if (energy > 0 && per_byte <= 0) return -1;
  const double by_energy = energy > 0 ? energy / per_byte : 0;
  const double bytes = Max(by_energy, by_cycles);
  return bytes < kMost ? static_cast<int64_t>(bytes) + 1 : -1;
}

}  // namespace sluice
