// SPDX-License-Identifier: Apache-2.0
#include "solve/space/search.h"

#include "base/checked.h"
#include "solve/space/change_plan.h"
#include "solve/space/layer_facts.h"
#include "solve/space/memo.h"
#include "solve/space/prices.h"
#include "solve/space/segment.h"
#include "solve/space/states.h"
#include "solve/space/unroll.h"

namespace sluice {
namespace {

// Segments of several layers are tried where the roots that a layer touches fill more
// than 1 / kFuseShare of the scratchpad.
constexpr int64_t kFuseShare = 4;
// Segments of more layers than this end only where hardly more bytes live than nearby.
constexpr uint32_t kFar = 8;
constexpr uint32_t kShort = 3;  // layers; shorter segments may end anywhere
// Segments of more layers are not tried in parts of a sum if windows overlap: what lies
// between parts of rows would be computed again for each part of the sum.
constexpr uint32_t kSummed = 5;
constexpr int32_t kAllCuts =
    16;                       // around sums each number of parts is tried up to this
constexpr int kMoreCuts = 2;  // tried, the coarsest that fits and finer ones
// So many more cuts are tried in short segments whose roots had to leave: finer cuts
// may keep them.
constexpr int kMostSqueezed = 4;
// So many more cuts are tried where frames are not doubled: finer cuts may leave room
// for a second frame.
constexpr int kMostExposed = 4;
// Constants that fill more than 1 / kSliceFrom of the scratchpad may come in slices of
// 1 / kSliceShare of it; those of more than kFar layers only where iterations can be whole
// images: they come again in each.
constexpr int64_t kSliceFrom = 4, kSliceShare = 16;
// A tensor that is handed on within a segment may come in pieces of 1 / kPieceShare of
// the scratchpad.
constexpr int64_t kPieceShare = 8, kWaitShare = 8;
// Cuts in the last layers before an output of the graph: finer ones store it earlier.
constexpr int kCutsAtOutput = 6;
constexpr int kFailures = 3;         // segment ends in a row where no cut fits
constexpr size_t kPlanBytes = 1024;  // set aside for the plan, for each layer
constexpr uint64_t kRandomWork = 4;  // of random changes, for each layer that was made
constexpr int kMisses = 6;           // long segments in a row that are not kept

// Limits how many cuts are tried beside the coarsest one that fits.
class Patience {
 public:
  explicit Patience(int cuts) : cuts_(cuts) {}
  bool Lasts() const { return cuts_ > 0; }

  // Up to a limit, some cuts do not count: those that leave frames undoubled, because
  // finer cuts may double them, and in short segments those that push roots out,
  // because finer cuts may keep them.
  void Spend(const SpaceCost& cost, bool is_short) {
    if (cost.exposed > 0 && ++exposed_ <= kMostExposed) return;
    if (!cost.squeezed || !is_short || ++squeezed_ > kMostSqueezed) --cuts_;
  }

 private:
  int cuts_;
  int squeezed_ = 0, exposed_ = 0;
};

// Whether loops cut rows so that pieces of the tensor are much wider than high.
bool IsFlat(const Tensor& t, const LoopChoice& loops) {
  constexpr int64_t kFlat = 4;  // columns for each row of a piece
  const int last = loops.count - 1;
  if (last < 0 || loops.cut[last] == 0) return false;
  const int64_t height =
      loops.cut[last] == 1 ? CeilDivide(t.extent[1], loops.trips[last]) : int64_t{1};
  return t.extent[2] >= kFlat * height;
}

// Bits of the roles whose roots are held.
uint32_t HeldRoles(const SpaceProblem& p, const Layer& layer, Span<const Held> held) {
  const TileOperands operands = OperandsOf(layer);
  uint32_t whole = 0;
  for (int r = 0; r < kTileRoles; ++r) {
    if (operands.tensor[r] == kNone) continue;
    const uint32_t root = p.root_of[operands.tensor[r]];
    for (const Held& h : held) whole |= h.root == root ? 1u << r : 0;
  }
  return whole;
}

// A loop over channels and one over images, which lies inside if `within`.
LoopChoice ChannelLoops(int32_t channels, int32_t images, bool within) {
  LoopChoice loops;
  if (!within) loops.Add(0, images);
  loops.Add(3, channels);
  if (within) loops.Add(0, images);
  return loops;
}

LoopChoice PieceLoops(int64_t capacity, int32_t images) {
  LoopChoice loops;
  loops.piece = capacity / kPieceShare;
  loops.Add(0, images);
  return loops;
}

// The first of the cuts behind `misfit` that fits; cuts.size() if there is none. Of each
// axis the finest cut is tried first: if that does not fit, no others along it do.
template <typename Fits>
int CoarsestThatFits(const OuterCuts& cuts, int misfit, Fits fits) {
  for (int axis = 0; axis < 3; ++axis) {
    int finest = cuts.finest(axis);
    if (finest <= misfit) continue;
    if (!fits(finest)) {
      misfit = finest;
      continue;
    }
    while (finest - misfit > 1) {
      const int middle = (finest + misfit) / 2;
      (fits(middle) ? finest : misfit) = middle;
    }
    return finest;
  }
  return cuts.size();
}

// Excludes segments that can neither be the best of their run nor begin a state.
struct RunLimit {
  const Prices& prices;
  const States& states;
  const Tries& tries;
  const SpaceNode& from;
  uint32_t end;

