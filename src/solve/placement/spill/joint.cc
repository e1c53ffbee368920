// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/joint.h"

#include <algorithm>

#include "base/checked.h"
#include "solve/placement/spill/address_repair.h"
#include "solve/placement/spill/address_search.h"
#include "solve/placement/spill/break_nodes.h"
#include "solve/placement/spill/least_peak.h"
#include "solve/placement/spill/spill_plan.h"
#include "solve/placement/spill/spill_search.h"

namespace sluice {
namespace {

constexpr uint32_t kBeamWidth = 4;
constexpr uint32_t kWideBeam = 64;
constexpr uint32_t kBeamEvictions = 12;
// Windows between near cuts, for graphs too large to solve at once.
constexpr size_t kWindowFrom = 24;  // operators; below, the exact search is as fast
struct WindowShape {
  uint32_t least, most;  // steps
  uint32_t width;        // states per layer
};
constexpr WindowShape kFirstWindows = {20, 36, 16};
constexpr WindowShape kLastWindows = {60, 110, 64};  // when the exact search gave up
constexpr int kWindowRounds = 3;
constexpr int kReserveParts =
    64;                          // the capacity's parts that are kept free, one by one
constexpr int kSafeReserve = 8;  // parts that nearly always suffice
constexpr int kWideReserves = 8;
constexpr uint64_t kUnspilledNodes = 4000;  // of the search for an order without spills
constexpr uint64_t kProofNodes = 1 << 17;   // of the search for the least peak
constexpr uint64_t kSeedNodes = 2000;       // of the search for an order of least peak
constexpr int kFirstRepairs = 3;  // tensors dropped to make room for addresses
constexpr int kRepairs = 20;      // where the budget allows
constexpr int kLastRepairs = 256;
constexpr uint64_t kPlaceNodes = 1000;      // per plan, while better ones are sought
constexpr uint64_t kEarlyStates = 1 << 11;  // of each segment, before windows
constexpr size_t kExactFirst = 100;         // operators; above, wide windows come first
constexpr uint64_t kLastLeaves = 20000;     // plans tried for addresses in the end
constexpr uint64_t kLastSteps = 1 << 22;
constexpr int64_t kMaxAlignment = int64_t{1} << 30;

// *at: the first step that is wrong.
bool FollowsGraph(const OperatorGraph& graph, Span<const uint32_t> order,
                  Span<uint8_t> written, Span<uint8_t> done, uint32_t* at) {
  for (size_t a = 0; a < written.size(); ++a) {
    written[a] = graph.tensors[a].role == TensorRole::kInput;
  }
  *at = 0;
  if (order.size() != graph.operators.size()) return false;
  for (; *at < order.size(); ++*at) {
    const uint32_t o = order[*at];
    if (o >= graph.operators.size() || done[o] != 0) return false;
    done[o] = 1;
    for (uint32_t a : graph.InputsOf(graph.operators[o])) {
      if (written[a] == 0) return false;
    }
    for (const OperatorEdge& edge : graph.edges) {
      if (edge.after == o && done[edge.before] == 0) return false;
    }
    for (uint32_t a : graph.OutputsOf(graph.operators[o])) written[a] = 1;
  }
  return true;
}

Status CheckOrder(const OperatorGraph& graph, Span<const uint32_t> order, Arena* arena,
                  bool* good, uint32_t* at) {
  ArenaScope scope(arena);
  Span<uint8_t> written, done;
  SLUICE_TRY(arena->Allocate(graph.tensors.size(), &written));
  SLUICE_TRY(arena->Allocate(graph.operators.size(), &done));
  *good = FollowsGraph(graph, order, written, done, at);
  return Status::kOk;
}

class Joint {
 public:
  Joint(const OperatorGraph& graph, const JointOptions& options, Budget* budget,
        Arena* arena, SpillPlan* plan)
      : g_(graph), options_(options), budget_(budget), arena_(arena), plan_(plan) {}

