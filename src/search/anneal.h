// SPDX-License-Identifier: Apache-2.0
// Simulated annealing over a state that is changed in place and undone.
//
// Input    AnnealState: function pointers; cost of the starting state; cooling
// Output   the state left at the best found; its cost; counts
// Errors   none; the budget may end the search after any round
// Cost     one propose and one keep or undo per round
// Source   SoMa section V: acceptance exp(-(c' - c) / c / T), T = t0 (1 - x) / (1 + a
//          x); from x = restart on from the best. Deviation: the acceptance draw is
//          made first, so that propose knows the highest cost that would be kept
#ifndef SLUICE_SEARCH_ANNEAL_H_
#define SLUICE_SEARCH_ANNEAL_H_

#include <stdint.h>

#include "base/budget.h"
#include "base/rng.h"

namespace sluice {

constexpr double kAnnealRejected = 1e300;  // no legal cost reaches this

struct AnnealState {
  void* user;
  // Changes the state; its cost, or anything above limit when it is not to be kept.
  double (*propose)(void* user, Rng* rng, double limit);
  void (*keep)(void* user);
  void (*undo)(void* user);
  void (*save)(void* user);     // the current state is the best
  void (*restore)(void* user);  // the best becomes the current state
};

struct AnnealOptions {
  uint64_t rounds;
  double start_temperature;  // of relative cost
  double cooling;            // a
  double restart;            // fraction of the rounds, > 1 = never
  // Further rounds after the budget's deadline, in which only improvements are kept.
  uint64_t last_rounds = 0;
};

struct AnnealResult {
  double cost;
  uint64_t rounds;
  uint64_t kept;
};

AnnealResult Anneal(const AnnealState& state, const AnnealOptions& options, double cost,
                    Rng* rng, Budget* budget);

// Exponentially distributed, mean 1, from arithmetic that is alike on every machine.
double ExponentialDraw(Rng* rng);

}  // namespace sluice

#endif  // SLUICE_SEARCH_ANNEAL_H_
