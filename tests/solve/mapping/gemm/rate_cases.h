// SPDX-License-Identifier: Apache-2.0
// Random GEMMs on memories with bandwidths; the best mapping by trying all; the claim that
// the judge gets.
#ifndef SLUICE_TESTS_SOLVE_MAPPING_GEMM_RATE_CASES_H_
#define SLUICE_TESTS_SOLVE_MAPPING_GEMM_RATE_CASES_H_

#include "solve/mapping/gemm/gemm_claim.h"
#include "solve/mapping/gemm/gemm_rate.h"
#include "solve/mapping/gemm/random_gemm.h"
#include "verify/gemm_rates.h"

namespace sluice {

struct RateCase {
  GemmShape shape;
  GemmMachine machine = {};
  GemmExactOptions options;
};

inline RateCase RandomRateCase(Rng* rng) {
  RateCase random;
  RandomGemm(rng, &random.shape, &random.machine);
  for (Rational& rate : random.machine.bandwidth) {
    if (rng->Below(3) == 0) continue;
    rate = Rational{1 + rng->Below(12), 1 + rng->Below(6)};
  }
  random.options.form = rng->Below(3) == 0 ? GemmForm::kPaper : GemmForm::kReuse;
  random.options.pe_use = rng->Below(3) == 0 ? GemmPeUse::kExact : GemmPeUse::kAtMost;
  random.options.objective = static_cast<GemmObjective>(rng->Below(3));
  return random;
}

struct RateValue {
  double first, second;
};

inline RateValue ValueOfCost(const GemmExactOptions& options, const GemmCost& cost) {
  const double cycles = static_cast<double>(cost.cycles);
  if (options.objective == GemmObjective::kEnergy) return {cost.energy_pj, cycles};
  if (options.objective == GemmObjective::kDelay) return {cycles, cost.energy_pj};
  return {cost.energy_pj * cycles, cost.energy_pj};
}

// All mappings: tiles, PEs, what each memory holds, loop orders.
class TryAllRates {
 public:
  explicit TryAllRates(const RateCase& tried) : case_(tried) { Axis(0, 1); }
  bool any() const { return any_; }
  RateValue best() const { return best_; }

 private:
  void Axis(int d, int64_t pes) {
    const GemmMachine& machine = case_.machine;
    if (d == 3) return TryHolds(pes);
    for (int64_t l1 = 1; l1 <= case_.shape.extent[d]; ++l1) {
      if (case_.shape.extent[d] % l1 != 0) continue;
      for (int64_t s = 1; s * pes <= machine.pe_count && s <= l1; ++s) {
        if (machine.fanout_limit[d] != 0 && s > machine.fanout_limit[d]) break;
        for (int64_t l3 = 1; s * l3 <= l1; ++l3) {
          if (l1 % (s * l3) != 0) continue;
          mapping_.middle_tile[d] = l1;
          mapping_.spatial[d] = s;
          mapping_.inner_tile[d] = l3;
          Axis(d + 1, pes * s);
        }
      }
    }
  }
  void TryHolds(int64_t pes) {
    const bool exact = case_.options.pe_use == GemmPeUse::kExact;
    if (exact && case_.options.objective == GemmObjective::kDelay) {
      if (pes < most_pes_) return;
      if (pes > most_pes_) any_ = false;
      most_pes_ = pes;
    } else if (exact && pes != case_.machine.pe_count) {
      return;
    }
    for (uint8_t middle = 0; middle < 8; ++middle) {
      if (GemmFootprint(mapping_.middle_tile, middle) > case_.machine.middle_words) {
        continue;
      }
      for (uint8_t inner = 0; inner < 8; ++inner) {
        if (GemmFootprint(mapping_.inner_tile, inner) > case_.machine.inner_words) {
          continue;
        }
        mapping_.middle_holds = middle;
        mapping_.inner_holds = inner;
        TryOrders();
      }
    }
  }
  void TryOrders() {
    static const uint8_t kOrders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                          {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int pair = 0; pair < 36; ++pair) {
      for (int i = 0; i < 3; ++i) {
        mapping_.outer_order.axis[i] = kOrders[pair / 6][i];
        mapping_.middle_order.axis[i] = kOrders[pair % 6][i];
      }
      const RateValue value = ValueOfCost(
          case_.options,
          EvaluateGemm(case_.shape, case_.machine, mapping_, case_.options.form));
      const bool less = value.first < best_.first ||
                        (value.first == best_.first && value.second < best_.second);
      if (any_ && !less) continue;
      best_ = value;
      any_ = true;
    }
  }
  const RateCase& case_;
  GemmMapping mapping_ = {};
  RateValue best_ = {0, 0};
  int64_t most_pes_ = 0;
  bool any_ = false;
};

struct RateClaim {
  ClaimedGemm gemm;
  ClaimedRates rates = {};
};

inline RateClaim RateClaimOf(const RateCase& of, const GemmMapping& mapping) {
  GemmSolution solution = {};
  solution.mapping = mapping;
  RateClaim claim = {sluice_tests::ClaimOf(of.shape, of.machine, of.options, solution,
                                           GemmCertificate{})
                         .gemm,
                     {}};
  const GemmCost cost = EvaluateGemm(of.shape, of.machine, mapping, of.options.form);
  for (int m = 0; m < 3; ++m) {
    claim.rates.words[m] = of.machine.bandwidth[m].numerator;
    claim.rates.cycles[m] = of.machine.bandwidth[m].denominator;
  }
  claim.rates.energy_pj = cost.energy_pj;
  claim.rates.time = cost.cycles;
  return claim;
}

}  // namespace sluice

#endif  // SLUICE_TESTS_SOLVE_MAPPING_GEMM_RATE_CASES_H_
