// SPDX-License-Identifier: Apache-2.0
#include "model/segment.h"

namespace sluice {

void AddCost(const SegmentCost& b, SegmentCost* a) {
  a->operations_pj += b.operations_pj;
  a->registers_pj += b.registers_pj;
  a->transfer_pj += b.transfer_pj;
  a->scratchpad_pj += b.scratchpad_pj;
  a->dram_pj += b.dram_pj;
  a->noc_pj += b.noc_pj;
  a->leakage_pj += b.leakage_pj;
  a->cycles += b.cycles;
  a->dram_read_bytes += b.dram_read_bytes;
  a->dram_write_bytes += b.dram_write_bytes;
  a->energy_pj = a->operations_pj + a->registers_pj + a->transfer_pj +
                 a->scratchpad_pj + a->dram_pj + a->noc_pj + a->leakage_pj;
}

}  // namespace sluice