  static bool Excludes(const void* of, const SpaceCost& segment) {
    const RunLimit& run = *static_cast<const RunLimit*>(of);
    const PlanCosts least = run.prices.Least(run.from, run.end, segment);
    if (!run.states.Wants(run.end, least.cost)) return true;
    return run.tries.any && least.cost >= run.tries.best.node.cost &&
           least.hidden >= run.tries.least.node.hidden;
  }
};

// Tries segments that continue a partial plan.
class Trier {
 public:
  Trier(const SpaceProblem& problem, const SpaceSearch& search, const States* states,
        Arena* arena)
      : p_(problem),
        most_iterations_(search.most_iterations),
        lean_(search.lean),
        budget_(search.budget),
        maker_(problem),
        segments_(problem, &maker_),
        tiles_(problem, maker_.prices(), search.goal, search.budget, arena,
               search.lean),
        prices_(problem, search.goal),
        states_(states) {}

  Status Init(Arena* arena) {
    SLUICE_TRY(maker_.Init(arena));
    maker_.Watch(budget_);
    SLUICE_TRY(segments_.Init(arena));
    return prices_.Init(arena);
  }

  // Marks what is found from here on as found by the second pass.
  void BeginSecondPass() { late_ = true; }
  // Begins another run of layers; tries() has the best segments of the run at hand.
  void BeginRun() {
    tries_.any = any_ = false;
    segments_.Forget();
  }
  const Tries& tries() const { return tries_; }
  // Begins another border, from which segments of several lengths are tried.
  void BeginBorder() {
    coarsest_[0] = coarsest_[1] = squarest_ = 0;
    work_ = 0;
  }
  // Layers of the segments tried from this border. SetWork: some of them do not count.
  uint64_t work() const { return work_; }
  void SetWork(uint64_t work) { work_ = work; }
  // Layers of all segments tried; a segment that is known counts as one.
  uint64_t made() const { return made_; }
  bool is_lean() const { return lean_; }
  uint32_t at(uint32_t from) const { return node(from).last; }
  // Whether the last segment that fitted costs too much to be of use.
  bool is_excluded() const { return segments_.is_excluded(); }
  const SpaceCost& cost() const { return segments_.cost(); }  // of the last that fitted
  const Prices& prices() const { return prices_; }
  SegmentMemo* segments() { return &segments_; }
  // To make the segments of a plan again, also after the time for the search.
  SegmentMaker* maker() {
    maker_.Watch(nullptr);
    return &maker_;
  }

  bool Fits(uint32_t from, uint32_t end, const LoopChoice& loops) {
    const SpaceNode& node = states_->nodes()[from];
    return segments_.Make({node.held, node.last, end, loops});
  }

  // Makes the segment; keeps it if it is the best of this run of layers so far.
  bool Try(uint32_t from, uint32_t end, const LoopChoice& loops) {
    const SpaceNode node = states_->nodes()[from];
    work_ += end - node.last;
    // Nothing fits any more when the time is over: the search ends soon after.
    if (loops.Iterations() > most_iterations_ || budget_->Exhausted()) return false;
    const uint64_t hits = segments_.hits();
    const RunLimit run = {prices_, *states_, tries_, node, end};
    const SegmentLimit limit = {RunLimit::Excludes, &run};
    const bool limited = tries_.any || end - node.last > 1;
    const bool fits =
        segments_.Make({node.held, node.last, end, loops}, limited ? &limit : nullptr);
    made_ += segments_.hits() == hits ? end - node.last : 1;
    if (!fits) return false;
    any_ = true;
    if (segments_.is_excluded()) return true;
    SpaceNode next = node;
    prices_.Advance(segments_.cost(), &next);
    next.before = from;
    next.late = late_;
    next.first = node.last;
    next.last = end;
    next.loops = loops;
    prices_.Price(segments_.held(), &next);
    tries_.Take(next, segments_.held());
    return true;
  }

