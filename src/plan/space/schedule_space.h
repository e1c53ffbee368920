// SPDX-License-Identifier: Apache-2.0
// A whole program from the space of plans: search, place, write, order the transfers.
//
// Input    graph, hardware, lowering, scratchpad bytes, what tiles cost; the weights of
//          energy and time.
// Output   the program, its notation and its lowering, whose places differ: what stays on
//          chip has none, and no two tensors share bytes of the workspace.
// Errors   kInfeasible: no plan, or its images lie nowhere; kBadInput: the earlier plan is
//          not one of segments; kUnsupported, kStopped, kOutOfMemory.
// Cost     a search (solve/space/search.h), then linear in steps.
#ifndef SLUICE_PLAN_SPACE_SCHEDULE_SPACE_H_
#define SLUICE_PLAN_SPACE_SCHEDULE_SPACE_H_

#include "plan/candidate.h"
#include "plan/space/segment_notation.h"

namespace sluice {

struct SpaceCall {
  const Graph& graph;
  const Hardware& hardware;
  const Lowering& lowering;
  int64_t scratchpad_bytes;
  const TileCoster& coster;
  SpaceSearch search;
  CarriedFrom from = {};  // an earlier plan whose segments are kept where they hold
};

class SpaceSchedule {
 public:
  static constexpr int kOrders = 3;  // in which images got their places

  // What is found lives in `memory`.
  SpaceSchedule(const SpaceCall& call, Arena* memory) : call_(call), memory_(memory) {}

  // A plan whose images lie in one of the orders at least.
  Status Find(Diagnostic* diagnostic);
  // Whether the images lie in an order, and otherwise than in one before.
  bool Has(int order) const;
  // Fills program, places and lowering of the candidate. kInfeasible: there is
  // no such order.
  Status Write(int order, Candidate* out);
  Span<const SpaceSegment> segments() const { return plan_.segments; }
  uint32_t kept() const { return carried_.kept; }  // segments that were known

 private:
  Status Search();
  void KeepElsewhere();
  Status PlaceAll();
  Status Place(int order, uint64_t search_bytes);
  bool Restore(int order);  // false: that order has no offsets

  const SpaceCall call_;
  Arena* memory_;
  SpaceProblem problem_;
  CarriedSegments carried_;
  Span<KnownSegment> known_;  // by position: segments that the search takes as they are
  int64_t more_ = 0;          // bytes to leave empty where images do not lie
  SpacePlan plan_;
  Span<int64_t> leave_;             // by position: problem_.slack as the search saw it
  Span<int64_t> offsets_[kOrders];  // empty: they do not lie
};

}  // namespace sluice

#endif  // SLUICE_PLAN_SPACE_SCHEDULE_SPACE_H_
