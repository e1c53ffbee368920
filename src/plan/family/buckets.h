// SPDX-License-Identifier: Apache-2.0
// Which values of a dimension get a plan of their own.
//
// A family has one plan for each bucket of values; the plan is made for the top of its
// bucket. Buckets are split until no plan costs much more than that of the bucket
// below.
//
// Input    the range of values, how many buckets at most, the tolerance; a function
//          that plans one value
// Output   the planner's calls: the last value, the first one, then tops in between
// Errors   the first that the planner returns
// Cost     one plan for each bucket
#ifndef SLUICE_PLAN_FAMILY_BUCKETS_H_
#define SLUICE_PLAN_FAMILY_BUCKETS_H_

#include "base/memory.h"

namespace sluice {

struct Bucket {
  int64_t top;
  double cost;  // of the plan for `top`
};

struct BucketRange {
  int64_t first, last;         // values, both included
  uint32_t most;               // buckets; 0 = 16
  uint32_t tolerance_percent;  // by which a bucket may cost more than the one below;
                               // 0 = 10
};

// Plans `value`; `at` is the place of its bucket among the existing ones.
struct BucketPlanner {
  void* user;
  Status (*plan)(void* user, int64_t value, uint32_t at, double* cost);
};

// Plans `value` and inserts its bucket at place `at`.
Status AddBucket(const BucketPlanner& planner, int64_t value, uint32_t at,
                 Vector<Bucket>* buckets);

// Splits the bucket with the largest cost ratio to its lower neighbour, again and
// again, while that ratio exceeds the tolerance.
Status ChooseBuckets(const BucketRange& range, const BucketPlanner& planner,
                     Vector<Bucket>* buckets);

// The bucket that a value falls into; buckets.size(): the value is above all.
uint32_t BucketOf(const Vector<Bucket>& buckets, int64_t value);

}  // namespace sluice

#endif  // SLUICE_PLAN_FAMILY_BUCKETS_H_
