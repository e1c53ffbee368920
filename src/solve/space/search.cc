// SPDX-License-Identifier: Apache-2.0
#include "solve/space/search.h"

#include "base/checked.h"
#include "solve/space/segment.h"
#include "solve/space/unroll.h"

namespace sluice {
namespace {

// Segments of several layers are tried where the roots that a layer touches fill more
// than this share of the scratchpad.
constexpr int64_t kFuseShare = 4;
// They end where what lives across the border is at most half more than nearby.
constexpr int kNearby = 3;
constexpr int kMoreCuts = 2;  // tried, the coarsest that fits and finer ones
constexpr int kFailures = 3;  // ends in a row without a cut that fits

// What partial plans cost.
class Prices {
 public:
  Prices(const SpaceProblem& problem, const SpaceGoal& goal)
      : p_(problem), goal_(goal) {}

  Status Init(Arena* arena) {
    SLUICE_TRY(arena->Allocate(p_.layer.size() + 1, &live_));
    for (uint32_t r = 0; r < p_.roots.size(); ++r) {
      const SpaceRoot& root = p_.roots[r];
      if (root.first_maker == kNone || root.constant) continue;
      uint32_t end = root.last_maker;
      if (root.last_reader != kNone) end = Max(end, root.last_reader);
      for (uint32_t b = root.first_maker + 1; b <= end; ++b) live_[b] += root.bytes;
    }
    return Status::kOk;
  }

  // Moves both clocks over a segment. Its loads may begin as soon as the segments before
  // leave room for them.
  void Advance(const SpaceCost& c, bool tiled, SpaceNode* n) const {
    const int64_t ahead = tiled ? c.first_load : c.load;
    int64_t begin = n->compute;
    int w = n->window_size;
    while (w > 0 && n->window[w - 1].free >= ahead) begin = n->window[--w].start;
    for (int k = w; k < n->window_size; ++k) n->window[k].free -= ahead;
    if (w == 0 && n->window_size < SpaceNode::kWindow) begin = 0;
    const int64_t load = DmaCycles(c.load, c.transfers);
    const int64_t begun = Max(n->dma, begin) + DmaCycles(c.spill, 0);
    const int64_t ready = begun + DmaCycles(c.first_load, 1);
    const int64_t start = Max(n->compute, ready);
    n->compute = Max(start + c.cycles, begun + load + c.last_cycles);
    n->dma = begun + load + DmaCycles(c.store - c.spill, 0);
    n->energy_pj += c.energy_pj;
    if (n->window_size == SpaceNode::kWindow) {
      for (int k = 1; k < SpaceNode::kWindow; ++k) n->window[k - 1] = n->window[k];
      --n->window_size;
    }
    n->window[n->window_size++] = {start, p_.capacity - c.peak};
  }

  // Cost so far, and of loading at once what later layers need and is not on chip.
  double CostOf(const SpaceNode& n, Span<const Held> held) {
    int64_t bytes = 0;
    for (const Held& h : held) bytes += p_.graph->tensors[h.root].bytes;
    const int64_t away = Max<int64_t>(live_[n.last] - bytes, 0);
    const MemoryLevel& dram = p_.hardware->dram();
    const MemoryLevel& pad = p_.hardware->scratchpad();
    const double energy =
        n.energy_pj +
        static_cast<double>(away) * 8 * (dram.read_pj_per_bit + pad.write_pj_per_bit);
    const int64_t cycles = Max(n.compute, n.dma + DmaCycles(away, 0));
    const double leak = static_cast<double>(cycles) * p_.hardware->leakage_pj_per_cycle;
    return (energy + leak) * goal_.per_pj +
           static_cast<double>(cycles) * goal_.per_cycle;
  }

  bool IsBorder(uint32_t b) const {
    const uint32_t n = static_cast<uint32_t>(p_.layer.size());
    int64_t least = live_[b];
    for (uint32_t k = b > kNearby ? b - kNearby : 1; k <= b + kNearby && k < n; ++k) {
      least = Min(least, live_[k]);
    }
    return live_[b] <= least + least / 2;
  }

 private:
  int64_t DmaCycles(int64_t bytes, int64_t transfers) const {
    const Rational& b = p_.hardware->dram().bandwidth;
    const int64_t moving =
        b.numerator == 0 ? 0 : TransferCycles(bytes, b.numerator, b.denominator);
    return moving + transfers * p_.hardware->dma_latency_cycles;
  }

  const SpaceProblem& p_;
  const SpaceGoal& goal_;
  Span<int64_t> live_;  // by border: bytes that are made before and needed behind
};

// The partial plans that are kept at each border.
class States {
 public:
  Status Init(size_t borders, uint32_t most, Arena* arena) {
    most_ = most;
    SLUICE_TRY(arena->Allocate(borders * most, &states_));
    return arena->Allocate(borders, &count_);
  }
  uint32_t count(uint32_t at) const { return count_[at]; }
  // In order of their cost.
  uint32_t node(uint32_t at, uint32_t i) const {
    return states_[size_t{at} * most_ + i];
  }
  bool Full(uint32_t at) const { return count_[at] == most_; }

