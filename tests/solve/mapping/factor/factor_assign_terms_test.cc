// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/factor/factor_assign_terms.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/rng.h"
#include "solve/mapping/factor/factor_reference.h"

namespace sluice {
namespace {

using sluice_tests::CosaOptimum;
using sluice_tests::SimbaMachine;

TEST_CASE("factor_assign values the reference assignments as the reference does") {
  const std::vector<CosaOptimum> optima = sluice_tests::CosaOptima();
  if (optima.empty()) {
    MESSAGE("skipped: no reference/cosa optima");
    return;
  }
  CHECK(optima.size() == 32);
  for (const CosaOptimum& o : optima) {
    CAPTURE(o.name);
    FactorValue value;
    Diagnostic diagnostic = {};
    CHECK(EvaluateFactors(o.layer, SimbaMachine(), FactorWeights(), o.assignment,
                          &value, &diagnostic) == Status::kOk);
    CHECK(std::fabs(value.objective - o.objective) < 6e-5);
    CHECK(std::fabs(value.utilisation - o.utilisation) < 6e-3);
    CHECK(std::fabs(value.compute - o.compute) < 6e-3);
    CHECK(std::fabs(value.traffic - o.traffic) < 6e-3);
  }
}

TEST_CASE(
    "factor terms: a value is the sum of its factors' terms, best group innermost") {
  Rng rng(51);
  const int64_t primes[] = {2, 2, 3, 5};
  for (int round = 0; round < 300; ++round) {
    FactorLayer layer = {{1, 1, 1, 1, 1, 1, 1}, 2, 1};
    const FactorMachine machine = SimbaMachine();
    const FactorWeights weights = {-0.5, 3, 2};
    const FactorProblem problem = {&layer, &machine, &weights};
    FactorAssignment a;
    for (int l = 0; l < kFactorLevels; ++l) {
      std::fill_n(a.temporal[l], kFactorDims, 1);
      std::fill_n(a.spatial[l], kFactorDims, 1);
    }
    struct Term {
      int dim, level;
      int64_t prime;
      bool spatial;
    };
    std::vector<Term> terms;
    FactorHalo halo = {false, false};  // a window factor lies inside the input buffer
    for (uint32_t k = 1 + rng.Below(6); k > 0; --k) {
      Term t = {static_cast<int>(rng.Below(kFactorDims)),
                static_cast<int>(rng.Below(kFactorLevels)), primes[rng.Below(4)],
                rng.Below(3) == 0};
      t.spatial &= t.level != kFactorDram;
      (t.spatial ? a.spatial : a.temporal)[t.level][t.dim] *= t.prime;
      layer.extent[t.dim] *= t.prime;
      halo.rows |= t.dim == kFactorP && t.level <= kFactorInputBuffer;
      halo.columns |= t.dim == kFactorQ && t.level <= kFactorInputBuffer;
      terms.push_back(t);
    }
    double utilisation = 0, compute = 0, traffic[3] = {};
    for (const Term& t : terms) {
      const double bits = std::log2(static_cast<double>(t.prime));
      utilisation += FactorUtilisation(problem, t.dim, t.prime, t.level, halo);
      compute += t.spatial ? 0 : bits;
      for (int inner = 0; inner < 3; ++inner) {
        traffic[inner] += bits * FactorTraffic(t.dim, t.level, t.spatial, inner);
        CHECK(FactorTraffic(t.dim, t.level, t.spatial, kRelaxedInner) <=
              FactorTraffic(t.dim, t.level, t.spatial, inner));
      }
    }
    FactorValue value;
    uint8_t inner;
    ValueFactors(problem, a, &value, &inner);
    CAPTURE(round);
    CHECK(value.compute == doctest::Approx(compute));
    CHECK(value.traffic == doctest::Approx(*std::min_element(traffic, traffic + 3)));
    CHECK(traffic[inner] == doctest::Approx(value.traffic));
    CHECK(value.objective == doctest::Approx(-0.5 * value.utilisation +
                                             3 * value.compute + 2 * value.traffic));
    // With a window factor in the input buffer, filter factors count once per axis;
    // compare only where there is none.
    if (!halo.rows && !halo.columns) {
      CHECK(value.utilisation == doctest::Approx(utilisation));
    }
  }
}

TEST_CASE("factor terms: loads by hand") {
  const FactorLayer layer = {{3, 3, 4, 4, 8, 8, 1}, 2, 1};
  const FactorMachine machine = SimbaMachine();
  const FactorWeights weights;
  const FactorProblem problem = {&layer, &machine, &weights};
  const auto load = [&](int dim, int64_t prime, int level, int tensor, bool inside) {
    return FactorLoad(problem, dim, prime, level, tensor, {inside, inside});
  };
  CHECK(load(kFactorK, 2, 2, kFactorWeight, false) == 2);
  CHECK(load(kFactorK, 2, 3, kFactorInput, false) == 1);
  CHECK(load(kFactorC, 2, 1, kFactorOutput, false) == 1);
  CHECK(load(kFactorP, 2, 3, kFactorOutput, false) == 2);
  CHECK(load(kFactorP, 2, 3, kFactorInput, false) == 4);  // the stride of rows is 2
  CHECK(load(kFactorQ, 2, 3, kFactorInput, false) == 2);
  // A filter factor of 3 loads 3 input rows, or one row more where a window lies in the
  // input buffer. Below the input buffer it loads no further rows.
  CHECK(load(kFactorR, 3, 3, kFactorInput, false) == 3);
  CHECK(load(kFactorR, 3, 4, kFactorInput, true) == 2);
  CHECK(load(kFactorR, 3, 2, kFactorInput, false) == 1);
  // Traffic of a loop at the global buffer, by dim and innermost group: three tensors, less
  // those that need no reload in this order of loops.
  const auto global = [](int dim, int inner) {
    return FactorTraffic(dim, kFactorGlobal, false, inner);
  };
  const double expected[][3] = {{1, 1, 3}, {2, 3, 3}, {3, 2, 3}, {3, 3, 2}};
  const int dims[] = {kFactorR, kFactorC, kFactorK, kFactorP};
  for (int i = 0; i < 4; ++i) {
    for (int inner = 0; inner < 3; ++inner) {
      CHECK(global(dims[i], inner) == expected[i][inner]);
    }
  }
  CHECK(FactorTraffic(kFactorC, kFactorGlobal, true, 0) == doctest::Approx(3 * 0.99));
  CHECK(FactorTraffic(kFactorC, kFactorDram, false, 0) == doctest::Approx(3.01));
  CHECK(FactorTraffic(kFactorC, 1, false, 0) == doctest::Approx(2 * 0.99 * 0.84));
  std::vector<int64_t> primes;
  ForPrimes(360, [&](int64_t prime, int times) {
    primes.insert(primes.end(), times, prime);
  });
  CHECK(primes == std::vector<int64_t>{2, 2, 2, 3, 3, 5});
}

TEST_CASE("factor terms: assignments of another layer, too large, or no products") {
  const FactorLayer good = {{3, 3, 14, 14, 8, 8, 1}, 1, 1};
  Diagnostic diagnostic = {};
  const auto says = [&diagnostic](const char* text) {
    return std::string(diagnostic.message).find(text) != std::string::npos;
  };
  FactorAssignment a;
  for (int level = 0; level < kFactorLevels; ++level) {
    for (int d = 0; d < kFactorDims; ++d) {
      a.temporal[level][d] = level == kFactorDram ? good.extent[d] : 1;
      a.spatial[level][d] = 1;
    }
  }
  FactorValue value;
  const auto evaluate = [&] {
    return EvaluateFactors(good, SimbaMachine(), {}, a, &value, &diagnostic);
  };
  CHECK(evaluate() == Status::kOk);
  a.temporal[kFactorDram][kFactorC] = 4;
  CHECK(evaluate() == Status::kRejected);
  CHECK(says("do not multiply to 8"));
  a.temporal[0][kFactorC] = 2;
  CHECK(evaluate() == Status::kRejected);
  CHECK(says("1 words of level 0"));
  a.temporal[0][kFactorC] = 1;
  a.spatial[0][kFactorC] = 2;
  CHECK(evaluate() == Status::kRejected);
  CHECK(says("level 0 unrolls more than its 1"));
  for (auto& level : a.temporal) {
    for (int64_t& factor : level) factor = INT64_MIN;
  }
  CHECK(evaluate() == Status::kRejected);
}

}  // namespace
}  // namespace sluice
