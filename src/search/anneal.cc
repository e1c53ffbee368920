// SPDX-License-Identifier: Apache-2.0
#include "search/anneal.h"

namespace sluice {

double ExponentialDraw(Rng* rng) {
  // -ln(m / 2^53), m in [1, 2^53]: ln 2 per halving, the rest by the series of atanh.
  const uint64_t m = (rng->Next() >> 11) + 1;
  int bits = 63 - __builtin_clzll(m);
  double x = static_cast<double>(m) / static_cast<double>(uint64_t{1} << bits);
  if (x > 1.4142135623730951) {
    x *= 0.5;
    ++bits;
  }
  const double y = (x - 1) / (x + 1);
  const double y2 = y * y;
  double sum = 0;
  for (int k = 19; k >= 1; k -= 2) sum = sum * y2 + 1.0 / k;
  return 0.6931471805599453 * (53 - bits) - 2 * y * sum;
}

AnnealResult Anneal(const AnnealState& state, const AnnealOptions& options, double cost,
                    Rng* rng, Budget* budget) {
  AnnealResult result = {cost, 0, 0};
  double best = cost;
  bool restarted = false;
  state.save(state.user);
  uint64_t last = 0;  // rounds since the deadline
  for (uint64_t round = 0; round < options.rounds; ++round) {
    if (last != 0 || budget->Spend()) {
      if (budget->stop_reason() != SLUICE_STOP_DEADLINE) break;
      if (last++ == options.last_rounds) break;
    }
    const double x = static_cast<double>(round) / static_cast<double>(options.rounds);
    const double temperature =
        options.start_temperature * (1 - x) / (1 + options.cooling * x);
    if (!restarted && x >= options.restart) {
      restarted = true;
      state.restore(state.user);
      cost = best;
    }
    const double limit =
        last != 0 ? cost : cost * (1 + temperature * ExponentialDraw(rng));
    const double next = state.propose(state.user, rng, limit);
    ++result.rounds;
    if (next > limit || next >= kAnnealRejected || (last != 0 && next >= cost)) {
      state.undo(state.user);
      continue;
    }
    ++result.kept;
    cost = next;
    state.keep(state.user);
    if (cost < best) {
      best = cost;
      state.save(state.user);
    }
  }
  state.restore(state.user);
  result.cost = best;
  return result;
}

}  // namespace sluice
