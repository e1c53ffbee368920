// SPDX-License-Identifier: Apache-2.0
// Small random machines, by seed: same seed, same bytes, everywhere.
//
// Input    a seed
// Output   MachineSpec and its flatbuffer; valid by construction
// Cost     microseconds
#ifndef SLUICE_TESTS_SUPPORT_RANDOM_MACHINE_H_
#define SLUICE_TESTS_SUPPORT_RANDOM_MACHINE_H_

#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "support/wire_builder.h"

namespace sluice_test {

// HardwareSpec and what schedulers look at besides.
struct MachineSpec {
  HardwareSpec base;
  uint32_t array_k = 0, array_c = 0;
  uint32_t dram_granule_bytes = 1;
  uint64_t dram_bytes = 0;  // 0 = unbounded
  double mac_pj = 0.2, vector_op_pj = 0.1, leakage_pj = 0;
  double gbuf_pj = 0.1, dram_pj = 10;  // per bit
};

// One to four queues, together able to move everything.
inline std::vector<QueueSpec> RandomQueues(sluice::Rng* rng) {
  std::vector<QueueSpec> queues;
  switch (rng->Below(4)) {
    case 0:
      queues.resize(1 + rng->Below(3));
      break;
    case 1:
      queues = LoadAndStore();
      break;
    case 2:
      queues = ParametersByCompute();
      break;
    default:
      queues = LoadAndStore();
      queues.push_back(queues[0]);
      queues[0].roles = SLUICE_ROLE_INPUT | SLUICE_ROLE_PARTIAL_SUM;
      queues[2].roles = SLUICE_ROLE_WEIGHT | SLUICE_ROLE_PARAMETERS;
      break;
  }
  for (QueueSpec& q : queues) {
    q.latency_cycles = rng->Below(3) == 0 ? 0 : rng->Below(100);
    q.burst_bytes = 1u << rng->Below(6);
    if (rng->Below(2) == 0) q.max_row_bytes = 1 + rng->Below(64);
    if (rng->Below(2) == 0) q.max_rows = 1 + rng->Below(16);
    q.max_axes = rng->Below(5);
    q.descriptor_cycles = rng->Below(8);
  }
  return queues;
}

inline MachineSpec MakeRandomMachine(uint64_t seed) {
  sluice::Rng rng(seed ^ 0x6d61636821u);
  const auto one_of = [&](uint32_t logs) { return 1u << rng.Below(logs); };
  MachineSpec m;
  m.base.scratchpad_bytes = 8u << rng.Below(13);
  m.base.scratchpad_bytes += rng.Below(64);
  m.base.alignment_bytes = one_of(7);
  m.base.dram_numerator = 1 + rng.Below(64);
  m.base.dram_denominator = 1 + rng.Below(7);
  m.base.dma_latency_cycles = rng.Below(3) == 0 ? 0 : rng.Below(200);
  m.base.macs_per_cycle = 1 + rng.Below(512);
  m.base.vector_ops_per_cycle = 1 + rng.Below(64);
  if (rng.Below(2) == 0) {
    m.array_k = 1 + rng.Below(32);
    m.array_c = 1 + rng.Below(32);
  }
  m.dram_granule_bytes = rng.Below(2) == 0 ? 1 : one_of(7);
  m.leakage_pj = rng.Below(3);
  if (rng.Below(2) == 0) m.base.queues = RandomQueues(&rng);
  m.mac_pj = 0.1 * rng.Below(10);
  m.gbuf_pj = 0.01 * rng.Below(30);
  m.dram_pj = 0.5 * rng.Below(30);
  return m;
}

// The same with the one queue that loads and stores everything.
inline MachineSpec OneQueueMachine(uint64_t seed) {
  MachineSpec m = MakeRandomMachine(seed);
  m.base.queues.clear();
  return m;
}

inline Bytes MachineBytes(const MachineSpec& m) {
  ::flatbuffers::FlatBufferBuilder b;
  sluice::wire::LevelBuilder gbuf(b);
  gbuf.add_capacity_bytes(m.base.scratchpad_bytes);
  gbuf.add_alignment_bytes(m.base.alignment_bytes);
  gbuf.add_read_pj_per_bit(m.gbuf_pj);
  gbuf.add_write_pj_per_bit(m.gbuf_pj);
  const auto level0 = gbuf.Finish();
  sluice::wire::LevelBuilder dram(b);
  dram.add_capacity_bytes(m.dram_bytes);
  dram.add_read_pj_per_bit(m.dram_pj);
  dram.add_write_pj_per_bit(m.dram_pj);
  dram.add_bytes_per_cycle_numerator(m.base.dram_numerator);
  dram.add_bytes_per_cycle_denominator(m.base.dram_denominator);
  const auto level1 = dram.Finish();
  const auto levels = b.CreateVector(
      std::vector<::flatbuffers::Offset<sluice::wire::Level>>{level0, level1});
  const auto queues = QueueList(m.base.queues, &b);
  sluice::wire::HardwareBuilder h(b);
  h.add_levels(levels);
  h.add_macs_per_cycle(m.base.macs_per_cycle);
  h.add_mac_pj(m.mac_pj);
  h.add_vector_ops_per_cycle(m.base.vector_ops_per_cycle);
  h.add_vector_op_pj(m.vector_op_pj);
  h.add_leakage_pj_per_cycle(m.leakage_pj);
  h.add_array_k(m.array_k);
  h.add_array_c(m.array_c);
  if (m.base.queues.empty()) {
    h.add_dma_latency_cycles(m.base.dma_latency_cycles);
  } else {
    h.add_queues(queues);
  }
  h.add_dram_granule_bytes(m.dram_granule_bytes);
  b.Finish(h.Finish(), sluice::wire::HardwareIdentifier());
  return Finished(b);
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_RANDOM_MACHINE_H_
