// SPDX-License-Identifier: Apache-2.0
#include "verify/gemm_certificate.h"

#include "base/checked.h"
#include "verify/gemm_terms.h"

namespace sluice {
namespace {

using namespace gemm_terms;

constexpr double kInfinity = __builtin_huge_val();
constexpr int64_t kOne[3] = {1, 1, 1};

double Objective(const ClaimedGemm& c, double data_pj, int64_t pes) {
  const double leak =
      (c.middle_leak_pj + c.inner_leak_pj * Real(c.pe_count)) / Real(pes);
  const double energy = data_pj + c.mac_pj + leak;
  return c.objective == kClaimEnergyDelay ? energy / Real(pes) : energy;
}

// --- The problem and the mapping. ---

bool IsPermutation(const uint8_t order[3]) {
  return order[0] < 3 && order[1] < 3 && order[2] < 3 && order[0] != order[1] &&
         order[0] != order[2] && order[1] != order[2];
}

double MappingValue(const ClaimedGemm& c) {
  return Objective(c, DataOfMapping(c, c), c.spatial[0] * c.spatial[1] * c.spatial[2]);
}

Status CheckValue(const ClaimedGemm& c, Diagnostic* diagnostic) {
  const double value = MappingValue(c);
  const double off = value > c.value ? value - c.value : c.value - value;
  if (!(off <= kRounding * value)) {
    return Reject(diagnostic, "value", "the mapping costs something else than claimed");
  }
  return Status::kOk;
}

// --- The least cost of a tile: one sweep over two axes, for each length of a third. ---

// The lengths of one axis that a tile may have, ascending, and what each costs, which
// falls.
struct Axis {
  Span<int64_t> length;
  Span<double> cost;
  size_t count;
};

struct Room {  // the data that share a memory, and its words
  uint8_t holds;
  int64_t words;
};

bool FitsInto(const Room& room, const int64_t tile[3]) {
  return Fit(tile, room.holds, room.words);
}

// The least cost of the tiles that fit into the room; each multiplied by `spread` into
// the upper room.
double LeastTile(const Axis axes[3], const Room& room, const Room& upper,
                 const int64_t spread[3]) {
  int a = 0;  // the axis with the fewest lengths
  for (int d = 1; d < 3; ++d) a = axes[d].count < axes[a].count ? d : a;
  const Axis &first = axes[a], &second = axes[(a + 1) % 3], &third = axes[(a + 2) % 3];
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
      least =
          Min(least, first.cost[i - 1] + second.cost[j] + third.cost[last - 1]);
    }
  }
  return least;
}

// --- Bounds. ---

// What the least cost of one datum depends on, below the outer fill and with all other
// axes as short as possible.
enum : int { kFeeds, kStays, kWalks, kMerged, kMergedMiddle, kKinds };
struct Key {
  int kind;
  int others;  // data that share the memory that limits the tile
  bool in_middle;
};
constexpr int kKeys = kKinds * 3 * 2;

struct Table {
  Span<double> of;  // unrolls; empty: not yet filled
  double least;
};

struct Checker {
  const ClaimedGemm* claim;
  Arena* arena;
  Budget* budget;
  Span<const int64_t> divisors[3];
  Span<const int64_t> unrolls[3];  // divisors within the fanout
  int64_t least_pes;
  int64_t most_pes;
  double closed;
  Table axis_bound[3][kKeys];
  Span<double> outer_bound[24];  // by (middle memory's data, axis of the outer walk)
  Axis inner[3];
  Axis middle[3];
  size_t next_split;
  size_t next_tile;
};

// Calls visit(i, j, k, PEs) for every split with least <= PEs <= most, in ascending
// order, until it returns false.
template <typename Visit>
void ForSplits(const Checker& k, int64_t least, int64_t most, const Visit& visit) {
  for (size_t x = 0; x < k.unrolls[0].size(); ++x) {
    for (size_t y = 0; y < k.unrolls[1].size(); ++y) {
      const int64_t plane = k.unrolls[0][x] * k.unrolls[1][y];
      if (plane > most) break;
      for (size_t z = 0; z < k.unrolls[2].size(); ++z) {
        const int64_t pes = plane * k.unrolls[2][z];
        if (pes > most) break;
        if (pes >= least && !visit(x, y, z, pes)) return;
      }
    }
  }
}

