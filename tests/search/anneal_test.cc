// SPDX-License-Identifier: Apache-2.0
#include "search/anneal.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace sluice {
namespace {

// Proposes the given costs one after the other and records the calls that it gets.
struct Script {
  std::vector<double> costs;
  double state = 10, best = 0, proposed = 0;
  int undone = 0, saved = 0, restored = 0;
  std::vector<double> from, limits;  // by proposal

  AnnealResult Run(const AnnealOptions& options, Rng* rng, Budget* budget) {
    AnnealState functions;
    functions.user = this;
    functions.propose = [](void* user, Rng*, double limit) {
      Script* s = static_cast<Script*>(user);
      s->proposed = s->costs[s->from.size()];
      s->from.push_back(s->state);
      s->limits.push_back(limit);
      return s->proposed;
    };
    functions.keep = [](void* user) {
      static_cast<Script*>(user)->state = static_cast<Script*>(user)->proposed;
    };
    functions.undo = [](void* user) { ++static_cast<Script*>(user)->undone; };
    functions.save = [](void* user) {
      Script* s = static_cast<Script*>(user);
      ++s->saved;
      s->best = s->state;
    };
    functions.restore = [](void* user) {
      Script* s = static_cast<Script*>(user);
      ++s->restored;
      s->state = s->best;
    };
    return Anneal(functions, options, state, rng, budget);
  }
};

TEST_CASE("anneal: cold, only what is no worse is kept, and the best is what is left") {
  Script s;
  s.costs = {8, 9, 8, 7, 12};
  Rng rng(1);
  Budget budget;
  const AnnealResult r = s.Run({5, 0, 8, 2}, &rng, &budget);
  CHECK(r.cost == 7);
  CHECK(r.rounds == 5);
  CHECK(r.kept == 3);
  CHECK(s.undone == 2);
  CHECK(s.state == 7);
  CHECK(s.from == std::vector<double>{10, 8, 8, 8, 7});
  CHECK(s.saved == 3);  // the start, 8 and 7
}

TEST_CASE("anneal: from the restart on, the best is where it goes on") {
  Rng rng(1);
  Budget budget;
  Script s;
  s.costs = {5, 20, 6, 30};
  const AnnealResult r = s.Run({4, 1e9, 0, 0.5}, &rng, &budget);
  CHECK(r.cost == 5);
  CHECK(r.kept == 4);
  CHECK(s.from == std::vector<double>{10, 5, 5, 6});
  CHECK(s.restored == 2);
  CHECK(s.state == 5);
  Script without;
  without.costs = s.costs;
  without.Run({4, 1e9, 0, 2}, &rng, &budget);
  CHECK(without.from == std::vector<double>{10, 5, 20, 6});
  CHECK(without.restored == 1);
}

TEST_CASE("anneal: the limit that a proposal hears follows the cooling") {
  Rng rng(7);
  Rng same = rng;
  Budget budget;
  Script s;
  s.costs = {1e300, 1e300};
  const AnnealResult r = s.Run({2, 0.5, 8, 2}, &rng, &budget);
  // t0 (1 - x) / (1 + a x) at x = 0 and at x = 1/2.
  CHECK(s.limits[0] == doctest::Approx(10 * (1 + 0.5 * ExponentialDraw(&same))));
  CHECK(s.limits[1] == doctest::Approx(10 * (1 + 0.05 * ExponentialDraw(&same))));
  CHECK(r.kept == 0);
}

TEST_CASE("anneal: no heat keeps what is rejected, and iterations bound the rounds") {
  Rng rng(1);
  Budget budget;
  Script s;
  s.costs = {kAnnealRejected};
  CHECK(s.Run({1, 1e308, 0, 2}, &rng, &budget).kept == 0);
  CHECK(s.limits[0] > kAnnealRejected);
  CHECK(s.state == 10);
  Script bounded;
  bounded.costs = {9, 8, 7, 6, 5};
  Budget three({}, 0, 3, nullptr);
  CHECK(bounded.Run({5, 0, 0, 2}, &rng, &three).rounds == 3);
  CHECK(bounded.state == 7);
}

// A state whose cost rises and falls at random; counts worse states that are kept late.
struct Walk {
  double cost = 1000;
  int rounds = 0, kept_worse_after = 0;
  double now = 1000;
};

TEST_CASE("anneal: after the deadline as many rounds as asked, improvements only") {
  Walk walk;
  AnnealState state;
  state.user = &walk;
  state.propose = [](void* user, Rng* rng, double) {
    Walk* w = static_cast<Walk*>(user);
    ++w->rounds;
    w->now = w->cost + (rng->Below(2) != 0 ? 1 : -1) * 0.001;
    return w->now;
  };
  state.keep = [](void* user) {
    Walk* w = static_cast<Walk*>(user);
    w->kept_worse_after += w->now >= w->cost;
    w->cost = w->now;
  };
  state.undo = state.save = state.restore = [](void*) {};
  Rng rng(1);
  Budget over({}, 1, 0, nullptr);
  while (!over.Exhausted()) {
  }
  AnnealOptions options = {1000, 0.5, 8, 2};
  CHECK(Anneal(state, options, 1000, &rng, &over).rounds == 0);
  options.last_rounds = 50;
  CHECK(Anneal(state, options, 1000, &rng, &over).rounds == 50);
  CHECK(walk.rounds == 50);
  CHECK(walk.kept_worse_after == 0);
  CHECK(walk.cost < 1000);
}

TEST_CASE("anneal: exponential draws have mean one and no libm") {
  Rng rng(1);
  double sum = 0;
  double worst = 0;
  for (int i = 0; i < 200000; ++i) {
    Rng copy = rng;
    const double x = ExponentialDraw(&rng);
    const double u = static_cast<double>((copy.Next() >> 11) + 1) / 9007199254740992.0;
    worst = std::max(worst, std::fabs(x + std::log(u)));
    sum += x;
  }
  CHECK(std::fabs(sum / 200000 - 1) < 0.01);
  CHECK(worst < 1e-12);
}

}  // namespace
}  // namespace sluice
