// SPDX-License-Identifier: Apache-2.0
// What a prime factor costs and needs at each place: the terms of the formulation.
//
// Input    a problem; one factor's dim, prime and place, or a whole assignment
// Output   loads on limits, traffic and utilisation per factor; value of an assignment
// Errors   CheckFactorInput: kBadInput with the numbers
// Cost     constant per factor
// Source   CoSA III-C, D with the constants of its public configuration
#ifndef SLUICE_SOLVE_MAPPING_FACTOR_FACTOR_ASSIGN_TERMS_H_
#define SLUICE_SOLVE_MAPPING_FACTOR_FACTOR_ASSIGN_TERMS_H_

#include <stdint.h>

#include "solve/mapping/factor/factor_assign.h"

namespace sluice {

// In place of an innermost group at the global buffer: a relaxation in which every dim
// has its best group.
constexpr int kRelaxedInner = 3;

// Whether the halo of filter rows (P) and columns (Q) is one more row or column per
// filter factor (a factor of P or Q lies inside the input buffer), or the whole filter.
struct FactorHalo {
  bool rows;
  bool columns;
};

struct FactorProblem {
  const FactorLayer* layer;
  const FactorMachine* machine;
  const FactorWeights* weights;
};

Status CheckFactorInput(const FactorProblem& problem, Diagnostic* diagnostic);

// What a factor multiplies into the footprint of a tensor at a level that holds it,
// when the factor lies at that level or inside it.
int64_t FactorLoad(const FactorProblem& problem, int dim, int64_t prime, int level,
                   int tensor, const FactorHalo& halo);
// Traffic per bit of a factor, all tensors; `inner` is the innermost group.
double FactorTraffic(int dim, int level, bool spatial, int inner);
double FactorUtilisation(const FactorProblem& problem, int dim, int64_t prime, int at,
                         const FactorHalo& halo);

// Value of a complete assignment, and its best innermost group.
void ValueFactors(const FactorProblem& problem, const FactorAssignment& assignment,
                  FactorValue* value, uint8_t* inner);

// Calls visit(prime, times) for the factorisation of n, largest prime last.
template <typename Visit>
void ForPrimes(int64_t n, const Visit& visit) {
  for (int64_t p = 2; p * p <= n; p += p == 2 ? 1 : 2) {
    int times = 0;
    for (; n % p == 0; n /= p) ++times;
    if (times != 0) visit(p, times);
  }
  if (n > 1) visit(n, 1);
}

}  // namespace sluice

#endif  // SLUICE_SOLVE_MAPPING_FACTOR_FACTOR_ASSIGN_TERMS_H_