  Status Run() {
    SLUICE_TRY(arena_->Allocate(g_.operators.size(), &decisions_.order));
    SLUICE_TRY(arena_->Allocate(g_.operands.size(), &decisions_.fetch));
    SLUICE_TRY(arena_->Allocate(g_.operators.size(), &trial_.order));
    SLUICE_TRY(arena_->Allocate(g_.operands.size(), &trial_.fetch));
    SLUICE_TRY(Unspilled());
    if (plan_->placed && plan_->bytes() == 0) return Conclude();
    SLUICE_TRY(FindSeeds());
    SLUICE_TRY(Beam());
    if (Done()) return Conclude();
    if (options_.exact && options_.fixed_order.empty() && decisions_.found) {
      bool segmented = false, complete = false, placed = false;
      SLUICE_TRY(ExactBySegments(kEarlyStates, &segmented, &complete));
      if (segmented) SLUICE_TRY(Adopt(4 * kPlaceNodes, 0, &placed));
      if (Done()) return Conclude();
    }
    SLUICE_TRY(Improve());
    if (Done()) return Conclude();
    const bool wide_first = g_.operators.size() > kExactFirst;
    if (options_.exact && wide_first) SLUICE_TRY(WideBeam());
    if (options_.exact && !Done() && !budget_->Exhausted()) {
      bool complete = false;
      SLUICE_TRY(Exact(&complete));
      if (!Done() && !complete && !wide_first) SLUICE_TRY(WideBeam());
      if (!Done() && (complete || !plan_->placed)) SLUICE_TRY(ByAddresses());
    }
    return Conclude();
  }

 private:
  bool Done() const { return plan_->placed && plan_->bytes() <= bound_; }
  Status Conclude() {
    if (!plan_->placed && nothing_fits_) return Status::kInfeasible;
    plan_->lower_bound = plan_->placed ? Min(bound_, plan_->bytes()) : bound_;
    plan_->proved = plan_->placed && plan_->bytes() == plan_->lower_bound;
    return plan_->placed ? Status::kOk : Status::kStopped;
  }

  SpillSearchOptions SumsOnly() const {
    SpillSearchOptions search;
    search.charge = options_.charge;
    search.capacity = options_.capacity;
    search.fixed_order = options_.fixed_order;
    return search;
  }

  // An order that needs no spills, where there is one that is found soon.
  Status Unspilled() {
    if (!options_.fixed_order.empty()) return Status::kOk;
    bool none = false;
    SLUICE_TRY(OrderWithin(g_, options_.capacity, kUnspilledNodes, budget_, arena_,
                           decisions_.order, &decisions_.found, &none));
    if (!decisions_.found) return Status::kOk;
    decisions_.bytes = 0;
    for (uint8_t& fetch : decisions_.fetch) fetch = 0;
    bool placed = false;
    SLUICE_TRY(Adopt(4 * kPlaceNodes, 0, &placed));
    if (!placed) unplaced_ = 0;
    return Status::kOk;
  }

  // Orders worth spilling in: the graph's own, and one that holds little.
  Status FindSeeds() {
    if (!options_.fixed_order.empty() || g_.operators.size() < kWindowFrom) {
      return Status::kOk;
    }
    Span<uint32_t> order;
    SLUICE_TRY(arena_->Allocate(g_.operators.size(), &order));
    for (uint32_t o = 0; o < order.size(); ++o) order[o] = o;
    bool good = false;
    uint32_t at = 0;
    SLUICE_TRY(CheckOrder(g_, order, arena_, &good, &at));
    if (good) seeds_[seed_count_++] = order;
    SLUICE_TRY(arena_->Allocate(g_.operators.size(), &order));
    int64_t peak = 0;
    bool proved = false;
    SLUICE_TRY(MinimumPeak(g_, kSeedNodes, budget_, arena_, order, &peak, &proved));
    seeds_[seed_count_++] = order;
    return Status::kOk;
  }

