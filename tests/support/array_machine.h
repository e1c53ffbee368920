// SPDX-License-Identifier: Apache-2.0
// A machine with registers in front of its scratchpad, for calls that need a mapper.
//
// Input    how many processing elements, of which each has 64 bytes of registers; nodes in
//          a square
// Output   hardware.fbs bytes: registers, 16 KiB of scratchpad, DRAM
#ifndef SLUICE_TESTS_SUPPORT_ARRAY_MACHINE_H_
#define SLUICE_TESTS_SUPPORT_ARRAY_MACHINE_H_

#include <cstdint>
#include <vector>

#include "bindings/cpp/sluice.hpp"

namespace sluice_test {

inline std::vector<uint8_t> ArrayMachine(uint32_t elements, uint32_t side = 1) {
  sluice::HardwareBuilder b;
  b.name = "array";
  b.levels.resize(3);
  b.levels[0].name = "registers";
  b.levels[0].capacity_bytes = 64;
  b.levels[0].instances = elements;
  b.levels[0].read_pj_per_bit = b.levels[0].write_pj_per_bit = 0.0625;
  b.levels[1].name = "scratchpad";
  b.levels[1].capacity_bytes = 16384;
  b.levels[1].read_pj_per_bit = b.levels[1].write_pj_per_bit = 0.5;
  b.levels[1].alignment_bytes = 16;
  b.levels[2].name = "dram";
  b.levels[2].read_pj_per_bit = b.levels[2].write_pj_per_bit = 8;
  b.levels[2].bytes_per_cycle_numerator = 16;
  b.scratchpad_level = 1;
  b.fanouts.resize(1);
  b.fanouts[0].name = "array";
  b.fanouts[0].level = 1;
  b.fanouts[0].extent = elements;
  b.macs_per_cycle = b.vector_ops_per_cycle = elements;
  b.mac_pj = b.vector_op_pj = 0.25;
  b.node_cols = b.node_rows = side;
  b.hop_pj_per_bit = 0.5;
  b.link_bytes_per_cycle_numerator = 8;
  return b.Bytes();
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_ARRAY_MACHINE_H_