// Lists the multiples of `step` that divide `bound`; only the step itself if the cost
// does not fall with the length.
void ListLengths(Span<const int64_t> divisors, int64_t step, int64_t bound,
                 const Fill& fill, Axis* axis) {
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

void Add(Fill* sum, const Fill& fill, double scale) {
  sum->per_tile += fill.per_tile * scale;
  sum->always += fill.always;
}

// Least sum of FillMiddle over the data in the middle memory, for middle tiles that are
// multiples of `step`. with_walker adds FillInner of the datum along whose axis the
// middle loops walk (kept over all middle trips).
double LeastMiddle(Checker* k, const Way& way, const int64_t step[3],
                   const int64_t spatial[3], bool with_walker) {
  const ClaimedGemm& c = *k->claim;
  for (int d = 0; d < 3; ++d) {
    const bool held = In(way.middle, d);
    Fill sum = {0, 0};
    if (held && d != way.p) Add(&sum, MiddleFill(c, d), 1);
    if (held && d == way.p) sum.always += FillMiddle(c, d, c.extent[d], 1);
    if (with_walker && In(way.inner, d) && d == way.q) {
      Add(&sum, InnerFill(c, d, held ? kMiddle : 0, spatial[d]), Real(spatial[d]));
    }
    ListLengths(k->divisors[d], step[d], c.extent[d], sum, &k->middle[d]);
  }
  return LeastTile(k->middle, {way.middle, c.middle_words}, {0, 0}, step);
}

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
double LeastAxis(const Checker& k, const Key& key, int d, int64_t s) {
  const ClaimedGemm& c = *k.claim;
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
  for (size_t i = k.divisors[d].size(); i > 0 && longest == 0; --i) {
    const int64_t length = k.divisors[d][i - 1];
    if (length <= most && trips % length == 0) longest = length;
  }
  if (longest == 0) return kInfinity;
  return feed + (in_inner ? FillInner(c, d, source, s, longest, 1)
                          : FillMiddle(c, d, s * longest, 1));
}

// What the bounds of a branch are made of.
struct Bounds {
  Span<const double> axis[3];
  Span<double> outer;  // negative: not yet known
};

// Finds the branch's tables and its cheap bound.
Status PrepareBranch(Checker* k, const Way& way, Bounds* bounds, double* cheap) {
  double sum = 0;
  for (int d = 0; d < 3; ++d) {
    const Key key = KeyOf(way, d);
    Table& table =
        k->axis_bound[d][(key.kind * 3 + key.others) * 2 + (key.in_middle ? 1 : 0)];
    if (table.of.empty()) {
      SLUICE_TRY(k->arena->Allocate(k->unrolls[d].size(), &table.of));
      table.least = kInfinity;
      for (size_t i = 0; i < table.of.size(); ++i) {
        table.of[i] = LeastAxis(*k, key, d, k->unrolls[d][i]);
        table.least = Min(table.least, table.of[i]);
      }
    }
    bounds->axis[d] = table.of;
    sum += table.least;
  }
  if (!way.merged) {
    Span<double>& outer = k->outer_bound[way.middle * 3 + way.p];
    if (outer.empty()) {
      SLUICE_TRY(k->arena->Allocate(k->unrolls[way.p].size(), &outer));
      for (double& bound : outer) bound = -kInfinity;
      outer[0] = LeastMiddle(k, way, kOne, kOne, false);
    }
    bounds->outer = outer;
    sum += outer[0];  // that of one PE is the least
  }
  *cheap = Objective(*k->claim, sum, k->most_pes);
  return Status::kOk;
}

double SplitBoundOf(Checker* k, const Way& way, const Bounds& bounds,
                    const size_t at[3], int64_t pes) {
  double sum = 0;
  if (!way.merged) {
    double& outer = bounds.outer[at[way.p]];
    if (outer == -kInfinity) {
      int64_t step[3] = {1, 1, 1};
      step[way.p] = k->unrolls[way.p][at[way.p]];
      outer = LeastMiddle(k, way, step, step, false);
    }
    sum = outer;
  }
  for (int d = 0; d < 3; ++d) sum += bounds.axis[d][at[d]];
  return Objective(*k->claim, sum, pes);
}

// The part of a split's cost that does not depend on tiles.
double FeedOf(const Checker& k, const Way& way, const int64_t s[3]) {
  double sum = 0;
  for (int d = 0; d < 3; ++d) {
    sum +=
        FeedMac(*k.claim, d, In(way.middle, d) ? kMiddle : 0, In(way.inner, d), s[d]);
  }
  return sum;
}

// Lists the lengths of inner tiles. Axes in no cost term stay at 1; in a merged way the
// middle tile is that of all PEs.
void ListInner(Checker* k, const Way& way, const int64_t s[3]) {
  const ClaimedGemm& c = *k->claim;
  for (int d = 0; d < 3; ++d) {
    const int source = In(way.middle, d) ? kMiddle : 0;
    Fill sum = {0, 0};
    if (way.merged && source == kMiddle) Add(&sum, MiddleFill(c, d), 1 / Real(s[d]));
    if (In(way.inner, d) && way.merged && d == way.p) {
      sum.always += FillInner(c, d, 0, s[d], 1, c.extent[d] / s[d]);
    } else if (In(way.inner, d) && d != way.q) {
      Add(&sum, InnerFill(c, d, source, s[d]), 1);
    }
    ListLengths(k->divisors[d], 1, c.extent[d] / s[d], sum, &k->inner[d]);
  }
}

// --- The walk over the proof. ---

// True if a claimed bound is not above the bound shown here.
bool Shown(double claimed, double shown) {
  return claimed <= shown + kRounding * (shown < 0 ? -shown : shown);
}

// Of an open split: the least cost of its middle tiles, and of feeding the MACs.
struct OpenSplit {
  const ClaimedSplit& line;
  int64_t pes;
  double least_middle;
  double feed;
};

Status CheckTile(Checker* k, const Way& way, const OpenSplit& split,
                 const int64_t tile[3], double inner, const ClaimedTile* found,
                 Diagnostic* diagnostic) {
  if (found == nullptr || !(found->bound >= k->closed)) {
    return Reject(diagnostic, "tile",
                  "an open inner tile is missing or its bound does not close it");
  }
  int64_t step[3];
  for (int d = 0; d < 3; ++d) step[d] = split.line.spatial[d] * tile[d];
  // The walker's inner tile is 1 along its axis: LeastMiddle has its whole fill.
  const double middle = LeastMiddle(k, way, step, split.line.spatial, true);
  if (Shown(found->bound,
            Objective(*k->claim, split.feed + inner + middle, split.pes))) {
    return Status::kOk;
  }
  return Reject(diagnostic, "bound", "the bound of an inner tile is too high");
}

// Visits the open inner tiles, longest first: what they cost rises.
Status CheckTiles(Checker* k, const Way& way, const OpenSplit& split,
                  Diagnostic* diagnostic) {
  const Span<const ClaimedTile> all = k->claim->tiles;
  const size_t count = split.line.tile_count;
  if (count > all.size() - k->next_tile) {
    return Reject(diagnostic, "tile", "the proof ends within a split");
  }
  const Span<const ClaimedTile> listed = all.Slice(k->next_tile, k->next_tile + count);
  k->next_tile += count;
  const double base = split.feed + split.least_middle;
  const auto open = [&](double sum) {
    return Objective(*k->claim, base + sum, split.pes) < k->closed;
  };
  const Axis *x = &k->inner[0], *y = &k->inner[1], *z = &k->inner[2];
  const double least_z = z->cost[z->count - 1];
  const double least_yz = y->cost[y->count - 1] + least_z;
  size_t at = 0;  // proofs list tiles in the order of this walk, too
  for (size_t a = x->count; a > 0 && open(x->cost[a - 1] + least_yz); --a) {
    for (size_t b = y->count; b > 0; --b) {
      const double sum = x->cost[a - 1] + y->cost[b - 1];
      if (!open(sum + least_z)) break;
      for (size_t e = z->count; e > 0 && open(sum + z->cost[e - 1]); --e) {
        const int64_t tile[3] = {x->length[a - 1], y->length[b - 1], z->length[e - 1]};
        if (!Fit(tile, way.inner, k->claim->inner_words)) continue;
        const ClaimedTile* found = nullptr;
        for (size_t i = 0; i < count && found == nullptr; ++i, ++at) {
          if (at == count) at = 0;
          const int64_t* t = listed[at].inner_tile;
          if (t[0] == tile[0] && t[1] == tile[1] && t[2] == tile[2]) {
            found = &listed[at];
          }
        }
        if (k->budget->Tick()) return Status::kOk;  // reported at the end
        SLUICE_TRY(
            CheckTile(k, way, split, tile, sum + z->cost[e - 1], found, diagnostic));
      }
    }
  }
  return Status::kOk;
}

Status CheckSplit(Checker* k, const Way& way, const ClaimedSplit& line, int64_t pes,
                  Diagnostic* diagnostic) {
  const ClaimedGemm& c = *k->claim;
  ListInner(k, way, line.spatial);
  const Room lower = {way.inner, c.inner_words};
  const Room upper = {way.middle, way.merged ? c.middle_words : 0};
  const double feed = FeedOf(*k, way, line.spatial);
  const double middle =
      way.merged ? 0 : LeastMiddle(k, way, line.spatial, line.spatial, true);
  const double inner = LeastTile(k->inner, lower, way.merged ? upper : Room{0, 0},
                                 line.spatial);
  if (!Shown(line.bound, Objective(c, feed + inner + middle, pes))) {
    return Reject(diagnostic, "bound", "the bound of a split is too high");
  }
  if (line.bound >= k->closed) {
    return line.tile_count == 0
               ? Status::kOk
               : Reject(diagnostic, "excess", "a closed split lists inner tiles");
  }
  if (way.merged) {
    return Reject(diagnostic, "split", "the bound of a split does not close it");
  }
  return CheckTiles(k, way, {line, pes, middle, feed}, diagnostic);
}

// Checks the bound of a branch over all splits, and the listed ones of them. Closed
// ones may be listed, too, since bounds differ by rounding.
Status CheckSplits(Checker* k, const Way& way, const Bounds& bounds,
                   const ClaimedBranch& line, Diagnostic* diagnostic) {
  const Span<const ClaimedSplit> all = k->claim->splits;
  const size_t end = k->next_split + line.split_count;
  if (line.split_count > all.size() - k->next_split) {
    return Reject(diagnostic, "split", "the proof ends within a branch");
  }
  Status status = Status::kOk;
  double shown = kInfinity;
  ForSplits(
      *k, k->least_pes, k->most_pes, [&](size_t x, size_t y, size_t z, int64_t pes) {
        const size_t at[3] = {x, y, z};
        const double bound = SplitBoundOf(k, way, bounds, at, pes);
        shown = Min(shown, bound);
        const int64_t* spatial =
            k->next_split < end ? all[k->next_split].spatial : nullptr;
        if (spatial != nullptr && spatial[0] == k->unrolls[0][x] &&
            spatial[1] == k->unrolls[1][y] && spatial[2] == k->unrolls[2][z]) {
          status = CheckSplit(k, way, all[k->next_split++], pes, diagnostic);
          return status == Status::kOk && !k->budget->Tick();
        }
        if (bound >= k->closed) return true;
        status = Reject(diagnostic, "split", "an open split is missing");
        return false;
      });
  SLUICE_TRY(status);
  if (k->budget->Exhausted()) return Status::kOk;
  if (!Shown(line.bound, shown)) {
    return Reject(diagnostic, "bound", "the bound of a branch is too high");
  }
  if (k->next_split != end) {
    return Reject(diagnostic, "excess", "a branch lists splits that are not open");
  }
  return Status::kOk;
}

Status CheckBranch(Checker* k, const Way& way, const ClaimedBranch& line,
                   Diagnostic* diagnostic) {
  if (line.kind != (way.merged ? 1 : 0) || line.middle_holds != way.middle ||
      line.inner_holds != way.inner || line.outer_axis != way.p ||
      line.middle_axis != way.q) {
    return Reject(diagnostic, "branch", "a branch is missing or out of order");
  }
  Bounds bounds;
  double cheap = 0;
  SLUICE_TRY(PrepareBranch(k, way, &bounds, &cheap));
  // The cheap bound often does.
  if (line.split_count == 0 && line.bound >= k->closed && Shown(line.bound, cheap)) {
    return Status::kOk;
  }
  return CheckSplits(k, way, bounds, line, diagnostic);
}

Status PrepareSpace(Checker* k) {
  const ClaimedGemm& c = *k->claim;
  const bool exact = !c.at_most && c.objective != kClaimDelay;
  for (int d = 0; d < 3; ++d) {
    SLUICE_TRY(ListDivisors(c.extent[d], k->arena, &k->divisors[d]));
    const size_t count = k->divisors[d].size();
    Axis* const axes[2] = {&k->inner[d], &k->middle[d]};
    for (Axis* axis : axes) {
      SLUICE_TRY(k->arena->Allocate(count, &axis->length));
      SLUICE_TRY(k->arena->Allocate(count, &axis->cost));
    }
    const int64_t limit = c.fanout_limit[d] == 0 ? c.pe_count : c.fanout_limit[d];
    Vector<int64_t> unrolls(k->arena);
    for (const int64_t s : k->divisors[d]) {
      if (s > limit || s > c.pe_count || (exact && c.pe_count % s != 0)) continue;
      SLUICE_TRY(unrolls.Push(s));
    }
    k->unrolls[d] = unrolls.span();
  }
  k->least_pes = k->most_pes = c.pe_count;
  if (exact) return Status::kOk;
  k->least_pes = k->most_pes = 1;
  ForSplits(*k, 1, c.pe_count, [k](size_t, size_t, size_t, int64_t pes) {
    k->most_pes = Max(k->most_pes, pes);
    return !k->budget->Tick();
  });
  if (c.objective == kClaimDelay) k->least_pes = k->most_pes;
  return Status::kOk;
}

}  // namespace

