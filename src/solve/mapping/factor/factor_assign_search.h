// SPDX-License-Identifier: Apache-2.0
// The label search of factor_assign: solves one linear case of the formulation.
//
// Input    items (prime factors) with priced choices, limits on products of loads.
// Output   the cheapest choice for each item within all limits, if below `beat`.
// Errors   kOutOfMemory; a spent budget sets `stopped`.
// Cost     labels x choices per item; labels with equal room are one.
#ifndef SLUICE_SOLVE_MAPPING_FACTOR_FACTOR_ASSIGN_SEARCH_H_
#define SLUICE_SOLVE_MAPPING_FACTOR_FACTOR_ASSIGN_SEARCH_H_

#include <stdint.h>

#include "base/array.h"
#include "base/budget.h"
#include "base/memory.h"
#include "base/status.h"

namespace sluice {

constexpr int kMaxLimits = 20;   // on products of factors: capacities, units
constexpr int kMaxChoices = 12;  // places of a factor: level, in time or in space

struct FactorChoice {
  double cost;
  uint32_t load[kMaxLimits];
  double log_load[kMaxLimits];
  uint8_t loaded[kMaxLimits];  // limits with a load above 1
  int load_count;
  uint8_t flags;  // bits that some item must set: see FactorCase::required
  uint8_t level;
  bool spatial;
};

struct FactorItem {
  uint8_t dim;
  uint32_t prime;
  int choice_count;
  FactorChoice choice[kMaxChoices];
};

// Items of one kind are listed once; `kind_of` repeats a kind as often as it occurs.
struct FactorCase {
  Span<const FactorItem> kinds;
  Span<const uint8_t> kind_of;  // per factor, in the order they are assigned
  int limit_count;
  uint32_t limit[kMaxLimits];
  uint8_t required;  // flags that must be set at the end
};

// One multiplier per limit, and the bound on the whole case that they give.
struct FactorMultipliers {
  double value[kMaxLimits];
  double bound;
};

// Raises the bound towards `target` (infinity: unknown), from the multipliers given.
// Deterministic.
void TuneMultipliers(const FactorCase& problem, double target,
                     FactorMultipliers* multipliers);

struct FactorPick {
  bool found;    // a solution below `beat`; the optimum unless `width` cut labels off
  bool stopped;  // a limit or a cancel ended the search
  double cost;
  Span<uint8_t> choices;  // per factor; caller's room
  int64_t labels;         // added to
};

struct FactorQuery {
  const FactorCase& problem;
  const FactorMultipliers& multipliers;
  double beat;   // only costs below are of interest
  size_t width;  // labels kept per factor; 0 keeps all
  size_t most;   // labels of one search, else it is stopped; 0: as many as it takes
};

Status SearchFactors(const FactorQuery& query, Arena* arena, Budget* budget,
                     FactorPick* pick);

}  // namespace sluice

#endif  // SLUICE_SOLVE_MAPPING_FACTOR_FACTOR_ASSIGN_SEARCH_H_
