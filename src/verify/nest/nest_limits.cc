// SPDX-License-Identifier: Apache-2.0
#include "verify/nest/nest_limits.h"

#include "base/checked.h"

namespace sluice::nest_claims {
namespace {

constexpr uint64_t kMostLimitSteps = 150000;
constexpr double kEndless = 1e300;

// Units of all fanouts of the levels from..to.
double AllUnits(const Case& one, int from, int to) {
  double units = 1;
  for (const Fanout& fanout : one.hardware.fanouts) {
    const int level = static_cast<int>(fanout.level);
    if (level >= from && level <= to) units *= Real(fanout.extent);
  }
  return units;
}

double OnceNeeded(const ClaimedNest& claim) {
  double words =
      Real(claim.extent[kN]) * Real(claim.extent[kG]) * Real(claim.extent[kC]);
  for (uint32_t axis = 0; axis < 2; ++axis) {
    const int64_t outputs = claim.extent[kP + axis], taps = claim.extent[kR + axis];
    // Tiles of some outputs and some taps may leave out rows between the taps. Each pair of
    // one output and one tap has a row, and there are this many different ones at least.
    const int64_t reach = (taps - 1) * claim.dilation[axis] + 1;
    const int64_t step = Min(int64_t{claim.stride[axis]}, reach);
    const bool dense = claim.dilation[axis] == 1;
    words *= Real(dense ? (outputs - 1) * step + taps : outputs + taps - 1);
  }
  return words;
}

struct Rows {
  double alone, together;  // words of all tiles: of single units, of units side by side
};

Rows RowsOf(const Case& one, int child, uint32_t v, const int64_t tile[kDimCount],
            const Units& units, bool bypasses) {
  if (v != kIn) {
    const double words = WordsOf(one.claim, v, one.claim.extent);
    return {words, words};
  }
  const double once = OnceNeeded(one.claim);
  if (child >= 0 && one.memory(child).sliding) return {once, once};
  const double plain = Real(one.claim.extent[kN]) * Real(one.claim.extent[kG]) *
                       Real(one.claim.extent[kC]);
  Rows rows = {plain, plain};
  for (int axis = 0; axis < 2; ++axis) {
    const uint32_t p = kP + static_cast<uint32_t>(axis);
    const uint32_t r = kR + static_cast<uint32_t>(axis);
    rows.alone *= WindowRows(one.claim, {axis, tile[p], tile[r], false, false, 1, 1});
    rows.together *= WindowRows(one.claim, {axis, tile[p] * units.of[p],
                                            tile[r] * units.of[r], false, false, 1, 1});
  }
  if (bypasses) rows.together = once;
  return rows;
}

// The least transfers of one operand into `child`.
Crossing LeastCrossing(const Case& one, int child, uint32_t v,
                       const int64_t tile[kDimCount], const Units& units, bool kept) {
  const int parent = HolderAbove(one, child, v);
  const bool bypasses = parent > child + 1;
  double alike = 1, steps = 1;
  for (uint32_t d = 0; d < kDimCount; ++d) {
    if (In(kMovesOperand[v], d)) continue;
    // Units of several axes may fall together where tiles do not divide.
    const double tiles = Real(CeilDivide(one.claim.extent[d], tile[d]));
    alike *= Min(Real(units.of[d]), tiles);
    steps *= tiles;
  }
  const double sharing = Min(steps, alike * AllUnits(one, child + 2, parent));
  const double beyond = AllUnits(one, parent + 1, one.top);
  const Rows rows = RowsOf(one, child, v, tile, units, bypasses);
  const double taken = rows.alone * (kept ? alike : steps);
  const double together = Min(taken, rows.together * (kept ? 1 : steps / sharing));
  Crossing least = {};
  if (v != kOut) {
    const bool shares = bypasses || units.multicast || units.forwarding;
    least.reads = shares ? together : taken;
    least.fills = taken;
  } else {
    least.writes = bypasses || units.reduction ? together : taken;
    least.reads = Max(0.0, least.writes - rows.alone * beyond);
    least.fills = Max(0.0, taken - rows.alone * sharing * beyond);
  }
  return least;
}

double LeastInto(const Case& one, int child, const int64_t tile[kDimCount],
                 const Units& units) {
  double sum = 0, saved = 0;
  for (uint32_t v = 0; v < kOperandCount; ++v) {
    if (!Crosses(one, child, v)) continue;
    double pj[2];
    for (int kept = 0; kept < 2; ++kept) {
      Sums sums = {};
      Price(one, child, v,
            LeastCrossing(one, child, v, tile, units, kept == 1 && child >= 0), &sums);
      pj[kept] = sums.pj;
    }
    sum += pj[0];
    saved = Max(saved, pj[0] - pj[1]);
  }
  return sum - saved;
}

}  // namespace

Limits LimitLevels(const Case& one, const Span<const Units> units[kLevelsMost],
                   const Lengths lengths[kDimCount]) {
  Limits limits = {};
  double pj = 0, most = 1;
  for (int l = 0; l <= one.top; ++l) {
    double least = kEndless, widest = 1;
    const uint64_t end =
        limits.steps + kMostLimitSteps / static_cast<uint64_t>(one.top + 1);
    for (const Units& way : units[l]) {
      double product = 1;
      int64_t within[kDimCount], tile[kDimCount];
      for (uint32_t d = 0; d < kDimCount; ++d) {
        const int64_t extent = one.claim.extent[d];
        product *= Real(way.of[d]);
        within[d] = one.divides ? extent / way.of[d] : 2 * extent - 1;
        tile[d] = 1;
      }
      widest = Max(widest, product);
      if (limits.steps >= end) continue;
      const auto visit = [&](const int64_t* at) {
        least = Min(least, LeastInto(one, l - 1, at, way));
        return ++limits.steps < end;
      };
      if (l == 0) {
        (void)visit(tile);
      } else {
        (void)VisitTiles({one, lengths, l - 1, within, one.divides}, tile, 0, visit);
      }
    }
    if (limits.steps >= end) least = 0;
    pj = least == kEndless ? kEndless : pj + Max(0.0, least);
    most *= widest;
    limits.pj[l] = pj;
    limits.units[l] = most;
  }
  return limits;
}

}  // namespace sluice::nest_claims
