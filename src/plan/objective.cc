// SPDX-License-Identifier: Apache-2.0
#include "plan/objective.h"

namespace sluice {

Exponents ExponentsOf(const sluice_schedule_options_t& options) {
  if (options.energy_exponent == 0 && options.delay_exponent == 0) return {1, 1};
  return {options.energy_exponent, options.delay_exponent};
}

bool IsProved(const sluice_schedule_options_t& options, const sluice_report_t& report) {
  constexpr double kRounding = 2e-9;  // bounds.cc takes half of it off
  const Exponents exponents = ExponentsOf(options);
  return (exponents.delay == 0 ||
          report.latency_cycles <= report.bound_latency_cycles) &&
         (exponents.energy == 0 ||
          report.energy_pj <= report.bound_energy_pj * (1 + kRounding));
}

double PlanCost(const sluice_schedule_options_t& options,
                const sluice_report_t& report) {
  const Exponents exponents = ExponentsOf(options);
  double cost = 1;
  for (uint32_t i = 0; i < exponents.energy; ++i) cost *= report.energy_pj;
  for (uint32_t i = 0; i < exponents.delay; ++i) {
    cost *= static_cast<double>(report.latency_cycles);
  }
  return cost;
}

}  // namespace sluice