  // Tries cuts of images, then of rows: the coarsest that fits and some finer ones.
  void TryCuts(uint32_t from, uint32_t end, int64_t slice) {
    const OuterCuts cuts(*p_.graph, p_.at(end - 1), OutputOf(p_, end - 1).extent);
    Patience patience(lean_ ? 1 : StoresSoon(p_, end - 1) ? kCutsAtOutput : kMoreCuts);
    const bool is_short = end - node(from).last <= kShort;
    bool fitted = false, flat = false, looked = lean_;
    // A longer segment rarely fits with coarser cuts than a shorter one.
    int* coarsest = &coarsest_[slice != 0];
    for (int i = Max(*coarsest - 1, 0); i < cuts.size() && patience.Lasts(); ++i) {
      LoopChoice loops = cuts.at(i);
      loops.slice = slice;
      if (!Try(from, end, loops)) {
        i += lean_ ? 1 : 0;
        const auto may_fit = [&](int k) {
          LoopChoice other = cuts.at(k);
          other.slice = slice;
          return segments_.MayFit({node(from).held, node(from).last, end, other});
        };
        if (!looked) i = CoarsestThatFits(cuts, i, may_fit) - 1;
        looked = true;
        continue;
      }
      looked = true;
      if (!fitted) *coarsest = i;
      fitted = true;
      patience.Spend(segments_.cost(), is_short);
      flat = flat || IsFlat(OutputOf(p_, end - 1), loops);
    }
    if (flat && slice == 0) TrySquares(from, end);
  }

  // Tries a run of layers in the tiles of the layer that computes most, if the last
  // layer's output has the same shape as that layer's.
  Status TryTilesOf(uint32_t from, uint32_t end) {
    const uint32_t at = node(from).last;
    const uint32_t most = ComputesMost(p_, at, end);
    if (most == kNone) return Status::kOk;
    const Box last = WholeBox(OutputOf(p_, end - 1));
    if (!(WholeBox(OutputOf(p_, most)) == last)) return Status::kOk;
    const uint32_t whole = HeldRoles(p_, p_.at(most), node(from).held);
    const uint32_t out = 1u << kRoleOutput;
    const uint32_t ways[] = {whole | out, whole, 0};
    for (const uint32_t way : ways) {
      const TileChoices* choices = nullptr;
      SLUICE_TRY(tiles_.Choose(most, way, &choices));
      for (int i = 0; i < choices->count; ++i) {
        const LoopChoice& loops = choices->loops[i];
        const bool sum = loops.cut[loops.count - 1] == kSumCut;
        if (!sum || SummedOf(p_, at, end) == most) Try(from, end, loops);
      }
    }
    return Status::kOk;
  }

  // Tries the best tilings of one layer.
  Status TryTiles(uint32_t from) {
    const uint32_t at = node(from).last;
    const Layer& layer = p_.at(at);
    if (KindOf(layer.op) != LayerKind::kCompute) return Status::kOk;
    const uint32_t whole = HeldRoles(p_, layer, node(from).held);
    // The output stays whole on chip, or is stored, or all operands go through DRAM.
    const uint32_t out = 1u << kRoleOutput;
    const uint32_t ways[] = {whole | out, whole, 0};
    for (const uint32_t way : ways) {
      const TileChoices* choices = nullptr;
      SLUICE_TRY(tiles_.Choose(at, way, &choices));
      bool fits = false;
      for (int i = 0; i < choices->count; ++i) {
        fits = Try(from, at + 1, choices->loops[i]) || fits;
      }
      if (lean_ && fits) break;
    }
    return Status::kOk;
  }

  // Whether a segment of this run of layers has fitted.
  bool any() const { return any_; }

 private:
  const SpaceNode& node(uint32_t i) const { return states_->nodes()[i]; }

