// SPDX-License-Identifier: Apache-2.0
#include "model/layer_cost.h"

#include "base/checked.h"

namespace sluice {

namespace {

// Bytes that enter or leave all instances of a level.
int64_t LevelTraffic(const MappingProblem& problem, const AccessCounts& counts,
                     uint32_t level, bool outermost) {
  int64_t bytes = 0;
  for (uint32_t v = 0; v < kOperands; ++v) {
    int64_t words = 0, more = 0;
    const bool fits =
        CheckedAdd(counts.reads[level][v], counts.writes[level][v], &words) &&
        CheckedMultiply(words, InnerBytes(problem, v), &more) &&
        CheckedAdd(bytes, more, &bytes);
    if (!fits) return INT64_MAX;
  }
  if (!outermost) return bytes;
  return bytes + counts.final_writes * (int64_t{problem.element_bytes[kOutput]} -
                                        int64_t{problem.partial_bytes});
}

}  // namespace

double ReadPj(const MemoryLevel& level, int64_t bytes) {
  return level.read_pj_per_bit * static_cast<double>(8 * bytes);
}

double WritePj(const MemoryLevel& level, int64_t bytes) {
  return level.write_pj_per_bit * static_cast<double>(8 * bytes);
}

int64_t PeakOperations(const MappingProblem& problem, const Hardware& hardware) {
  const int64_t peak =
      problem.vector ? hardware.vector_ops_per_cycle : hardware.macs_per_cycle;
  return Max(int64_t{1}, peak);
}

void CostOfCounts(const MappingProblem& problem, const Hardware& hardware,
                  const AccessCounts& counts, LayerCost* cost) {
  *cost = LayerCost{};
  const uint32_t levels = static_cast<uint32_t>(hardware.levels.size());
  const int64_t peak = PeakOperations(problem, hardware);
  cost->operations_pj = (problem.vector ? hardware.vector_op_pj : hardware.mac_pj) *
                        static_cast<double>(counts.operations);
  cost->compute_cycles = Max(counts.cycles, CeilDivide(counts.operations, peak));
  cost->cycles = Max(int64_t{1}, cost->compute_cycles);
  cost->energy_pj = cost->operations_pj;
  for (uint32_t l = 0; l < levels; ++l) {
    const MemoryLevel& level = hardware.levels[l];
    for (uint32_t v = 0; v < kOperands; ++v) {
      const int64_t bytes = InnerBytes(problem, v);
      cost->level_pj[l] +=
          static_cast<double>(counts.reads[l][v]) * ReadPj(level, bytes) +
          static_cast<double>(counts.writes[l][v]) * WritePj(level, bytes);
    }
    if (l + 1 == levels) {
      cost->level_pj[l] += static_cast<double>(counts.final_writes) *
                           (WritePj(level, problem.element_bytes[kOutput]) -
                            WritePj(level, problem.partial_bytes));
    }
    cost->energy_pj += cost->level_pj[l];
    if (level.bandwidth.numerator > 0) {
      const int64_t bytes = LevelTraffic(problem, counts, l, l + 1 == levels);
      cost->level_cycles[l] =
          TransferCycles(CeilDivide(bytes, Max(int64_t{1}, counts.instances[l])),
                         level.bandwidth.numerator, level.bandwidth.denominator);
      cost->cycles = Max(cost->cycles, cost->level_cycles[l]);
    }
  }
  for (uint32_t l = 0; l < levels; ++l) {
    const Fanout* fanout = FanoutAt(hardware, l, 0);
    if (fanout == nullptr) continue;
    for (uint32_t v = 0; v < kOperands; ++v) {
      const double bits = static_cast<double>(8 * InnerBytes(problem, v));
      cost->transfer_pj += static_cast<double>(counts.transfers[l][v]) *
                               (fanout->transfer_pj_per_bit * bits) +
                           static_cast<double>(counts.forwards[l][v]) *
                               (fanout->forward_pj_per_bit * bits);
    }
  }
  cost->energy_pj += cost->transfer_pj;
  cost->leakage_pj = hardware.leakage_pj_per_cycle * static_cast<double>(cost->cycles);
  cost->energy_pj += cost->leakage_pj;
  cost->utilization = static_cast<double>(counts.operations) /
                      (static_cast<double>(cost->cycles) * static_cast<double>(peak));
}

Status EvaluateNest(const MappingProblem& problem, const Hardware& hardware,
                    const LoopNest& nest, const CostOptions& options, LayerCost* cost,
                    Diagnostic* diagnostic) {
  SLUICE_TRY(CheckNest(problem, hardware, nest, options.resident, diagnostic));
  AccessCounts counts;
  SLUICE_TRY(CountAccesses(problem, hardware, nest, {options.form, options.resident},
                           &counts, diagnostic));
  CostOfCounts(problem, hardware, counts, cost);
  return Status::kOk;
}

}  // namespace sluice
