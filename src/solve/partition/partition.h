// SPDX-License-Identifier: Apache-2.0
// Divides a scratchpad among models: one point of each one's curve, each in a range of
// its own, the least weighted sum of latencies.
//
// Input    per model its curve, bytes ascending and latencies falling; the free ranges.
// Output   the point and the offset of each model; proved unless a limit or a cancel ended it.
// Errors   kInfeasible when even the smallest points find no room.
// Cost     depth-first over models, points and ranges with a lower bound: exact, at
//          most (points * ranges)^models steps, far fewer with the bound.
#ifndef SLUICE_SOLVE_PARTITION_PARTITION_H_
#define SLUICE_SOLVE_PARTITION_PARTITION_H_

#include "base/budget.h"
#include "base/memory.h"

namespace sluice {

constexpr uint32_t kMaxModels = 8;

struct PartitionPoint {
  int64_t bytes;  // a multiple of the alignment
  int64_t latency;
};

struct FreeRange {
  int64_t begin, bytes;
};

struct PartitionModel {
  Span<const PartitionPoint> points;
  int64_t weight;
};

struct Partition {
  uint32_t point[kMaxModels];
  int64_t offset[kMaxModels];
  int64_t cost;  // sum of weight * latency, saturating
  bool proved;
};

Status DividePartition(Span<const PartitionModel> models, Span<const FreeRange> ranges,
                       Budget* budget, Partition* out);

}  // namespace sluice

#endif  // SLUICE_SOLVE_PARTITION_PARTITION_H_
