// SPDX-License-Identifier: Apache-2.0
// The scratchpad sizes of one model: which of them have a plan, and what latency the
// others may be expected to have.
//
// Input    sizes to look at; plans of some of them
// Output   the same sizes as a curve of a partition
// Errors   kOutOfMemory
// Cost     a pass over the model's sizes, for MakePoints their square
#ifndef SLUICE_PLAN_TOGETHER_MODEL_SIZES_H_
#define SLUICE_PLAN_TOGETHER_MODEL_SIZES_H_

#include "plan/together/curve.h"
#include "solve/partition/partition.h"

namespace sluice {

struct ShareRequest {
  const Hardware& hardware;
  sluice_schedule_options_t options;  // of each plan
  Span<const FreeRange> ranges;
  int64_t whole, equal;  // the largest range; a fair share
  uint32_t points;       // sizes of each model; 1 = the whole alone
  uint32_t models;
};

struct SharedSize {
  // kTooLong: planned, and a block of it is longer than a turn may be.
  enum State : uint8_t { kOpen, kPlanned, kTooLong, kUseless };
  CurvePoint point;  // while it is open, only its bytes are set
  State state;
  bool known() const { return state == kPlanned || state == kTooLong; }
};

struct ModelSizes {
  explicit ModelSizes(Arena* arena) : sizes(arena) {}
  const Graph* graph = nullptr;
  int64_t weight = 1;
  bool reserved = false;
  Vector<SharedSize> sizes;  // in no order, the whole first
};

// Adds a size unless it is there or is known to have the plan of a larger one.
Status AddSize(ModelSizes* model, int64_t bytes);
// Adds the sizes that the request asks for, from small ones to the whole.
Status AddSizes(const ShareRequest& request, ModelSizes* model);
// Keeps the plan of `size`, one of the model's, unless it has a better one.
Status TakePoint(const ShareRequest& request, const CurvePoint& point,
                 ModelSizes* model, SharedSize* size);
// Drops the sizes below the smallest scratchpad that the refusal of a size has named,
// and adds that one. bytes: 0 = it named none.
Status RaiseLeast(const ShareRequest& request, uint64_t bytes, ModelSizes* model);

// The plan for the whole largest range, or for the model's own.
inline const CurvePoint& Whole(const ModelSizes& model) { return model.sizes[0].point; }
// The fastest plan. Plans are found by search: a larger range does not always have the
// faster one.
const CurvePoint& Fastest(const ModelSizes& model);
// Cycles of the best plan that needs at most so many bytes; 0 = none is known.
int64_t LatencyWithin(const ModelSizes& model, int64_t bytes);
// The plan of the next larger size that is planned; empty = there is none.
Span<const uint8_t> LargerPlan(const ModelSizes& model, int64_t bytes);

// What sizes without a plan count as: they are left out, guessed, or bounded from below.
enum class Known { kPlans, kGuesses, kBounds };
// Latency of a size that is not planned. A bound from below: the best plan known within
// the next larger size. A guess: half way between that and a straight line from there
// to the best smaller size.
int64_t ExpectedLatency(const ModelSizes& model, const SharedSize& open, Known known);
// The largest open size with the same bound as `size`.
uint32_t LargestAlike(const ModelSizes& model, uint32_t size);

struct PointsWanted {
  Known known;
  int64_t alignment;  // of ranges
};
// The sizes of a model as a curve: bytes rising, latencies falling. sizes: the size that
// each point is of.
Status MakePoints(const ModelSizes& model, const PointsWanted& wanted, Arena* scratch,
                  Span<uint32_t>* sizes, Span<PartitionPoint>* points);

}  // namespace sluice

#endif  // SLUICE_PLAN_TOGETHER_MODEL_SIZES_H_
