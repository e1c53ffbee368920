// SPDX-License-Identifier: Apache-2.0
// Two small models on one machine: ranges or turns, sums of latencies, infeasible cases.
#include "plan/together/coschedule.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "plan/together/arrange.h"
#include "tests/plan/together/small_cohort.h"

namespace sluice {
namespace {

struct Together : sluice_test::SmallCohort {
  Status Run() {
    MemberPlan to[2];
    for (uint32_t m = 0; m < 2; ++m) to[m] = {&arena, &bytes[m], &plans[m]};
    return CoSchedule(&problem, &arena, {to, 2}, &cohort);
  }
  std::string why() const { return n.diagnostic.message; }
  Span<const uint8_t> bytes[2];
  Plan plans[2] = {};
  Cohort cohort;
};

TEST_CASE("coschedule: ranges apart, plans in them, sums of what the members say") {
  Together t;
  t.options.share = SLUICE_SHARE_PARTITION;
  t.models[1].weight = 3;
  REQUIRE(t.Run() == Status::kOk);
  const sluice_cohort_summary_t& sum = t.cohort.summary;
  const sluice_member_t* member = t.cohort.members;
  CHECK(sum.share == SLUICE_SHARE_PARTITION);
  CHECK(sum.models == 2);
  CHECK(sum.turns == t.cohort.turns.size());
  CHECK(sum.proved == 1);
  CHECK(sum.latency_sum == member[0].latency_cycles + 3 * member[1].latency_cycles);
  CHECK(sum.finish_sum == member[0].finish_cycles + 3 * member[1].finish_cycles);
  CHECK(sum.equal_latency_sum == member[0].equal_cycles + 3 * member[1].equal_cycles);
  CHECK(sum.partition_finish_sum == sum.finish_sum);
  CHECK(sum.time_finish_sum == 0);  // not tried
  CHECK(sum.total_cycles == std::max(member[0].finish_cycles, member[1].finish_cycles));
  for (uint32_t m = 0; m < 2; ++m) {
    CHECK(member[m].struct_size == sizeof member[m]);
    CHECK(member[m].turns == 1);
    CHECK(member[m].latency_cycles == t.plans[m].report.latency_cycles);
    const uint64_t end = member[m].offset + member[m].bytes;
    CHECK(end <= 4096);
    CHECK(t.plans[m].report.peak_buffer_bytes > member[m].offset);
    CHECK(t.plans[m].report.peak_buffer_bytes <= end);
  }
  CHECK((member[0].offset + member[0].bytes <= member[1].offset ||
         member[1].offset + member[1].bytes <= member[0].offset));
}

TEST_CASE("coschedule: in turns each has the whole scratchpad") {
  Together t;
  t.options.share = SLUICE_SHARE_TIME;
  REQUIRE(t.Run() == Status::kOk);
  CHECK(t.cohort.summary.share == SLUICE_SHARE_TIME);
  CHECK(t.cohort.summary.partition_finish_sum == 0);
  CHECK(t.cohort.summary.time_finish_sum == t.cohort.summary.finish_sum);
  for (uint32_t m = 0; m < 2; ++m) {
    CHECK(t.cohort.members[m].offset == 0);
    CHECK(t.cohort.members[m].bytes == 4096);
  }
}

TEST_CASE("coschedule: of both ways to share the one that finishes earlier is taken") {
  for (const uint64_t capacity : {128, 512, 4096}) {
    CAPTURE(capacity);
    Together t;
    t.problem.capacity = static_cast<int64_t>(capacity);
    REQUIRE(t.Run() == Status::kOk);
    const sluice_cohort_summary_t& sum = t.cohort.summary;
    REQUIRE(sum.partition_finish_sum != 0);
    REQUIRE(sum.time_finish_sum != 0);
    CHECK(sum.finish_sum == std::min(sum.partition_finish_sum, sum.time_finish_sum));
    CHECK((sum.share == SLUICE_SHARE_TIME) ==
          (sum.time_finish_sum < sum.partition_finish_sum));
  }
}

TEST_CASE("coschedule: a reservation is the model's range") {
  Together t;
  t.models[1].reserved_offset = 1024;
  t.models[1].reserved_bytes = 512;
  REQUIRE(t.Run() == Status::kOk);
  CHECK(t.cohort.members[1].offset == 1024);
  CHECK(t.cohort.members[1].bytes == 512);
  const sluice_member_t& free = t.cohort.members[0];
  CHECK((free.offset + free.bytes <= 1024 || free.offset >= 1536));
  Together bad;
  bad.models[1].reserved_offset = 4096;
  bad.models[1].reserved_bytes = 64;
  CHECK(bad.Run() == Status::kBadArgument);
}

TEST_CASE(
    "coschedule: turns that no plan keeps are refused until they are long enough") {
  const std::string end = " are needed";
  for (const uint32_t share :
       {SLUICE_SHARE_AUTO, SLUICE_SHARE_PARTITION, SLUICE_SHARE_TIME}) {
    CAPTURE(share);
    Status status = Status::kInfeasible;
    uint64_t limit = 5;
    for (int tries = 0; status != Status::kOk && tries < 6; ++tries) {
      Together t;
      t.options.share = share;
      t.options.max_turn_cycles = limit;
      status = t.Run();
      if (status == Status::kOk) break;
      REQUIRE(status == Status::kInfeasible);
      const std::string start =
          "no turns as short as " + std::to_string(limit) + " cycles: at least ";
      REQUIRE(t.why().rfind(start, 0) == 0);
      const uint64_t least = std::stoull(t.why().substr(start.size()));
      CHECK(t.why() == start + std::to_string(least) + end);
      CHECK(least > limit);
      limit = least;
    }
    CHECK(status == Status::kOk);
    CHECK(limit > 5);
  }
}

TEST_CASE("coschedule: models without room for their smallest plans are refused") {
  Together t;
  t.problem.capacity = 64;
  t.options.share = SLUICE_SHARE_PARTITION;
  CHECK(t.Run() == Status::kInfeasible);
  CHECK(t.n.diagnostic.required_bytes == 128);
  // Taking turns, one model at a time has enough room.
  Together turns;
  turns.problem.capacity = 64;
  REQUIRE(turns.Run() == Status::kOk);
  CHECK(turns.cohort.summary.share == SLUICE_SHARE_TIME);
}

}  // namespace
}  // namespace sluice
