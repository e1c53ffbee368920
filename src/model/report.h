// SPDX-License-Identifier: Apache-2.0
// What a program costs, beside the lower bounds that hold for every plan of the graph.
//
// Energy: DRAM and scratchpad by bytes moved, compute by MACs and vector operations,
// leakage by cycles, links, the host by cycles of its calls; summed in this order, from
// exact counts. Tiles that declare their energy (a loop nest below the scratchpad) add
// that instead, in step order.
//
// Input    a program whose cycles are known; the graph's bounds
// Output   every field of the report except stop reason, iterations and groups
// Errors   kOutOfMemory; kStopped when the memory's clock has run out
// Cost     linear in steps and layers
#ifndef SLUICE_MODEL_REPORT_H_
#define SLUICE_MODEL_REPORT_H_

#include "model/bounds.h"
#include "model/program.h"

namespace sluice {

// A layer of which no element is needed has no step, and does not count as one.
Status FillReport(const ProgramRun& run, int64_t cycles, const PlanBound& bound,
                  Arena* scratch, sluice_report_t* report);

// Fills what the program itself costs: latency, energy, bytes, peak, work. Linear.
Status FillCosts(const ProgramRun& run, int64_t cycles, const Memory& memory,
                 sluice_report_t* report);

// What each block of a program adds to its cost.
struct BlockCost {
  double energy_pj;
  int64_t cycles;  // beyond the end of the block before
  uint32_t steps;
};
// block_cycles: from PredictCycles. costs: one per block.
Status FillBlockCosts(const ProgramRun& run, Span<const int64_t> block_cycles,
                      const Memory& memory, Span<BlockCost> costs);

}  // namespace sluice

#endif  // SLUICE_MODEL_REPORT_H_
