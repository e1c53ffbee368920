// SPDX-License-Identifier: Apache-2.0
#include "model/access.h"

#include "base/checked.h"

namespace sluice {

namespace {

// An int64 product or sum that remembers whether it overflowed.
struct Count {
  int64_t value = 1;
  bool over = false;
  void Times(int64_t factor) { over |= !CheckedMultiply(value, factor, &value); }
  void Plus(int64_t term) { over |= !CheckedAdd(value, term, &value); }
};

// The path of one operand between two memories that hold it; levels between are
// bypassed.
struct Interface {
  int child;  // -1: the MACs
  int parent;
  uint32_t operand;
  bool shared;   // the units share one read of the parent, rule 2
  bool reduced;  // the units' partial sums are added on the way, rule 4
  // Bit d of level l: its temporal loop over d keeps the tile.
  uint32_t reused[kMaxLevels];
  int moving_level;  // level of the innermost loop that moves the tile, or -1
  uint32_t moving_dim;
};

struct Walk {
  const MappingProblem& problem;
  const Hardware& hardware;
  const LoopNest& nest;
  ReuseForm form;
};

// Finds the loops that keep the tile and the innermost loop that moves it.
void FindReuse(const Walk& walk, Interface* way) {
  const LoopNest& nest = walk.nest;
  way->moving_level = -1;
  way->moving_dim = kDims;
  for (uint32_t l = 0; l < kMaxLevels; ++l) way->reused[l] = 0;
  bool prefix = way->child >= 0;  // a MAC keeps nothing
  for (int l = way->child + 1; l < static_cast<int>(nest.levels); ++l) {
    for (int i = 0; i < kDims && (prefix || way->moving_level < 0); ++i) {
      const uint32_t d = nest.order[l][i];
      const bool trivial = nest.temporal[l][d] == 1;
      if (Moves(d, way->operand)) {
        if (!trivial && way->moving_level < 0) {
          way->moving_level = l;
          way->moving_dim = d;
        }
        const bool passes = walk.form == ReuseForm::kReuse && trivial;
        if (!passes) prefix = false;
      } else if (prefix) {
        way->reused[l] |= 1u << d;
      }
    }
    if (walk.form == ReuseForm::kPaper) prefix = false;
  }
}

enum Kept { kTime = 1, kInside = 2, kAbove = 4 };  // spatial below and above the parent

// How many combinations of the `kept` loops over dim have work. Loops (the digits of a
// mixed-radix number): all spatial and temporal factors above the child's tile.
int64_t Combinations(const Walk& walk, const Interface& way, uint32_t dim, int kept) {
  int64_t factor[kMaxLevels * (kMaxAxes + 1)];
  bool keep[kMaxLevels * (kMaxAxes + 1)];
  int digits = 0;
  int64_t tile = 1;
  for (int l = 0; l < static_cast<int>(walk.nest.levels); ++l) {
    for (uint32_t a = 0; a <= kMaxAxes; ++a) {
      const int64_t f =
          a < kMaxAxes ? walk.nest.spatial[l][a][dim] : walk.nest.temporal[l][dim];
      if (f == 1) continue;
      if (l <= way.child) {
        tile *= f;
        continue;
      }
      const bool time = a == kMaxAxes;
      const bool counted = time ? (kept & kTime) != 0 && (way.reused[l] >> dim & 1) == 0
                                : (kept & (l <= way.parent ? kInside : kAbove)) != 0;
      factor[digits] = f;
      keep[digits++] = counted;
    }
  }
  int64_t below_all = 1, below_kept = 1;
  for (int i = 0; i < digits; ++i) {
    below_all *= factor[i];
    if (keep[i]) below_kept *= factor[i];
  }
  int64_t left = CeilDivide(walk.problem.extent[dim], tile);
  int64_t count = 0;
  while (digits > 0 && left > 0) {
    --digits;
    below_all /= factor[digits];
    if (keep[digits]) below_kept /= factor[digits];
    const int64_t full = left / below_all;
    left %= below_all;
    if (keep[digits]) {
      count += full * below_kept;
    } else if (full > 0) {
      return count + below_kept;
    }
  }
  return digits == 0 && left > 0 ? count + 1 : count;
}

// Product of Combinations over the dims that do not move the operand.
int64_t Visits(const Walk& walk, const Interface& way, int kept, bool* over) {
  Count visits;
  for (uint32_t d = 0; d < kDims; ++d) {
    if (Moves(d, way.operand)) continue;
    visits.Times(Combinations(walk, way, d, kept));
  }
  *over |= visits.over;
  return visits.value;
}

// Tiles of one window axis: full ones, of which the last may be smaller.
struct Cut {
  int64_t tiles;
  int64_t size;
  int64_t last;  // size of the last tile
};

struct WindowCuts {
  Cut outputs;
  Cut taps;
};

Cut CutOf(int64_t extent, int64_t tile) {
  const int64_t tiles = CeilDivide(extent, tile);
  return Cut{tiles, tile, extent - (tiles - 1) * tile};
}

// Words of a step that the step before did not bring; tile of `a` outputs and `b` taps.
int64_t NewSpan(const MappingProblem& problem, int axis, const WindowCuts& cuts,
                int64_t a, int64_t b, const Slide& slide) {
  const auto [outputs, taps] = cuts;
  const int64_t span = WindowSpan(problem, axis, a, b);
  const int64_t before = slide.taps ? WindowSpan(problem, axis, a, taps.size)
                                    : WindowSpan(problem, axis, outputs.size, b);
  const int64_t shift =
      slide.inner * (slide.taps ? taps.size * problem.dilation[axis]
                                : outputs.size * WindowStep(problem, axis));
  return Max(int64_t{0}, span - Max(int64_t{0}, before - shift));
}

}  // namespace

int64_t WindowWords(const MappingProblem& problem, int axis, int64_t output_tile,
                    int64_t tap_tile, const Slide& slide, bool* over) {
  const Cut outputs = CutOf(problem.extent[kDimP + axis], output_tile);
  const Cut taps = CutOf(problem.extent[kDimR + axis], tap_tile);
  Count sum;
  sum.value = 0;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      const int64_t a = i == 0 ? outputs.size : outputs.last;
      const int64_t b = j == 0 ? taps.size : taps.last;
      const int64_t count_a = i == 0 ? outputs.tiles - 1 : 1;
      const int64_t count_b = j == 0 ? taps.tiles - 1 : 1;
      // Tiles of this size at which the sliding loop starts: counted in full.
      const Cut& moving = slide.taps ? taps : outputs;
      const bool last = (slide.taps ? j : i) == 1;
      int64_t first = last ? 1 : moving.tiles - 1;
      if (slide.on) {
        const int64_t run = slide.inner * slide.trips;
        const int64_t n = moving.tiles - 1;
        first = last ? (n / slide.inner % slide.trips == 0 ? 1 : 0)
                     : n / run * slide.inner + Min(n % run, slide.inner);
      }
      const int64_t all = slide.taps ? count_b : count_a;
      const int64_t others = slide.taps ? count_a : count_b;
      Count full, moved;
      full.value = WindowSpan(problem, axis, a, b);
      full.Times(first);
      if (slide.on) moved.value = NewSpan(problem, axis, {outputs, taps}, a, b, slide);
      moved.Times(all - first);
      full.Plus(moved.value);
      full.Times(others);
      sum.Plus(full.value);
      *over |= full.over || moved.over || sum.over;
    }
  }
  return sum.value;
}

