// SPDX-License-Identifier: Apache-2.0
// Costs of plans, compared with numbers computed by hand.
#include "plan/objective.h"

#include <doctest/doctest.h>

namespace sluice {
namespace {

double CostOf(uint32_t energy, uint32_t delay) {
  sluice_schedule_options_t options = {};
  options.energy_exponent = energy;
  options.delay_exponent = delay;
  sluice_report_t report = {};
  report.energy_pj = 3;
  report.latency_cycles = 5;
  return PlanCost(options, report);
}

TEST_CASE("objective: energy and latency to their powers, each once by default") {
  CHECK(CostOf(0, 0) == 15);
  CHECK(CostOf(1, 0) == 3);
  CHECK(CostOf(0, 1) == 5);
  CHECK(CostOf(2, 3) == 9 * 125);
}

TEST_CASE("objective: exponents are the caller's as soon as one of them is given") {
  sluice_schedule_options_t options = {};
  CHECK(ExponentsOf(options).energy == 1);
  CHECK(ExponentsOf(options).delay == 1);
  options.delay_exponent = 4;
  CHECK(ExponentsOf(options).energy == 0);
  CHECK(ExponentsOf(options).delay == 4);
  options = {};
  options.energy_exponent = 2;
  CHECK(ExponentsOf(options).energy == 2);
  CHECK(ExponentsOf(options).delay == 0);
}

TEST_CASE("objective: a plan is proved where what counts equals its bound") {
  sluice_report_t report = {};
  report.latency_cycles = report.bound_latency_cycles = 1000;
  report.energy_pj = 5;
  report.bound_energy_pj = 5 * (1 - 1e-9);
  const auto proved = [&](uint32_t energy, uint32_t delay) {
    sluice_schedule_options_t options = {};
    options.energy_exponent = energy;
    options.delay_exponent = delay;
    return IsProved(options, report);
  };
  CHECK((proved(0, 0) && proved(1, 0) && proved(0, 1) && proved(2, 3)));
  report.latency_cycles = 1001;
  CHECK((proved(1, 0) && !proved(0, 1) && !proved(0, 0) && !proved(2, 3)));
  report.latency_cycles = 1000;
  report.energy_pj = 5.0000001;
  CHECK((!proved(1, 0) && proved(0, 1) && !proved(0, 0) && !proved(2, 3)));
}

}  // namespace
}  // namespace sluice
