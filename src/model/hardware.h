// SPDX-License-Identifier: Apache-2.0
// One accelerator, as hardware.fbs describes it. Immutable once io has read it.
//
// Input    filled by io/read_hardware.cc
// Output   none: plain data
// Errors   none. io checks the invariants: at least two levels; DRAM last, bounded or
//          not; the scratchpad next to it; peaks and DRAM bandwidth > 0; alignments
//          powers of two.
// Cost     none
#ifndef SLUICE_MODEL_HARDWARE_H_
#define SLUICE_MODEL_HARDWARE_H_

#include <stdint.h>

#include "base/array.h"
#include "model/graph.h"

namespace sluice {

struct Rational {  // bytes per cycle; numerator 0 = unlimited
  int64_t numerator;
  int64_t denominator;
};

struct MemoryLevel {
  Text name;
  int64_t capacity_bytes;  // per instance; 0 = unbounded
  uint32_t instances;      // per node
  double read_pj_per_bit;
  double write_pj_per_bit;
  Rational bandwidth;
  uint32_t alignment_bytes;
  uint32_t may_hold;   // bits: 1 input, 2 weight, 4 output
  uint32_t must_hold;  // same bits
  bool sliding;
  uint32_t share_percent[3];  // input, weight, output; all 0 = shared freely
};

struct Fanout {
  uint32_t level;
  uint32_t extent;
  uint32_t may_unroll;  // bit d: the Dim d of mapping_problem.h; 1 N, 2 K, ..., 64 S
  bool multicast;
  bool reduction;
  bool forwarding;
  double transfer_pj_per_bit = 0;  // of a word sent through, counted once per bus
  double forward_pj_per_bit = 0;   // of a word handed to a neighbour
};

// Cores of vector (C) x lane (K) MACs; core buffers are levels. See hardware.fbs.
struct CoreGrid {
  uint32_t rows, columns;  // 0: the hardware has none
  uint32_t vector, lane;
  uint32_t input_level, weight_level, output_level;
  double slice_read_pj_per_bit, slice_write_pj_per_bit;
};

// What the MAC array takes at once; see hardware.fbs.
struct MacArray {
  uint32_t k = 0, c = 0, p = 0;  // 0: the descriptor has none
  bool crosses_rows = true;
  bool packs_filter = false;
  uint32_t demands = 0;  // bits 1 k, 2 c, 4 p
  int64_t fill_cycles = 0;
  int64_t drain_cycles = 0;
};

constexpr uint32_t kMaxQueues = 8;

// A queue of transfers; see hardware.fbs. The defaults are the simplest machine's
// queue.
struct Queue {
  uint32_t does = 3;    // SLUICE_DOES_ bits
  uint32_t roles = 31;  // SLUICE_ROLE_ bits of what it loads and stores
  bool per_node = false;
  int64_t latency_cycles = 0;
  uint32_t burst_bytes = 1;
  uint32_t max_row_bytes = 0;  // of one descriptor; 0 = any
  uint32_t max_rows = 0;       // of one descriptor; 0 = any
  uint32_t max_axes = 0;       // of one descriptor, the row included; 0 = any
  int64_t descriptor_cycles = 0;
};

// Fields of OpSupport in hardware.fbs, by id. The reasons SLUICE_WHY_ are numbered in
// this order.
enum OpField : uint32_t {
  kOpOperator,
  kOpArithmetic,
  kOpDtypes,
  kOpRequantise,
  kOpZeroPoints,
  kOpKernelH,
  kOpKernelW,
  kOpStride,
  kOpDilation,
  kOpFields
};

// What the compute engines can do of one operator; see hardware.fbs.
struct OpSupport {
  uint32_t field[kOpFields];
};

// The processor that executes HOST calls; see hardware.fbs.
struct Host {
  bool there;
  int64_t call_cycles;
  Rational bytes_per_cycle;
  Rational ops_per_cycle;
  double pj_per_cycle;
  bool uses_port;
};

// A memory off chip beside the last level; see hardware.fbs.
struct OffChip {
  MemoryLevel level;  // name, capacity, bandwidth and energies
  uint32_t regions;   // bits 1 << SLUICE_REGION_
  bool read_only;
  int64_t latency_cycles;
};

struct Hardware {
  Text name;
  int64_t clock_hz;
  Span<const MemoryLevel> levels;  // nearest the MACs first, DRAM last
  uint32_t scratchpad_level;
  Span<const Fanout> fanouts;
  int64_t macs_per_cycle;
  double mac_pj;
  int64_t vector_ops_per_cycle;
  double vector_op_pj;
  double leakage_pj_per_cycle;
  MacArray array;
  // Latency of each transfer. With queues, the least of theirs, which estimates use.
  int64_t dma_latency_cycles;
  uint32_t dram_granule_bytes;
  uint32_t node_cols;
  uint32_t node_rows;
  double hop_pj_per_bit;
  int64_t hop_latency_cycles;
  Rational link_bandwidth;
  uint32_t accumulator_bytes;
  CoreGrid cores;
  Span<const Queue> queues;   // empty: one, as model/engines.h says
  Span<const OpSupport> ops;  // empty: every operator
  Host host;
  Span<const OffChip> memories;  // empty: everything lies in the last level
  uint64_t hash;                 // FNV-1a of the descriptor's bytes

  const MemoryLevel& dram() const { return levels[levels.size() - 1]; }
  const MemoryLevel& scratchpad() const { return levels[scratchpad_level]; }
  // The memory of a region, null: the last level. HomeOf: its level.
  const OffChip* MemoryOf(uint32_t region) const {
    for (const OffChip& memory : memories) {
      if ((memory.regions >> region & 1) != 0) return &memory;
    }
    return nullptr;
  }
  const MemoryLevel& HomeOf(uint32_t region) const {
    const OffChip* memory = MemoryOf(region);
    return memory == nullptr ? dram() : memory->level;
  }
};

}  // namespace sluice

#endif  // SLUICE_MODEL_HARDWARE_H_
