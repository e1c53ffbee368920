// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/factor/factor_assign_search.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "base/rng.h"
#include "solve/mapping/factor/factor_assign_log.h"
#include "solve/mapping/gemm/arena_memory.h"

namespace sluice {
namespace {

// A problem of few kinds of factors, random places for each, and limits on the products of
// the loads.
struct RandomCase {
  std::vector<FactorItem> kinds;
  std::vector<uint8_t> kind_of;
  FactorCase problem = {};

  explicit RandomCase(Rng* rng) {
    problem.limit_count = 1 + static_cast<int>(rng->Below(4));
    for (int l = 0; l < problem.limit_count; ++l) problem.limit[l] = 1 + rng->Below(60);
    problem.required = static_cast<uint8_t>(rng->Below(4));
    const uint32_t primes[] = {7, 5, 3, 2};
    kinds.resize(1 + rng->Below(4));
    for (size_t k = 0; k < kinds.size(); ++k) {
      kinds[k] = {};
      kinds[k].dim = static_cast<uint8_t>(k);
      kinds[k].prime = primes[k];
      kinds[k].choice_count = 1 + static_cast<int>(rng->Below(4));
      for (int c = 0; c < kinds[k].choice_count; ++c) {
        FactorChoice& choice = kinds[k].choice[c];
        choice.cost = 0.25 * rng->Below(60) - 3;
        choice.flags = static_cast<uint8_t>(rng->Below(4) & rng->Below(4));
        for (int l = 0; l < problem.limit_count; ++l) {
          choice.load[l] = rng->Below(2) == 0 ? 1 : primes[k];
          if (choice.load[l] == 1) continue;
          choice.log_load[l] = Log2(choice.load[l]);
          choice.loaded[choice.load_count++] = static_cast<uint8_t>(l);
        }
      }
      for (uint32_t n = 1 + rng->Below(2); n > 0; --n) {
        kind_of.push_back(static_cast<uint8_t>(k));
      }
    }
    problem.kinds = {kinds.data(), kinds.size()};
    problem.kind_of = {kind_of.data(), kind_of.size()};
  }
  RandomCase(const RandomCase&) = delete;

  // The cost of these choices; infinite when they break a limit or set too few flags.
  double CostOf(const uint8_t* choices) const {
    double cost = 0;
    int64_t load[kMaxLimits];
    uint8_t flags = 0;
    for (int64_t& x : load) x = 1;
    for (size_t i = 0; i < kind_of.size(); ++i) {
      const FactorChoice& c = kinds[kind_of[i]].choice[choices[i]];
      cost += c.cost;
      flags |= c.flags;
      for (int l = 0; l < problem.limit_count; ++l) load[l] *= c.load[l];
    }
    bool legal = (flags & problem.required) == problem.required;
    for (int l = 0; l < problem.limit_count; ++l) legal &= load[l] <= problem.limit[l];
    return legal ? cost : __builtin_huge_val();
  }
  double Best(std::vector<uint8_t>* choices) const {
    if (choices->size() == kind_of.size()) return CostOf(choices->data());
    double best = __builtin_huge_val();
    for (int c = 0; c < kinds[kind_of[choices->size()]].choice_count; ++c) {
      choices->push_back(static_cast<uint8_t>(c));
      best = std::min(best, Best(choices));
      choices->pop_back();
    }
    return best;
  }
};

TEST_CASE("factor search: the cheapest choices within all limits, of all there are") {
  Rng rng(61);
  int infeasible = 0, gaps = 0;
  for (int round = 0; round < 3000; ++round) {
    const RandomCase c(&rng);
    std::vector<uint8_t> choices;
    const double best = c.Best(&choices);
    const double never = __builtin_huge_val();
    FactorMultipliers multipliers = {};
    TuneMultipliers(c.problem, never, &multipliers);
    CAPTURE(round);
    CHECK(multipliers.bound <= best + 1e-9);
    sluice_tests::ArenaMemory memory;
    Budget budget;
    choices.assign(c.kind_of.size(), 255);
    FactorPick pick = {};
    pick.choices = {choices.data(), choices.size()};
    const auto search = [&](double beat, size_t width) {
      return SearchFactors({c.problem, multipliers, beat, width, 0}, &memory.arena,
                           &budget, &pick);
    };
    REQUIRE(search(never, 0) == Status::kOk);
    REQUIRE(pick.found == !std::isinf(best));
    CHECK(!pick.stopped);
    infeasible += !pick.found;
    if (!pick.found) continue;
    CHECK(pick.cost == doctest::Approx(best).epsilon(1e-9));
    CHECK(c.CostOf(choices.data()) == doctest::Approx(best).epsilon(1e-9));
    gaps += multipliers.bound < best - 1e-6;
    // A narrow search never finds a better cost, and no search finds one below the best.
    REQUIRE(search(never, 1) == Status::kOk);
    if (pick.found) CHECK(c.CostOf(choices.data()) >= best - 1e-9);
    REQUIRE(search(best - 1e-6, 0) == Status::kOk);
    CHECK(!pick.found);
  }
  CHECK(infeasible > 100);
  CHECK(gaps > 100);  // cases whose bound is below the optimum
}

}  // namespace
}  // namespace sluice