  // What the seeds' orders cost; the best one takes the place of dearer decisions.
  Status TrySeeds(SpillSearchOptions search) {
    for (int i = 0; i < seed_count_; ++i) {
      search.fixed_order = seeds_[i];
      SLUICE_TRY(SearchSpills(g_, search, &unlimited_, arena_, &trial_));
      plan_->states += trial_.states;
      if (!trial_.found || (decisions_.found && trial_.bytes >= decisions_.bytes)) {
        continue;
      }
      trial_.lower_bound = decisions_.lower_bound;
      std::swap(decisions_, trial_);
    }
    return Status::kOk;
  }

  // Turns the decisions at hand into a placed plan if they are better than the plan so
  // far and have addresses, after at most `repairs` more departures.
  Status Adopt(uint64_t max_nodes, int repairs, bool* placed) {
    *placed = false;
    if (plan_->placed && decisions_.bytes >= plan_->bytes()) return Status::kOk;
    AddressOptions address;
    address.capacity = options_.capacity;
    address.max_nodes = max_nodes;
    SpillPlan next;
    next.states = plan_->states;
    // Without any plan yet, what was begun is finished whatever the budget.
    Budget* budget = plan_->placed ? budget_ : &unlimited_;
    SLUICE_TRY(PlaceWithRepairs(g_, options_.charge, address, repairs, best_, budget,
                                arena_, &decisions_, &next));
    *placed = next.placed;
    if (!*placed) return Status::kOk;
    if (!plan_->placed || next.bytes() < plan_->bytes()) *plan_ = next;
    best_ = plan_->bytes();
    return Status::kOk;
  }

  // Beam and windows at a target of the capacity less some of its parts, then
  // addresses.
  Status Try(int reserve, bool windows, int repairs, bool* placed) {
    *placed = false;
    SpillSearchOptions search = SumsOnly();
    search.target = options_.capacity - options_.capacity / kReserveParts * reserve;
    search.width = kBeamWidth;
    search.max_evictions = kBeamEvictions;
    SLUICE_TRY(SearchSpills(g_, search, &unlimited_, arena_, &decisions_));
    plan_->states += decisions_.states;
    if (reserve == 0) {
      bound_ = Max(bound_, decisions_.lower_bound);
      nothing_fits_ = decisions_.complete && !decisions_.found;
    }
    SLUICE_TRY(TrySeeds(search));
    if (!decisions_.found) return Status::kOk;
    if (windows) SLUICE_TRY(Windows(search.target, kFirstWindows));
    if (reserve == 0) unplaced_ = decisions_.bytes;
    SLUICE_TRY(Adopt(kPlaceNodes, repairs, placed));
    if (reserve == 0 && *placed && plan_->bytes() == unplaced_) unplaced_ = INT64_MAX;
    return Status::kOk;
  }

  // A first plan, whatever the budget: with the whole capacity if it has addresses,
  // else keeping to a lower target, which leaves room for fragmentation; the last try
  // drops whatever is in the way.
  Status Beam() {
    const bool large = g_.operators.size() >= kWindowFrom;
    bool placed = false;
    SLUICE_TRY(Try(0, false, large ? 0 : kFirstRepairs, &placed));
    if (!decisions_.found) return Status::kOk;
    for (int reserve = kSafeReserve; !plan_->placed; reserve += kSafeReserve) {
      const bool last = reserve >= kReserveParts;
      SLUICE_TRY(Try(reserve, false, last ? kLastRepairs : 0, &placed));
      if (last) break;
    }
    return Status::kOk;
  }

  // Windows, towards the whole capacity again.
  Status Improve() {
    if (g_.operators.size() < kWindowFrom) return Status::kOk;
    if (unplaced_ < best_) {  // what had no addresses may have them after few repairs
      bool placed = false;
      SLUICE_TRY(Try(0, false, kRepairs, &placed));
      if (Done()) return Status::kOk;
    }
    for (int reserve = 0; reserve < kSafeReserve; ++reserve) {
      if (budget_->Exhausted()) break;
      const int64_t before = best_;
      bool placed = false;
      SLUICE_TRY(Try(reserve, true, kRepairs, &placed));
      if (best_ < before) break;
    }
    return Status::kOk;
  }

