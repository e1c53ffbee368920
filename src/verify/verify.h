// SPDX-License-Identifier: Apache-2.0
// The static judge: is this plan valid for this graph on this hardware?
//
// Valid: for every timing of the engines that respects the waits, every read sees
// exactly the bytes that the dataflow requires, no live byte is overwritten, every
// address is in bounds and aligned, every output byte is final at the end, C ranges are
// disjoint and cover C, no instruction waits forever, and the report says what this
// stream costs (report.h).
//
// Input    the original graph, the hardware, the untrusted plan.
// Output   kOk, or kRejected with rule, instruction and message in the diagnostic.
// Errors   kOutOfMemory when scratch runs out. Never crashes on any plan bytes.
// Cost     see order.h and contents.h; a work bound limits time and scratch.
// Source   design, execution model; shares no code with the solver or the simulator.
#ifndef SLUICE_VERIFY_VERIFY_H_
#define SLUICE_VERIFY_VERIFY_H_

#include "base/memory.h"
#include "model/graph.h"
#include "model/hardware.h"
#include "model/plan.h"
#include "verify/layer_counts.h"

namespace sluice {

// Counts that each instruction adds to: words of 64 bits, so that repeats.cc can count those
// of a window again.
struct SummedCounts {
  int64_t dram_read_bytes;
  int64_t dram_write_bytes;
  uint64_t moved_bytes[SLUICE_REGION_COUNT][2];  // of these, by region: read, written
  int64_t spill_bytes;        // those of dram_write_bytes that go to the workspace
  uint64_t macs, vector_ops;  // of tiles
  // Scratchpad bytes that transfers and partial sums move (pad), and that tiles move where
  // their costs are not declared (tile): then each operand moves once.
  uint64_t pad_read_bytes, pad_write_bytes;
  uint64_t tile_read_bytes, tile_write_bytes;
};

// What the judge counted itself, to compare with the report. A hostile stream can make these
// sums overflow; they wrap around then.
struct VerifiedCounts : SummedCounts {
  int64_t peak_buffer_bytes;  // highest GBUF byte in use + 1
  uint64_t latency_cycles;
  double link_bytes;  // bytes times links that they cross
  uint64_t host_cycles, host_read_bytes, host_write_bytes;  // of HOST calls
  uint64_t host_hold;  // cycles that they hold DRAM's port
  uint64_t host_macs;  // of those whose operator the machine lacks
  uint32_t tiles, instructions;
  uint32_t followed;  // instructions but those that repeats took over (repeats.h)
  uint32_t layers, host_layers;  // that instructions work for
  Span<LayerCounts> by_layer;    // one per layer of the graph; empty = not wanted
};

// The caller sets counts->by_layer, whose entries are filled: then all instructions are
// followed. All other counts are set.
Status Verify(const Graph& graph, const Hardware& hardware, const Plan& plan,
              Arena* scratch, VerifiedCounts* counts, Diagnostic* diagnostic);

// Counts the same again, without a judgement, for a plan that Verify has accepted for
// this graph and this hardware.
Status CountVerified(const Graph& graph, const Hardware& hardware, const Plan& plan,
                     Arena* scratch, VerifiedCounts* counts, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_VERIFY_VERIFY_H_
