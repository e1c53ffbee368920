// SPDX-License-Identifier: Apache-2.0
#include "verify/gemm_rates.h"

#include "base/checked.h"
#include "verify/gemm_bounds.h"

namespace sluice {
namespace {

using namespace gemm_terms;

constexpr int kParts = 4;  // energy, and the words of three memories

struct Value {
  double first;
  double second;
};

struct Parts {
  double of[kParts] = {0, 0, 0, 0};
};

struct RateCheck {
  const ClaimedGemm* claim;
  const ClaimedRates* rates;
  Budget* budget;
  ClaimedGemm part[kParts];  // whose energy per MAC is that part
  GemmBounds bounds[kParts];
  Value claimed;
  double macs;
};

Value ValueOf(const RateCheck& k, double energy_pj, double cycles) {
  if (k.claim->objective == kClaimEnergy) return {energy_pj, cycles};
  if (k.claim->objective == kClaimEnergyDelay) {
    return {energy_pj * cycles, energy_pj};
  }
  return {cycles, energy_pj};
}

// The value of a mapping with these parts per MAC; cycles are whole.
Value ValueOfParts(const RateCheck& k, const Parts& parts, int64_t pes) {
  double cycles = k.macs / Real(pes);
  for (int m = 0; m < 3; ++m) {
    if (k.rates->words[m] == 0) continue;
    const double words = k.macs * parts.of[1 + m] / (m == kInner ? Real(pes) : 1.0);
    const double time = words * Real(k.rates->cycles[m]) / Real(k.rates->words[m]);
    cycles = Max(cycles, RoundUpToWhole(time * (1 - kRounding)));
  }
  const double leak =
      k.claim->middle_leak_pj + k.claim->inner_leak_pj * Real(k.claim->pe_count);
  return ValueOf(k, k.macs * (parts.of[0] + k.claim->mac_pj) + leak * cycles, cycles);
}

bool IsBetter(const Value& a, const Value& b) {
  const double slack = 1 - 4 * kRounding;
  if (a.first < b.first * slack) return true;
  return a.first <= b.first && a.second < b.second * slack;
}

bool Beats(const RateCheck& k, const Parts& parts, int64_t pes) {
  return IsBetter(ValueOfParts(k, parts, pes), k.claimed);
}

// What the parts cost along each axis of a tile.
struct Fills {
  Fill of[kParts][3];
};

// Lists the tiles: all multiples of `step` up to `bound` along the axes where some part
// falls.
void ListTiles(RateCheck* k, const Fills& fills, const int64_t step[3],
               const int64_t bound[3], AxisCosts axes[3]) {
  for (int d = 0; d < 3; ++d) {
    Fill any = {0, 0};
    for (const Fill(&part)[3] : fills.of) any.per_tile += part[d].per_tile;
    ListLengths(k->bounds[0].divisors[d], step[d], bound[d], any, &axes[d]);
  }
}

// Adds what a tile costs along an axis.
Parts With(const Parts& parts, const Fills& fills, int d, int64_t length) {
  Parts more = parts;
  for (int i = 0; i < kParts; ++i) {
    more.of[i] += fills.of[i][d].per_tile / Real(length);
  }
  return more;
}

// Calls visit(tile, parts) for the listed tiles that may beat the claim, longest first,
// because parts rise as tiles shorten, until it returns true.
template <typename Visit>
bool AnyTile(const RateCheck& k, const AxisCosts axes[3], const Fills& fills,
             const Parts& fixed, int64_t pes, const Visit& visit) {
  const AxisCosts &x = axes[0], &y = axes[1], &z = axes[2];
  const int64_t longest_y = y.length[y.count - 1], longest_z = z.length[z.count - 1];
  int64_t tile[3];
  for (size_t a = x.count; a > 0; --a) {
    const Parts parts_x = With(fixed, fills, 0, tile[0] = x.length[a - 1]);
    const Parts least = With(With(parts_x, fills, 1, longest_y), fills, 2, longest_z);
    if (!Beats(k, least, pes)) return false;
    for (size_t b = y.count; b > 0; --b) {
      const Parts parts_y = With(parts_x, fills, 1, tile[1] = y.length[b - 1]);
      if (!Beats(k, With(parts_y, fills, 2, longest_z), pes)) break;
      for (size_t e = z.count; e > 0; --e) {
        const Parts parts = With(parts_y, fills, 2, tile[2] = z.length[e - 1]);
        if (!Beats(k, parts, pes)) break;
        if (visit(tile, parts)) return true;
      }
    }
  }
  return false;
}

// A way to hold data, and a split with the PEs that it uses.
struct Node {
  const Way& way;
  int64_t spatial[3];
  int64_t pes;
  Fills inner;
  Fills middle;
};

// Adds the least of every part over middle tiles that are multiples of `step`.
Parts WithLeastMiddle(RateCheck* k, const Node& node, const int64_t step[3],
                      const Parts& below) {
  Parts least = below;
  for (int i = 0; i < kParts; ++i) {
    least.of[i] += LeastMiddle(&k->bounds[i], node.way, step, node.spatial, true);
  }
  return least;
}

// Whether some middle tile above this inner tile is better than the claim. below: all
// but what falls with the middle tile; always: what does not fall with it.
bool MiddleBeats(RateCheck* k, const Node& node, const Parts& below,
                 const Parts& always, const int64_t step[3]) {
  if (!Beats(*k, WithLeastMiddle(k, node, step, below), node.pes)) return false;
  Parts fixed = below;
  for (int i = 0; i < kParts; ++i) fixed.of[i] += always.of[i];
  AxisCosts* const axes = k->bounds[0].middle;
  ListTiles(k, node.middle, step, k->claim->extent, axes);
  return AnyTile(*k, axes, node.middle, fixed, node.pes,
                 [&](const int64_t tile[3], const Parts&) {
                   return Fit(tile, node.way.middle, k->claim->middle_words);
                 });
}

bool NodeBeats(RateCheck* k, Node node) {
  const ClaimedGemm& c = *k->claim;
  const Way& way = node.way;
  const int64_t* s = node.spatial;
  Parts feed, always, least;
  for (int i = 0; i < kParts; ++i) {
    const ClaimedGemm& part = k->part[i];
    feed.of[i] = least.of[i] = FeedOf(part, way, s);
    least.of[i] += LeastInner(&k->bounds[i], way, s);
    for (int d = 0; d < 3; ++d) {
      node.inner.of[i][d] = InnerFillOf(part, way, d, s[d]);
      feed.of[i] += node.inner.of[i][d].always;
      if (way.merged) continue;
      node.middle.of[i][d] = MiddleFillOf(part, way, d, s[d], true);
      always.of[i] += node.middle.of[i][d].always;
    }
  }
  Parts middle;
  if (!way.merged) {
    middle = WithLeastMiddle(k, node, s, middle);
    for (int i = 0; i < kParts; ++i) least.of[i] += middle.of[i];
  }
  if (!Beats(*k, least, node.pes)) return false;
  const int64_t one[3] = {1, 1, 1};
  const int64_t trips[3] = {c.extent[0] / s[0], c.extent[1] / s[1], c.extent[2] / s[2]};
  AxisCosts* const axes = k->bounds[0].inner;
  ListTiles(k, node.inner, one, trips, axes);
  Parts fixed = feed;
  for (int i = 0; i < kParts; ++i) fixed.of[i] += middle.of[i];
  return AnyTile(*k, axes, node.inner, fixed, node.pes,
                 [&](const int64_t tile[3], const Parts& parts) {
                   int64_t step[3];
                   for (int d = 0; d < 3; ++d) step[d] = s[d] * tile[d];
                   if (k->budget->Tick() || !Fit(tile, way.inner, c.inner_words) ||
                       !Fit(step, way.middle, c.middle_words)) {
                     return false;
                   }
                   Parts below = parts;
                   for (int i = 0; i < kParts; ++i) below.of[i] -= middle.of[i];
                   return way.merged || MiddleBeats(k, node, below, always, step);
                 });
}

// Whether a split of the way beats the claim.
Status CheckWay(RateCheck* k, const Way& way, int64_t least_pes, bool* beaten) {
  WayBounds bounds[kParts];
  for (int i = 0; i < kParts; ++i) {
    SLUICE_TRY(BoundsOfWay(&k->bounds[i], way, &bounds[i]));
  }
  const Span<const int64_t>* unrolls = k->bounds[0].unrolls;
  ForSplits(
      k->bounds[0], least_pes, k->claim->pe_count,
      [&](size_t x, size_t y, size_t z, int64_t pes) {
        const size_t at[3] = {x, y, z};
        Parts parts;
        for (int i = 0; i < kParts; ++i) {
          parts.of[i] = BoundOfSplit(&k->bounds[i], way, bounds[i], at);
        }
        *beaten =
            *beaten ||
            (Beats(*k, parts, pes) &&
             NodeBeats(
                 k, {way, {unrolls[0][x], unrolls[1][y], unrolls[2][z]}, pes, {}, {}}));
        return !*beaten && !k->budget->Tick();
      });
  return Status::kOk;
}

// The claimed mapping's own parts.
Parts PartsOfMapping(const RateCheck& k) {
  Parts parts;
  for (int i = 0; i < kParts; ++i) parts.of[i] = DataOfMapping(*k.claim, k.part[i]);
  return parts;
}

void SetParts(RateCheck* k) {
  for (int i = 0; i < kParts; ++i) {
    k->part[i] = *k->claim;
    for (int m = 0; m < 3 && i > 0; ++m) {
      k->part[i].read_pj[m] = k->part[i].write_pj[m] = m + 1 == i ? 1 : 0;
    }
  }
}

Status CheckClaim(RateCheck* k, Diagnostic* diagnostic) {
  const ClaimedRates& rates = *k->rates;
  for (int m = 0; m < 3; ++m) {
    if (rates.words[m] < 0 || (rates.words[m] > 0 && rates.cycles[m] < 1)) {
      return Fail(diagnostic, Status::kBadInput, "verify")
          .Text("a bandwidth of a certificate is out of range");
    }
  }
  SLUICE_TRY(CheckGemmLegal(*k->claim, diagnostic));
  const Parts parts = PartsOfMapping(*k);
  const int64_t pes =
      k->claim->spatial[0] * k->claim->spatial[1] * k->claim->spatial[2];
  const Value own = ValueOfParts(*k, parts, pes);
  k->claimed = ValueOf(*k, rates.energy_pj, Real(rates.time));
  const auto same = [](double a, double b) {
    return (a > b ? a - b : b - a) <= 4 * kRounding * Max(a, b);
  };
  if (same(own.first, k->claimed.first) && same(own.second, k->claimed.second)) {
    return Status::kOk;
  }
  return Reject(diagnostic, "value", "the mapping costs something else than claimed");
}

}  // namespace

Status CheckGemmRates(const ClaimedGemm& claim, const ClaimedRates& rates, Arena* arena,
                      Budget* budget, Diagnostic* diagnostic) {
  ArenaScope scope(arena);
  RateCheck k = {&claim, &rates, budget, {}, {}, {}, 0};
  SetParts(&k);
  SLUICE_TRY(CheckGemmProblem(claim, diagnostic));
  k.macs = Real(claim.extent[0]) * Real(claim.extent[1]) * Real(claim.extent[2]);
  SLUICE_TRY(CheckClaim(&k, diagnostic));
  for (int i = 0; i < kParts; ++i) {
    SLUICE_TRY(PrepareBounds(k.part[i], arena, &k.bounds[i]));
  }
  int64_t least = claim.at_most ? 1 : claim.pe_count;
  if (claim.objective == kClaimDelay && !claim.at_most) {
    least = 1;
    ForSplits(k.bounds[0], 1, claim.pe_count, [&](size_t, size_t, size_t, int64_t pes) {
      least = Max(least, pes);
      return true;
    });
    if (claim.spatial[0] * claim.spatial[1] * claim.spatial[2] != least) {
      return Reject(diagnostic, "mapping", "the mapping does not use the most PEs");
    }
  }
  bool beaten = false;
  SLUICE_TRY(ForWays(
      claim, [&](const Way& way) { return CheckWay(&k, way, least, &beaten); }));
  if (beaten) return Reject(diagnostic, "better", "another mapping is better");
  if (!budget->Exhausted()) return Status::kOk;
  return Fail(diagnostic, Status::kStopped, "verify")
      .Text("a limit or a cancel ended the call before all mappings were ruled out");
}

}  // namespace sluice