namespace gemm_terms {

Status Reject(Diagnostic* diagnostic, const char* rule, const char* text) {
  return Fail(diagnostic, Status::kRejected, "verify").Rule(rule).Text(text);
}

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

}  // namespace gemm_terms

Status CheckGemmProblem(const ClaimedGemm& c, Diagnostic* diagnostic) {
  int64_t macs = 1;
  bool good = c.middle_words >= 0 && c.inner_words >= 0 && c.pe_count >= 1 &&
              c.pe_count <= int64_t{1} << 31 && c.objective <= kClaimDelay;
  for (int d = 0; d < 3; ++d) {
    good = good && c.extent[d] >= 1 && c.extent[d] <= int64_t{1} << 31 &&
           CheckedMultiply(macs, c.extent[d], &macs) && c.fanout_limit[d] >= 0 &&
           c.read_pj[d] >= 0 && c.write_pj[d] >= 0 && c.read_pj[d] <= 1e30 &&
           c.write_pj[d] <= 1e30;
  }
  const double rest[] = {c.mac_pj, c.middle_leak_pj, c.inner_leak_pj};
  for (const double pj : rest) good = good && pj >= 0 && pj <= 1e30;
  if (good) return Status::kOk;
  return Fail(diagnostic, Status::kBadInput, "verify")
      .Text("the GEMM problem of a certificate is out of range");
}

