// SPDX-License-Identifier: Apache-2.0
// Simulated annealing over a state that is changed in place and undone.
//
// Input    AnnealState: function pointers; cost of the starting state; cooling
// Output   the state set to the best found; its cost; counts
// Errors   none; the budget may end the search after any round
// Cost     one propose and one keep or undo per round
// Source   SoMa section V: accept with probability exp(-(c' - c) / c / T), T = t0 (1 -
//          x) / (1 + a x), x = share of rounds done; from x = restart on, continue from
//          the best. Deviation: the random number of the acceptance is drawn first, so
//          that propose knows the highest cost that would be accepted
#ifndef SLUICE_SEARCH_ANNEAL_H_
#define SLUICE_SEARCH_ANNEAL_H_

#include <stdint.h>

#include "base/budget.h"
#include "base/rng.h"

namespace sluice {

constexpr double kAnnealRejected = 1e300;  // no legal cost reaches this

struct AnnealState {
  void* user;
  // Changes the state and returns its cost, or any value above `limit` to have it
  // rejected.
  double (*propose)(void* user, Rng* rng, double limit);
  void (*keep)(void* user);
  void (*undo)(void* user);
  void (*save)(void* user);     // stores the current state as the best
  void (*restore)(void* user);  // makes the best state the current one
};

struct AnnealOptions {
  uint64_t rounds;
  double start_temperature;  // relative to the cost: T of the formula above at x = 0
  double cooling;            // a of the formula above
  double restart;            // x from which on the best is continued; > 1 = never
  // Rounds to run after the deadline, accepting improvements only.
  uint64_t last_rounds = 0;
};

struct AnnealResult {
  double cost;
  uint64_t rounds;
  uint64_t kept;
};

AnnealResult Anneal(const AnnealState& state, const AnnealOptions& options, double cost,
                    Rng* rng, Budget* budget);

// Exponentially distributed with mean 1, computed identically on every machine.
double ExponentialDraw(Rng* rng);

}  // namespace sluice

#endif  // SLUICE_SEARCH_ANNEAL_H_
