// SPDX-License-Identifier: Apache-2.0
// What a search makes small, and what whole plans cost.
#ifndef SLUICE_SOLVE_SPACE_GOAL_H_
#define SLUICE_SOLVE_SPACE_GOAL_H_

#include <stdint.h>

namespace sluice {

// Weights of energy and time.
struct SpaceGoal {
  double per_pj, per_cycle;  // cost of a plan: per_pj x energy + per_cycle x cycles
  // The objective of a whole plan is energy^energy_exponent x cycles^delay_exponent.
  uint32_t energy_exponent = 1, delay_exponent = 1;
};

// What a whole plan costs.
struct PlanTotal {
  double energy_pj;
  int64_t cycles;
};

}  // namespace sluice

#endif  // SLUICE_SOLVE_SPACE_GOAL_H_