Status CheckGemmLegal(const ClaimedGemm& c, Diagnostic* diagnostic) {
  bool good = IsPermutation(c.outer_order) && IsPermutation(c.middle_order) &&
              c.middle_holds < 8 && c.inner_holds < 8;
  int64_t pes = 1;
  for (int d = 0; d < 3 && good; ++d) {
    const int64_t s = c.spatial[d];
    good = c.middle_tile[d] >= 1 && s >= 1 && c.inner_tile[d] >= 1 &&
           c.extent[d] % c.middle_tile[d] == 0 && c.middle_tile[d] % s == 0 &&
           c.middle_tile[d] / s % c.inner_tile[d] == 0 &&
           (c.fanout_limit[d] == 0 || s <= c.fanout_limit[d]) && s <= c.pe_count / pes;
    pes *= good ? s : 1;
  }
  good = good && Fit(c.middle_tile, c.middle_holds, c.middle_words) &&
         Fit(c.inner_tile, c.inner_holds, c.inner_words) &&
         (c.at_most || c.objective == kClaimDelay || pes == c.pe_count);
  if (!good) return Reject(diagnostic, "mapping", "the mapping breaks a constraint");
  return Status::kOk;
}

Status CheckGemmCertificate(const ClaimedGemm& claim, Arena* arena, Budget* budget,
                            Diagnostic* diagnostic) {
  SLUICE_TRY(CheckGemmProblem(claim, diagnostic));
  SLUICE_TRY(CheckGemmLegal(claim, diagnostic));
  SLUICE_TRY(CheckValue(claim, diagnostic));
  ArenaScope scope(arena);
  Checker k = {};
  k.claim = &claim;
  k.arena = arena;
  k.budget = budget;
  k.closed = claim.value * (1 - kRounding);
  SLUICE_TRY(PrepareSpace(&k));
  if (claim.objective == kClaimDelay && !budget->Tick() &&
      claim.spatial[0] * claim.spatial[1] * claim.spatial[2] != k.most_pes) {
    return Reject(diagnostic, "mapping", "the mapping does not use the most PEs");
  }
  size_t line = 0;
  SLUICE_TRY(ForWays(claim, [&](const Way& way) {
    if (budget->Tick()) return Status::kOk;  // reported after the loop
    if (line == claim.branches.size()) {
      return Reject(diagnostic, "branch", "the last branches are missing");
    }
    return CheckBranch(&k, way, claim.branches[line++], diagnostic);
  }));
  if (budget->Tick()) {
    return Fail(diagnostic, Status::kStopped, "verify")
        .Text("the budget ended before the certificate was checked");
  }
  if (line != claim.branches.size() || k.next_split != claim.splits.size() ||
      k.next_tile != claim.tiles.size()) {
    return Reject(diagnostic, "excess", "the proof has lines that belong nowhere");
  }
  return Status::kOk;
}

}  // namespace sluice
