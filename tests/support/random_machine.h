// SPDX-License-Identifier: Apache-2.0
// Small random machines, by seed: same seed, same bytes, everywhere.
//
// Input    a seed
// Output   MachineSpec and its flatbuffer; valid by construction
// Cost     microseconds
#ifndef SLUICE_TESTS_SUPPORT_RANDOM_MACHINE_H_
#define SLUICE_TESTS_SUPPORT_RANDOM_MACHINE_H_

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "base/rng.h"
#include "support/wire_builder.h"

namespace sluice_test {

// The shape of the MAC array; k 0: the descriptor has no array.
struct ArraySpec {
  uint32_t k = 0, c = 1, p = 1;
  bool crosses_rows = true, packs_filter = false;
  uint32_t demands = 0;
  uint32_t fill_cycles = 0, drain_cycles = 0;
};

// HardwareSpec and further fields that schedulers read.
struct MachineSpec {
  HardwareSpec base;
  ArraySpec array;
  uint64_t gbuf_numerator = 0, gbuf_denominator = 1;  // bytes per cycle; 0: any
  uint32_t dram_granule_bytes = 1;
  uint64_t dram_bytes = 0;  // 0 = unbounded
  double mac_pj = 0.2, vector_op_pj = 0.1, leakage_pj = 0;
  double gbuf_pj = 0.1, dram_pj = 10;  // per bit
};

// One to four queues that together move everything.
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
    m.array.k = 1 + rng.Below(32);
    m.array.c = 1 + rng.Below(32);
    // An array does at most one MAC per cycle at each of its places.
    m.base.macs_per_cycle =
        std::min<uint64_t>(m.base.macs_per_cycle, uint64_t{m.array.k} * m.array.c);
  }
  m.dram_granule_bytes = rng.Below(2) == 0 ? 1 : one_of(7);
  m.leakage_pj = rng.Below(3);
  if (rng.Below(2) == 0) m.base.queues = RandomQueues(&rng);
  m.mac_pj = 0.1 * rng.Below(10);
  m.gbuf_pj = 0.01 * rng.Below(30);
  m.dram_pj = 0.5 * rng.Below(30);
  if (rng.Below(3) == 0) {
    m.gbuf_numerator = 1 + rng.Below(256);
    m.gbuf_denominator = 1 + rng.Below(3);
  }
  if (m.array.k != 0) {
    m.array.p = rng.Below(2) == 0 ? 1 : 1 + rng.Below(16);
    m.array.crosses_rows = rng.Below(2) == 0;
    m.array.packs_filter = rng.Below(2) == 0;
    m.array.fill_cycles = rng.Below(8);
    m.array.drain_cycles = rng.Below(8);
    if (rng.Below(2) == 0) m.array.demands = rng.Below(8);
  }
  return m;
}