namespace {

// Tile of a window dim below the parent: all units' tiles side by side (rule 2).
int64_t UnitedTile(const LoopNest& nest, const Interface& way, int top, uint32_t dim) {
  int64_t tile = 1;
  for (int l = 0; l <= top; ++l) {
    if (l > way.child + 1 && nest.temporal[l - 1][dim] > 1) break;
    const uint32_t level = static_cast<uint32_t>(l);
    tile *= SpatialFactor(nest, level, dim);
    if (l <= way.child) tile *= nest.temporal[l][dim];
  }
  return tile;
}

// Words of all tiles of the operand, each counted once; `united`: of the boxes that all
// units need together.
int64_t MovedWords(const Walk& walk, const Interface& way, bool united, bool* over) {
  Count words;
  for (uint32_t d = 0; d < kDims; ++d) {
    const bool window = way.operand == kInput && d >= kDimP && d <= kDimS;
    if (Moves(d, way.operand) && !window) words.Times(walk.problem.extent[d]);
  }
  if (way.operand != kInput) {
    *over |= words.over;
    return words.value;
  }
  const int top = united ? way.parent : way.child;
  const bool sliding = way.child >= 0 && walk.hardware.levels[way.child].sliding &&
                       way.moving_level >= 0;
  for (int axis = 0; axis < 2; ++axis) {
    const uint32_t output_dim = kDimP + static_cast<uint32_t>(axis);
    const uint32_t tap_dim = kDimR + static_cast<uint32_t>(axis);
    const int64_t outputs = UnitedTile(walk.nest, way, top, output_dim);
    const int64_t taps = UnitedTile(walk.nest, way, top, tap_dim);
    Slide slide = {};
    if (sliding && (way.moving_dim == output_dim || way.moving_dim == tap_dim)) {
      slide.on = true;
      slide.taps = way.moving_dim == tap_dim;
      slide.trips = walk.nest.temporal[way.moving_level][way.moving_dim];
      slide.inner = UnitedTile(walk.nest, way, way.moving_level, way.moving_dim) /
                    (slide.taps ? taps : outputs);
    }
    words.Times(WindowWords(walk.problem, axis, outputs, taps, slide, over));
  }
  *over |= words.over;
  return words.value;
}

// Words that cross one interface.
struct Passage {
  int64_t parent_reads;
  int64_t parent_writes;
  int64_t child_fills;
  int64_t deliveries;  // words received by single units (outputs: sent)
};

Passage CountPassage(const Walk& walk, const Interface& way, bool* over) {
  Passage passage = {};
  const int units = kTime | kInside | kAbove;
  const int group = kTime | kAbove;
  const auto times = [&](int64_t words, int64_t visits) {
    Count product;
    product.value = words;
    product.Times(visits);
    *over |= product.over;
    return product.value;
  };
  const int64_t words = MovedWords(walk, way, false, over);
  passage.deliveries = times(words, Visits(walk, way, units, over));
  if (way.operand != kOutput) {
    passage.parent_reads = way.shared ? times(MovedWords(walk, way, true, over),
                                              Visits(walk, way, group, over))
                                      : passage.deliveries;
    passage.child_fills = passage.deliveries;
    return passage;
  }
  passage.parent_writes =
      times(words, Visits(walk, way, way.reduced ? group : units, over));
  passage.parent_reads =
      passage.parent_writes - times(words, Visits(walk, way, kAbove, over));
  passage.child_fills =
      passage.deliveries - times(words, Visits(walk, way, kInside | kAbove, over));
  return passage;
}

// True if all fanouts between child and parent that use several units have `flag`.
bool AllFanouts(const Walk& walk, const Interface& way, bool Fanout::*flag) {
  for (int l = way.child + 1; l <= way.parent; ++l) {
    for (uint32_t a = 0; a < kMaxAxes; ++a) {
      const Fanout* fanout = FanoutAt(walk.hardware, static_cast<uint32_t>(l), a);
      if (fanout == nullptr) break;
      bool used = false;
      for (uint32_t d = 0; d < kDims; ++d) used |= walk.nest.spatial[l][a][d] > 1;
      if (used && !(fanout->*flag)) return false;
    }
  }
  return true;
}

void AddPassage(const Walk& walk, const Interface& way, AccessCounts* counts,
                bool* over) {
  const bool forwarding = AllFanouts(walk, way, &Fanout::forwarding);
  Interface filled = way;
  filled.shared = forwarding || AllFanouts(walk, way, &Fanout::multicast);
  filled.reduced = AllFanouts(walk, way, &Fanout::reduction);
  FindReuse(walk, &filled);
  const Passage passage = CountPassage(walk, filled, over);
  const auto add = [over](int64_t* to, int64_t n) { *over |= !CheckedAdd(*to, n, to); };
  const uint32_t v = way.operand;
  add(&counts->reads[way.parent][v], passage.parent_reads);
  add(&counts->writes[way.parent][v], passage.parent_writes);
  if (way.child >= 0) add(&counts->writes[way.child][v], passage.child_fills);
  if (v == kOutput && way.parent + 1 == static_cast<int>(walk.nest.levels)) {
    counts->final_writes = MovedWords(walk, filled, false, over);
  }
  for (int l = way.child + 1; l <= way.parent; ++l) {
    add(&counts->transfers[l][v], passage.parent_reads);
    add(&counts->transfers[l][v], passage.parent_writes);
  }
  const int64_t once = v == kOutput ? passage.parent_writes : passage.parent_reads;
  if (forwarding) add(&counts->forwards[way.parent][v], passage.deliveries - once);
}

}  // namespace