  // When the exact search gave up: a wider beam at several targets, wider windows over
  // its plans, and more effort on addresses.
  Status WideBeam() {
    for (int reserve = 0; reserve <= kWideReserves; ++reserve) {
      if (budget_->Exhausted()) break;
      SpillSearchOptions search = SumsOnly();
      search.target = options_.capacity - options_.capacity / kReserveParts * reserve;
      search.width = kWideBeam;
      search.max_evictions = 4 * kBeamEvictions;
      search.give_up = best_;
      SLUICE_TRY(SearchSpills(g_, search, budget_, arena_, &decisions_));
      plan_->states += decisions_.states;
      if (!decisions_.found) break;
      SLUICE_TRY(Windows(search.target, kLastWindows));
      bool placed = false;
      SLUICE_TRY(Adopt(12 * kPlaceNodes, kRepairs, &placed));
      if (placed && reserve == 0 && plan_->bytes() == decisions_.bytes) break;
    }
    return Status::kOk;
  }

  // Does the steps [begin, end) of decisions_ anew; keeps what is better.
  Status Redo(SpillSearchOptions search, uint32_t begin, uint32_t end) {
    search.window = SpillWindow{begin, end, &decisions_};
    SLUICE_TRY(SearchSpills(g_, search, budget_, arena_, &trial_));
    plan_->states += trial_.states;
    if (!trial_.found) return Status::kOk;
    trial_.bytes += decisions_.bytes - trial_.window_bytes;
    const Span<uint32_t> order = decisions_.order;
    const Span<uint8_t> fetch = decisions_.fetch;
    decisions_.order = trial_.order;
    decisions_.fetch = trial_.fetch;
    decisions_.bytes = trial_.bytes;
    trial_.order = order;
    trial_.fetch = fetch;
    return Status::kOk;
  }

  // Divide and conquer for graphs without a good cut: windows between the best near
  // cuts, then windows across those cuts to repair what the cuts cost.
  Status Windows(int64_t target, const WindowShape& shape) {
    const uint32_t n = static_cast<uint32_t>(g_.operators.size());
    if (n < kWindowFrom) return Status::kOk;
    SpillSearchOptions search = SumsOnly();
    search.target = target;
    search.width = shape.width;
    search.max_evictions = kBeamEvictions;
    for (int round = 0; round < kWindowRounds; ++round) {
      const int64_t before = decisions_.bytes;
      ArenaScope scope(arena_);
      Vector<uint32_t> cuts(arena_);
      SLUICE_TRY(NearCuts(shape, &cuts));
      for (size_t i = 0; i + 1 < cuts.size() && !budget_->Exhausted(); ++i) {
        SLUICE_TRY(Redo(search, cuts[i], cuts[i + 1]));
      }
      for (size_t i = 1; i + 1 < cuts.size() && !budget_->Exhausted(); ++i) {
        SLUICE_TRY(Redo(search, cuts[i] - (cuts[i] - cuts[i - 1]) / 2,
                        cuts[i] + (cuts[i + 1] - cuts[i]) / 2));
      }
      if (decisions_.bytes == before || budget_->Exhausted()) break;
    }
    return Status::kOk;
  }

  Status NearCuts(const WindowShape& shape, Vector<uint32_t>* cuts) {
    const uint32_t n = static_cast<uint32_t>(g_.operators.size());
    Span<BreakNode> nodes;
    SLUICE_TRY(FindBreakNodes(g_, decisions_.order, arena_, &nodes));
    SLUICE_TRY(cuts->Push(0));
    for (uint32_t from = 0; n - from > shape.most;) {
      uint32_t best = from + shape.least;
      for (uint32_t step = best; step <= from + shape.most; ++step) {
        if (nodes[step - 1].incomparable < nodes[best - 1].incomparable) best = step;
      }
      SLUICE_TRY(cuts->Push(best));
      from = best;
    }
    return cuts->Push(n);
  }

