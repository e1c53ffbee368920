// SPDX-License-Identifier: Apache-2.0
#include "plan/fused/write_sections.h"

#include <doctest/doctest.h>

#include "tests/plan/fused/sectioned_case.h"

namespace sluice {
namespace {

using sluice_test::SectionedCase;

// Layers 0 to 2, the host's layer 3, layers 4 and 5.
struct Written : SectionedCase {
  Written() : SectionedCase(sluice_test::ChainWithHost(6, 3)) { Open(); }
  Candidate out{&n.memory, n.hardware};
  Status Write() { return WriteSections(plan, &out, &n.diagnostic); }
  uint32_t GroupsOf(uint32_t section) const {
    return plan.sections[section].result.list.groups;
  }
};

TEST_CASE("write sections: layers one by one are groups of their own, all in DRAM") {
  Written w;
  REQUIRE(w.Write() == Status::kOk);
  CHECK(w.out.groups == 6);
  for (const TensorPlace& place : w.out.lowering.places) {
    CHECK(place.region != kRegionNowhere);
  }
  uint32_t last = 0;
  bool host = false;
  for (size_t i = 0; i < w.out.program.size(); ++i) {
    const Step s = w.out.program.step(i);
    CHECK(s.layer >= last);
    last = s.layer;
    host = host || (s.kind == StepKind::kHost && s.layer == 3);
  }
  CHECK(last == 5);
  CHECK(host);
}

TEST_CASE("write sections: what a fused section keeps on chip has no place in DRAM") {
  Written fused;
  REQUIRE(TrySection(&fused.plan, &fused.plan.sections[0]) == Status::kOk);
  REQUIRE(fused.plan.sections[0].fused);
  REQUIRE(fused.Write() == Status::kOk);
  REQUIRE(fused.GroupsOf(0) == 1);
  CHECK(fused.out.groups == 1 + 1 + 2);
  const Span<TensorPlace> places = fused.out.lowering.places;
  CHECK(places[0].region == SLUICE_REGION_INPUT);
  CHECK(places[1].region == kRegionNowhere);
  CHECK(places[2].region == kRegionNowhere);
  CHECK(places[3].region != kRegionNowhere);  // the host reads it
  CHECK(places[5].region != kRegionNowhere);
  for (size_t i = 0; i < fused.out.program.size(); ++i) {
    const Step s = fused.out.program.step(i);
    if (s.kind == StepKind::kLoad) CHECK(s.layer != 1);
    if (s.kind == StepKind::kStore) CHECK(s.layer != 1);
  }
}

TEST_CASE(
    "write sections: the notation names fused sections and joins plain ones to one") {
  Written w;
  REQUIRE(TrySection(&w.plan, &w.plan.sections[0]) == Status::kOk);
  REQUIRE(NoteSections(w.plan, &w.out) == Status::kOk);
  const PlanNotation& n = w.out.notation;
  REQUIRE(n.section.size() >= 2);
  CHECK(n.section[0].kind == kFusedSection);
  CHECK(n.section[0].layer == 0);
  CHECK(n.section[0].transfers == w.plan.sections[0].result.list.transfers);
  CHECK(n.section[1].kind == kPlainSection);
  CHECK(n.section[1].layer == 3);
  CHECK(n.order.size() == 6);
  CHECK(n.buffer.size() == w.plan.sections[0].offsets.size());
}

TEST_CASE("write sections: equal sections share transfers and addresses") {
  SectionedCase c(sluice_test::Chain(8));
  REQUIRE(CutIntoSections(&c.plan) == Status::kOk);
  SplitSection(&c.plan, 0);
  SplitSection(&c.plan, 0);
  SplitSection(&c.plan, 2);
  for (uint32_t i = 0; i < 4; ++i) {
    REQUIRE(TrySection(&c.plan, &c.plan.sections[i]) == Status::kOk);
    REQUIRE(c.plan.sections[i].fused);
  }
  REQUIRE(c.plan.sections[2].decision == 1);
  Candidate out{&c.n.memory, c.n.hardware};
  REQUIRE(NoteSections(c.plan, &out) == Status::kOk);
  const PlanNotation& n = out.notation;
  REQUIRE(n.section.size() == 4);
  CHECK(n.section[2].dram == n.section[1].dram);
  CHECK(n.section_buffer[2] == n.section_buffer[1]);
  REQUIRE(c.plan.decisions == 1);
  CHECK(n.dram.size() == c.plan.sections[0].result.list.transfers);
  CHECK(n.buffer.size() == c.plan.sections[0].offsets.size());
}

}  // namespace
}  // namespace sluice