  // Adds a node to the states of a border, which are in order of their cost.
  void Keep(uint32_t at, uint32_t node, const Vector<SpaceNode>& nodes) {
    const Span<uint32_t> all =
        states_.Slice(size_t{at} * most_, size_t{at + 1} * most_);
    uint32_t count = count_[at];
    const SpaceNode& fresh = nodes[node];
    for (uint32_t i = 0; i < count; ++i) {
      if (!SameHeld(nodes[all[i]].held, fresh.held)) continue;
      if (nodes[all[i]].cost <= fresh.cost) return;
      for (uint32_t k = i + 1; k < count; ++k) all[k - 1] = all[k];
      --count;
      break;
    }
    uint32_t to = count;
    while (to > 0 && nodes[all[to - 1]].cost > fresh.cost) --to;
    if (to == most_) return;
    count = Min(count + 1, most_);
    for (uint32_t k = count; k-- > to + 1;) all[k] = all[k - 1];
    all[to] = node;
    count_[at] = count;
  }

 private:
  static bool SameHeld(Span<const Held> a, Span<const Held> b) {
    if (a.size() != b.size()) return false;
    for (const Held& x : a) {
      bool found = false;
      for (const Held& y : b)
        found = found || (x.root == y.root && x.stored == y.stored);
      if (!found) return false;
    }
    return true;
  }

  uint32_t most_ = 0;
  Span<uint32_t> states_;  // nodes, by border
  Span<uint32_t> count_;
};

// Bytes of the constants that a layer reads.
int64_t ConstantsOf(const SpaceProblem& p, uint32_t at) {
  int64_t bytes = 0;
  for (uint32_t t : p.at(at).inputs) {
    if (t != kNone && p.roots[p.root_of[t]].constant) {
      bytes += p.roots[p.root_of[t]].bytes;
    }
  }
  return bytes;
}

class Search {
 public:
  Search(const SpaceProblem& problem, const SpaceSearch& search, Arena* arena)
      : p_(problem),
        search_(search),
        arena_(arena),
        maker_(problem),
        tiles_(problem, search.goal, arena),
        nodes_(arena),
        prices_(problem, search.goal) {}

  Status Init() {
    const size_t n = p_.layer.size();
    SLUICE_TRY(maker_.Init(arena_));
    SLUICE_TRY(states_.Init(n + 1, search_.states, arena_));
    return prices_.Init(arena_);
  }

  Status Run(uint32_t* best) {
    const uint32_t n = static_cast<uint32_t>(p_.layer.size());
    SpaceNode start = {};
    start.before = kNone;
    SLUICE_TRY(nodes_.Push(start));
    states_.Keep(0, 0, nodes_);
    for (uint32_t at = 0; at < n; ++at) {
      for (uint32_t s = 0; s < states_.count(at); ++s) {
        if (search_.budget->Exhausted() || arena_->memory()->Stop()) {
          return Status::kStopped;
        }
        SLUICE_TRY(Extend(states_.node(at, s)));
      }
    }
    if (states_.count(n) == 0) return Status::kInfeasible;
    *best = states_.node(n, 0);
    return Status::kOk;
  }

  const Vector<SpaceNode>& nodes() const { return nodes_; }
  SegmentMaker* maker() { return &maker_; }

 private:
  Status Extend(uint32_t from) {
    const uint32_t at = nodes_[from].last;
    tried_ = false;
    const bool fits = Try(from, at + 1, LoopChoice{}) && maker_.cost().spill == 0;
    const int64_t room = p_.capacity / kFuseShare;
    if (fits && Touched(at) <= room) return Commit();
    SLUICE_TRY(TryTiles(from));
    SLUICE_TRY(Commit());
    if (p_.alone[at] != 0) return Status::kOk;
    return from == states_.node(at, 0) ? ExtendFar(from) : Status::kOk;
  }

  // By segments of several layers.
  Status ExtendFar(uint32_t from) {
    const uint32_t at = nodes_[from].last;
    const uint32_t n = static_cast<uint32_t>(p_.layer.size());
    coarsest_ = 0;
    work_ = 0;
    int64_t constants = ConstantsOf(p_, at);
    int failed = 0;
    for (uint32_t end = at + 2; end <= n && end - at <= search_.longest; ++end) {
      constants += ConstantsOf(p_, end - 1);
      if (p_.alone[end - 1] != 0 || constants > p_.capacity || failed > kFailures ||
          work_ > search_.most_work) {
        break;
      }
      if (end < n && !prices_.IsBorder(end)) continue;
      tried_ = false;
      SLUICE_TRY(TryCuts(from, end));
      failed = tried_ ? 0 : failed + 1;
      SLUICE_TRY(Commit());
    }
    return Status::kOk;
  }

  // Bytes of the roots that a layer touches, without constants.
  int64_t Touched(uint32_t at) const {
    int64_t bytes = 0;
    const Layer& layer = p_.at(at);
    for (uint32_t t : layer.inputs) {
      if (t != kNone && !p_.roots[p_.root_of[t]].constant) {
        bytes += p_.roots[p_.root_of[t]].bytes;
      }
    }
    for (uint32_t t : layer.outputs) bytes += p_.roots[p_.root_of[t]].bytes;
    return bytes;
  }