  // Tries cuts of rows and columns together, if windows of a layer overlap.
  void TrySquares(uint32_t from, uint32_t end) {
    uint32_t at = end - 1;
    while (at > node(from).last && !Overlap(*p_.graph, p_.at(at))) --at;
    const SquareCuts cuts(*p_.graph, p_.at(at), OutputOf(p_, end - 1).extent);
    Patience patience(kMoreCuts);
    int i = squarest_ > 0 ? squarest_ - 1 : 0;
    for (bool fitted = false; i < cuts.size() && patience.Lasts(); ++i) {
      if (!Try(from, end, cuts.at(i))) continue;
      if (!fitted) squarest_ = i;
      fitted = true;
      patience.Spend(segments_.cost(), true);
    }
  }

  const SpaceProblem& p_;
  const int64_t most_iterations_;
  const bool lean_;
  Budget* const budget_;
  SegmentMaker maker_;
  SegmentMemo segments_;
  TileChooser tiles_;
  Prices prices_;
  const States* states_;
  uint64_t work_ = 0;
  uint64_t made_ = 0;
  // The coarsest cuts that fitted the previous segment, without slices and with slices.
  int coarsest_[2] = {};
  int squarest_ = 0;  // the coarsest of SquareCuts
  Tries tries_;
  bool late_ = false;
  bool any_ = false;
};

// Tries to make what is handed on in pieces of one image or of several, while weights
// stay for all pieces.
void TryPieces(const SpaceProblem& p, uint32_t from, uint32_t end, Trier* trier) {
  const TripList images = TripsOf(OutputOf(p, end - 1).extent[0]);
  for (int i = 0; i < images.size; ++i) {
    trier->Try(from, end, PieceLoops(p.capacity, images.trips[i]));
  }
}

// Parts of the sum of a layer, within loops around all layers of a segment.
struct PartsOfLayer {
  const SpaceProblem& problem;
  LoopChoice loops;
  uint32_t summed;  // the layer's position
  const TripList& parts;

