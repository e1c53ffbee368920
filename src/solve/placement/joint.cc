// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/joint.h"

#include <algorithm>

#include "base/checked.h"
#include "solve/placement/address_search.h"
#include "solve/placement/spill_plan.h"
#include "solve/placement/spill_search.h"

namespace sluice {
namespace {

constexpr uint32_t kBeamWidth = 4;
constexpr uint32_t kBeamEvictions = 12;
constexpr uint64_t kPlaceNodes = 20000;  // per plan, while better ones are sought
constexpr uint64_t kLastLeaves = 20000;  // plans tried for addresses in the end
constexpr uint64_t kLastSteps = 1 << 24;

class Joint {
 public:
  Joint(const OperatorGraph& graph, const JointOptions& options, Budget* budget,
        Arena* arena, SpillPlan* plan)
      : g_(graph), options_(options), budget_(budget), arena_(arena), plan_(plan) {}

  Status Run() {
    SLUICE_TRY(arena_->Allocate(g_.operators.size(), &decisions_.order));
    SLUICE_TRY(arena_->Allocate(g_.operands.size(), &decisions_.fetch));
    SLUICE_TRY(Beam());
    if (plan_->placed && plan_->bytes() <= bound_) return Conclude();
    if (options_.exact && !budget_->Exhausted()) {
      bool complete = false;
      SLUICE_TRY(Exact(&complete));
      const bool hopeless = complete && bound_ >= best_;
      if (!hopeless && !(plan_->placed && plan_->bytes() <= bound_)) {
        SLUICE_TRY(ByAddresses());
      }
    }
    return Conclude();
  }

 private:
  Status Conclude() {
    if (!plan_->placed && nothing_fits_) return Status::kInfeasible;
    plan_->lower_bound = plan_->placed ? Min(bound_, plan_->bytes()) : bound_;
    plan_->proved = plan_->placed && plan_->bytes() == plan_->lower_bound;
    return plan_->placed ? Status::kOk : Status::kStopped;
  }

  SpillSearchOptions SumsOnly(int64_t capacity) const {
    SpillSearchOptions search;
    search.charge = options_.charge;
    search.capacity = capacity;
    search.fixed_order = options_.fixed_order;
    return search;
  }

  // Turns the decisions at hand into a placed plan if they are better than the plan so
  // far and have addresses.
  Status Adopt(uint64_t max_nodes, bool* placed) {
    *placed = false;
    if (plan_->placed && decisions_.bytes >= plan_->bytes()) return Status::kOk;
    SpillPlan next;
    next.states = plan_->states;
    SLUICE_TRY(BuildResidences(g_, decisions_.order, decisions_.fetch, options_.charge,
                               arena_, &next));
    SLUICE_ASSERT(next.bytes() == decisions_.bytes);
    AddressOptions address;
    address.capacity = options_.capacity;
    address.max_nodes = max_nodes;
    const Status status = PlaceResidences(g_, address, &unlimited_, arena_, &next);
    if (status == Status::kOutOfMemory) return status;
    *placed = status == Status::kOk;
    if (*placed) {
      *plan_ = next;
      best_ = next.bytes();
    }
    return Status::kOk;
  }

  // A first plan, whatever the budget: full capacity first, then with a reserve that
  // leaves room for fragmentation.
  Status Beam() {
    for (int reserve = 0; reserve <= 32 && !plan_->placed; ++reserve) {
      SpillSearchOptions search =
          SumsOnly(options_.capacity - options_.capacity / 64 * reserve);
      search.width = kBeamWidth;
      search.max_evictions = kBeamEvictions;
      SLUICE_TRY(SearchSpills(g_, search, &unlimited_, arena_, &decisions_));
      plan_->states += decisions_.states;
      if (reserve == 0) {
        bound_ = decisions_.complete ? decisions_.lower_bound : 0;
        nothing_fits_ = decisions_.complete && !decisions_.found;
      }
      if (!decisions_.found) break;
      bool placed = false;
      SLUICE_TRY(Adopt(kPlaceNodes, &placed));
      if (reserve == 0 && !placed) unplaced_ = decisions_.bytes;
    }
    return Status::kOk;
  }

  // The optimum of the sums; a lower bound whatever becomes of its addresses.
  Status Exact(bool* complete) {
    SpillSearchOptions search = SumsOnly(options_.capacity);
    search.max_states = options_.max_states;
    search.give_up = Min(best_, unplaced_ == INT64_MAX ? unplaced_ : unplaced_ + 1);
    SLUICE_TRY(SearchSpills(g_, search, budget_, arena_, &decisions_));
    plan_->states += decisions_.states;
    *complete = decisions_.complete;
    bound_ = Max(bound_, decisions_.lower_bound);
    if (decisions_.complete && !decisions_.found && best_ == INT64_MAX &&
        unplaced_ == INT64_MAX) {
      nothing_fits_ = true;
    }
    bool placed = false;
    if (decisions_.found) SLUICE_TRY(Adopt(16 * kPlaceNodes, &placed));
    return Status::kOk;
  }

