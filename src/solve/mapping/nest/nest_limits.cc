// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/nest/nest_limits.h"

#include "base/checked.h"

namespace sluice {
namespace {

using namespace least_traffic;

constexpr double kEver = 1e300;

struct Limiter {
  const MappingProblem& problem;
  const Hardware& hardware;
  const MapConstraints& constraints;
  TileCounts counts;
  uint32_t hold[kMaxLevels];
};

int Outermost(const Limiter& limiter) {
  return static_cast<int>(limiter.hardware.levels.size()) - 1;
}

bool Holds(const Limiter& limiter, int level, uint32_t v) {
  return (limiter.hold[level] >> v & 1) != 0;
}

// The next memory above `level` that holds the operand.
int ParentOf(const Limiter& limiter, int level, uint32_t v) {
  int parent = level + 1;
  while (!Holds(limiter, parent, v)) ++parent;
  return parent;
}

double Real(int64_t n) { return static_cast<double>(n); }

// The factors of the fanouts of levels from..to that may unroll one of the dims.
double Units(const Limiter& limiter, int from, int to, uint32_t dims) {
  double units = 1;
  for (int l = from; l <= to; ++l) {
    for (uint32_t a = 0; a < kMaxAxes; ++a) {
      const Fanout* fanout = FanoutAt(limiter.hardware, static_cast<uint32_t>(l), a);
      if (fanout == nullptr) break;
      double most = 1;
      for (uint32_t d = 0; d < kDims; ++d) {
        if ((dims >> d & 1) == 0 || !MayUnroll(*fanout, d)) continue;
        most *= Real(limiter.problem.extent[d]);
      }
      units *= Min(most, Real(fanout->extent));
    }
  }
  return units;
}

constexpr uint32_t kAllDims = (1u << kDims) - 1;

double WirePj(const Limiter& limiter, int from, int to, int64_t bytes) {
  double pj = 0;
  for (int l = from; l <= to; ++l) {
    const Fanout* fanout = FanoutAt(limiter.hardware, static_cast<uint32_t>(l), 0);
    if (fanout != nullptr) pj += fanout->transfer_pj_per_bit * Real(8 * bytes);
  }
  return pj;
}

// What a word costs between a child (-1: the MACs) and the memory above.
WordPrice PriceOf(const Limiter& limiter, int child, int parent, uint32_t v) {
  const auto& levels = limiter.hardware.levels;
  const int64_t bytes = InnerBytes(limiter.problem, v);
  const double wire = WirePj(limiter, child + 1, parent, bytes);
  const double fill =
      child < 0 ? 0 : WritePj(levels[static_cast<size_t>(child)], bytes);
  const MemoryLevel& above = levels[static_cast<size_t>(parent)];
  WordPrice price = {ReadPj(above, bytes) + wire + fill, 0, 0, 0};
  if (v != kOutput) return price;
  price.write = WritePj(above, bytes) + wire;
  if (parent == Outermost(limiter)) {
    price.last =
        WritePj(above, limiter.problem.element_bytes[kOutput]) - WritePj(above, bytes);
  }
  price.first_visits =
      Units(limiter, parent + 1, Outermost(limiter), kAllDims & ~RelevantDims(kOutput));
  return price;
}

// The same in bytes that the parent moves.
WordPrice BytesOf(const Limiter& limiter, int parent, uint32_t v) {
  const double bytes = Real(InnerBytes(limiter.problem, v));
  if (v != kOutput) return {bytes, 0, 0, 0};
  const bool outermost = parent == Outermost(limiter);
  const double last =
      outermost ? Real(limiter.problem.element_bytes[kOutput]) - bytes : 0;
  return {bytes, bytes, last,
          Units(limiter, parent + 1, Outermost(limiter),
                kAllDims & ~RelevantDims(kOutput))};
}

// The memories that operands move into from the level above: all whose parent is the
// outermost level are one boundary, the others one for each level.
struct Crossing {
  bool moves[kOperands];
  int child[kOperands];
  int parent[kOperands];
  int tile;  // level whose tile counts
  int top;   // the farthest parent
};

Boundary BoundaryOf(const Limiter& limiter, const Crossing& crossing, bool bytes) {
  Boundary boundary = {};
  const auto& levels = limiter.hardware.levels;
  for (uint32_t v = 0; v < kOperands; ++v) {
    if (!crossing.moves[v]) continue;
    const int child = crossing.child[v], parent = crossing.parent[v];
    boundary.moves[v] = true;
    boundary.price[v] =
        bytes ? BytesOf(limiter, parent, v) : PriceOf(limiter, child, parent, v);
    if (child < 0) continue;
    const MemoryLevel& level = levels[static_cast<size_t>(child)];
    boundary.sliding = boundary.sliding || level.sliding;
    if (level.capacity_bytes == 0) continue;
    const double room =
        Real(level.capacity_bytes) * Units(limiter, child + 1, crossing.top, kAllDims);
    const double word = Real(InnerBytes(limiter.problem, v));
    const bool shares =
        level.share_percent[0] + level.share_percent[1] + level.share_percent[2] > 0;
    const double own = shares ? room * level.share_percent[v] / 100 : room;
    if (child == crossing.tile) {
      boundary.word_share[v] = word / room;
      boundary.own_words[v] = own / word;
    } else {
      boundary.own_words_if_still[v] = own / word;
    }
  }
  return boundary;
}

// The reads that feed the MACs cost at least the least sum of price / share, where
// shares multiply to at most `units` (see the header, 4).
struct Feeds {
  double price[kOperands];  // per operation
  double most[kOperands];   // share
  double units;
};

double LeastFeed(const Feeds& feeds) {
  const auto shares = [&](double level, double share[kOperands]) {
    double product = 1;
    for (uint32_t v = 0; v < kOperands; ++v) {
      share[v] = Max(1.0, Min(feeds.most[v], feeds.price[v] / level));
      product *= share[v];
    }
    return product;
  };
  double share[kOperands];
  double low = 1e-30;  // of the price that each share leaves
  if (shares(low, share) > feeds.units) {
    while (shares(low * 2, share) > feeds.units) low *= 2;
    double high = low * 2;
    for (int i = 0; i < 50; ++i) {
      const double middle = (low + high) / 2;
      (shares(middle, share) > feeds.units ? low : high) = middle;
    }
    shares(low, share);  // a little too large
  }
  double sum = 0;
  for (uint32_t v = 0; v < kOperands; ++v) sum += feeds.price[v] / share[v];
  return sum;
}

// True if outputs and filter taps may both be spread, so that neighbours share input.
bool SharesWindows(const Limiter& limiter, int to) {
  for (int axis = 0; axis < 2; ++axis) {
    const uint32_t p = kDimP + static_cast<uint32_t>(axis);
    const uint32_t r = kDimR + static_cast<uint32_t>(axis);
    if (Units(limiter, 0, to, 1u << p) > 1 && Units(limiter, 0, to, 1u << r) > 1) {
      return true;
    }
  }
  return false;
}

// The energy, or the bytes of one level, of feeding the MACs.
double FeedOf(const Limiter& limiter, bool bytes, int of_level) {
  const MappingProblem& problem = limiter.problem;
  const double operations = Real(OperationCount(problem));
  Feeds feeds = {};
  double free = 0;
  feeds.units = 1;
  int highest = 0;
  for (uint32_t v = 0; v < kOperands; ++v) {
    feeds.most[v] = 1;
    if (!Has(problem, v)) continue;
    const int level = ParentOf(limiter, -1, v);
    if (of_level >= 0 && level != of_level) continue;
    highest = Max(highest, level);
    const bool resident_outside = level == Outermost(limiter);
    if (resident_outside && (limiter.constraints.resident >> v & 1) != 0) continue;
    const WordPrice price =
        bytes ? BytesOf(limiter, level, v) : PriceOf(limiter, -1, level, v);
    feeds.price[v] = (price.read + price.write) * operations;
    feeds.most[v] = Units(limiter, 0, level, kAllDims & ~RelevantDims(v));
    if (v == kInput && SharesWindows(limiter, level)) {
      feeds.most[v] = Units(limiter, 0, level, kAllDims);
      free += feeds.price[v] / feeds.most[v];
      feeds.price[v] = 0;
    }
    if (v == kOutput) {
      const double words = Real(TileWords(problem, v, problem.extent));
      free += words * (price.last - price.read * price.first_visits);
    }
  }
  feeds.units = Units(limiter, 0, highest, kAllDims);
  return Max(0.0, free + LeastFeed(feeds));
}

double LeastSteps(const Limiter& limiter) {
  const MappingProblem& problem = limiter.problem;
  const double operations = Real(OperationCount(problem));
  const int last = Outermost(limiter);
  double each = 1;
  for (uint32_t d = 0; d < kDims; ++d) {
    const double units = Units(limiter, 0, last, 1u << d);
    each *= RoundUpToWhole(Real(problem.extent[d]) / units * (1 - 1e-12));
  }
  const double all = operations / Units(limiter, 0, last, kAllDims);
  const double peak = Real(PeakOperations(problem, limiter.hardware));
  return Max(Max(each, all), operations / peak);
}

struct Sums {
  double energy_pj;
  double outer_bytes;
  LeastTile tile[2];
};

// The operands that move out of the outermost level, and those that move between inner
// levels.
Sums TrafficOf(const Limiter& limiter) {
  const int last = Outermost(limiter);
  Sums sums = {0, 0, {}};
  Crossing outer = {};
  bool any = false;
  for (uint32_t v = 0; v < kOperands; ++v) {
    if (!Has(limiter.problem, v)) continue;
    int child = last - 1;
    while (child >= 0 && !Holds(limiter, child, v)) --child;
    if (child < 0 || (limiter.constraints.resident >> v & 1) != 0) continue;
    outer.moves[v] = any = true;
    outer.child[v] = child;
    outer.parent[v] = last;
    outer.tile = Max(outer.tile, child);
    outer.top = last;
  }
  if (any) {
    sums.energy_pj +=
        LeastTraffic(limiter.counts, BoundaryOf(limiter, outer, false), &sums.tile[0]);
    sums.outer_bytes =
        LeastTraffic(limiter.counts, BoundaryOf(limiter, outer, true), &sums.tile[1]);
  }
  for (int level = 0; level < last - 1; ++level) {
    Crossing inner = {};
    any = false;
    inner.tile = level;
    for (uint32_t v = 0; v < kOperands; ++v) {
      if (!Has(limiter.problem, v) || !Holds(limiter, level, v)) continue;
      inner.child[v] = level;
      inner.parent[v] = ParentOf(limiter, level, v);
      if (inner.parent[v] == last) continue;
      inner.moves[v] = any = true;
      inner.top = Max(inner.top, inner.parent[v]);
    }
    if (!any) continue;
    sums.energy_pj += LeastTraffic(limiter.counts, BoundaryOf(limiter, inner, false));
  }
  return sums;
}

double CyclesFor(const MemoryLevel& level, double bytes, double instances) {
  if (level.bandwidth.numerator == 0) return 0;
  return bytes / instances * Real(level.bandwidth.denominator) /
         Real(level.bandwidth.numerator);
}

// Lowers the limits to those of the set of operands that every level holds now.
void TakeHolds(const Limiter& limiter, NestLimits* limits) {
  const Hardware& hardware = limiter.hardware;
  const MappingProblem& problem = limiter.problem;
  const int last = Outermost(limiter);
  const Sums sums = TrafficOf(limiter);
  const double outer_feed = FeedOf(limiter, true, last);
  const MemoryLevel& outer = hardware.levels[static_cast<size_t>(last)];
  const MemoryLevel& inner = hardware.levels[static_cast<size_t>(last - 1)];
  const double cycles =
      Max(Max(LeastSteps(limiter), CyclesFor(outer, sums.outer_bytes + outer_feed, 1)),
          CyclesFor(inner, FeedOf(limiter, true, last - 1),
                    Units(limiter, last, last, kAllDims)));
  const double operations = Real(OperationCount(problem));
  const double energy =
      sums.energy_pj + FeedOf(limiter, false, -1) +
      operations * (problem.vector ? hardware.vector_op_pj : hardware.mac_pj) +
      hardware.leakage_pj_per_cycle * cycles;
  if (energy < limits->energy_pj) limits->tile[0] = sums.tile[0];
  if (cycles < limits->cycles) limits->tile[1] = sums.tile[1];
  limits->energy_pj = Min(limits->energy_pj, energy);
  limits->cycles = Min(limits->cycles, cycles);
}

// Goes to the next choice of what each level holds; false after the last.
bool NextHolds(Limiter* limiter) {
  for (int l = 0; l < Outermost(*limiter); ++l) {
    const MemoryLevel& level = limiter->hardware.levels[static_cast<size_t>(l)];
    const uint32_t may = level.may_hold & limiter->problem.operands;
    const uint32_t free = may & ~level.must_hold;
    if (!limiter->constraints.bypass || free == 0) continue;
    // The subsets of `free` in descending order.
    const uint32_t now = limiter->hold[l] & free;
    if (now != 0) {
      limiter->hold[l] = (may & level.must_hold) | ((now - 1) & free);
      return true;
    }
    limiter->hold[l] = may;
  }
  return false;
}

}  // namespace

Status LimitNests(const NestRequest& request, Arena* arena, NestLimits* limits) {
  ArenaScope scope(arena);
  Limiter limiter = {request.problem, request.hardware, request.constraints, {}, {}};
  const int last = Outermost(limiter);
  int choices = 1;
  for (int l = 0; l <= last; ++l) {
    const MemoryLevel& level = request.hardware.levels[static_cast<size_t>(l)];
    limiter.hold[l] = level.may_hold & request.problem.operands;
    const uint32_t free = limiter.hold[l] & ~level.must_hold;
    if (request.constraints.bypass && l < last) choices <<= __builtin_popcount(free);
  }
  limiter.hold[last] = request.problem.operands;
  SLUICE_TRY(
      CountTiles(request.problem, 200000 / choices + 2000, arena, &limiter.counts));
  *limits = {kEver, kEver, {}};
  do {
    TakeHolds(limiter, limits);
  } while (NextHolds(&limiter));
  return Status::kOk;
}

}  // namespace sluice
