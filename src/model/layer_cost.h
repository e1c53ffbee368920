// SPDX-License-Identifier: Apache-2.0
// Energy by component and latency of a loop nest on one node: the one cost model.
//
// Input    problem, hardware, nest; options say which reuse form and which operands
//          stay in the scratchpad
// Output   LayerCost: pJ, cycles. latency = max(steps, operations / peak, per level
//          bytes of one instance / bandwidth); leakage = rate x latency
// Errors   those of CheckNest and CountAccesses
// Cost     O(levels^2 x dims), no memory
// Source   KAPLA section IV-A cost model, GOMA (25)-(30). Outputs have their final
//          width only when they enter the outermost level as finished results.
#ifndef SLUICE_MODEL_LAYER_COST_H_
#define SLUICE_MODEL_LAYER_COST_H_

#include <stdint.h>

#include "model/access.h"

namespace sluice {

struct CostOptions {
  ReuseForm form = ReuseForm::kReuse;
  // Operands (bits) that already lie in the level below the outermost.
  uint32_t resident = 0;
  uint32_t rotated = 0;  // on a mesh only: see EvaluateOnMesh
};

struct LayerCost {
  double operations_pj;
  double level_pj[kMaxLevels];
  double transfer_pj;  // fanout wires and forwarding
  double leakage_pj;
  double energy_pj;  // sum of the above, in this order
  int64_t cycles;
  int64_t compute_cycles;
  int64_t level_cycles[kMaxLevels];
  double utilization;  // operations / (cycles x peak); not used by any search
};

// pJ to read or write one word; only the outermost level stores finished outputs.
double ReadPj(const MemoryLevel& level, int64_t bytes);
double WritePj(const MemoryLevel& level, int64_t bytes);

// Operations that one node can do per cycle for this problem.
int64_t PeakOperations(const MappingProblem& problem, const Hardware& hardware);

void CostOfCounts(const MappingProblem& problem, const Hardware& hardware,
                  const AccessCounts& counts, LayerCost* cost);

// CheckNest, CountAccesses and CostOfCounts.
Status EvaluateNest(const MappingProblem& problem, const Hardware& hardware,
                    const LoopNest& nest, const CostOptions& options, LayerCost* cost,
                    Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_MODEL_LAYER_COST_H_