  // Cuts of images, then of rows, of a run of layers: the coarsest that fits and some
  // finer ones.
  Status TryCuts(uint32_t from, uint32_t end) {
    const Tensor& out = p_.graph->tensors[p_.at(end - 1).outputs[0]];
    const uint8_t row = out.extent[1] > 1 ? 1 : 2;
    const TripList images = TripsOf(out.extent[0]), rows = TripsOf(out.extent[row]);
    int more = kMoreCuts;
    // A longer segment rarely fits with coarser cuts than a shorter one.
    for (int i = Max(coarsest_ - 1, 0); i < images.size + rows.size && more > 0; ++i) {
      LoopChoice loops;
      if (i < images.size) {
        Add(&loops, 0, images.trips[i]);
      } else {
        if (out.extent[0] > 1) Add(&loops, 0, out.extent[0]);
        Add(&loops, row, rows.trips[i - images.size]);
      }
      if (!Try(from, end, loops)) continue;
      if (more-- == kMoreCuts) coarsest_ = i;
    }
    return Status::kOk;
  }

  // One layer in tiles.
  Status TryTiles(uint32_t from) {
    const uint32_t at = nodes_[from].last;
    const Layer& layer = p_.at(at);
    if (KindOf(layer.op) != LayerKind::kCompute) return Status::kOk;
    const TileOperands operands = OperandsOf(layer);
    uint32_t whole = 0;
    for (int r = 0; r < kTileRoles; ++r) {
      if (operands.tensor[r] == kNone) continue;
      const uint32_t root = p_.root_of[operands.tensor[r]];
      for (const Held& h : nodes_[from].held) whole |= h.root == root ? 1u << r : 0;
    }
    // The result stays if that is possible, and is stored otherwise.
    const uint32_t out = 1u << kRoleOutput;
    const uint32_t ways[] = {whole | out, whole, 0};
    for (const uint32_t way : ways) {
      const TileChoices* choices = nullptr;
      SLUICE_TRY(tiles_.Choose(at, way, &choices));
      for (int i = 0; i < choices->count; ++i) Try(from, at + 1, choices->loops[i]);
    }
    return Status::kOk;
  }

  static void Add(LoopChoice* loops, uint8_t cut, int32_t trips) {
    loops->cut[loops->count] = cut;
    loops->trips[loops->count++] = trips;
  }

  // Makes the segment; keeps it if it is the best of this run of layers so far.
  bool Try(uint32_t from, uint32_t end, const LoopChoice& loops) {
    const SpaceNode& node = nodes_[from];
    work_ += end - node.last;
    if (!maker_.Make(node.held, node.last, end, loops)) return false;
    SpaceNode next = node;
    prices_.Advance(maker_.cost(), loops.count != 0, &next);
    next.before = from;
    next.first = node.last;
    next.last = end;
    next.loops = loops;
    next.cost = prices_.CostOf(next, maker_.held());
    if (tried_ && next.cost >= best_.cost) return true;
    tried_ = true;
    best_ = next;
    best_held_ = 0;
    for (const Held& h : maker_.held()) {
      if (best_held_ == kMostHeld) {
        tried_ = false;
        return false;
      }
      held_[best_held_++] = h;
    }
    return true;
  }

  // Takes the best segment of a run of layers as a state of its end.
  Status Commit() {
    if (!tried_) return Status::kOk;
    if (states_.Full(best_.last) &&
        best_.cost >= nodes_[states_.node(best_.last, search_.states - 1)].cost) {
      return Status::kOk;
    }
    Span<Held> held;
    SLUICE_TRY(arena_->Allocate(best_held_, &held));
    for (uint32_t i = 0; i < best_held_; ++i) held[i] = held_[i];
    best_.held = held;
    SLUICE_TRY(nodes_.Push(best_));
    states_.Keep(best_.last, static_cast<uint32_t>(nodes_.size() - 1), nodes_);
    return Status::kOk;
  }

  static constexpr uint32_t kMostHeld = 256;

  const SpaceProblem& p_;
  const SpaceSearch& search_;
  Arena* arena_;
  SegmentMaker maker_;
  TileChooser tiles_;
  Vector<SpaceNode> nodes_;
  Prices prices_;
  States states_;
  uint64_t work_ = 0;  // layers of the segments tried from this border
  int coarsest_ = 0;   // cut that fitted the segment before
  bool tried_ = false;
  SpaceNode best_ = {};
  Held held_[kMostHeld];
  uint32_t best_held_ = 0;
};

}  // namespace

Status SearchSpace(const SpaceProblem& problem, const SpaceSearch& search,
                   Arena* scratch, Arena* arena, SpacePlan* plan) {
  Arena memory(scratch->memory());
  Search run(problem, search, &memory);
  SLUICE_TRY(run.Init());
  uint32_t best = 0;
  SLUICE_TRY(run.Run(&best));
  return UnrollNodes(problem, run.nodes(), best, run.maker(), arena, plan);
}

}  // namespace sluice
