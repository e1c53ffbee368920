// SPDX-License-Identifier: Apache-2.0
// The report that fits a stream, from what the judge counted: for hand-made cases.
#ifndef SLUICE_TESTS_VERIFY_HONEST_REPORT_H_
#define SLUICE_TESTS_VERIFY_HONEST_REPORT_H_

#include "model/graph.h"
#include "model/hardware.h"
#include "verify/verify.h"

namespace sluice_test {

// Keeps traffic and peak as `stated` by the case.
inline sluice_report_t HonestReport(const sluice::Hardware& h,
                                    const sluice::VerifiedCounts& c,
                                    const sluice_report_t& stated) {
  const auto moved = [](const sluice::MemoryLevel& level, uint64_t read,
                        uint64_t written) {
    return 8 * (static_cast<double>(read) * level.read_pj_per_bit +
                static_cast<double>(written) * level.write_pj_per_bit);
  };
  sluice_report_t r = stated;
  r.latency_cycles = c.latency_cycles;
  r.macs = c.macs;
  r.vector_ops = c.vector_ops;
  r.tiles = c.tiles;
  r.instructions = c.instructions;
  r.layers = c.layers;
  r.groups = c.layers;
  r.host_layers = c.host_layers;
  r.host_macs = c.host_macs;
  r.host_bytes = c.host_read_bytes + c.host_write_bytes;
  r.energy_dram_pj = moved(h.dram(), r.dram_read_bytes, r.dram_write_bytes);
  r.energy_scratchpad_pj = moved(h.scratchpad(), c.pad_read_bytes + c.tile_read_bytes,
                                 c.pad_write_bytes + c.tile_write_bytes);
  r.energy_compute_pj = static_cast<double>(c.macs) * h.mac_pj +
                        static_cast<double>(c.vector_ops) * h.vector_op_pj;
  r.energy_leakage_pj = static_cast<double>(c.latency_cycles) * h.leakage_pj_per_cycle;
  r.energy_noc_pj = 8 * c.link_bytes * h.hop_pj_per_bit;
  r.energy_host_pj = static_cast<double>(c.host_cycles) * h.host.pj_per_cycle;
  if (h.host.uses_port) {
    r.energy_host_pj += moved(h.dram(), c.host_read_bytes, c.host_write_bytes);
  }
  r.energy_pj = r.energy_dram_pj + r.energy_scratchpad_pj + r.energy_compute_pj +
                r.energy_leakage_pj + r.energy_noc_pj + r.energy_host_pj;
  // Bounds of 0 are always true.
  r.spill_bytes = static_cast<uint64_t>(c.spill_bytes);
  r.bound_latency_cycles = 0;
  r.bound_energy_pj = 0;
  return r;
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_VERIFY_HONEST_REPORT_H_
