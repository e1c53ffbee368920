// SPDX-License-Identifier: Apache-2.0
#include "verify/nest/nest_refute.h"

#include <string.h>

#include "base/array.h"
#include "base/checked.h"
#include "base/hash.h"
#include "verify/nest/nest_limits.h"
#include "verify/nest/nest_tiles.h"

namespace sluice::nest_claims {
namespace {

constexpr uint32_t kNobody = UINT32_MAX;
constexpr uint64_t kMostSteps = 400000;
constexpr size_t kMostBeginnings = 1u << 16;
constexpr size_t kBuckets = 1u << 13;

// The dims whose loops keep an operand: of outputs those summed over, and so on.
constexpr uint32_t kKeepers[kOperandCount] = {1u << kK, 1u << kN | 1u << kP | 1u << kQ,
                                              1u << kC | 1u << kR | 1u << kS};

// What levels further in see of the levels passed but for the tile.
struct Outlook {
  int32_t united[4];  // units side by side, by the dims of windows
  Sliding sliding;
  Fans fans[kOperandCount];
};

// Levels passed, from the outermost one to that whose loops are `loops`.
struct Beginning {
  double pj;
  double bytes[kLevelsMost];
  double steps;
  double least;  // what every nest that begins so is worth at least
  double instances[kLevelsMost];
  int32_t tile[kDimCount];  // of the next level inwards
  Level loops;
  Outlook outlook;
  double product[kReadings][kOperandCount];
  double units;                             // passed, those of groups included
  Readings readings[kReadings][kDimCount];  // ragged: by dim
  uint32_t before;
  uint32_t next;  // with the same hash
  bool given_up;
};

struct Finder {
  const Case& one;
  double limit;
  Effort* effort;
  Arena* arena;
  bool timed;
  bool slides;
  Lengths lengths[kDimCount];
  Span<const Units> units[kLevelsMost];
  Limits limits;
  Span<uint32_t> buckets;
  bool found;
  bool stopped;
};

int64_t Tick(Finder* finder) {
  ++finder->effort->steps;
  if (finder->effort->steps > kMostSteps) finder->stopped = true;
  if ((finder->effort->steps & 255) == 0 && finder->effort->budget->Tick()) {
    finder->stopped = true;
  }
  return finder->stopped ? 1 : 0;
}

// level: whose units were passed last.
double LeastWorth(const Finder& finder, const Beginning& b, int level) {
  const Case& one = finder.one;
  double inside = 1;
  for (const int32_t length : b.tile) inside *= Real(length);
  if (level > 0) inside = Max(1.0, inside / finder.limits.units[level - 1]);
  double cycles =
      Max(b.steps * inside, Operations(one.claim) / PeakOf(one.claim, one.hardware));
  for (int l = 0; l <= one.top; ++l) {
    const Rational rate = one.memory(l).bandwidth;
    if (rate.numerator <= 0 || b.instances[l] == 0) continue;
    cycles = Max(cycles, b.bytes[l] / b.instances[l] * Real(rate.denominator) /
                             Real(rate.numerator));
  }
  const double pj = b.pj + (level > 0 ? finder.limits.pj[level - 1] : 0) +
                    one.hardware.leakage_pj_per_cycle * cycles;
  return Worth(one.claim, pj, cycles);
}

// Where the operand lies for the levels further in than `reached`.
int LiesIn(const Case& one, int reached, uint32_t operand) {
  return In(one.hold[reached], operand) ? reached : HolderAbove(one, reached, operand);
}

// Fills in what levels further in than `reached` see; levels: those passed.
void LookBack(const Finder& finder, const Level levels[kLevelsMost], int reached,
              Beginning* b) {
  const Case& one = finder.one;
  b->outlook = Outlook{};
  for (uint32_t v = 0; v < kOperandCount; ++v) {
    const View view = {one, levels, reached + 1, LiesIn(one, reached, v), v};
    b->outlook.fans[v] = FansOf(view);
    if (v == kIn) {
      for (uint32_t w = 0; w < 4; ++w) b->outlook.united[w] = UnitedUnits(view, kP + w);
      b->outlook.sliding = SlidingOf(view);
    }
    for (uint8_t r = 0; r < kReadings; ++r) {
      b->product[r][v] = 1;
      for (uint32_t d = 0; d < kDimCount; ++d) {
        if (!In(kKeepers[v], d)) continue;
        const Readings readings =
            ReadingsOf(view, static_cast<Reading>(r), d, b->tile[d], false);
        b->readings[r][d] = readings;
        b->product[r][v] *= readings.all;
      }
    }
  }
  const View all = {one, levels, reached + 1, reached, kIn};
  b->readings[kAllUnits][kG] = ReadingsOf(all, kAllUnits, kG, b->tile[kG], true);
  b->units = b->readings[kAllUnits][kG].all;
  for (uint32_t v = 0; v < kOperandCount; ++v) b->units *= b->product[kAllUnits][v];
}

bool SameOutlook(const Finder& finder, const Beginning& a, const Beginning& b) {
  if (memcmp(a.tile, b.tile, sizeof a.tile) != 0) return false;
  const Outlook &p = a.outlook, &q = b.outlook;
  if (memcmp(p.united, q.united, sizeof p.united) != 0) return false;
  for (uint32_t v = 0; v < kOperandCount; ++v) {
    if (p.fans[v].multicast != q.fans[v].multicast ||
        p.fans[v].reduction != q.fans[v].reduction ||
        p.fans[v].forwarding != q.fans[v].forwarding) {
      return false;
    }
  }
  const Sliding &m = p.sliding, &n = q.sliding;
  return !finder.slides || (m.dim == n.dim && m.trips == n.trips &&
                            m.beyond == n.beyond && m.within == n.within);
}

// Whether reading r of operand v's dims is no larger in `a` than in `b`.
bool NoLarger(const Finder& finder, const Beginning& a, const Beginning& b, Reading r,
              uint32_t v) {
  if (finder.one.divides) return a.product[r][v] <= b.product[r][v];
  for (uint32_t d = 0; d < kDimCount; ++d) {
    if (!In(kKeepers[v], d)) continue;
    const Readings &p = a.readings[r][d], &q = b.readings[r][d];
    if (p.whole > q.whole || p.all > q.all) return false;
  }
  return true;
}

// More units in use are of use to outputs' first writes, and to bandwidths.
bool UsesNoFewer(const Finder& finder, const Beginning& a, const Beginning& b) {
  if (!NoLarger(finder, b, a, kAllUnits, kOut)) return false;
  if (!NoLarger(finder, b, a, kUnitsBeyond, kOut)) return false;
  if (!finder.timed) return true;
  if (finder.one.divides) return a.units >= b.units;
  for (uint32_t v = 0; v < kOperandCount; ++v) {
    if (!NoLarger(finder, b, a, kAllUnits, v)) return false;
  }
  const Readings &p = a.readings[kAllUnits][kG], &q = b.readings[kAllUnits][kG];
  return p.whole >= q.whole && p.all >= q.all;
}

// Whether whatever follows `b` may as well follow `a`.
bool Replaces(const Finder& finder, const Beginning& a, const Beginning& b) {
  if (a.pj > b.pj * (1 + 1e-15) || !UsesNoFewer(finder, a, b)) return false;
  for (uint32_t v = 0; v < kOperandCount; ++v) {
    for (uint8_t r = kStays; r <= kStepsBeyond; ++r) {
      if (!NoLarger(finder, a, b, static_cast<Reading>(r), v)) return false;
    }
  }
  if (!finder.timed) return true;
  if (a.steps > b.steps) return false;
  for (int l = 0; l <= finder.one.top; ++l) {
    if (finder.one.memory(l).bandwidth.numerator <= 0) continue;
    const bool known = a.instances[l] != 0 && b.instances[l] != 0;
    if (a.instances[l] != b.instances[l] &&
        !(known && a.instances[l] > b.instances[l])) {
      return false;
    }
    if (a.bytes[l] > b.bytes[l]) return false;
  }
  return true;
}

Status Keep(Finder* finder, const Beginning& b, Vector<Beginning>* layer) {
  const uint64_t hash = Fnv1aWords(b.tile, sizeof b.tile);
  uint32_t* const bucket = &finder->buckets[(hash >> 20 ^ hash) & (kBuckets - 1)];
  for (uint32_t* link = bucket; *link != kNobody;) {
    Beginning& other = (*layer)[*link];
    if (Tick(finder) != 0) return Status::kOk;
    if (SameOutlook(*finder, other, b)) {
      if (Replaces(*finder, other, b)) return Status::kOk;
      if (Replaces(*finder, b, other)) {
        other.given_up = true;
        *link = other.next;
        continue;
      }
    }
    link = &other.next;
  }
  if (layer->size() >= kMostBeginnings) {
    finder->stopped = true;
    return Status::kOk;
  }
  SLUICE_TRY(layer->Push(b));
  const uint32_t index = static_cast<uint32_t>(layer->size() - 1);
  (*layer)[index].next = *bucket;
  *bucket = index;
  return Status::kOk;
}

// One choice of a level's loops and units.
struct Choice {
  const Beginning& from;
  uint32_t index;
  int level;
  const Units& units;
  Vector<Beginning>* layer;  // of the next level inwards
};

// The loops between two tiles; false: there are none, or some have no work.
bool TripsBetween(const Finder& finder, const Choice& choice, const int64_t* tile,
                  int32_t trips[kDimCount]) {
  for (uint32_t d = 0; d < kDimCount; ++d) {
    const int64_t extent = finder.one.claim.extent[d];
    const int64_t block = tile[d] * choice.units.of[d];
    const bool outermost = choice.level == finder.one.top;
    const int64_t outer = choice.from.tile[d];
    const bool rounds = outermost && !finder.one.divides;
    if (!rounds && outer % block != 0) return false;
    const int64_t steps = rounds ? CeilDivide(extent, block) : outer / block;
    if ((steps - 1) * block >= extent) return false;
    if (choice.units.farthest[d] * tile[d] >= extent) return false;
    trips[d] = static_cast<int32_t>(steps);
  }
  return true;
}

Status Extend(Finder* finder, const Choice& choice, const int64_t* tile,
              const Level& loops, Level levels[kLevelsMost]) {
  const Case& one = finder->one;
  const int inner = choice.level - 1;
  if (Tick(finder) != 0) return Status::kOk;
  Beginning b = choice.from;
  b.loops = levels[choice.level] = loops;
  b.before = choice.index;
  b.given_up = false;
  for (uint32_t d = 0; d < kDimCount; ++d) {
    b.tile[d] = static_cast<int32_t>(tile[d]);
    b.steps *= Real(loops.trips[d]);
  }
  if (inner >= 0) b.instances[inner] = InstancesOf(one, levels, inner, tile);
  Sums sums = {b.pj, {}};
  memcpy(sums.bytes, b.bytes, sizeof sums.bytes);
  AddTransfers(one, levels, inner, tile, &sums);
  b.pj = sums.pj;
  memcpy(b.bytes, sums.bytes, sizeof b.bytes);
  if (inner < 0) {
    const double cycles = WholeCycles(one, b.steps, b.bytes, b.instances);
    const double pj = b.pj + one.hardware.leakage_pj_per_cycle * cycles;
    finder->found = finder->found || Worth(one.claim, pj, cycles) < finder->limit;
    return Status::kOk;
  }
  b.least = LeastWorth(*finder, b, choice.level);
  if (b.least >= finder->limit) return Status::kOk;
  LookBack(*finder, levels, inner, &b);
  return Keep(finder, b, choice.layer);
}

// Tries each order of a level's loops that differs in what it keeps or slides along.
Status ExtendInOrders(Finder* finder, const Choice& choice, const int64_t* tile,
                      Level levels[kLevelsMost]) {
  Level loops = {};
  if (!TripsBetween(*finder, choice, tile, loops.trips)) return Status::kOk;
  uint32_t running = 0;
  for (uint32_t d = 0; d < kDimCount; ++d) {
    loops.units[d] = choice.units.of[d];
    if (loops.trips[d] > 1) running |= 1u << d;
  }
  loops.multicast = choice.units.multicast;
  loops.reduction = choice.units.reduction;
  loops.forwarding = choice.units.forwarding;
  for (uint32_t v = 0; v < kOperandCount; ++v) {
    loops.moves[v] = (running & kMovesOperand[v]) != 0;
  }
  constexpr uint32_t kWindows = 1u << kP | 1u << kQ | 1u << kR | 1u << kS;
  bool any = false;
  for (uint32_t kept = 0; kept <= kOperandCount && !finder->found; ++kept) {
    const bool none = kept == kOperandCount;
    if (none ? any : (running & kKeepers[kept]) == 0) continue;
    any = true;
    for (uint32_t v = 0; v < kOperandCount; ++v) {
      loops.keeps[v] =
          v == kept || !loops.moves[v] ? static_cast<uint8_t>(kKeepers[v]) : uint8_t{0};
    }
    const bool of_all = none || kept == kIn;
    const uint32_t first =
        running & kMovesOperand[kIn] & (of_all ? 0xffu : kKeepers[kept]);
    loops.moving = kDimCount;
    if (!finder->slides || first == 0 || (first & ~kWindows) != 0) {
      SLUICE_TRY(Extend(finder, choice, tile, loops, levels));
    }
    for (uint8_t d = kP; d <= kS && finder->slides; ++d) {
      if (!In(first, d)) continue;
      loops.moving = d;
      SLUICE_TRY(Extend(finder, choice, tile, loops, levels));
    }
  }
  return Status::kOk;
}

bool MayStandOnTop(const Case& one, int level, const int64_t* tile) {
  if (level + 1 != one.top) return true;
  for (uint32_t d = 0; d < kDimCount; ++d) {
    const int64_t asked = one.claim.top_tile[d], extent = one.claim.extent[d];
    if (asked != 0 && Min(asked, extent) != Min(tile[d], extent)) return false;
  }
  return true;
}

Status ExtendAll(Finder* finder, const Beginning& from, uint32_t index, int level,
                 Level levels[kLevelsMost], Vector<Beginning>* layer) {
  const Case& one = finder->one;
  const bool rounds = level == one.top && !one.divides;
  for (const Units& units : finder->units[level]) {
    const Choice choice = {from, index, level, units, layer};
    int64_t within[kDimCount], tile[kDimCount];
    bool divides = true;
    for (uint32_t d = 0; d < kDimCount; ++d) {
      const int64_t outer = rounds ? 2 * one.claim.extent[d] - 1 : from.tile[d];
      divides = divides && (rounds || outer % units.of[d] == 0);
      within[d] = rounds ? outer : outer / units.of[d];
      tile[d] = 1;
    }
    if (!divides) continue;
    if (level == 0) {
      SLUICE_TRY(ExtendInOrders(finder, choice, tile, levels));
    } else {
      const TileRange range = {one, finder->lengths, level - 1, within, !rounds};
      Status status = Status::kOk;
      (void)VisitTiles(range, tile, 0, [&](const int64_t* at) {
        if (!MayStandOnTop(one, level - 1, at)) return true;
        status = ExtendInOrders(finder, choice, at, levels);
        return status == Status::kOk && !finder->stopped && !finder->found;
      });
      SLUICE_TRY(status);
    }
    if (finder->stopped || finder->found) break;
  }
  return Status::kOk;
}

// Layer by layer, from the outermost level inwards.
Status Search(Finder* finder) {
  const Case& one = finder->one;
  Vector<Beginning> layers[kLevelsMost] = {
      Vector<Beginning>(finder->arena), Vector<Beginning>(finder->arena),
      Vector<Beginning>(finder->arena), Vector<Beginning>(finder->arena),
      Vector<Beginning>(finder->arena), Vector<Beginning>(finder->arena)};
  Beginning root = {};
  root.pj = (one.claim.vector ? one.hardware.vector_op_pj : one.hardware.mac_pj) *
            Operations(one.claim);
  root.steps = 1;
  root.instances[one.top] = 1;
  for (uint32_t d = 0; d < kDimCount; ++d) {
    root.tile[d] = static_cast<int32_t>(one.claim.extent[d]);
  }
  root.least = LeastWorth(*finder, root, one.top + 1);
  SLUICE_TRY(layers[one.top].Push(root));
  for (int l = one.top; l >= 0; --l) {
    for (uint32_t& bucket : finder->buckets) bucket = kNobody;
    for (uint32_t i = 0; i < layers[l].size(); ++i) {
      if (finder->stopped || finder->found) return Status::kOk;
      const Beginning from = layers[l][i];
      if (from.given_up || from.least >= finder->limit) continue;
      Level levels[kLevelsMost] = {};
      Beginning above = from;
      for (int k = l + 1; k <= one.top; ++k) {
        levels[k] = above.loops;
        above = layers[k][above.before];
      }
      SLUICE_TRY(
          ExtendAll(finder, from, i, l, levels, l == 0 ? nullptr : &layers[l - 1]));
    }
  }
  return Status::kOk;
}

}  // namespace

Status FindCheaper(const Case& one, double limit, Effort* effort, Arena* arena,
                   bool* found, Diagnostic* diagnostic) {
  ArenaScope scope(arena);
  Finder finder = {one, limit, effort, arena, false, false,
                   {},  {},    {},     {},    false, false};
  finder.timed = one.claim.delay_exponent > 0 || one.hardware.leakage_pj_per_cycle > 0;
  bool too_many = false;
  for (int l = 0; l <= one.top; ++l) {
    finder.slides = finder.slides || one.memory(l).sliding;
    SLUICE_TRY(ListUnits(one, l, arena, &finder.units[l], &too_many));
  }
  for (uint32_t d = 0; d < kDimCount; ++d) {
    SLUICE_TRY(
        ListLengths(one.claim.extent[d], one.divides, arena, &finder.lengths[d]));
  }
  finder.limits = LimitLevels(one, finder.units, finder.lengths);
  effort->steps += finder.limits.steps;
  SLUICE_TRY(arena->Allocate(kBuckets, &finder.buckets));
  if (!too_many) SLUICE_TRY(Search(&finder));
  *found = finder.found;
  if (!finder.found && (too_many || finder.stopped)) {
    return Fail(diagnostic, Status::kStopped, "verify")
        .Text("a limit ended the check of a nest before its end");
  }
  return Status::kOk;
}

}  // namespace sluice::nest_claims
