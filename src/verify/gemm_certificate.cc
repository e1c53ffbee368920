// SPDX-License-Identifier: Apache-2.0
#include "verify/gemm_certificate.h"

#include "base/checked.h"
#include "verify/gemm_terms.h"

namespace sluice {
namespace {

using gemm_terms::DataOfMapping;
using gemm_terms::FeedMac;
using gemm_terms::FillInner;
using gemm_terms::FillMiddle;
using gemm_terms::Fit;
using gemm_terms::ForWays;
using gemm_terms::In;
using gemm_terms::kInner;
using gemm_terms::kMiddle;
using gemm_terms::kRounding;
using gemm_terms::Real;
using gemm_terms::Way;

constexpr double kInfinity = __builtin_huge_val();

double Objective(const ClaimedGemm& c, double data_pj, int64_t pes) {
  const double leak =
      (c.middle_leak_pj + c.inner_leak_pj * Real(c.pe_count)) / Real(pes);
  const double energy = data_pj + c.mac_pj + leak;
  return c.objective == kClaimEnergyDelay ? energy / Real(pes) : energy;
}

// --- The problem and the mapping. ---

Status Reject(Diagnostic* diagnostic, const char* rule, const char* text) {
  return Fail(diagnostic, Status::kRejected, "verify").Rule(rule).Text(text);
}

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

// --- Bounds by loops over divisors. ---

struct Checker {
  const ClaimedGemm* claim;
  Budget* budget;
  Span<const int64_t> divisors[3];
  Span<const int64_t> unrolls[3];  // divisors within the fanout
  int64_t least_pes;
  int64_t most_pes;
  double closed;
  // Bounds of the current branch, by index into unrolls.
  Span<double> outer_bound;
  Span<double> axis_bound[3];
  size_t next_split;
  size_t next_tile;
};

Status ListDivisors(int64_t n, Arena* arena, Span<const int64_t>* out) {
  Vector<int64_t> low(arena);
  Vector<int64_t> high(arena);
  for (int64_t i = 1; i * i <= n; ++i) {
    if (n % i != 0) continue;
    SLUICE_TRY(low.Push(i));
    if (i * i != n) SLUICE_TRY(high.Push(n / i));
  }
  for (size_t i = high.size(); i > 0; --i) SLUICE_TRY(low.Push(high[i - 1]));
  *out = low.span();
  return Status::kOk;
}

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

// Least sum of FillMiddle over the data in the middle memory, for middle tiles that are
// multiples of `step`. with_walker adds FillInner of the datum along whose axis the
// middle loops walk (kept over all middle trips).
double LeastMiddle(const Checker& k, const Way& way, const int64_t step[3],
                   const int64_t spatial[3], bool with_walker) {
  const ClaimedGemm& c = *k.claim;
  bool moves[3];
  for (int d = 0; d < 3; ++d) {
    moves[d] = (In(way.middle, d) && d != way.p) ||
               (with_walker && In(way.inner, d) && d == way.q);
  }
  const auto cost = [&](int d, int64_t l1) {
    double sum = 0;
    if (In(way.middle, d)) {
      sum += FillMiddle(c, d, l1, d == way.p ? c.extent[d] / l1 : 1);
    }
    if (with_walker && In(way.inner, d) && d == way.q) {
      sum += FillInner(c, d, In(way.middle, d) ? kMiddle : 0, spatial[d],
                       step[d] / spatial[d], l1 / step[d]);
    }
    return sum;
  };
  double least = kInfinity;
  int64_t tile[3];
  for (const int64_t x : k.divisors[0]) {
    if (moves[0] ? x % step[0] != 0 : x != step[0]) continue;
    tile[0] = x;
    const double cost_x = cost(0, x);
    for (const int64_t y : k.divisors[1]) {
      if (moves[1] ? y % step[1] != 0 : y != step[1]) continue;
      tile[1] = y;
      tile[2] = step[2];
      if (!Fit(tile, way.middle, c.middle_words)) break;
      const double cost_xy = cost_x + cost(1, y);
      if (cost_xy + cost(2, c.extent[2]) >= least && moves[2]) continue;
      for (size_t i = k.divisors[2].size(); i > 0; --i) {  // the longest that fits
        const int64_t z = k.divisors[2][i - 1];
        if (moves[2] ? z % step[2] != 0 : z != step[2]) continue;
        tile[2] = z;
        if (!Fit(tile, way.middle, c.middle_words)) continue;
        least = Min(least, cost_xy + cost(2, z));
        break;
      }
    }
  }
  return least;
}

// Least cost of datum d below the outer fill, with all other axes as short as possible.
double LeastAxis(const Checker& k, const Way& way, int d, int64_t s) {
  const ClaimedGemm& c = *k.claim;
  const int source = In(way.middle, d) ? kMiddle : 0;
  const bool in_inner = In(way.inner, d);
  const double feed = FeedMac(c, d, source, in_inner, s);
  const bool held_middle_only = way.merged && In(way.middle, d);
  if (way.merged && d == way.p) {
    return feed + FillInner(c, d, 0, s, 1, c.extent[d] / s);
  }
  if (!in_inner && !held_middle_only) return feed;
  double least = kInfinity;
  for (const int64_t length : k.divisors[d]) {
    int64_t tile[3] = {1, 1, 1};
    tile[d] = length;
    // `length` is that of the middle tile.
    if (in_inner && !way.merged && d == way.q) {
      if (length % s != 0 || !Fit(tile, way.middle, c.middle_words)) continue;
      least = Min(least, FillInner(c, d, source, s, 1, length / s));
      continue;
    }
    if (c.extent[d] / s % length != 0 || !Fit(tile, way.inner, c.inner_words)) continue;
    least = Min(least, held_middle_only ? FillMiddle(c, d, s * length, 1)
                                        : FillInner(c, d, source, s, length, 1));
  }
  return feed + least;
}

// Fills the branch's tables and returns its cheap bound.
double PrepareBranch(Checker* k, const Way& way) {
  double sum = 0;
  for (int d = 0; d < 3; ++d) {
    double least = kInfinity;
    for (size_t i = 0; i < k->unrolls[d].size(); ++i) {
      k->axis_bound[d][i] = LeastAxis(*k, way, d, k->unrolls[d][i]);
      least = Min(least, k->axis_bound[d][i]);
    }
    sum += least;
  }
  double least = way.merged ? 0 : kInfinity;
  for (size_t i = 0; !way.merged && i < k->unrolls[way.p].size(); ++i) {
    int64_t step[3] = {1, 1, 1};
    step[way.p] = k->unrolls[way.p][i];
    k->outer_bound[i] = LeastMiddle(*k, way, step, step, false);
    least = Min(least, k->outer_bound[i]);
  }
  return Objective(*k->claim, sum + least, k->most_pes);
}

double SplitBoundOf(const Checker& k, const Way& way, const size_t at[3], int64_t pes) {
  double sum = way.merged ? 0 : k.outer_bound[at[way.p]];
  for (int d = 0; d < 3; ++d) sum += k.axis_bound[d][at[d]];
  return Objective(*k.claim, sum, pes);
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

// Calls visit(tile, cost) for all inner tiles that fit; axes in no cost term stay at 1.
template <typename Visit>
void ForInnerTiles(const Checker& k, const Way& way, const int64_t s[3],
                   const Visit& visit) {
  const ClaimedGemm& c = *k.claim;
  bool moves[3];
  for (int d = 0; d < 3; ++d) {
    // An axis along which the memories cost nothing occurs in no term either.
    const int source = In(way.middle, d) ? kMiddle : 0;
    const double pj =
        c.write_pj[kInner] + c.read_pj[source] + (d == 2 ? c.write_pj[source] : 0.0);
    moves[d] = In(way.inner, d) && d != way.q && pj > 0;
  }
  const auto allowed = [&](int d, int64_t length) {
    return moves[d] ? c.extent[d] / s[d] % length == 0 : length == 1;
  };
  const auto cost = [&](int d, int64_t length) {
    if (!moves[d]) return 0.0;
    return FillInner(c, d, In(way.middle, d) ? kMiddle : 0, s[d], length, 1);
  };
  int64_t tile[3];
  for (const int64_t x : k.divisors[0]) {
    if (!allowed(0, x)) continue;
    for (const int64_t y : k.divisors[1]) {
      if (!allowed(1, y)) continue;
      for (const int64_t z : k.divisors[2]) {
        if (!allowed(2, z)) continue;
        tile[0] = x;
        tile[1] = y;
        tile[2] = z;
        if (!Fit(tile, way.inner, c.inner_words)) break;
        visit(tile, cost(0, x) + cost(1, y) + cost(2, z));
      }
    }
  }
}

// Cost of the best mapping of a merged way with this split.
double BestMerged(const Checker& k, const Way& way, const int64_t s[3]) {
  const ClaimedGemm& c = *k.claim;
  const int e = (way.p + 1) % 3;
  const int f = (way.p + 2) % 3;
  const auto cost = [&](int d, int64_t length) {
    double sum = FeedMac(c, d, In(way.middle, d) ? kMiddle : 0, In(way.inner, d), s[d]);
    if (In(way.middle, d)) sum += FillMiddle(c, d, s[d] * length, 1);
    if (In(way.inner, d)) sum += FillInner(c, d, 0, s[d], length, 1);
    return sum;
  };
  double least = kInfinity;
  int64_t inner[3] = {1, 1, 1};
  int64_t middle[3] = {s[0], s[1], s[2]};
  for (const int64_t a : k.divisors[e]) {
    if (c.extent[e] / s[e] % a != 0) continue;
    for (const int64_t b : k.divisors[f]) {
      if (c.extent[f] / s[f] % b != 0) continue;
      inner[e] = a;
      inner[f] = b;
      middle[e] = s[e] * a;
      middle[f] = s[f] * b;
      if (!Fit(inner, way.inner, c.inner_words) ||
          !Fit(middle, way.middle, c.middle_words)) {
        break;
      }
      least = Min(least, cost(e, a) + cost(f, b));
    }
  }
  const int d = way.p;
  return least + FeedMac(c, d, 0, true, s[d]) +
         FillInner(c, d, 0, s[d], 1, c.extent[d] / s[d]);
}

// --- The walk over the proof. ---

// True if a claimed bound is not above the bound shown here.
bool Shown(double claimed, double shown) {
  return claimed <= shown + kRounding * (shown < 0 ? -shown : shown);
}

// Of an open split: the least cost of its middle tiles, and of feeding the MACs.
struct OpenSplit {
  double least_middle;
  double feed;
};

Status CheckTiles(Checker* k, const Way& way, const ClaimedSplit& line, int64_t pes,
                  const OpenSplit& open_split, Diagnostic* diagnostic) {
  const double least_middle = open_split.least_middle, feed = open_split.feed;
  const Span<const ClaimedTile> all = k->claim->tiles;
  if (line.tile_count > all.size() - k->next_tile) {
    return Reject(diagnostic, "tile", "the proof ends within a split");
  }
  const Span<const ClaimedTile> listed =
      all.Slice(k->next_tile, k->next_tile + line.tile_count);
  k->next_tile += line.tile_count;
  const char* rule = nullptr;
  const char* text = "";
  ForInnerTiles(*k, way, line.spatial, [&](const int64_t tile[3], double inner) {
    if (rule != nullptr || k->budget->Tick()) return;
    const double open = Objective(*k->claim, feed + inner + least_middle, pes);
    if (open >= k->closed) return;
    const ClaimedTile* found = nullptr;
    for (const ClaimedTile& t : listed) {
      if (t.inner_tile[0] == tile[0] && t.inner_tile[1] == tile[1] &&
          t.inner_tile[2] == tile[2]) {
        found = &t;
      }
    }
    if (found == nullptr || !(found->bound >= k->closed)) {
      rule = "tile";
      text = "an open inner tile is missing or its bound does not close it";
      return;
    }
    int64_t step[3];
    for (int d = 0; d < 3; ++d) step[d] = line.spatial[d] * tile[d];
    const double middle = LeastMiddle(*k, way, step, line.spatial, true);
    // The walker's inner tile is 1 along its axis: LeastMiddle has its whole fill.
    const double shown = Objective(*k->claim, feed + inner + middle, pes);
    if (!Shown(found->bound, shown)) {
      rule = "bound";
      text = "the bound of an inner tile is too high";
    }
  });
  return rule == nullptr ? Status::kOk : Reject(diagnostic, rule, text);
}

Status CheckSplit(Checker* k, const Way& way, const ClaimedSplit& line, int64_t pes,
                  Diagnostic* diagnostic) {
  if (way.merged) {
    const double shown = Objective(*k->claim, BestMerged(*k, way, line.spatial), pes);
    if (!Shown(line.bound, shown)) {
      return Reject(diagnostic, "bound", "the bound of a split is too high");
    }
    if (!(line.bound >= k->closed)) {
      return Reject(diagnostic, "split", "the bound of a split does not close it");
    }
    return line.tile_count == 0
               ? Status::kOk
               : Reject(diagnostic, "excess", "a merged split lists inner tiles");
  }
  const double feed = FeedOf(*k, way, line.spatial);
  double inner = kInfinity;
  ForInnerTiles(*k, way, line.spatial,
                [&](const int64_t*, double cost) { inner = Min(inner, cost); });
  const double middle = LeastMiddle(*k, way, line.spatial, line.spatial, true);
  const double shown = Objective(*k->claim, feed + inner + middle, pes);
  if (!Shown(line.bound, shown)) {
    return Reject(diagnostic, "bound", "the bound of a split is too high");
  }
  if (line.bound >= k->closed) {
    return line.tile_count == 0
               ? Status::kOk
               : Reject(diagnostic, "excess", "a closed split lists inner tiles");
  }
  return CheckTiles(k, way, line, pes, {middle, feed}, diagnostic);
}

Status CheckOpenBranch(Checker* k, const Way& way, const ClaimedBranch& line,
                       Diagnostic* diagnostic) {
  const Span<const ClaimedSplit> all = k->claim->splits;
  const size_t end = k->next_split + line.split_count;
  if (line.split_count > all.size() - k->next_split) {
    return Reject(diagnostic, "split", "the proof ends within a branch");
  }
  Status status = Status::kOk;
  ForSplits(
      *k, k->least_pes, k->most_pes, [&](size_t x, size_t y, size_t z, int64_t pes) {
        const size_t at[3] = {x, y, z};
        if (SplitBoundOf(*k, way, at, pes) >= k->closed) {
          // The proof may list a closed split all the same, since bounds differ by
          // rounding.
          if (k->next_split == end) return true;
        }
        const ClaimedSplit* next = k->next_split < end ? &all[k->next_split] : nullptr;
        const bool listed = next != nullptr && next->spatial[0] == k->unrolls[0][x] &&
                            next->spatial[1] == k->unrolls[1][y] &&
                            next->spatial[2] == k->unrolls[2][z];
        if (!listed) {
          if (SplitBoundOf(*k, way, at, pes) >= k->closed) return true;
          status = Reject(diagnostic, "split", "an open split is missing");
          return false;
        }
        ++k->next_split;
        status = CheckSplit(k, way, *next, pes, diagnostic);
        return status == Status::kOk && !k->budget->Tick();
      });
  SLUICE_TRY(status);
  if (k->next_split != end && !k->budget->Tick()) {
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
  double shown = PrepareBranch(k, way);
  if (!Shown(line.bound, shown)) {  // the cheap bound does not do: over all splits
    shown = kInfinity;
    ForSplits(*k, k->least_pes, k->most_pes,
              [&](size_t x, size_t y, size_t z, int64_t pes) {
                const size_t at[3] = {x, y, z};
                shown = Min(shown, SplitBoundOf(*k, way, at, pes));
                return true;
              });
    if (!Shown(line.bound, shown)) {
      return Reject(diagnostic, "bound", "the bound of a branch is too high");
    }
  }
  if (line.bound >= k->closed) {
    return line.split_count == 0
               ? Status::kOk
               : Reject(diagnostic, "excess", "a closed branch lists splits");
  }
  return CheckOpenBranch(k, way, line, diagnostic);
}

Status PrepareSpace(Checker* k, Arena* arena) {
  const ClaimedGemm& c = *k->claim;
  const bool exact = !c.at_most && c.objective != kClaimDelay;
  size_t longest = 0;
  for (int d = 0; d < 3; ++d) {
    SLUICE_TRY(ListDivisors(c.extent[d], arena, &k->divisors[d]));
    const int64_t limit = c.fanout_limit[d] == 0 ? c.pe_count : c.fanout_limit[d];
    Vector<int64_t> unrolls(arena);
    for (const int64_t s : k->divisors[d]) {
      if (s > limit || s > c.pe_count || (exact && c.pe_count % s != 0)) continue;
      SLUICE_TRY(unrolls.Push(s));
    }
    const size_t n = unrolls.size();
    k->unrolls[d] = unrolls.span();
    longest = Max(longest, n);
    SLUICE_TRY(arena->Allocate(n, &k->axis_bound[d]));
  }
  SLUICE_TRY(arena->Allocate(longest, &k->outer_bound));
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
  k.budget = budget;
  k.closed = claim.value * (1 - kRounding);
  SLUICE_TRY(PrepareSpace(&k, arena));
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
