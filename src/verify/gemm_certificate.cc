// SPDX-License-Identifier: Apache-2.0
#include "verify/gemm_certificate.h"

#include "base/checked.h"
#include "verify/gemm_bounds.h"

namespace sluice {
namespace {

using namespace gemm_terms;

constexpr double kInfinity = __builtin_huge_val();

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

// --- The walk over the proof. ---

struct Checker {
  const ClaimedGemm* claim;
  Budget* budget;
  GemmBounds bounds;
  int64_t least_pes;
  int64_t most_pes;
  double closed;
  size_t next_split;
  size_t next_tile;
};

// True if a claimed bound is not above the bound shown here.
bool Shown(double claimed, double shown) {
  return claimed <= shown + kRounding * (shown < 0 ? -shown : shown);
}

struct OpenSplit {
  const Way& way;
  const ClaimedSplit& line;
  int64_t pes;
  double least_middle;  // of its middle tiles
  double feed;
};

struct OpenTile {
  int64_t tile[3];
  double cost;
  const ClaimedTile* listed;
};

Status CheckTile(Checker* k, const OpenSplit& split, const OpenTile& open,
                 Diagnostic* diagnostic) {
  if (open.listed == nullptr || !(open.listed->bound >= k->closed)) {
    return Reject(diagnostic, "tile",
                  "an open inner tile is missing or its bound does not close it");
  }
  int64_t step[3];
  for (int d = 0; d < 3; ++d) step[d] = split.line.spatial[d] * open.tile[d];
  // The walker's inner tile is 1 along its axis: LeastMiddle has its whole fill.
  const double middle =
      LeastMiddle(&k->bounds, split.way, step, split.line.spatial, true);
  if (Shown(open.listed->bound,
            Objective(*k->claim, split.feed + open.cost + middle, split.pes))) {
    return Status::kOk;
  }
  return Reject(diagnostic, "bound", "the bound of an inner tile is too high");
}

// Visits the open inner tiles, longest first: what they cost rises.
Status CheckTiles(Checker* k, const OpenSplit& split, Diagnostic* diagnostic) {
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
  const AxisCosts* const axes = k->bounds.inner;
  const AxisCosts &x = axes[0], &y = axes[1], &z = axes[2];
  const double least_z = z.cost[z.count - 1];
  const double least_yz = y.cost[y.count - 1] + least_z;
  size_t at = 0;  // proofs list tiles in the order of this walk, too
  for (size_t a = x.count; a > 0 && open(x.cost[a - 1] + least_yz); --a) {
    for (size_t b = y.count; b > 0; --b) {
      const double sum = x.cost[a - 1] + y.cost[b - 1];
      if (!open(sum + least_z)) break;
      for (size_t e = z.count; e > 0 && open(sum + z.cost[e - 1]); --e) {
        OpenTile one = {{x.length[a - 1], y.length[b - 1], z.length[e - 1]},
                        sum + z.cost[e - 1],
                        nullptr};
        if (!Fit(one.tile, split.way.inner, k->claim->inner_words)) continue;
        for (size_t i = 0; i < count && one.listed == nullptr; ++i, ++at) {
          if (at == count) at = 0;
          const int64_t* t = listed[at].inner_tile;
          if (t[0] == one.tile[0] && t[1] == one.tile[1] && t[2] == one.tile[2]) {
            one.listed = &listed[at];
          }
        }
        if (k->budget->Tick()) return Status::kOk;  // reported at the end
        SLUICE_TRY(CheckTile(k, split, one, diagnostic));
      }
    }
  }
  return Status::kOk;
}

Status CheckSplit(Checker* k, const Way& way, const ClaimedSplit& line, int64_t pes,
                  Diagnostic* diagnostic) {
  const ClaimedGemm& c = *k->claim;
  const double feed = FeedOf(c, way, line.spatial);
  const double middle =
      way.merged ? 0 : LeastMiddle(&k->bounds, way, line.spatial, line.spatial, true);
  const double inner = LeastInner(&k->bounds, way, line.spatial);
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
  return CheckTiles(k, {way, line, pes, middle, feed}, diagnostic);
}

// Checks the bound of a branch over all splits, and the listed ones of them. Closed
// ones may be listed, too, since bounds differ by rounding.
Status CheckSplits(Checker* k, const Way& way, const WayBounds& bounds,
                   const ClaimedBranch& line, Diagnostic* diagnostic) {
  const Span<const ClaimedSplit> all = k->claim->splits;
  const size_t end = k->next_split + line.split_count;
  if (line.split_count > all.size() - k->next_split) {
    return Reject(diagnostic, "split", "the proof ends within a branch");
  }
  Status status = Status::kOk;
  double shown = kInfinity;
  const Span<const int64_t>* unrolls = k->bounds.unrolls;
  ForSplits(k->bounds, k->least_pes, k->most_pes,
            [&](size_t x, size_t y, size_t z, int64_t pes) {
              const size_t at[3] = {x, y, z};
              const double bound =
                  Objective(*k->claim, BoundOfSplit(&k->bounds, way, bounds, at), pes);
              shown = Min(shown, bound);
              const int64_t* spatial =
                  k->next_split < end ? all[k->next_split].spatial : nullptr;
              if (spatial != nullptr && spatial[0] == unrolls[0][x] &&
                  spatial[1] == unrolls[1][y] && spatial[2] == unrolls[2][z]) {
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
  WayBounds bounds;
  SLUICE_TRY(BoundsOfWay(&k->bounds, way, &bounds));
  const double cheap = Objective(*k->claim, bounds.least, k->most_pes);
  // The cheap bound often suffices.
  if (line.split_count == 0 && line.bound >= k->closed && Shown(line.bound, cheap)) {
    return Status::kOk;
  }
  return CheckSplits(k, way, bounds, line, diagnostic);
}

Status PrepareSpace(Checker* k, Arena* arena) {
  const ClaimedGemm& c = *k->claim;
  SLUICE_TRY(PrepareBounds(c, arena, &k->bounds));
  k->least_pes = k->most_pes = c.pe_count;
  if (!c.at_most && c.objective != kClaimDelay) return Status::kOk;
  k->least_pes = k->most_pes = 1;
  ForSplits(k->bounds, 1, c.pe_count, [k](size_t, size_t, size_t, int64_t pes) {
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
        .Text("a limit or a cancel ended the call before the certificate was checked");
  }
  if (line != claim.branches.size() || k.next_split != claim.splits.size() ||
      k.next_tile != claim.tiles.size()) {
    return Reject(diagnostic, "excess", "the proof has lines that belong nowhere");
  }
  return Status::kOk;
}

}  // namespace sluice
