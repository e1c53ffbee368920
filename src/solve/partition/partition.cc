// SPDX-License-Identifier: Apache-2.0
#include "solve/partition/partition.h"

#include "base/checked.h"

namespace sluice {

namespace {

struct Search {
  Span<const PartitionModel> models;
  Span<const FreeRange> ranges;
  Budget* budget;
  int64_t used[kMaxModels + 1];   // of each range
  int64_t bound[kMaxModels + 1];  // least cost of models from here on, each alone
  Partition now;
  Partition best;
};

int64_t Cost(const PartitionModel& model, const PartitionPoint& point) {
  int64_t cost = 0;
  return CheckedMultiply(model.weight, point.latency, &cost) ? cost : INT64_MAX;
}

int64_t Sum(int64_t a, int64_t b) {
  int64_t sum = 0;
  return CheckedAdd(a, b, &sum) ? sum : INT64_MAX;
}

void Visit(Search* s, uint32_t m) {
  if (m == s->models.size()) {
    const bool proved = s->best.proved;
    s->best = s->now;
    s->best.proved = proved;
    return;
  }
  if (s->budget->Spend() && s->best.cost != INT64_MAX) {
    s->best.proved = false;
    return;
  }
  const PartitionModel& model = s->models[m];
  const int64_t before = s->now.cost;
  for (size_t p = model.points.size(); p-- > 0;) {  // the fastest first
    const PartitionPoint& point = model.points[p];
    const int64_t cost = Sum(before, Cost(model, point));
    if (Sum(cost, s->bound[m + 1]) >= s->best.cost) break;
    for (size_t r = 0; r < s->ranges.size(); ++r) {
      if (point.bytes > s->ranges[r].bytes - s->used[r]) continue;
      s->now.point[m] = static_cast<uint32_t>(p);
      s->now.offset[m] = s->ranges[r].begin + s->used[r];
      s->now.cost = cost;
      s->used[r] += point.bytes;
      Visit(s, m + 1);
      s->used[r] -= point.bytes;
    }
  }
  s->now.cost = before;
}

}  // namespace

Status DividePartition(Span<const PartitionModel> models, Span<const FreeRange> ranges,
                       Budget* budget, Partition* out) {
  SLUICE_ASSERT(models.size() <= kMaxModels && ranges.size() <= kMaxModels + 1);
  Search s = {models, ranges, budget, {}, {}, {}, {}};
  for (size_t m = models.size(); m-- > 0;) {
    const PartitionModel& model = models[m];
    s.bound[m] =
        Sum(s.bound[m + 1], Cost(model, model.points[model.points.size() - 1]));
  }
  s.best.cost = INT64_MAX;
  s.best.proved = true;
  Visit(&s, 0);
  *out = s.best;
  return s.best.cost == INT64_MAX ? Status::kInfeasible : Status::kOk;
}

}  // namespace sluice