  LoopChoice Choice(int i) const {
    LoopChoice all = loops;
    all.Add(kSumCut, PartsOfSum(problem, summed, parts.trips[i]));
    return all;
  }
};

// Tries the fewest parts of a sum that fit, and larger numbers of parts, whose first
// part is loaded sooner. *some: a number of parts, by its index, to begin with; set to
// the fewest. False where even the most parts do not fit.
bool TryParts(const PartsOfLayer& of, uint32_t from, uint32_t end, int* some,
              Trier* trier) {
  const int most = of.parts.size - 1;
  // Under finer loops hardly fewer parts fit than under the coarser ones before.
  int none = -1, step = 1;
  if (!trier->Fits(from, end, of.Choice(*some))) {
    if (*some == most || !trier->Fits(from, end, of.Choice(most))) return false;
    none = *some;
    *some = most;
  }
  for (; *some - none > 1; step *= 2) {
    const int fewer = Max(*some - step, (none + *some) / 2);
    (trier->Fits(from, end, of.Choice(fewer)) ? *some : none) = fewer;
  }
  if (!trier->Try(from, end, of.Choice(*some))) return false;
  trier->Try(from, end, of.Choice((*some + most + 1) / 2));
  // Under other loops the most parts make very many tiles.
  if (of.loops.count == 0) trier->Try(from, end, of.Choice(most));
  return true;
}

// Tries to add up a sum in parts, together with the layers that make each part's inputs,
// under each of the cuts, the coarsest first. True if a candidate that fits is flat.
template <typename Cuts>
bool TrySumsUnder(const Cuts& cuts, PartsOfLayer* of, uint32_t from, uint32_t end,
                  Trier* trier) {
  const Tensor& out = OutputOf(of->problem, end - 1);
  Patience patience(kMoreCuts);
  bool flat = false;
  int some = of->parts.size - 1;
  for (int i = 0; i < cuts.size() && patience.Lasts() && some >= 0; ++i) {
    of->loops = cuts.at(i);
    if (of->loops.count == kMaxLoops) break;
    if (!TryParts(*of, from, end, &some, trier)) continue;
    // Finer cuts load the parts more often, but may leave room for other roots.
    if (trier->is_excluded() && !trier->cost().squeezed) return flat;
    patience.Spend(trier->cost(), true);
    flat = flat || IsFlat(out, of->loops);
  }
  return flat || patience.Lasts();
}

// Tries parts of a sum under no cut, under cuts of images and rows, and under cuts of
// rows and columns if windows overlap.
void TrySums(const SpaceProblem& p, uint32_t from, uint32_t end, Trier* trier) {
  const uint32_t at = trier->at(from), summed = SummedOf(p, at, end);
  if (summed == kNone || summed == at) return;
  const TripList parts = TripsOf(AccumulatedChannels(*p.graph, p.at(summed)));
  const uint64_t work = trier->work();
  const int32_t* const extent = OutputOf(p, end - 1).extent;
  PartsOfLayer of{p, {}, summed, parts};
  int some = parts.size - 1;
  if (some >= 0) TryParts(of, from, end, &some, trier);
  const OuterCuts rows(*p.graph, p.at(end - 1), extent, kAllCuts);
  if (TrySumsUnder(rows, &of, from, end, trier)) {
    uint32_t window = end - 1;
    while (window > at && !Overlap(*p.graph, p.at(window))) --window;
    TrySumsUnder(SquareCuts(*p.graph, p.at(window), extent), &of, from, end, trier);
  }
  trier->SetWork(work);
}

// Tries loops around a run that ends with a transposition of rows and columns in the
// other order: what the layer before needs along columns then stays for all rows.
void TryTurned(const SpaceProblem& p, uint32_t from, uint32_t end, Trier* trier) {
  const Tensor& out = OutputOf(p, end - 1);
  if (TraitsOf(p.at(end - 1)).axes != AxisRule::kPermuted || out.extent[1] == 1) return;
  for (int axis = 0; axis < 3; axis += 2) {
    const TripList trips = TripsOf(out.extent[axis]);
    Patience patience(kMoreCuts);
    for (int i = 0; i < trips.size && patience.Lasts(); ++i) {
      LoopChoice loops;
      if (axis == 2 && out.extent[0] > 1) loops.Add(0, out.extent[0]);
      loops.Add(axis, trips.trips[i]);
      loops.Add(1, out.extent[1]);
      if (trier->Try(from, end, loops)) patience.Spend(trier->cost(), true);
    }
  }
}

void TryChannelsIn(const SpaceProblem& p, uint32_t from, uint32_t end, int32_t images,
                   bool within, Trier* trier) {
  const TripList channels = TripsOf(OutputOf(p, end - 1).extent[3]);
  Patience patience(kMoreCuts);
  for (int i = 0; i < channels.size && patience.Lasts(); ++i) {
    const LoopChoice loops = ChannelLoops(channels.trips[i], images, within);
    if (trier->Try(from, end, loops)) patience.Spend(trier->cost(), true);
  }
}

// Tries cuts of output channels, for all images together or for some after the others,
// so that constants are loaded piece by piece.
void TryChannels(const SpaceProblem& p, uint32_t from, uint32_t end, Trier* trier) {
  const TripList images = TripsOf(OutputOf(p, end - 1).extent[0]);
  TryChannelsIn(p, from, end, 1, false, trier);
  if (trier->is_lean()) return;
  for (int i = 0; i < images.size; ++i) {
    TryChannelsIn(p, from, end, images.trips[i], false, trier);
    TryChannelsIn(p, from, end, images.trips[i], true, trier);
  }
}

// Changes the plan that ends with *best, if there is memory for that.
Status Change(const PlanChange& call, Arena* arena, States* states, uint32_t* best,
              UnchangedPlan* found) {
  const Arena::Mark mark = arena->mark();
  ChangedPlan changed;
  const Status status = ChangePlan(call, states->nodes(), *best, arena, &changed);
  if (status == Status::kOutOfMemory) arena->Rewind(mark);
  if (status != Status::kOk || changed.links.empty()) {
    return status == Status::kOutOfMemory ? Status::kOk : status;
  }
  uint32_t last = 0;  // the node before all layers
  for (const PlanLink& link : changed.links) {
    SpaceNode next = link.node;
    next.before = last;
    if (states->Add(next, &last) != Status::kOk) return Status::kOk;
  }
  *best = last;
  *found = changed.before;
  return Status::kOk;
}

class Search {
 public:
  Search(const SpaceProblem& problem, const SpaceSearch& search, Arena* arena)
      : p_(problem),
        search_(search),
        arena_(arena),
        states_(arena),
        trier_(problem, search, &states_, arena),
        known_{search.known, static_cast<uint32_t>(problem.layer.size())} {}

