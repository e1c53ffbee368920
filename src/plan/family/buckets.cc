// SPDX-License-Identifier: Apache-2.0
#include "plan/family/buckets.h"

namespace sluice {

namespace {

// Where the caller gives none: buckets of a family, and what a bucket may cost above
// the plan of the size itself.
constexpr uint32_t kMost = 16;
constexpr uint32_t kTolerancePercent = 10;

// The bucket to split; 0: none.
uint32_t CostliestStep(const Vector<Bucket>& buckets, double tolerated) {
  uint32_t at = 0;
  double worst = tolerated;
  for (uint32_t i = 1; i < buckets.size(); ++i) {
    const double ratio = buckets[i].cost / buckets[i - 1].cost;
    if (ratio > worst && buckets[i].top - buckets[i - 1].top > 1) {
      worst = ratio;
      at = i;
    }
  }
  return at;
}

}  // namespace

Status AddBucket(const BucketPlanner& planner, int64_t value, uint32_t at,
                 Vector<Bucket>* buckets) {
  Bucket made = {value, 0};
  SLUICE_TRY(planner.plan(planner.user, value, at, &made.cost));
  SLUICE_TRY(buckets->Push(made));
  for (size_t i = buckets->size() - 1; i > at; --i) {
    (*buckets)[i] = (*buckets)[i - 1];
  }
  (*buckets)[at] = made;
  return Status::kOk;
}

Status ChooseBuckets(const BucketRange& range, const BucketPlanner& planner,
                     Vector<Bucket>* buckets) {
  const uint32_t most = range.most != 0 ? range.most : kMost;
  const uint32_t percent =
      range.tolerance_percent != 0 ? range.tolerance_percent : kTolerancePercent;
  SLUICE_TRY(AddBucket(planner, range.last, 0, buckets));
  if (range.first < range.last) {
    SLUICE_TRY(AddBucket(planner, range.first, 0, buckets));
  }
  while (buckets->size() < most) {
    const uint32_t at = CostliestStep(*buckets, 1 + percent / 100.0);
    if (at == 0) break;
    const int64_t below = (*buckets)[at - 1].top;
    const int64_t middle = below + ((*buckets)[at].top - below) / 2;
    SLUICE_TRY(AddBucket(planner, middle, at, buckets));
  }
  return Status::kOk;
}

uint32_t BucketOf(const Vector<Bucket>& buckets, int64_t value) {
  uint32_t low = 0;
  uint32_t high = static_cast<uint32_t>(buckets.size());
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (buckets[middle].top < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace sluice