Status CountAccesses(const MappingProblem& problem, const Hardware& hardware,
                     const LoopNest& nest, const AccessRules& rules,
                     AccessCounts* counts, Diagnostic* diagnostic) {
  *counts = AccessCounts{};
  const Walk walk = {problem, hardware, nest, rules.form};
  const int outermost = static_cast<int>(nest.levels) - 1;
  bool over = false;
  for (uint32_t v = 0; v < kOperands; ++v) {
    if (!Has(problem, v)) continue;
    int child = -1;
    for (int l = 0; l <= outermost; ++l) {
      if ((nest.hold[l] >> v & 1) == 0) continue;
      const bool stays = l == outermost && (rules.resident >> v & 1) != 0;
      Interface way = {};
      way.child = child;
      way.parent = l;
      way.operand = v;
      if (!stays) AddPassage(walk, way, counts, &over);
      child = l;
    }
  }
  Count cycles;
  for (uint32_t l = 0; l < nest.levels; ++l) {
    for (uint32_t d = 0; d < kDims; ++d) cycles.Times(nest.temporal[l][d]);
    Interface above = {};
    above.child = above.parent = static_cast<int>(l);
    counts->instances[l] = 1;
    for (uint32_t d = 0; d < kDims; ++d) {
      counts->instances[l] *= Combinations(walk, above, d, kAbove);
    }
  }
  counts->cycles = cycles.value;
  counts->operations = OperationCount(problem);
  if (over || cycles.over) {
    return Fail(diagnostic, Status::kUnsupported, "mapping")
        .Say("access counts of # operations overflow 64 bits", counts->operations);
  }
  return Status::kOk;
}

}  // namespace sluice
