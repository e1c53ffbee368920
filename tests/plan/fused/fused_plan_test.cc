// SPDX-License-Identifier: Apache-2.0
#include "plan/fused/fused_plan.h"

#include <doctest/doctest.h>

#include "tests/plan/fused/sectioned_case.h"

namespace sluice {
namespace {

using sluice_test::Chain;
using sluice_test::SectionedCase;

struct Scheduled : SectionedCase {
  using SectionedCase::SectionedCase;
  Status Schedule() {
    return ScheduleFused(call, &budget, &scratch, &out, &fused, &n.diagnostic);
  }
  // Counts the plans that are offered, and the steps of the last one.
  void Listen() {
    call.constructed = {this, [](void* user, Candidate* candidate, Arena*) {
                          Scheduled* self = static_cast<Scheduled*>(user);
                          ++self->offers;
                          self->offered_steps = candidate->program.size();
                        }};
  }
  Arena scratch{&n.memory};
  Candidate out{&n.memory, n.hardware};
  bool fused = false;
  int offers = 0;
  size_t offered_steps = 0;
};

TEST_CASE("fused plan: a chain runs as one group, with its notation") {
  Scheduled s(Chain(4));
  REQUIRE(s.Schedule() == Status::kOk);
  CHECK(s.fused);
  CHECK(s.out.groups == 1);
  CHECK(s.out.program.size() > 4);
  REQUIRE(s.out.notation.section.size() == 1);
  CHECK(s.out.notation.section[0].kind == kFusedSection);
  CHECK(s.out.lowering.places[1].region == kRegionNowhere);
}

TEST_CASE("fused plan: where nothing is fused nothing is written") {
  Scheduled s(Chain(4), 16);
  s.Listen();
  REQUIRE(s.Schedule() == Status::kOk);
  CHECK(!s.fused);
  CHECK(s.out.program.size() == 0);
  CHECK(s.offers == 0);
}

TEST_CASE("fused plan: what is constructed is offered before it is improved") {
  Scheduled s(Chain(8, 16), 1536);
  s.Listen();
  s.options.max_iterations = 4000;
  Budget clock({}, uint64_t{1} << 50, 0, nullptr);
  s.n.memory.Watch(&clock);
  const Status status = s.Schedule();
  s.n.memory.Watch(nullptr);
  REQUIRE(status == Status::kOk);
  CHECK(s.offers == 1);
  CHECK(s.offered_steps > 0);
  // Only a better plan is given a second time.
  CHECK(s.fused == (s.out.program.size() != 0));
}

}  // namespace
}  // namespace sluice
