// SPDX-License-Identifier: Apache-2.0
#include "plan/fused/improve_sections.h"

#include <doctest/doctest.h>

#include "plan/fused/measure_section.h"
#include "tests/plan/fused/sectioned_case.h"

namespace sluice {
namespace {

using sluice_test::SectionedCase;

// A chain of eight layers that does not fit as a whole; decided, with rounds to go on.
struct Decided : SectionedCase {
  Decided() : SectionedCase(sluice_test::Chain(8, 16), 1536) {
    options.max_iterations = 4000;
    bool any = false;
    REQUIRE(ChooseSections(&plan, &any) == Status::kOk);
    REQUIRE(any);
  }
  double Cost() const {
    double cost = 0;
    REQUIRE(CostOfAll(plan, &cost) == Status::kOk);
    return cost;
  }
};

TEST_CASE("improve sections: annealing makes the whole plan no dearer, and is spent") {
  Decided d;
  const double before = d.Cost();
  const uint64_t spent = d.budget.iterations();
  CHECK(ImproveSections(&d.plan));
  CHECK(d.budget.iterations() > spent);
  CHECK(d.Cost() <= before);
}

TEST_CASE("improve sections: without rounds or time the sections stay as they are") {
  for (const bool rounds : {false, true}) {
    CAPTURE(rounds);
    Decided d;
    const double before = d.Cost();
    uint32_t cancel = 1;
    if (rounds) {
      d.budget = Budget({}, 0, 0, &cancel);
    } else {
      d.options.max_iterations = 0;
    }
    const int64_t* offsets = d.plan.sections[0].offsets.data();
    CHECK(ImproveSections(&d.plan));
    CHECK(d.plan.sections[0].offsets.data() == offsets);
    CHECK(d.Cost() == before);
  }
}

TEST_CASE(
    "improve sections: an offered plan that has not become better is not given again") {
  Decided d;
  d.plan.offered = true;
  d.options.max_iterations = 0;
  CHECK(!ImproveSections(&d.plan));
}

}  // namespace
}  // namespace sluice