  // Sums allow `bound_`, but the plan found for it has no addresses: look for one that
  // has, or for the next dearer.
  Status ByAddresses() {
    if (nothing_fits_) return Status::kOk;
    AddressSearchBounds bounds;
    bounds.floor = bound_;
    bounds.give_up = best_;
    bounds.max_leaves = kLastLeaves;
    bounds.max_nodes = 16 * kPlaceNodes;
    bounds.max_steps = kLastSteps;
    int64_t reached = 0;
    const Status status = SearchAddresses(g_, options_, bounds, budget_, arena_,
                                          decisions_.order, decisions_.fetch, &reached);
    if (status == Status::kInfeasible) {
      bound_ = best_;  // nothing below what we have, or nothing at all
      nothing_fits_ = !plan_->placed;
      return Status::kOk;
    }
    if (status == Status::kStopped) return Status::kOk;
    SLUICE_TRY(status);
    decisions_.bytes = reached;
    bool placed = false;
    SLUICE_TRY(Adopt(0, &placed));
    bound_ = Max(bound_, reached);  // all cheaper ones were excluded on the way
    return Status::kOk;
  }

  const OperatorGraph& g_;
  const JointOptions& options_;
  Budget* const budget_;
  Arena* const arena_;
  SpillPlan* const plan_;
  Budget unlimited_;  // for steps whose work is bounded anyway
  SpillDecisions decisions_;
  int64_t bound_ = 0;
  int64_t best_ = INT64_MAX;
  int64_t unplaced_ = INT64_MAX;  // bytes of a plan that fits in sums only
  bool nothing_fits_ = false;
};

Status CheckFixedOrder(const OperatorGraph& graph, Span<const uint32_t> order,
                       Arena* arena, Diagnostic* diagnostic) {
  if (order.empty()) return Status::kOk;
  ArenaScope scope(arena);
  Span<uint8_t> written, done;
  SLUICE_TRY(arena->Allocate(graph.tensors.size(), &written));
  SLUICE_TRY(arena->Allocate(graph.operators.size(), &done));
  for (size_t a = 0; a < written.size(); ++a) {
    written[a] = graph.tensors[a].role == TensorRole::kInput;
  }
  bool good = order.size() == graph.operators.size();
  uint32_t at = 0;
  for (; good && at < order.size(); ++at) {
    const uint32_t o = order[at];
    good = o < graph.operators.size() && !done[o];
    if (!good) break;
    done[o] = 1;
    for (uint32_t a : graph.InputsOf(graph.operators[o])) good &= written[a] != 0;
    for (uint32_t a : graph.OutputsOf(graph.operators[o])) written[a] = 1;
    if (!good) break;
  }
  if (good) return Status::kOk;
  return Fail(diagnostic, Status::kBadInput, "placement")
      .Text("the fixed order is no order of this graph's operators, at step ")
      .Number(at);
}

// Rounds sizes up and the capacity down to the alignment, then counts true bytes again.
Status RoundSizes(const OperatorGraph& graph, int64_t alignment, Arena* arena,
                  OperatorGraph* rounded) {
  *rounded = graph;
  if (alignment == 1) return Status::kOk;
  Span<OperatorTensor> tensors;
  SLUICE_TRY(arena->Allocate(graph.tensors.size(), &tensors));
  for (size_t a = 0; a < tensors.size(); ++a) {
    tensors[a] = graph.tensors[a];
    tensors[a].bytes = RoundUpTo(tensors[a].bytes, alignment);
  }
  rounded->tensors = tensors;
  return Status::kOk;
}

}  // namespace

Status PlanJoint(const OperatorGraph& graph, const JointOptions& options,
                 Budget* budget, Arena* arena, SpillPlan* plan,
                 Diagnostic* diagnostic) {
  *plan = SpillPlan();
  SLUICE_TRY(CheckOperatorGraph(graph, arena, diagnostic));
  SLUICE_TRY(CheckFixedOrder(graph, options.fixed_order, arena, diagnostic));
  if (options.alignment <= 0 || options.capacity < 0 ||
      !IsPowerOfTwo(static_cast<uint64_t>(options.alignment))) {
    return Fail(diagnostic, Status::kBadArgument, "placement")
        .Text("alignment must be a power of two, capacity not negative");
  }
  OperatorGraph rounded;
  SLUICE_TRY(RoundSizes(graph, options.alignment, arena, &rounded));
  JointOptions whole = options;
  whole.capacity = options.capacity / options.alignment * options.alignment;
  Joint joint(rounded, whole, budget, arena, plan);
  const Status status = joint.Run();
  if (status == Status::kUnsupported) {
    return Fail(diagnostic, status, "placement")
        .Text("more than 1024 operators or tensors");
  }
  if (status == Status::kInfeasible) {
    return Fail(diagnostic, status, "placement")
        .Bytes(static_cast<uint64_t>(LargestOperator(rounded)),
               static_cast<uint64_t>(options.capacity))
        .Text("the operands of an operator do not fit together");
  }
  if (status == Status::kStopped) {
    return Fail(diagnostic, status, "placement")
        .Text("stopped before any plan had addresses");
  }
  return status;
}

Status PlanFootprint(const OperatorGraph& graph, Budget* budget, Arena* arena,
                     FootprintPlan* plan, Diagnostic* diagnostic) {
  *plan = FootprintPlan();
  SLUICE_TRY(CheckOperatorGraph(graph, arena, diagnostic));
  SLUICE_TRY(arena->Allocate(graph.operators.size(), &plan->order));
  const Status status =
      MinimumPeak(graph, budget, arena, plan->order, &plan->peak_bytes, &plan->proved);
  if (status == Status::kUnsupported) {
    return Fail(diagnostic, status, "placement")
        .Text("more than 1024 operators or tensors");
  }
  return status;
}

}  // namespace sluice
