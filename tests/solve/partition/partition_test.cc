// SPDX-License-Identifier: Apache-2.0
// The division of a scratchpad among models, compared with all possible divisions.
#include "solve/partition/partition.h"

#include <doctest/doctest.h>

#include <vector>

#include "base/rng.h"

namespace sluice {
namespace {

struct Case {
  std::vector<std::vector<PartitionPoint>> points;
  std::vector<int64_t> weight;
  std::vector<FreeRange> ranges;
};

Case MakeCase(uint64_t seed) {
  Rng rng(seed);
  Case c;
  const uint64_t models = 1 + rng.Below(4);
  for (uint64_t m = 0; m < models; ++m) {
    std::vector<PartitionPoint> curve;
    int64_t bytes = 64 * static_cast<int64_t>(1 + rng.Below(8));
    int64_t latency = 1000 + static_cast<int64_t>(rng.Below(1000));
    for (uint64_t p = 0, n = 1 + rng.Below(4); p < n; ++p) {
      curve.push_back({bytes, latency});
      bytes += 64 * static_cast<int64_t>(1 + rng.Below(8));
      latency -= static_cast<int64_t>(1 + rng.Below(200));
    }
    c.points.push_back(curve);
    c.weight.push_back(static_cast<int64_t>(1 + rng.Below(3)));
  }
  int64_t begin = 0;
  for (uint64_t r = 0, n = 1 + rng.Below(3); r < n; ++r) {
    const int64_t bytes = 64 * static_cast<int64_t>(rng.Below(24));
    c.ranges.push_back({begin, bytes});
    begin += bytes + 128;
  }
  return c;
}

// The least cost, by trying every point of every model in every range.
int64_t BruteForce(const Case& c, size_t m, std::vector<int64_t> room) {
  if (m == c.points.size()) return 0;
  int64_t best = INT64_MAX;
  for (const PartitionPoint& point : c.points[m]) {
    for (size_t r = 0; r < room.size(); ++r) {
      if (point.bytes > room[r]) continue;
      std::vector<int64_t> less = room;
      less[r] -= point.bytes;
      const int64_t rest = BruteForce(c, m + 1, less);
      if (rest == INT64_MAX) continue;
      best = std::min(best, rest + c.weight[m] * point.latency);
    }
  }
  return best;
}

TEST_CASE("a divided scratchpad has the least weighted latency of all divisions") {
  int feasible = 0, infeasible = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    const Case c = MakeCase(seed);
    std::vector<PartitionModel> models;
    for (size_t m = 0; m < c.points.size(); ++m) {
      models.push_back(
          {Span<const PartitionPoint>(c.points[m].data(), c.points[m].size()),
           c.weight[m]});
    }
    std::vector<int64_t> room;
    for (const FreeRange& r : c.ranges) room.push_back(r.bytes);
    const int64_t best = BruteForce(c, 0, room);
    Budget budget;
    Partition partition = {};
    const Status status = DividePartition(
        Span<const PartitionModel>(models.data(), models.size()),
        Span<const FreeRange>(c.ranges.data(), c.ranges.size()), &budget, &partition);
    CHECK((status == Status::kOk) == (best != INT64_MAX));
    if (status != Status::kOk) {
      CHECK(status == Status::kInfeasible);
      ++infeasible;
      continue;
    }
    ++feasible;
    CHECK(partition.proved);
    CHECK(partition.cost == best);
    // The offsets have the cost reported, lie inside a range and do not overlap.
    int64_t cost = 0;
    for (size_t m = 0; m < models.size(); ++m) {
      const PartitionPoint& point = c.points[m][partition.point[m]];
      cost += c.weight[m] * point.latency;
      bool inside = false;
      for (const FreeRange& r : c.ranges) {
        inside = inside || (partition.offset[m] >= r.begin &&
                            partition.offset[m] + point.bytes <= r.begin + r.bytes);
      }
      CHECK(inside);
      for (size_t o = 0; o < m; ++o) {
        const int64_t end = partition.offset[o] + c.points[o][partition.point[o]].bytes;
        const bool apart = partition.offset[m] >= end ||
                           partition.offset[m] + point.bytes <= partition.offset[o];
        CHECK(apart);
      }
    }
    CHECK(cost == partition.cost);
  }
  CHECK(feasible > 50);
  CHECK(infeasible > 20);
}

}  // namespace
}  // namespace sluice