  // Segments between independent cuts, each on its own: their optima add up.
  Status ExactBySegments(uint64_t max_states, bool* segmented, bool* complete) {
    ArenaScope scope(arena_);
    Span<BreakNode> nodes;
    SLUICE_TRY(FindBreakNodes(g_, decisions_.order, arena_, &nodes));
    *segmented = false;
    for (const BreakNode& node : nodes) *segmented |= node.independent;
    if (!*segmented) return Status::kOk;
    SpillSearchOptions search = SumsOnly();
    *complete = true;
    int64_t bound = 0;
    uint32_t from = 0;
    for (uint32_t step = 1; step <= g_.operators.size(); ++step) {
      if (step < g_.operators.size() && !nodes[step - 1].independent) continue;
      search.max_states = max_states;
      SLUICE_TRY(Redo(search, from, step));
      *complete &= trial_.complete;
      bound += trial_.lower_bound;
      from = step;
    }
    bound_ = Max(bound_, bound);
    return Status::kOk;
  }

  // The optimum of the sums; a lower bound whatever becomes of its addresses.
  Status Exact(bool* complete) {
    bool placed = false;
    if (decisions_.found && options_.fixed_order.empty()) {
      bool segmented = false;
      SLUICE_TRY(ExactBySegments(options_.max_states, &segmented, complete));
      if (segmented) return Adopt(16 * kPlaceNodes, 0, &placed);
    }
    SpillSearchOptions search = SumsOnly();
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
    if (decisions_.found) SLUICE_TRY(Adopt(16 * kPlaceNodes, 0, &placed));
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
    SLUICE_TRY(Adopt(0, 0, &placed));
    bound_ = Max(bound_, reached);  // all cheaper ones were excluded on the way
    return Status::kOk;
  }

  const OperatorGraph& g_;
  const JointOptions& options_;
  Budget* const budget_;
  Arena* const arena_;
  SpillPlan* const plan_;
  Span<uint32_t> seeds_[2];
  int seed_count_ = 0;
  Budget unlimited_;  // for steps whose work is bounded anyway
  SpillDecisions decisions_, trial_;
  int64_t bound_ = 0;
  int64_t best_ = INT64_MAX;
  int64_t unplaced_ = INT64_MAX;  // bytes of a plan that fits in sums only
  bool nothing_fits_ = false;
};

Status CheckFixedOrder(const OperatorGraph& graph, Span<const uint32_t> order,
                       Arena* arena, Diagnostic* diagnostic) {
  if (order.empty()) return Status::kOk;
  bool good = false;
  uint32_t at = 0;
  SLUICE_TRY(CheckOrder(graph, order, arena, &good, &at));
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

Status CheckJoint(const OperatorGraph& graph, const JointOptions& options, Arena* arena,
                  OperatorGraph* rounded, int64_t* capacity, Diagnostic* diagnostic) {
  SLUICE_TRY(CheckOperatorGraph(graph, arena, diagnostic));
  SLUICE_TRY(CheckFixedOrder(graph, options.fixed_order, arena, diagnostic));
  if (options.alignment <= 0 || options.capacity < 0 ||
      options.alignment > kMaxAlignment ||
      !IsPowerOfTwo(static_cast<uint64_t>(options.alignment))) {
    return Fail(diagnostic, Status::kBadArgument, "placement")
        .Text("alignment must be a power of two up to 2^30, capacity not negative");
  }
  *capacity = options.capacity / options.alignment * options.alignment;
  return RoundSizes(graph, options.alignment, arena, rounded);
}

Status PlanJoint(const OperatorGraph& graph, const JointOptions& options,
                 Budget* budget, Arena* arena, SpillPlan* plan,
                 Diagnostic* diagnostic) {
  *plan = SpillPlan();
  OperatorGraph rounded;
  JointOptions whole = options;
  SLUICE_TRY(CheckJoint(graph, options, arena, &rounded, &whole.capacity, diagnostic));
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
  const Status status = MinimumPeak(graph, kProofNodes, budget, arena, plan->order,
                                    &plan->peak_bytes, &plan->proved);
  if (status == Status::kUnsupported) {
    return Fail(diagnostic, status, "placement")
        .Text("more than 1024 operators or tensors");
  }
  return status;
}

}  // namespace sluice
