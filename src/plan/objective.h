// SPDX-License-Identifier: Apache-2.0
// The number that says which of two plans is better.
//
// Input    the exponents in the caller's options; a report.
// Output   energy^n * cycles^m; smaller is better. Whether it is known to be the least.
// Errors   none.
// Cost     constant.
#ifndef SLUICE_PLAN_OBJECTIVE_H_
#define SLUICE_PLAN_OBJECTIVE_H_

#include "model/plan.h"

namespace sluice {

struct Exponents {
  uint32_t energy;
  uint32_t delay;
};

// The caller's exponents; if both are 0, 1 and 1.
Exponents ExponentsOf(const sluice_schedule_options_t& options);

// Whether the report's bounds show that no plan costs less. Energies may differ by rounding.
bool IsProved(const sluice_schedule_options_t& options, const sluice_report_t& report);

double PlanCost(const sluice_schedule_options_t& options,
                const sluice_report_t& report);

}  // namespace sluice

#endif  // SLUICE_PLAN_OBJECTIVE_H_
