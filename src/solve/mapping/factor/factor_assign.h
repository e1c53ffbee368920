// SPDX-License-Identifier: Apache-2.0
// Assigns the prime factors of a layer's loops to levels, in space or in time: the
// exact optimum of CoSA's formulation.
//
// Input    loop extents, words of each level by tensor, spatial instances, weights
// Output   factors by level and dim, temporal and spatial; the objective and its parts
// Errors   kBadInput with the number; kStopped when the budget ends before any
//          assignment is found; kOutOfMemory
// Cost     a few ms; scratch in the arena, rewound
// Source   CoSA (ISCA 2021) III-C, D: one-shot MIP. Here identical primes are counted,
//          not told apart; of the permutation only the group innermost at the global
//          buffer matters; halo indicators are enumerated; a labelled search with
//          Lagrangian bounds is exact to 1e-9. The input halo counts at levels
//          kInputHalo and up
#ifndef SLUICE_SOLVE_MAPPING_FACTOR_FACTOR_ASSIGN_H_
#define SLUICE_SOLVE_MAPPING_FACTOR_FACTOR_ASSIGN_H_

#include <stdint.h>

#include "base/budget.h"
#include "base/memory.h"
#include "base/status.h"

namespace sluice {

enum FactorDim : uint8_t {
  kFactorR,
  kFactorS,
  kFactorP,
  kFactorQ,
  kFactorC,
  kFactorK,
  kFactorN
};
constexpr int kFactorDims = 7;
enum FactorTensor : uint8_t { kFactorWeight, kFactorInput, kFactorOutput };
constexpr int kFactorTensors = 3;

// Nearest the MACs first: register, accumulator, weight buffer, input buffer, global
// buffer, DRAM. The first four are per PE and below the network.
constexpr int kFactorLevels = 6;
constexpr int kFactorInputBuffer = 3;
constexpr int kFactorGlobal = 4;
constexpr int kFactorDram = 5;

struct FactorLayer {
  int64_t extent[kFactorDims];  // 1 .. 2^31
  int64_t stride_p;             // 1 .. 1024
  int64_t stride_q;
};

struct FactorMachine {
  int64_t words[kFactorDram][kFactorTensors];  // 0 = the tensor does not live there
  int64_t spatial[kFactorDram];                // instances below the level, >= 1
};

struct FactorWeights {  // objective = sum of weight x part
  double utilisation = -0.1;
  double compute = 10;
  double traffic = 1;  // >= 0
};

struct FactorAssignment {  // products of prime factors
  int64_t temporal[kFactorLevels][kFactorDims];
  int64_t spatial[kFactorLevels][kFactorDims];
};

struct FactorValue {  // logarithms to base 2
  double utilisation;
  double compute;
  double traffic;
  double objective;
};

struct FactorSolution {
  FactorAssignment assignment;
  // Loops innermost at the global buffer: 0 {R,S} then {C}, 1 {R,S} then {K}, 2
  // {P,Q,N}.
  uint8_t global_inner;
  FactorValue value;
  double lower_bound;
  bool proved;
  int64_t labels;  // states kept by the search
};

// Value of any assignment, or kRejected with the constraint it breaks.
Status EvaluateFactors(const FactorLayer& layer, const FactorMachine& machine,
                       const FactorWeights& weights, const FactorAssignment& assignment,
                       FactorValue* value, Diagnostic* diagnostic);

struct FactorRequest {
  const FactorLayer& layer;
  const FactorMachine& machine;
  const FactorWeights& weights;
  // States of one search: with more of them the best assignment so far is not proved.
  // 0: as many as it takes.
  size_t most_labels = 0;
};

Status SolveFactorAssign(const FactorRequest& request, Arena* arena, Budget* budget,
                         FactorSolution* solution, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_SOLVE_MAPPING_FACTOR_FACTOR_ASSIGN_H_
