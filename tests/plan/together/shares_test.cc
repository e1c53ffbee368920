// SPDX-License-Identifier: Apache-2.0
// The scratchpad sizes for which two small models are planned, and the division chosen.
#include "plan/together/shares.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "plan/together/turns.h"
#include "tests/plan/together/small_cohort.h"

namespace sluice {
namespace {

struct Shared : sluice_test::SmallCohort {
  // One free range of `bytes` bytes; turns of at most `limit` cycles.
  explicit Shared(int64_t bytes, uint64_t limit = 0)
      : range{0, bytes},
        shares(Request(bytes, limit), &budget, &arena, &scratch, &n.diagnostic) {}
  ShareRequest Request(int64_t bytes, uint64_t limit) {
    options.max_turn_cycles = limit;
    return {n.hardware, PlanOptions(problem), {&range, 1},
            bytes,      bytes / 2 / 64 * 64,  4,
            2};
  }
  void Add(uint32_t weight0 = 1, uint32_t weight1 = 1) {
    REQUIRE(AddModel(&shares, n.graph, weight0, 0) == Status::kOk);
    REQUIRE(AddModel(&shares, other.graph, weight1, 0) == Status::kOk);
  }
  Status Divide() { return DivideShares(&shares, &division); }
  const CurvePoint& Chosen(uint32_t m) const {
    return shares.models[m].sizes[division.size[m]].point;
  }
  FreeRange range;
  uint32_t cancel = 0;
  Budget budget{{}, 0, 0, &cancel};
  Shares shares;
  Division division = {};
};

TEST_CASE("shares: a model's first plan is for the whole range") {
  Shared s(4096);
  s.Add();
  for (uint32_t m = 0; m < 2; ++m) {
    const CurvePoint& whole = Whole(s.shares.models[m]);
    CHECK(whole.bytes == 4096);
    CHECK(whole.need <= 4096);
    CHECK(!whole.plan.empty());
    CHECK(s.shares.models[m].sizes[0].state == SharedSize::kPlanned);
    CHECK(Fastest(s.shares.models[m]).latency == whole.latency);
    CHECK(LatencyWithin(s.shares.models[m], whole.need) == whole.latency);
    CHECK(LatencyWithin(s.shares.models[m], whole.need - 1) == 0);
  }
  CHECK(Whole(s.shares.models[0]).latency > Whole(s.shares.models[1]).latency);
}

TEST_CASE("shares: where both fit as fast as alone, both have what they need") {
  Shared s(4096);
  s.Add();
  REQUIRE(s.Divide() == Status::kOk);
  CHECK(s.division.proved);
  CHECK(s.Chosen(0).latency == Whole(s.shares.models[0]).latency);
  CHECK(s.Chosen(1).latency == Whole(s.shares.models[1]).latency);
  const int64_t first = s.division.offset[0], second = s.division.offset[1];
  CHECK((first + s.Chosen(0).need <= second || second + s.Chosen(1).need <= first));
  CHECK(first % 64 == 0);
  CHECK(second % 64 == 0);
}

TEST_CASE("shares: in little room no division is worse than equal shares") {
  Shared s(768);
  s.Add();
  REQUIRE(s.Divide() == Status::kOk);
  CHECK(s.division.proved);
  CHECK(s.Chosen(0).need + s.Chosen(1).need <= 768);
  const int64_t equal =
      LatencyWithin(s.shares.models[0], 384) + LatencyWithin(s.shares.models[1], 384);
  REQUIRE(LatencyWithin(s.shares.models[0], 384) != 0);
  CHECK(s.Chosen(0).latency + s.Chosen(1).latency <= equal);
  CHECK(s.Chosen(0).latency > Whole(s.shares.models[0]).latency);
  CHECK(s.Chosen(0).latency == LatencyWithin(s.shares.models[0], s.Chosen(0).need));
}

TEST_CASE("shares: a model of more weight is not slower for it") {
  Shared first(384), second(384);
  first.Add(100, 1);
  second.Add(1, 100);
  REQUIRE(first.Divide() == Status::kOk);
  REQUIRE(second.Divide() == Status::kOk);
  CHECK(first.Chosen(0).latency < second.Chosen(0).latency);
  CHECK(first.Chosen(1).latency > second.Chosen(1).latency);
}

TEST_CASE("shares: models that do not fit side by side need so much") {
  Shared s(64);
  s.Add();
  CHECK(s.Divide() == Status::kInfeasible);
  CHECK(s.n.diagnostic.required_bytes == 128);
  CHECK(s.n.diagnostic.available_bytes == 64);
  CHECK(std::string(s.n.diagnostic.message) ==
        "the models do not fit side by side: the smallest plans need 128 bytes of "
        "scratchpad, 64 are free");
}

TEST_CASE("shares: a reservation is planned for as it is, and not divided") {
  Shared s(1024);
  REQUIRE(AddModel(&s.shares, s.n.graph, 1, 0) == Status::kOk);
  REQUIRE(AddModel(&s.shares, s.other.graph, 1, 192) == Status::kOk);
  CHECK(Whole(s.shares.models[1]).bytes == 192);
  CHECK(Whole(s.shares.models[1]).need <= 192);
  s.division.offset[1] = 77;
  REQUIRE(s.Divide() == Status::kOk);
  CHECK(s.division.offset[1] == 77);
  CHECK(s.Chosen(0).latency == Whole(s.shares.models[0]).latency);
}

TEST_CASE("shares: a model that has no plan for the whole is the call's failure") {
  Shared s(16);
  CHECK(AddModel(&s.shares, s.n.graph, 1, 0) == Status::kInfeasible);
  CHECK(s.n.diagnostic.model == 0);
  Shared second(4096);
  REQUIRE(AddModel(&second.shares, second.n.graph, 1, 0) == Status::kOk);
  CHECK(AddModel(&second.shares, second.other.graph, 1, 16) == Status::kInfeasible);
  CHECK(second.n.diagnostic.model == 1);
}

TEST_CASE("shares: stopped, the division is of the plans made so far, or of none") {
  Shared roomy(4096), tight(64);
  roomy.Add();
  tight.Add();
  roomy.cancel = tight.cancel = 1;
  REQUIRE(roomy.Divide() == Status::kOk);
  CHECK(!roomy.division.proved);
  CHECK(tight.Divide() == Status::kStopped);
  CHECK(std::string(tight.n.diagnostic.message) ==
        "stopped before it was known whether the models fit side by side");
}

TEST_CASE("shares: plans whose blocks are longer than a turn are of no use") {
  Shared s(4096, 200), longer(4096, 100000);
  s.Add();
  longer.Add();
  CHECK(longer.shares.models[0].sizes[0].state == SharedSize::kPlanned);
  CHECK(LeastTurn(longer.shares) > 0);
  CHECK(LeastTurn(s.shares) <= LeastTurn(longer.shares));
  for (const uint64_t limit : {20, 40, 60}) {
    Shared tight(4096, limit);
    tight.Add();
    const bool planned = tight.shares.models[0].sizes[0].state == SharedSize::kPlanned;
    CHECK(planned ==
          (Whole(tight.shares.models[0]).longest <= static_cast<int64_t>(limit)));
  }
}

}  // namespace
}  // namespace sluice