  Status Init() {
    SLUICE_TRY(trier_.Init(arena_));
    const uint32_t layers = static_cast<uint32_t>(p_.layer.size());
    return states_.Init(layers + 1, StatesOf(layers, search_.states));
  }

  // *best: the node that ends the plan.
  Status Run(uint32_t* best) {
    const uint32_t n = static_cast<uint32_t>(p_.layer.size());
    SLUICE_TRY(Pass());
    if (states_.count(n) == 0) return Status::kInfeasible;
    // If time or memory ends the second pass, the result of the first one stands.
    const Status late = search_.lean ? Status::kOk : SecondPass();
    const bool ended = late == Status::kStopped || late == Status::kOutOfMemory;
    if (late != Status::kOk && !ended) return late;
    *best = states_.node(n, 0);
    if (search_.improving == 0 || search_.lean || ended) return Status::kOk;
    Arena rest(arena_->memory());
    if (SetAside(&rest) != Status::kOk) return Status::kOk;
    maker();
    return Change(
        {p_, search_, trier_.segments(), trier_.prices(), kRandomWork * trier_.made()},
        arena_, &states_, best, &found_);
  }

  const Sequence<SpaceNode>& nodes() const { return states_.nodes(); }
  // SpaceSearch::found; lives as long as the search.
  const UnchangedPlan& found() const { return found_; }
  SegmentMaker* maker() { return trier_.maker(); }

 private:
  const SpaceNode& node(uint32_t i) const { return states_.nodes()[i]; }

  // Sets memory aside for the final plan.
  Status SetAside(Arena* rest) {
    Span<uint8_t> plan;
    return rest->Allocate(kPlanBytes * p_.layer.size(), &plan);
  }

  Status SecondPass() {
    Arena rest(arena_->memory());
    SLUICE_TRY(SetAside(&rest));
    late_ = true;
    trier_.BeginSecondPass();
    return Pass();
  }

  // Extends the states of all borders. The first pass leaves out long segments, which
  // take long to try and are rarely better. The second pass tries long segments too, as
  // long as their plans can compete with those of the first pass.
  Status Pass() {
    const uint32_t n = static_cast<uint32_t>(p_.layer.size());
    free_until_ = 0;
    for (uint32_t at = 0; at < n; ++at) {
      if (at == free_until_) free_until_ = known_.Next(at + 1);
      if (known_.Is(at)) {
        SLUICE_TRY(ExtendKnown(at));
        if (states_.count(known_.at[at].last) != 0) continue;
        if (search_.only_known) return Status::kInfeasible;
      }
      for (uint32_t s = 0; s < states_.count(at); ++s) {
        if (search_.budget->Exhausted() || arena_->memory()->Stop()) {
          return Status::kStopped;
        }
        SLUICE_TRY(Extend(states_.node(at, s)));
      }
    }
    return Status::kOk;
  }

  // Extends the states of a border by the segment that is known there.
  Status ExtendKnown(uint32_t at) {
    const KnownSegment& known = known_.at[at];
    for (uint32_t s = 0; s < states_.count(at); ++s) {
      if (node(states_.node(at, s)).late != late_) continue;
      trier_.BeginRun();
      trier_.Try(states_.node(at, s), known.last, known.choice);
      SLUICE_TRY(states_.Keep(trier_.tries()));
    }
    return Status::kOk;
  }

  Status Extend(uint32_t from) {
    const uint32_t at = node(from).last;
    trier_.BeginRun();
    const bool fresh = node(from).late == late_;
    const bool fits =
        trier_.Try(from, at + 1, LoopChoice{}) && trier_.cost().spill == 0;
    const bool stores = StoresSoon(p_, at);
    const bool small = TouchedBy(p_, at) <= p_.capacity / kFuseShare;
    const bool enough = fits && small && !stores;
    const bool waits = fits && Waits(from);
    const bool cuts = search_.lean && fits;  // in place of tiles of their own
    if (fresh && !enough) {
      if (!cuts) SLUICE_TRY(trier_.TryTiles(from));
      if ((cuts || stores) && p_.alone[at] == 0) {
        trier_.BeginBorder();
        trier_.TryCuts(from, at + 1, 0);
      }
    }
    const bool ends = stores && p_.alone[at] == 0;
    if (fresh && (ends || (enough && waits))) TryChannels(p_, from, at + 1, &trier_);
    if (fresh) SLUICE_TRY(states_.Keep(trier_.tries()));
    // Pieces of the first layers may begin before all of their input is loaded.
    const bool whole = enough && !(waits && at == 0);
    if (whole || p_.alone[at] != 0 || from != states_.node(at, 0)) return Status::kOk;
    return ExtendFar(from, fresh);
  }

