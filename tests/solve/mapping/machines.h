// SPDX-License-Identifier: Apache-2.0
// Hardware for tests: built level by level; the published edge and node machines.
#ifndef SLUICE_TESTS_SOLVE_MAPPING_MACHINES_H_
#define SLUICE_TESTS_SOLVE_MAPPING_MACHINES_H_

#include <cstdint>
#include <vector>

#include "model/hardware.h"
#include "model/mapping_problem.h"

namespace sluice {

struct Machine {
  std::vector<MemoryLevel> levels;
  std::vector<Fanout> fanouts;
  Hardware hardware = {};

  Machine() {
    hardware.clock_hz = 500000000;
    hardware.macs_per_cycle = int64_t{1} << 40;
    hardware.vector_ops_per_cycle = int64_t{1} << 40;
    hardware.node_cols = hardware.node_rows = 1;
  }
  // Nearest the MACs first. Energies per bit; capacity 0 = unbounded.
  void AddLevel(int64_t capacity, double read, double write) {
    MemoryLevel level = {};
    level.capacity_bytes = capacity;
    level.instances = 1;
    level.read_pj_per_bit = read;
    level.write_pj_per_bit = write;
    level.bandwidth = Rational{0, 1};
    level.alignment_bytes = 1;
    level.may_hold = 7;
    levels.push_back(level);
  }
  void AddFanout(uint32_t level, uint32_t extent, uint32_t may_unroll) {
    Fanout fanout = {};
    fanout.level = level;
    fanout.extent = extent;
    fanout.may_unroll = may_unroll;
    fanout.multicast = fanout.reduction = true;
    fanouts.push_back(fanout);
  }
  void Finish() {
    hardware.levels = Span<const MemoryLevel>(levels.data(), levels.size());
    hardware.fanouts = Span<const Fanout>(fanouts.data(), fanouts.size());
    hardware.scratchpad_level = static_cast<uint32_t>(levels.size()) - 2;
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
};

constexpr uint32_t DimBit(uint32_t dim) { return 1u << dim; }

// The edge configuration: one node, 16x16 PEs of 512 B, 256 KiB, 12.8 B/cycle DRAM,
// words of 16 bits. Systolic: outputs over rows, channels over columns.
inline void MakeKaplaEdge(Machine* m) {
  m->AddLevel(512, 0.2507285 / 16, 0.2507285 / 16);
  m->AddLevel(262144, 7.4837 / 16, 7.4837 / 16);
  m->levels.back().bandwidth = Rational{96, 1};  // a bus of 32 B per operand
  m->AddLevel(0, 401.89027539954336 / 16, 401.89027539954336 / 16);
  m->levels.back().bandwidth = Rational{64, 5};
  m->AddFanout(1, 16, DimBit(kDimN) | DimBit(kDimP) | DimBit(kDimQ));
  m->AddFanout(1, 16, DimBit(kDimK) | DimBit(kDimC));
  for (Fanout& fanout : m->fanouts) fanout.transfer_pj_per_bit = 3.2832 / 16;
  m->hardware.macs_per_cycle = 256;
  m->hardware.mac_pj = 0.9984;
  m->hardware.vector_ops_per_cycle = 256;
  m->hardware.vector_op_pj = 0.9984;
  m->hardware.leakage_pj_per_cycle = 541.0220055044509;
  m->hardware.accumulator_bytes = 2;
  m->Finish();
}

// One node of the multi-node configuration, row stationary: filter rows over PE rows,
// output rows over PE columns; 8x8 PEs of 64 B, 32 KiB.
inline void MakeKaplaNode(Machine* m) {
  m->AddLevel(64, 0.0940885 / 16, 0.0940885 / 16);
  m->levels.back().sliding = true;
  m->AddLevel(32768, 2.832545 / 16, 2.832545 / 16);
  m->levels.back().bandwidth = Rational{48, 1};
  m->AddLevel(0, 401.89027539954336 / 16, 401.89027539954336 / 16);
  m->levels.back().bandwidth = Rational{64, 5};
  m->AddFanout(1, 8, DimBit(kDimR) | DimBit(kDimC) | DimBit(kDimK));
  m->AddFanout(1, 8, DimBit(kDimP) | DimBit(kDimK));
  for (Fanout& fanout : m->fanouts) fanout.transfer_pj_per_bit = 1.6416 / 16;
  m->hardware.macs_per_cycle = 64;
  m->hardware.mac_pj = 0.9984;
  m->hardware.vector_ops_per_cycle = 64;
  m->hardware.vector_op_pj = 0.9984;
  m->hardware.leakage_pj_per_cycle = 1272.8688055044508 / 256;
  m->hardware.accumulator_bytes = 2;
  m->Finish();
}

}  // namespace sluice

#endif  // SLUICE_TESTS_SOLVE_MAPPING_MACHINES_H_