// Memories for some regions, a flash among them.
inline std::vector<MemorySpec> RandomMemories(sluice::Rng* rng) {
  std::vector<MemorySpec> memories(1 + rng->Below(3));
  for (MemorySpec& m : memories) {
    m.regions = 0;
    m.latency_cycles = rng->Below(2) == 0 ? 0 : rng->Below(300);
    m.numerator = 1 + rng->Below(32);
    m.denominator = 1 + rng->Below(4);
    m.read_pj = 0.5 * rng->Below(60);
    m.write_pj = 0.5 * rng->Below(60);
  }
  for (uint32_t r = SLUICE_REGION_CONST; r < SLUICE_REGION_COUNT; ++r) {
    const uint32_t which = rng->Below(static_cast<uint32_t>(memories.size()) + 1);
    if (which < memories.size()) memories[which].regions |= 1u << r;
  }
  for (size_t i = memories.size(); i-- > 0;) {
    memories[i].read_only = memories[i].regions == 1u << SLUICE_REGION_CONST;
    if (memories[i].regions != 0) continue;
    memories.erase(memories.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return memories;
}

// Rows for some operators, each with random limits.
inline std::vector<OpSpec> RandomOps(sluice::Rng* rng) {
  constexpr uint32_t kMoved[] = {SLUICE_OP_CONCAT, SLUICE_OP_SLICE, SLUICE_OP_RESHAPE,
                                 SLUICE_OP_STATE_APPEND, SLUICE_OP_OPAQUE};
  constexpr uint32_t kSliding[] = {SLUICE_OP_CONV,
                                   SLUICE_OP_DEPTHWISE_CONV,
                                   SLUICE_OP_TRANSPOSED_CONV,
                                   SLUICE_OP_MAX_POOL,
                                   SLUICE_OP_AVERAGE_POOL,
                                   SLUICE_OP_WEIGHT_GRADIENT,
                                   SLUICE_OP_MAX_POOL_GRADIENT};
  const auto among = [](const auto& codes, uint32_t op) {
    return std::find(std::begin(codes), std::end(codes), op) != std::end(codes);
  };
  std::vector<OpSpec> ops;
  for (uint32_t op = 1; op < SLUICE_OP_COUNT; ++op) {
    if (among(kMoved, op)) continue;
    for (uint32_t rows = rng->Below(5); rows > 2; --rows) {
      OpSpec row;
      row.op = op;
      if (rng->Below(8) == 0) row.arithmetic = 2 + rng->Below(6);
      if (rng->Below(3) == 0) row.dtypes = 2 * (1 + rng->Below(31));
      if (rng->Below(3) == 0) row.requantise = 1 + rng->Below(7);
      if (rng->Below(3) == 0) row.zero_points = rng->Below(8);
      if (among(kSliding, op)) {
        uint32_t* const limits[] = {&row.max_kernel_h, &row.max_kernel_w,
                                    &row.max_stride, &row.max_dilation};
        for (uint32_t* limit : limits) {
          if (rng->Below(4) == 0) *limit = 1 + rng->Below(3);
        }
      }
      ops.push_back(row);
    }
  }
  return ops;
}

// A machine that executes some operators, with a host for the rest.
inline MachineSpec LimitedMachine(uint64_t seed) {
  MachineSpec m = MakeRandomMachine(seed);
  sluice::Rng rng(seed ^ 0x686f7374u);
  m.base.ops = RandomOps(&rng);
  if (m.base.ops.empty()) m.base.ops.push_back({SLUICE_OP_CONV});
  HostSpec host;
  host.call_cycles = rng.Below(2) * rng.Below(1000);
  if (rng.Below(2) == 0) host.bytes_numerator = 1 + rng.Below(16);
  host.bytes_denominator = 1 + rng.Below(4);
  if (rng.Below(2) == 0) host.ops_numerator = 1 + rng.Below(16);
  host.ops_denominator = 1 + rng.Below(4);
  host.pj_per_cycle = rng.Below(3);
  host.uses_port = rng.Below(2) == 0;
  m.base.host = host;
  return m;
}

// A random machine whose one queue loads and stores everything.
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
  gbuf.add_bytes_per_cycle_numerator(m.gbuf_numerator);
  gbuf.add_bytes_per_cycle_denominator(m.gbuf_denominator);
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
  ::flatbuffers::Offset<sluice::wire::Array> array;
  if (m.array.k != 0) {
    sluice::wire::ArrayBuilder a(b);
    a.add_k(m.array.k);
    a.add_c(m.array.c);
    a.add_p(m.array.p);
    a.add_crosses_rows(m.array.crosses_rows);
    a.add_packs_filter(m.array.packs_filter);
    a.add_demands(m.array.demands);
    a.add_fill_cycles(m.array.fill_cycles);
    a.add_drain_cycles(m.array.drain_cycles);
    array = a.Finish();
  }
  const auto ops = OpList(m.base.ops, &b);
  const auto host = HostTable(m.base.host.value_or(HostSpec()), &b);
  const auto memories = MemoryList(m.base.memories, &b);
  sluice::wire::HardwareBuilder h(b);
  if (!m.base.memories.empty()) h.add_memories(memories);
  if (!m.base.ops.empty()) h.add_ops(ops);
  if (m.base.host) h.add_host(host);
  h.add_levels(levels);
  h.add_macs_per_cycle(m.base.macs_per_cycle);
  h.add_mac_pj(m.mac_pj);
  h.add_vector_ops_per_cycle(m.base.vector_ops_per_cycle);
  h.add_vector_op_pj(m.vector_op_pj);
  h.add_leakage_pj_per_cycle(m.leakage_pj);
  if (m.array.k != 0) h.add_array(array);
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
