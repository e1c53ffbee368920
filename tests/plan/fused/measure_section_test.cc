// SPDX-License-Identifier: Apache-2.0
#include "plan/fused/measure_section.h"

#include <doctest/doctest.h>

#include "tests/plan/fused/sectioned_case.h"

namespace sluice {
namespace {

using doctest::Approx;
using sluice_test::Chain;
using sluice_test::SectionedCase;

// Sections of 3, 1 and 2 layers; the layer on the host is the second section.
struct Measured : SectionedCase {
  Measured() : SectionedCase(sluice_test::ChainWithHost(6, 3)) { Open(); }
  double Alone(uint32_t i) {
    double cost = 0;
    REQUIRE(MeasureAlone(plan, plan.sections[i], &cost) == Status::kOk);
    return cost;
  }
};

TEST_CASE("measure section: shares of energy and cycles, by their exponents") {
  Measured m;
  // Energy 1 to 6 pJ of 1000, cycles 10 to 60 of 500.
  std::vector<BlockCost> alone(6);
  for (size_t l = 0; l < 6; ++l) {
    alone[l].energy_pj = static_cast<double>(l + 1);
    alone[l].cycles = 10 * static_cast<int64_t>(l + 1);
  }
  m.call.alone = {alone.data(), alone.size()};
  CHECK(m.Alone(0) == Approx(6.0 / 1000 + 60.0 / 500));
  CHECK(m.Alone(2) == Approx(11.0 / 1000 + 110.0 / 500));
  m.options.energy_exponent = 2;
  m.options.delay_exponent = 3;
  CHECK(m.Alone(0) == Approx(2 * 6.0 / 1000 + 3 * 60.0 / 500));
  m.options.delay_exponent = 0;
  CHECK(m.Alone(0) == Approx(2 * 6.0 / 1000));
}

TEST_CASE("measure section: layers whose costs are not known are written and timed") {
  Measured m;
  m.options.delay_exponent = 1;  // cycles alone
  // A layer loads 256 bytes at 4 a cycle, after 10 cycles, computes 256 elements at 16
  // a cycle, and stores as many bytes.
  const double layer = (10 + 64) + 16 + (10 + 64);
  CHECK(m.Alone(0) == Approx(3 * layer / 500));
  CHECK(m.Alone(2) == Approx(2 * layer / 500));
}

TEST_CASE("measure section: what stays on chip costs less energy than through DRAM") {
  Measured m;
  m.options.energy_exponent = 1;
  Section* s = &m.plan.sections[0];
  REQUIRE(TrySection(&m.plan, s) == Status::kOk);
  REQUIRE(s->fused);
  const double decided = s->cost;
  s->cost = -1;
  REQUIRE(MeasureFused(&m.plan, s) == Status::kOk);
  CHECK(s->cost == decided);
  CHECK(s->cost < m.Alone(0));
}

TEST_CASE("measure section: the whole plan is cheaper with a fused section") {
  Measured m;
  double plain = 0, fused = 0;
  REQUIRE(CostOfAll(m.plan, &plain) == Status::kOk);
  REQUIRE(TrySection(&m.plan, &m.plan.sections[0]) == Status::kOk);
  REQUIRE(CostOfAll(m.plan, &fused) == Status::kOk);
  CHECK(fused < plain);
  CHECK(fused > 0);
}

TEST_CASE("measure section: a deadline leaves time to write what is decided") {
  Measured m;
  LeaveTime(&m.plan, 0);
  CHECK(m.plan.finish.ns == 0);  // no clock
  Budget clock({}, uint64_t{1} << 50, 0, nullptr);
  m.budget = clock.Part(100);
  m.n.memory.Watch(&clock);
  m.call.step_ns = 1000000;
  LeaveTime(&m.plan, 0);
  // Six layers of four steps are written and judged.
  CHECK(m.plan.finish.ns == 2 * 24 * m.call.step_ns);
  CHECK(m.budget.left_ns() + m.call.step_ns * 24 < clock.left_ns());
  m.plan.measured_ns = 3000;
  m.plan.measured_steps = 6;
  LeaveTime(&m.plan, 4);  // four more looks at the whole
  CHECK(m.plan.finish.ns == 2 * 24 * m.call.step_ns + 4 * 500 * 24);
  m.n.memory.Watch(nullptr);
}

}  // namespace
}  // namespace sluice
