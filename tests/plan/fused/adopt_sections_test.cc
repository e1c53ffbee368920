// SPDX-License-Identifier: Apache-2.0
// Sections of an earlier plan, taken over as they were, reworked, or decided again.
#include "plan/fused/adopt_sections.h"

#include <doctest/doctest.h>

#include "plan/fused/write_sections.h"
#include "tests/plan/fused/carried_case.h"

namespace sluice {
namespace {

using sluice_test::CarriedCase;
using sluice_test::Chain;
using sluice_test::EarlierPlan;
using sluice_test::GraphSpec;

template <typename T>
std::vector<T> All(Span<T> span) {
  return {span.begin(), span.end()};
}

// The addresses and the DRAM schedule that the adopted plan notes.
struct Noted {
  std::vector<uint32_t> order, buffer;
  std::vector<int32_t> dram;
};
Noted Note(const PlanNotation& n) {
  Noted noted;
  noted.order.assign(n.order.begin(), n.order.end());
  noted.buffer.assign(n.buffer.begin(), n.buffer.end());
  for (const PlanDramTensor& d : n.dram) {
    noted.dram.push_back(static_cast<int32_t>(d.tensor));
    noted.dram.push_back(d.duration);
  }
  return noted;
}

TEST_CASE(
    "adopt sections: an unchanged graph keeps schedule and addresses, unsearched") {
  const EarlierPlan before(Chain(8, 16), 1536);
  CarriedCase after(before, Chain(8, 16), {}, 1536);
  bool any = false;
  REQUIRE(AdoptSections(&after.plan, &any) == Status::kOk);
  CHECK(any);
  CHECK(after.budget.iterations() == 0);
  Candidate out{&after.n.memory, after.n.hardware};
  REQUIRE(NoteSections(after.plan, &out) == Status::kOk);
  const Noted then = Note(before.out.notation), now = Note(out.notation);
  CHECK(now.order == then.order);
  CHECK(now.buffer == then.buffer);
  CHECK(now.dram == then.dram);
}

TEST_CASE("adopt sections: a touched layer is reworked in its section") {
  const EarlierPlan before(sluice_test::ChainWithHost(6, 3));
  GraphSpec edited = sluice_test::ChainWithHost(6, 3);
  edited.layers[1].op = SLUICE_OP_MAX_POOL;
  edited.layers[1].attributes = {1, 1, 1, 1, 0, 0, 0, 0, -128, 127};
  CarriedCase after(before, edited, {1});
  bool any = false;
  REQUIRE(AdoptSections(&after.plan, &any) == Status::kOk);
  CHECK(any);
  REQUIRE(after.plan.count == 3);
  const Section& reworked = after.plan.sections[0];
  CHECK(reworked.fused);
  CHECK(All(reworked.touched) == std::vector<uint8_t>{0, 1, 0});
  CHECK(!after.plan.sections[1].fused);  // the host's layer
  for (size_t b = 0; b < reworked.offsets.size(); ++b) {
    CHECK(reworked.offsets[b] + reworked.buffers.ranges[b].bytes <= 4096);
  }
}

TEST_CASE("adopt sections: what does not fit a smaller scratchpad is reworked to fit") {
  const EarlierPlan before(Chain(8, 64), 16384);
  CarriedCase after(before, Chain(8, 64), {}, 128);
  int64_t highest = 0;
  for (const uint32_t offset : before.out.notation.buffer) {
    highest = std::max<int64_t>(highest, offset);
  }
  REQUIRE(highest > 128);
  bool any = false;
  REQUIRE(AdoptSections(&after.plan, &any) == Status::kOk);
  CHECK(any);
  REQUIRE(after.plan.count == 1);
  const Section& s = after.plan.sections[0];
  REQUIRE(s.fused);
  for (size_t b = 0; b < s.offsets.size(); ++b) {
    CHECK(s.offsets[b] + s.buffers.ranges[b].bytes <= 128);
  }
}

TEST_CASE("adopt sections: layers that were not fused before are not tried") {
  EarlierPlan before(Chain(4));
  PlanSection plain = before.out.notation.section[0];
  plain.kind = kPlainSection;
  before.out.notation.section = {&plain, 1};
  CarriedCase after(before, Chain(4));
  bool any = true;
  REQUIRE(AdoptSections(&after.plan, &any) == Status::kOk);
  CHECK(!any);
}

TEST_CASE("adopt sections: a budget that ends before all are decided stops it") {
  const EarlierPlan before(Chain(8, 64), 16384);
  CarriedCase after(before, Chain(8, 64), {}, 128);
  uint32_t cancel = 1;
  after.budget = Budget({}, 0, 0, &cancel);
  bool any = false;
  CHECK(AdoptSections(&after.plan, &any) == Status::kStopped);
}

}  // namespace
}  // namespace sluice
