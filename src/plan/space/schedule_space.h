// SPDX-License-Identifier: Apache-2.0
// Makes a whole program from the space of plans: searches segments, places their
// images, writes the program and orders its transfers.
//
// Input    graph, hardware, lowering, scratchpad bytes, what tiles cost; the weights of
//          energy and time.
// Output   the program, its notation and its lowering, with DRAM places of its own:
//          tensors that stay on chip have none, and no two tensors share bytes of the
//          workspace.
// Errors   kInfeasible: no plan, or its images fit in no order; kBadInput: the earlier
//          plan is not one of segments; kUnsupported, kStopped, kOutOfMemory.
// Cost     a search (solve/space/search.h), then linear in steps.
#ifndef SLUICE_PLAN_SPACE_SCHEDULE_SPACE_H_
#define SLUICE_PLAN_SPACE_SCHEDULE_SPACE_H_

#include "plan/candidate.h"
#include "plan/space/place_images.h"
#include "plan/space/segment_notation.h"

namespace sluice {

// Segments to take as they are, and the bytes to leave empty, by position; the layers by
// position, empty: in the graph's order.
struct KnownPlan {
  Span<KnownSegment> segment;
  Span<int64_t> leave;
  Span<const uint32_t> order;
};

struct SpaceCall {
  const Graph& graph;
  const Hardware& hardware;
  const Lowering& lowering;
  int64_t scratchpad_bytes;
  const TileCoster& coster;
  SpaceSearch search;
  Budget* budget;         // of placing and writing; search.budget of the rest
  CarriedFrom from = {};  // an earlier plan whose valid segments are kept
  const KnownPlan* known = nullptr;  // or a plan of the same problem
  Span<const uint32_t> order = {};   // without both: see solve/space/problem.h
  bool exactly = false;              // that plan or none
  double most_cost = 0;              // by CostOf, as predicted; 0: any
  bool soon = false;                 // images are placed by heuristics alone
  bool in_turn = false;              // images are placed in turn first
};

// energy^energy_exponent x cycles^delay_exponent
double CostOf(const SpaceGoal& goal, const PlanTotal& total);

uint64_t HashOfSegments(Span<const SpaceSegment> segments);  // and of their loops
// The most iterations that the loops of a segment have.
int64_t MostIterations(Span<const SpaceSegment> segments);

class SpaceSchedule {
 public:
  static constexpr int kOrders = 2;  // PlaceOrder: ways to place images

  // Results live in `memory`.
  SpaceSchedule(const SpaceCall& call, Arena* memory) : call_(call), memory_(memory) {}

  // Finds a plan whose images fit by leads.
  Status Find(Diagnostic* diagnostic);
  // True if the images fit in an order, at other offsets than in the order before it.
  // They are placed in the second one when it is asked for first.
  bool Has(int order);
  // Fills program, places and lowering of the candidate. kInfeasible: Has(order) is
  // false.
  Status Write(int order, Candidate* out);
  Span<const SpaceSegment> segments() const { return plan_.segments; }
  // What the search predicts that the plan costs.
  PlanTotal predicted() const { return {plan_.energy_pj, plan_.cycles}; }
  // The segments and what they leave, in `arena`.
  Status Note(Arena* arena, KnownPlan* out) const;
  // The plan before changes at the end (SpaceSearch::found). It lives in search.notes of
  // the call.
  const UnchangedPlan& found() const { return found_; }
  // Whether the plan found is what the call asks for: `exactly` the known segments, or
  // with half of its segments from the earlier plan, or changed where it was to change.
  bool IsWanted() const;

 private:
  Status MakeProblem();
  Status Search();
  void KeepElsewhere();
  Status Place(PlaceOrder order);
  bool Restore(int order);  // false: that order has no offsets

  const SpaceCall call_;
  Arena* memory_;
  SpaceProblem problem_;
  Span<const uint32_t> order_;  // of the problem; empty: the graph's
  CarriedSegments carried_;
  Span<KnownSegment> known_;  // by position: segments that the search takes as they are
  UnchangedPlan found_;       // SpaceSearch::found
  int64_t more_ = 0;          // bytes that are added to slack where images do not fit
  SpacePlan plan_;
  Span<int64_t> leave_;             // by position: problem_.slack as the search saw it
  Span<int64_t> offsets_[kOrders];  // empty: the images do not fit
  bool moved_ = false;              // PlaceOrder::kEarlier was tried
};

}  // namespace sluice

#endif  // SLUICE_PLAN_SPACE_SCHEDULE_SPACE_H_
