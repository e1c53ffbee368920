// SPDX-License-Identifier: Apache-2.0
#include "verify/gemm_rates.h"

#include "base/checked.h"
#include "verify/gemm_terms.h"

namespace sluice {
namespace {

using namespace gemm_terms;

constexpr int kParts = 4;  // energy, and the words of three memories
constexpr double kNever = 1e300;

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
  Span<const int64_t> divisors[3];
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

// A way to hold data, and a split with the PEs that it uses.
struct Node {
  const Way& way;
  int64_t spatial[3];
  int64_t pes;
};

int SourceOf(const Way& way, int d) { return In(way.middle, d) ? kMiddle : 0; }

// What does not depend on tiles.
double FixedPart(const ClaimedGemm& c, const Node& node, int d) {
  const Way& way = node.way;
  double sum = FeedMac(c, d, SourceOf(way, d), In(way.inner, d), node.spatial[d]);
  if (way.merged && d == way.p) {
    sum += FillInner(c, d, 0, node.spatial[d], 1, c.extent[d] / node.spatial[d]);
  }
  return sum;
}

bool InnerMoves(const Way& way, int d) {
  if (way.merged) return d != way.p && (In(way.inner, d) || In(way.middle, d));
  return In(way.inner, d) && d != way.q;
}

double InnerPart(const ClaimedGemm& c, const Node& node, int d, int64_t length) {
  const Way& way = node.way;
  if (!InnerMoves(way, d)) return 0;
  const int64_t s = node.spatial[d];
  double sum = 0;
  if (way.merged && In(way.middle, d)) sum += FillMiddle(c, d, s * length, 1);
  if (In(way.inner, d)) {
    sum += FillInner(c, d, way.merged ? 0 : SourceOf(way, d), s, length, 1);
  }
  return sum;
}

bool MiddleMoves(const Way& way, int d) {
  if (way.merged) return false;
  return (In(way.middle, d) && d != way.p) || (In(way.inner, d) && d == way.q);
}

// step: the array's tile along the axis.
double MiddlePart(const ClaimedGemm& c, const Node& node, int d, int64_t step,
                  int64_t length) {
  const Way& way = node.way;
  if (way.merged) return 0;
  const int64_t s = node.spatial[d];
  double sum = 0;
  if (In(way.middle, d)) {
    sum += FillMiddle(c, d, length, d == way.p ? c.extent[d] / length : 1);
  }
  if (In(way.inner, d) && d == way.q) {
    sum += FillInner(c, d, SourceOf(way, d), s, step / s, length / step);
  }
  return sum;
}

// The least of a part along one axis over middle tiles, with the others at their steps.
double LeastMiddle(const RateCheck& k, const ClaimedGemm& c, const Node& node,
                   const int64_t step[3], int d) {
  double least = kNever;
  for (const int64_t length : k.divisors[d]) {
    if (length % step[d] != 0 || (length != step[d] && !MiddleMoves(node.way, d))) {
      continue;
    }
    int64_t tile[3] = {step[0], step[1], step[2]};
    tile[d] = length;
    if (!Fit(tile, node.way.middle, c.middle_words)) continue;
    least = Min(least, MiddlePart(c, node, d, step[d], length));
  }
  return least;
}

double LeastInner(const RateCheck& k, const ClaimedGemm& c, const Node& node, int d) {
  if (!InnerMoves(node.way, d)) return 0;
  double least = kNever;
  for (const int64_t length : k.divisors[d]) {
    if (c.extent[d] / node.spatial[d] % length != 0) continue;
    int64_t tile[3] = {1, 1, 1};
    tile[d] = length;
    if (!Fit(tile, node.way.inner, c.inner_words)) continue;
    least = Min(least, InnerPart(c, node, d, length));
  }
  return least;
}

// True if tiles of the node may beat the claim: with the least cost of every part along
// every axis.
bool IsOpen(const RateCheck& k, const Node& node) {
  Parts parts;
  for (int i = 0; i < kParts; ++i) {
    for (int d = 0; d < 3; ++d) {
      parts.of[i] += FixedPart(k.part[i], node, d) + LeastInner(k, k.part[i], node, d) +
                     LeastMiddle(k, k.part[i], node, node.spatial, d);
    }
  }
  return IsBetter(ValueOfParts(k, parts, node.pes), k.claimed);
}

// Whether some middle tile above this inner tile is better than the claim.
bool MiddleBeats(const RateCheck& k, const Node& node, const Parts& below,
                 const int64_t step[3]) {
  Parts least = below;
  for (int i = 0; i < kParts; ++i) {
    for (int d = 0; d < 3; ++d) {
      least.of[i] += LeastMiddle(k, k.part[i], node, step, d);
    }
  }
  if (!IsBetter(ValueOfParts(k, least, node.pes), k.claimed)) return false;
  const auto allowed = [&](int d, int64_t length) {
    return length % step[d] == 0 && (length == step[d] || MiddleMoves(node.way, d));
  };
  const auto with = [&](const Parts& parts, int d, int64_t length) {
    Parts more = parts;
    for (int i = 0; i < kParts; ++i) {
      more.of[i] += MiddlePart(k.part[i], node, d, step[d], length);
    }
    return more;
  };
  int64_t tile[3];
  for (const int64_t x : k.divisors[0]) {
    if (!allowed(0, tile[0] = x)) continue;
    const Parts parts_x = with(below, 0, x);
    for (const int64_t y : k.divisors[1]) {
      if (!allowed(1, tile[1] = y)) continue;
      const Parts parts_y = with(parts_x, 1, y);
      for (const int64_t z : k.divisors[2]) {
        if (!allowed(2, tile[2] = z)) continue;
        if (!Fit(tile, node.way.middle, k.claim->middle_words)) break;
        const Parts parts = with(parts_y, 2, z);
        if (IsBetter(ValueOfParts(k, parts, node.pes), k.claimed)) return true;
      }
    }
  }
  return false;
}

bool NodeBeats(const RateCheck& k, const Node& node) {
  if (!IsOpen(k, node)) return false;
  Parts fixed;
  for (int i = 0; i < kParts; ++i) {
    for (int d = 0; d < 3; ++d) fixed.of[i] += FixedPart(k.part[i], node, d);
  }
  const auto allowed = [&](int d, int64_t length) {
    if (!InnerMoves(node.way, d)) return length == 1;
    return k.claim->extent[d] / node.spatial[d] % length == 0;
  };
  int64_t tile[3], step[3];
  for (const int64_t x : k.divisors[0]) {
    if (!allowed(0, tile[0] = x)) continue;
    for (const int64_t y : k.divisors[1]) {
      if (!allowed(1, tile[1] = y)) continue;
      for (const int64_t z : k.divisors[2]) {
        if (!allowed(2, tile[2] = z)) continue;
        if (!Fit(tile, node.way.inner, k.claim->inner_words)) break;
        if (k.budget->Tick()) return false;
        Parts parts = fixed;
        for (int d = 0; d < 3; ++d) {
          step[d] = node.spatial[d] * tile[d];
          for (int i = 0; i < kParts; ++i) {
            parts.of[i] += InnerPart(k.part[i], node, d, tile[d]);
          }
        }
        if (!Fit(step, node.way.middle, k.claim->middle_words)) continue;
        if (MiddleBeats(k, node, parts, step)) return true;
      }
    }
  }
  return false;
}

// Calls visit(spatial, PEs) for every split that the arrays allow.
template <typename Visit>
void ForSplits(const RateCheck& k, int64_t least, const Visit& visit) {
  const ClaimedGemm& c = *k.claim;
  const auto within = [&](int d, int64_t s) {
    return s <= c.pe_count && (c.fanout_limit[d] == 0 || s <= c.fanout_limit[d]);
  };
  for (const int64_t x : k.divisors[0]) {
    if (!within(0, x)) break;
    for (const int64_t y : k.divisors[1]) {
      if (!within(1, y) || x * y > c.pe_count) break;
      for (const int64_t z : k.divisors[2]) {
        const int64_t pes = x * y * z;
        if (!within(2, z) || pes > c.pe_count) break;
        const int64_t spatial[3] = {x, y, z};
        if (pes >= least) visit(spatial, pes);
      }
    }
  }
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
  for (int d = 0; d < 3; ++d) {
    SLUICE_TRY(ListDivisors(claim.extent[d], arena, &k.divisors[d]));
  }
  int64_t least = claim.at_most ? 1 : claim.pe_count;
  if (claim.objective == kClaimDelay && !claim.at_most) {
    least = 1;
    ForSplits(k, 1, [&](const int64_t*, int64_t pes) { least = Max(least, pes); });
    if (claim.spatial[0] * claim.spatial[1] * claim.spatial[2] != least) {
      return Reject(diagnostic, "mapping", "the mapping does not use the most PEs");
    }
  }
  bool beaten = false;
  SLUICE_TRY(ForWays(claim, [&](const Way& way) {
    ForSplits(k, least, [&](const int64_t spatial[3], int64_t pes) {
      if (beaten || budget->Tick()) return;
      if (!Fit(spatial, way.middle, claim.middle_words)) return;
      beaten = NodeBeats(k, {way, {spatial[0], spatial[1], spatial[2]}, pes});
    });
    return Status::kOk;
  }));
  if (beaten) return Reject(diagnostic, "better", "another mapping is better");
  if (!budget->Exhausted()) return Status::kOk;
  return Fail(diagnostic, Status::kStopped, "verify")
      .Text("the budget ended before all mappings were ruled out");
}

}  // namespace sluice