  // Whether the layer just tried behind a plan waits for its loads, and parts of them may
  // come earlier: at the begin, or because its constants need much room.
  bool Waits(uint32_t from) const {
    const int64_t takes = trier_.tries().best.node.compute - node(from).compute;
    const uint32_t at = node(from).last;
    const int64_t cycles = trier_.cost().cycles;
    if (at < 2) return takes > cycles + cycles / 2;
    return takes > 2 * cycles && ConstantsOf(p_, at) > p_.capacity / kWaitShare;
  }

  // Extends a plan by segments of two and more layers.
  Status ExtendFar(uint32_t from, bool fresh) {
    const uint32_t at = node(from).last;
    const uint32_t n = free_until_;
    const uint32_t longest = late_ ? search_.longest : Min(search_.longest, kFar);
    trier_.BeginBorder();
    int64_t constants = ConstantsOf(p_, at);
    bool windows = Overlap(*p_.graph, p_.at(at));
    int failed = 0, missed = 0;
    for (uint32_t end = at + 2; end <= n && end - at <= longest; ++end) {
      constants += ConstantsOf(p_, end - 1);
      windows = windows || Overlap(*p_.graph, p_.at(end - 1));
      if (p_.alone[end - 1] != 0 || failed > kFailures || missed > kMisses ||
          trier_.work() > search_.most_work) {
        break;
      }
      const bool is_short = end - at <= kShort, is_long = end - at > kFar;
      const bool border = end == n || trier_.prices().IsBorder(end, is_long);
      if ((!is_short && !border) || (!is_long && !fresh)) continue;
      trier_.BeginRun();
      trier_.TryCuts(from, end, 0);
      if (HandsOnMuch(p_, at, end)) TryPieces(p_, from, end, &trier_);
      // Large constants may come in slices, again in each iteration.
      const bool may_slice = !is_long || OutputOf(p_, end - 1).extent[0] > 1;
      if (constants > p_.capacity / kSliceFrom && may_slice && !search_.lean) {
        trier_.TryCuts(from, end, p_.capacity / kSliceShare);
      }
      if (is_short) TryChannels(p_, from, end, &trier_);
      if (is_short) TryTurned(p_, from, end, &trier_);
      const bool much =
          HandsOnMuch(p_, at, end) || constants > p_.capacity / kSliceFrom;
      const bool sums = end - at <= kSummed || (!is_long && !windows);
      if (sums && much && !search_.lean) TrySums(p_, from, end, &trier_);
      if (is_short && fresh && !search_.lean) SLUICE_TRY(trier_.TryTilesOf(from, end));
      if (border) failed = trier_.any() ? 0 : failed + 1;
      if (is_long) missed = states_.Wants(trier_.tries()) ? 0 : missed + 1;
      SLUICE_TRY(states_.Keep(trier_.tries()));
    }
    return Status::kOk;
  }

  const SpaceProblem& p_;
  const SpaceSearch& search_;
  Arena* arena_;
  States states_;
  Trier trier_;
  const KnownSegments known_;
  UnchangedPlan found_;
  bool late_ = false;        // in the second pass
  uint32_t free_until_ = 0;  // where the next known segment begins, or the end
};

}  // namespace

Status SearchSpace(const SpaceProblem& problem, const SpaceSearch& search,
                   Arena* scratch, Arena* arena, SpacePlan* plan) {
  Arena memory(scratch->memory());
  Search run(problem, search, &memory);
  SLUICE_TRY(run.Init());
  uint32_t best = 0;
  SLUICE_TRY(run.Run(&best));
  if (search.found != nullptr) {
    // Without memory for notes the changed plan stands.
    *search.found = {};
    const UnchangedPlan& found = run.found();
    const size_t layers = found.segment.size();
    search.found->total = found.total;
    if (search.notes->Allocate(layers, &search.found->segment) == Status::kOk) {
      for (size_t at = 0; at < layers; ++at) {
        search.found->segment[at] = found.segment[at];
      }
    }
  }
  return UnrollNodes(problem, run.nodes(), best, run.maker(), arena, plan);
}

}  // namespace sluice
