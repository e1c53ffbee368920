// SPDX-License-Identifier: Apache-2.0
// Whether a plan of one or two layers is the best that there is. It is proved optimal where it
// costs as much as its bound. Else all plans of its plan space are made and judged:
//
//   order     each that keeps what depends on each other in order
//   segments  one for both layers, or one for each
//   loops     of each segment every nest of loops over N H W C and the sum, each axis in every
//             number of parts that gives parts of another size; of a sum as many parts as the
//             first input has channels
//   stays     at each position, what fits stays on chip, or nothing does
//   placing   both orders
//
// Slices of weights and pieces of what is handed on are not among them. Nests are left out where
// the bound on energy and a cycle for each iteration cost as much as the best plan already, with
// all nests that have more loops inside. What is said after that holds for the space and not for
// every plan: "optimal in the plan space".
//
// Input    graph and hardware, their plan, the options that it was made with; how many plans to
//          try at most
// Output   what was found; the cheapest plan; as text and JSON
// Errors   Failure
// Cost     a plan for each that is tried
#ifndef SLUICE_CLI_PROVE_H_
#define SLUICE_CLI_PROVE_H_

#include <string>

#include "cli/plan_maker.h"

namespace sluice::cli {

struct ProveCall {
  const Bytes& graph;
  const Bytes& hardware;
  const Bytes& plan;
  const sluice_schedule_options_t& options;
  uint64_t most;
};

enum class Proved {
  kByBound,    // no plan at all costs less
  kInSpace,    // no plan of the space costs less
  kUndecided,  // not all of the space was looked at
  kNotAsked,   // the plan has no segments, or more than two layers
};

struct Proof {
  Proved proved = Proved::kNotAsked;
  uint64_t made = 0;      // plans
  uint64_t refused = 0;   // choices of which there is no plan
  uint64_t left_out = 0;  // nests, by their bound
  double ratio = 1;       // cost of the cheapest plan over that of the given one
  Bytes cheaper;          // the cheapest plan, if it is not the given one
};

Proof Prove(const ProveCall& call);
std::string ProofText(const Proof& proof);
Json ProofAsJson(const Proof& proof);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_PROVE_H_
