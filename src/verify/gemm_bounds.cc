// SPDX-License-Identifier: Apache-2.0
#include "verify/gemm_bounds.h"

#include "base/checked.h"

namespace sluice::gemm_terms {
namespace {

constexpr double kInfinity = __builtin_huge_val();
constexpr int64_t kOne[3] = {1, 1, 1};

bool FitsInto(const Room& room, const int64_t tile[3]) {
  return Fit(tile, room.holds, room.words);
}

// What the least cost of one datum depends on, below the outer fill and with all other
// axes as short as possible.
enum : int { kFeeds, kStays, kWalks, kMerged, kMergedMiddle, kKinds };
struct Key {
  int kind;
  int others;  // data that share the memory that limits the tile
  bool in_middle;
};
static_assert(kKinds * 3 * 2 == kBoundKeys, "a table for each key");

Key KeyOf(const Way& way, int d) {
  const bool in_middle = In(way.middle, d), in_inner = In(way.inner, d);
  const int beside = Members(way.inner) - (in_inner ? 1 : 0);
  if (way.merged && d == way.p) return {kMerged, 0, false};
  if (way.merged && in_middle) return {kMergedMiddle, beside, true};
  if (!in_inner) return {kFeeds, 0, in_middle};
  if (way.merged || d != way.q) return {kStays, beside, in_middle};
  return {kWalks, Members(way.middle) - (in_middle ? 1 : 0), in_middle};
}

// The least cost of datum d with s PEs along its axis.
double LeastAxis(const GemmBounds& b, const Key& key, int d, int64_t s) {
  const ClaimedGemm& c = *b.claim;
  const int source = key.in_middle ? kMiddle : 0;
  const bool in_inner = key.kind != kFeeds && key.kind != kMergedMiddle;
  const double feed = FeedMac(c, d, source, in_inner, s);
  if (key.kind == kFeeds) return feed;
  const int64_t trips = c.extent[d] / s;
  int64_t most = trips;
  if (key.others > 0) {
    // The datum's own face is one word, each of the others' as long as the tile.
    most = key.kind == kWalks
               ? (c.middle_words - (key.in_middle ? 1 : 0)) / key.others / s
               : (c.inner_words - (in_inner ? 1 : 0)) / key.others;
  }
  int64_t longest = most >= trips ? trips : 0;
  for (size_t i = b.divisors[d].size(); i > 0 && longest == 0; --i) {
    const int64_t length = b.divisors[d][i - 1];
    if (length <= most && trips % length == 0) longest = length;
  }
  if (longest == 0) return kInfinity;
  return feed + (in_inner ? FillInner(c, d, source, s, longest, 1)
                          : FillMiddle(c, d, s * longest, 1));
}

void Add(Fill* sum, const Fill& fill, double scale) {
  sum->per_tile += fill.per_tile * scale;
  sum->always += fill.always;
}

// Ascending.
Status ListDivisors(int64_t n, Arena* arena, Span<const int64_t>* out) {
  Vector<int64_t> list(arena);
  const uint32_t number = static_cast<uint32_t>(n);  // at most 2^31
  for (uint32_t i = 1; uint64_t{i} * i <= number; ++i) {
    if (number % i == 0) SLUICE_TRY(list.Push(i));
  }
  for (size_t i = list.size(); i > 0; --i) {
    const int64_t low = list[i - 1];
    if (low * low != n) SLUICE_TRY(list.Push(n / low));
  }
  *out = list.span();
  return Status::kOk;
}

}  // namespace

Status Reject(Diagnostic* diagnostic, const char* rule, const char* text) {
  return Fail(diagnostic, Status::kRejected, "verify").Rule(rule).Text(text);
}

// One sweep over two axes, for each length of the third.
double LeastTile(const AxisCosts axes[3], const Room& room, const Room& upper,
                 const int64_t spread[3]) {
  int a = 0;  // the axis with the fewest lengths
  for (int d = 1; d < 3; ++d) a = axes[d].count < axes[a].count ? d : a;
  const AxisCosts &first = axes[a], &second = axes[(a + 1) % 3],
                  &third = axes[(a + 2) % 3];
  const double rest = second.cost[second.count - 1] + third.cost[third.count - 1];
  double least = kInfinity;
  int64_t tile[3], wide[3];
  const auto set = [&](int axis, int64_t length) {
    tile[axis % 3] = length;
    wide[axis % 3] = length * spread[axis % 3];
  };
  for (size_t i = first.count; i > 0 && first.cost[i - 1] + rest < least; --i) {
    set(a, first.length[i - 1]);
    size_t last = third.count;  // the longer the second axis, the shorter the third
    for (size_t j = 0; j < second.count && last > 0; ++j) {
      set(a + 1, second.length[j]);
      for (; last > 0; --last) {
        set(a + 2, third.length[last - 1]);
        if (FitsInto(room, tile) && FitsInto(upper, wide)) break;
      }
      if (last == 0) break;
      least = Min(least, first.cost[i - 1] + second.cost[j] + third.cost[last - 1]);
    }
  }
  return least;
}

Status PrepareBounds(const ClaimedGemm& c, Arena* arena, GemmBounds* b) {
  *b = GemmBounds{};
  b->claim = &c;
  b->arena = arena;
  const bool exact = !c.at_most && c.objective != kClaimDelay;
  for (int d = 0; d < 3; ++d) {
    SLUICE_TRY(ListDivisors(c.extent[d], arena, &b->divisors[d]));
    const size_t count = b->divisors[d].size();
    AxisCosts* const axes[2] = {&b->inner[d], &b->middle[d]};
    for (AxisCosts* axis : axes) {
      SLUICE_TRY(arena->Allocate(count, &axis->length));
      SLUICE_TRY(arena->Allocate(count, &axis->cost));
    }
    const int64_t fanout = c.fanout_limit[d];
    const int64_t limit = fanout == 0 ? c.pe_count : Min(fanout, c.pe_count);
    Vector<int64_t> unrolls(arena);
    for (const int64_t s : b->divisors[d]) {
      if (s > limit || (exact && c.pe_count % s != 0)) continue;
      SLUICE_TRY(unrolls.Push(s));
    }
    b->unrolls[d] = unrolls.span();
  }
  return Status::kOk;
}

Status BoundsOfWay(GemmBounds* b, const Way& way, WayBounds* out) {
  *out = WayBounds{};
  for (int d = 0; d < 3; ++d) {
    const Key key = KeyOf(way, d);
    BoundTable& table =
        b->axis[d][(key.kind * 3 + key.others) * 2 + (key.in_middle ? 1 : 0)];
    if (table.of.empty()) {
      SLUICE_TRY(b->arena->Allocate(b->unrolls[d].size(), &table.of));
      table.least = kInfinity;
      for (size_t i = 0; i < table.of.size(); ++i) {
        table.of[i] = LeastAxis(*b, key, d, b->unrolls[d][i]);
        table.least = Min(table.least, table.of[i]);
      }
    }
    out->axis[d] = table.of;
    out->least += table.least;
  }
  if (way.merged) return Status::kOk;
  Span<double>& outer = b->outer[way.middle * 3 + way.p];
  if (outer.empty()) {
    SLUICE_TRY(b->arena->Allocate(b->unrolls[way.p].size(), &outer));
    for (double& bound : outer) bound = -kInfinity;  // not yet known
    outer[0] = LeastMiddle(b, way, kOne, kOne, false);
  }
  out->outer = outer;
  out->least += outer[0];  // that of one PE is the least
  return Status::kOk;
}

double BoundOfSplit(GemmBounds* b, const Way& way, const WayBounds& of,
                    const size_t at[3]) {
  double sum = 0;
  if (!way.merged) {
    double& outer = of.outer[at[way.p]];
    if (outer == -kInfinity) {
      int64_t step[3] = {1, 1, 1};
      step[way.p] = b->unrolls[way.p][at[way.p]];
      outer = LeastMiddle(b, way, step, step, false);
    }
    sum = outer;
  }
  for (int d = 0; d < 3; ++d) sum += of.axis[d][at[d]];
  return sum;
}

double FeedOf(const ClaimedGemm& c, const Way& way, const int64_t s[3]) {
  double sum = 0;
  for (int d = 0; d < 3; ++d) {
    sum += FeedMac(c, d, In(way.middle, d) ? kMiddle : 0, In(way.inner, d), s[d]);
  }
  return sum;
}

Fill InnerFillOf(const ClaimedGemm& c, const Way& way, int d, int64_t s) {
  const int source = In(way.middle, d) ? kMiddle : 0;
  Fill sum = {0, 0};
  if (way.merged && source == kMiddle) Add(&sum, MiddleFill(c, d), 1 / Real(s));
  if (!In(way.inner, d)) return sum;
  if (way.merged && d == way.p) {
    sum.always += FillInner(c, d, 0, s, 1, c.extent[d] / s);
  } else if (d != way.q) {
    Add(&sum, InnerFill(c, d, source, s), 1);
  }
  return sum;
}

Fill MiddleFillOf(const ClaimedGemm& c, const Way& way, int d, int64_t s,
                  bool with_walker) {
  const bool held = In(way.middle, d);
  Fill sum = {0, 0};
  if (held && d != way.p) Add(&sum, MiddleFill(c, d), 1);
  if (held && d == way.p) sum.always += FillMiddle(c, d, c.extent[d], 1);
  if (with_walker && In(way.inner, d) && d == way.q) {
    Add(&sum, InnerFill(c, d, held ? kMiddle : 0, s), Real(s));
  }
  return sum;
}

void ListLengths(Span<const int64_t> divisors, int64_t step, int64_t bound,
                 const Fill& fill, AxisCosts* axis) {
  // Extents are at most 2^31: the shorter division takes a third of the time.
  const auto divides = [](int64_t a, int64_t b) {
    return static_cast<uint32_t>(b) % static_cast<uint32_t>(a) == 0;
  };
  const bool whole = bound == divisors[divisors.size() - 1];
  axis->count = 0;
  for (const int64_t length : divisors) {
    if (length < step || length > bound) continue;
    if (!divides(step, length) || (!whole && !divides(length, bound))) continue;
    axis->length[axis->count] = length;
    axis->cost[axis->count++] = fill.per_tile / Real(length) + fill.always;
    if (!(fill.per_tile > 0)) return;
  }
}

double LeastInner(GemmBounds* b, const Way& way, const int64_t s[3]) {
  const ClaimedGemm& c = *b->claim;
  for (int d = 0; d < 3; ++d) {
    ListLengths(b->divisors[d], 1, c.extent[d] / s[d], InnerFillOf(c, way, d, s[d]),
                &b->inner[d]);
  }
  Room upper = {0, 0};
  if (way.merged) upper = {way.middle, c.middle_words};
  return LeastTile(b->inner, {way.inner, c.inner_words}, upper, s);
}

double LeastMiddle(GemmBounds* b, const Way& way, const int64_t step[3],
                   const int64_t s[3], bool with_walker) {
  const ClaimedGemm& c = *b->claim;
  for (int d = 0; d < 3; ++d) {
    ListLengths(b->divisors[d], step[d], c.extent[d],
                MiddleFillOf(c, way, d, s[d], with_walker), &b->middle[d]);
  }
  return LeastTile(b->middle, {way.middle, c.middle_words}, {0, 0}, step);
}

}  // namespace sluice::gemm_terms
