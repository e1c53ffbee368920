// SPDX-License-Identifier: Apache-2.0
#include "verify/nest/nest_claim.h"

#include <string.h>

#include "base/checked.h"
#include "verify/nest/nest_counts.h"
#include "verify/nest/nest_refute.h"

namespace sluice {
namespace {

using namespace nest_claims;

constexpr double kMostOperations = 9007199254740992.0;  // exact in a double

Status Refuse(Diagnostic* diagnostic, const char* rule, const char* text) {
  return Fail(diagnostic, Status::kRejected, "verify").Rule(rule).Text(text);
}

Status CheckProblem(const ClaimedNest& c, const Hardware& hardware,
                    Diagnostic* diagnostic) {
  const size_t levels = hardware.levels.size();
  bool good = levels >= 2 && levels <= kLevelsMost && c.levels == levels &&
              (c.operands & ~5u) <= 2 && In(c.operands, kIn) && In(c.operands, kOut) &&
              c.resident < 8 && c.energy_exponent <= 16 && c.delay_exponent <= 16;
  double operations = 1;
  for (uint32_t d = 0; d < kDimCount; ++d) {
    good = good && c.extent[d] >= 1 && c.extent[d] <= INT32_MAX && c.top_tile[d] >= 0;
    operations *= Real(c.extent[d]);
  }
  for (int i = 0; i < 2; ++i) good = good && c.stride[i] >= 1 && c.dilation[i] >= 1;
  for (uint32_t v = 0; v < kOperandCount; ++v) {
    good = good && c.element_bytes[v] <= 64 &&
           (c.element_bytes[v] > 0 || !In(c.operands, v));
  }
  good = good && c.partial_bytes >= 1 && c.partial_bytes <= 64;
  for (uint32_t l = 0; l < levels; ++l) {
    good = good && FanoutBelow(hardware, static_cast<int>(l), kAxesMost) == nullptr;
  }
  if (good && operations <= kMostOperations) return Status::kOk;
  return Fail(diagnostic, Status::kBadInput, "verify")
      .Text("the problem of a nest's claim is out of range");
}

bool IsPermutation(const uint8_t order[kDimCount]) {
  uint32_t seen = 0;
  for (uint32_t i = 0; i < kDimCount; ++i)
    seen |= order[i] < kDimCount ? 1u << order[i] : 0;
  return seen == 0xff;
}

// Whether every unit and every step of a dim has work, and all of the dim is covered.
bool Covers(const ClaimedNest& c, uint32_t dim) {
  int64_t tile = 1;
  for (uint32_t l = 0; l < c.levels; ++l) {
    for (uint32_t a = 0; a <= kAxesMost; ++a) {
      const int64_t steps = a < kAxesMost ? c.spatial[l][a][dim] : c.temporal[l][dim];
      if (steps < 1 || steps > INT32_MAX || (steps - 1) * tile >= c.extent[dim])
        return false;
      tile *= steps;
    }
  }
  return tile >= c.extent[dim];
}

bool FillsFanouts(const ClaimedNest& c, const Hardware& hardware, uint32_t level) {
  for (uint32_t a = 0; a < kAxesMost; ++a) {
    const Fanout* fanout = FanoutBelow(hardware, static_cast<int>(level), a);
    double units = 1;
    for (uint32_t d = 0; d < kDimCount; ++d) {
      const int64_t factor = c.spatial[level][a][d];
      units *= Real(factor);
      if (factor > 1 && (fanout == nullptr || !MayTake(*fanout, d))) return false;
    }
    if (units > 1 && units > Real(fanout->extent)) return false;
  }
  return true;
}

bool MayHold(const ClaimedNest& c, const Hardware& hardware, uint32_t level) {
  const uint32_t hold = c.hold[level],
                 may = hardware.levels[level].may_hold & c.operands;
  if (level + 1 == c.levels) return hold == c.operands;
  return (hold & ~may) == 0 && (hardware.levels[level].must_hold & may & ~hold) == 0;
}

Level LevelOf(const ClaimedNest& c, const Hardware& hardware, uint32_t l) {
  Level level = {};
  Units units = {};
  for (uint32_t a = 0; a < kAxesMost; ++a) {
    for (uint32_t d = 0; d < kDimCount; ++d) {
      units.axis[a][d] = static_cast<int32_t>(c.spatial[l][a][d]);
    }
  }
  SumUp(hardware, static_cast<int>(l), &units);
  level.multicast = units.multicast;
  level.reduction = units.reduction;
  level.forwarding = units.forwarding;
  level.moving = kDimCount;
  for (uint32_t i = 0; i < kDimCount; ++i) {
    const uint8_t d = c.order[l][i];
    level.trips[d] = static_cast<int32_t>(c.temporal[l][d]);
    level.units[d] = units.of[d];
    for (uint32_t v = 0; v < kOperandCount; ++v) {
      if (!In(kMovesOperand[v], d)) {
        if (!level.moves[v])
          level.keeps[v] = static_cast<uint8_t>(level.keeps[v] | 1u << d);
      } else if (level.trips[d] > 1) {
        if (v == kIn && !level.moves[v]) level.moving = d;
        level.moves[v] = true;
      }
    }
  }
  return level;
}

// The nest's loops, if it is legal.
Status ReadNest(const ClaimedNest& c, const Hardware& hardware,
                Level levels[kLevelsMost], Diagnostic* diagnostic) {
  bool good = true;
  for (uint32_t l = 0; l < c.levels; ++l) {
    good = good && IsPermutation(c.order[l]) && MayHold(c, hardware, l);
  }
  for (uint32_t d = 0; d < kDimCount; ++d) good = good && Covers(c, d);
  for (uint32_t l = 0; l < c.levels && good; ++l) {
    good = FillsFanouts(c, hardware, l);
    levels[l] = LevelOf(c, hardware, l);
  }
  uint32_t hold[kLevelsMost];
  for (uint32_t l = 0; l < kLevelsMost; ++l) hold[l] = c.hold[l];
  const Case one = CaseOf(c, hardware, hold);
  int64_t tile[kDimCount] = {1, 1, 1, 1, 1, 1, 1, 1};
  for (uint32_t l = 0; l < c.levels && good; ++l) {
    for (uint32_t d = 0; d < kDimCount; ++d) {
      tile[d] *= int64_t{levels[l].units[d]} * levels[l].trips[d];
    }
    good = Fit(one, static_cast<int>(l), tile);
  }
  if (good) return Status::kOk;
  return Refuse(diagnostic, "nest", "the loop nest is not legal on this machine");
}

bool IsNear(double claimed, double counted) {
  const double off = claimed > counted ? claimed - counted : counted - claimed;
  return off <= 4 * kSlack * (counted < 0 ? -counted : counted);
}

Status CheckWorth(const ClaimedNest& c, const Hardware& hardware,
                  const Level levels[kLevelsMost], Diagnostic* diagnostic) {
  uint32_t hold[kLevelsMost];
  for (uint32_t l = 0; l < kLevelsMost; ++l) hold[l] = c.hold[l];
  Case one = CaseOf(c, hardware, hold);
  one.divides = false;
  Sums sums = {};
  double steps = 1, instances[kLevelsMost] = {};
  int64_t tile[kDimCount] = {1, 1, 1, 1, 1, 1, 1, 1};
  for (int child = -1; child < one.top; ++child) {
    AddTransfers(one, levels, child, tile, &sums);
    const Level& level = levels[child + 1];
    for (uint32_t d = 0; d < kDimCount; ++d) {
      steps *= Real(level.trips[d]);
      tile[d] *= int64_t{level.units[d]} * level.trips[d];
    }
    instances[child + 1] = InstancesOf(one, levels, child + 1, tile);
  }
  const double cycles = WholeCycles(one, steps, sums.bytes, instances);
  const double pj =
      sums.pj + hardware.leakage_pj_per_cycle * cycles +
      (c.vector ? hardware.vector_op_pj : hardware.mac_pj) * Operations(c);
  if (Real(c.cycles) != cycles || !IsNear(c.energy_pj, pj)) {
    return Refuse(diagnostic, "value", "the nest costs something else than claimed");
  }
  if (!IsNear(c.objective, Worth(c, pj, cycles))) {
    return Refuse(diagnostic, "value",
                  "the objective does not follow from energy and cycles");
  }
  return Status::kOk;
}

// The next set of held operands, largest first; false: it was the last one.
bool NextHold(const ClaimedNest& c, const Hardware& hardware,
              uint32_t hold[kLevelsMost]) {
  for (uint32_t l = 0; l + 1 < c.levels && c.bypass; ++l) {
    const uint32_t may = hardware.levels[l].may_hold & c.operands;
    const uint32_t must = hardware.levels[l].must_hold & may;
    do {
      hold[l] = hold[l] == 0 ? 7 : hold[l] - 1;
    } while ((hold[l] & ~may) != 0 || (must & ~hold[l]) != 0);
    if (hold[l] != may) return true;
  }
  return false;
}

Status CheckBound(const ClaimedNest& c, const Hardware& hardware, Arena* arena,
                  Budget* budget, Diagnostic* diagnostic) {
  if (!(c.bound <= c.objective * (1 + kSlack))) {
    return Refuse(diagnostic, "bound", "the bound is above the nest's own objective");
  }
  uint32_t hold[kLevelsMost] = {};
  for (uint32_t l = 0; l < c.levels; ++l) {
    hold[l] = l + 1 == c.levels ? c.operands : hardware.levels[l].may_hold & c.operands;
  }
  Effort effort = {budget, 0};
  do {
    bool found = false;
    const Case one = CaseOf(c, hardware, hold);
    SLUICE_TRY(FindCheaper(one, c.bound * (1 - 4 * kSlack), &effort, arena, &found,
                           diagnostic));
    if (found) return Refuse(diagnostic, "bound", "a nest costs less than the bound");
  } while (NextHold(c, hardware, hold));
  return Status::kOk;
}

}  // namespace

Status CheckNestClaim(const ClaimedNest& claim, const Hardware& hardware, Arena* arena,
                      Budget* budget, Diagnostic* diagnostic) {
  Level levels[kLevelsMost] = {};
  SLUICE_TRY(CheckProblem(claim, hardware, diagnostic));
  SLUICE_TRY(ReadNest(claim, hardware, levels, diagnostic));
  SLUICE_TRY(CheckWorth(claim, hardware, levels, diagnostic));
  return CheckBound(claim, hardware, arena, budget, diagnostic);
}

}  // namespace sluice
