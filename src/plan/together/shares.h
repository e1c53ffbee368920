// SPDX-License-Identifier: Apache-2.0
// Chooses the scratchpad sizes that each of several models is planned for, and which
// one it gets.
//
// Input    graphs with weights, the free ranges, how many sizes of each to look at, the
//          options of each plan.
// Output   a planned size for each model and its place: the least weighted sum of
//          latencies; proved when no other considered size can lower it.
// Errors   those of MakePlan for the whole scratchpad; kInfeasible when the models do
//          not fit side by side; kStopped when that is not known in time. Other sizes
//          that cannot be planned are left out.
// Cost     two schedules for each size that matters: from scratch and from the plan of
//          the next larger size; with a deadline only the first.
//
// Latencies of sizes between planned ones are guessed. The best division by guesses is
// planned, until all sizes in it are planned; then the same by lower bounds (less
// scratchpad is never faster), which proves the division. Unused bytes return to the
// pool: sizes that could use them, or make room for a faster neighbour, become
// candidates.
#ifndef SLUICE_PLAN_TOGETHER_SHARES_H_
#define SLUICE_PLAN_TOGETHER_SHARES_H_

#include "plan/together/curve.h"
#include "solve/partition/partition.h"

namespace sluice {

struct SharedSize {
  // kTooLong: planned, and a block of it is longer than a turn may be.
  enum State : uint8_t { kOpen, kPlanned, kTooLong, kUseless };
  CurvePoint point;  // while it is open, only its bytes are set
  State state;
  bool known() const { return state == kPlanned || state == kTooLong; }
};

struct Division {
  bool proved;
  uint32_t size[kMaxModels];  // of each model's sizes
  int64_t offset[kMaxModels];
};

struct ShareRequest {
  const Hardware& hardware;
  sluice_schedule_options_t options;  // of each plan
  Span<const FreeRange> ranges;
  int64_t whole, equal;  // the largest range; a fair share
  uint32_t points;       // sizes of each model; 1 = the whole alone
  uint32_t models;
};

class Shares {
 public:
  Shares(const ShareRequest& request, Budget* budget, Arena* arena, Arena* scratch,
         Diagnostic* diagnostic);

  // Plans the whole largest range, or the model's own.
  Status Add(const Graph& graph, uint32_t weight, int64_t reserved_bytes);
  // Divides the free ranges among the models without a reservation.
  Status Divide(Division* out);
  // The smallest turn limit, cycles, that some plan of every model keeps.
  int64_t LeastTurn() const;
  const SharedSize& size(uint32_t m, uint32_t i) const { return models_[m].sizes[i]; }
  // The plan for the whole largest range, or for the model's own.
  const CurvePoint& whole(uint32_t m) const { return models_[m].sizes[0].point; }
  // The fastest plan of a model. Plans are found by search: a larger range does not
  // always have the faster one.
  const CurvePoint& fastest(uint32_t m) const;
  // Cycles of the best plan that needs at most so many bytes; 0 = none is known.
  int64_t LatencyWithin(uint32_t m, int64_t bytes) const;

 private:
  enum class Known { kPlans, kGuesses, kBounds };
  enum class Way { kPlain, kAgain, kSearch };
  struct Model {
    explicit Model(Arena* arena) : sizes(arena) {}
    const Graph* graph = nullptr;
    int64_t weight = 1;
    bool reserved = false;
    Vector<SharedSize> sizes;  // in no order, the whole first
  };
  struct Choice {  // of one division
    Partition partition;
    uint32_t model[kMaxModels];       // of the partition's
    Span<uint32_t> size[kMaxModels];  // of the partition's points
    Span<PartitionPoint> point[kMaxModels];
    uint32_t SizeOf(uint32_t i) const { return size[i][partition.point[i]]; }
    int64_t BytesOf(uint32_t i) const { return point[i][partition.point[i]].bytes; }
  };

  Status AddSizes(Model* model);
  Status AddSize(Model* model, int64_t bytes);
  Status Plan(uint32_t m, uint32_t size, uint32_t part, bool must, Way way);
  Status TakePoint(Model* model, SharedSize* size, const CurvePoint& point);
  static Span<const uint8_t> LargerPlan(const Model& model, int64_t bytes);
  Status RaiseLeast(Model* model);
  Status PlanWell(uint32_t m, uint32_t size, uint32_t part);
  Status PlanEqual(bool plain);
  uint32_t LargestAlike(const Model& model, uint32_t size) const;
  // Whether the call has a deadline.
  bool InTime() const { return budget_->left_ns() != UINT64_MAX; }
  static int64_t BestWithin(const Model& model, int64_t bytes, int64_t best);
  int64_t Latency(const Model& model, const SharedSize& size, Known known) const;
  Status MakePoints(const Model& model, Known known, Span<uint32_t>* sizes,
                    Span<PartitionPoint>* points);
  Status Choose(Known known, Choice* choice);
  Status PlanSmallest(bool* planned);
  Status PlanOpen(const Choice& choice, Known known, bool* planned);
  Status AddNeighbours(const Choice& choice, bool* added);
  Status AddLeftover(const Choice& choice, uint32_t i, int64_t left);
  Status AddExchanges(const Choice& choice, uint32_t i, uint32_t j, int64_t left);
  Status DoNotFit(Status status);

  const ShareRequest request_;
  Budget* budget_;
  Arena* arena_;
  Arena* scratch_;
  Diagnostic* diagnostic_;
  uint32_t count_ = 0;
  uint32_t planned_ = 0;
  bool cut_ = false;  // the deadline ended the search of some plan
  Model models_[kMaxModels];
};

}  // namespace sluice

#endif  // SLUICE_PLAN_TOGETHER_SHARES_H_
