// SPDX-License-Identifier: Apache-2.0
// Free ranges between reservations, and sums of latencies, compared with numbers computed by
// hand.
#include "plan/together/arrange.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/read_graph.h"

namespace sluice {
namespace {

using Ranges = std::vector<std::pair<int64_t, int64_t>>;  // begin, bytes

// A scratchpad of 1024 bytes for models with reservations (offset, bytes), or none.
struct Shared {
  explicit Shared(const std::vector<std::pair<uint64_t, uint64_t>>& reservations) {
    for (const auto& r : reservations)
      models.push_back({nullptr, 0, 0, r.first, r.second});
    problem.models = {models.data(), models.size()};
  }
  Status Find() { return FindFreeRanges(&problem); }
  Ranges ranges() const {
    Ranges all;
    for (uint32_t r = 0; r < problem.range_count; ++r) {
      all.push_back({problem.ranges[r].begin, problem.ranges[r].bytes});
    }
    return all;
  }
  static sluice_test::GraphSpec Spec() {
    sluice_test::GraphSpec spec;
    spec.tensors = {{{1, 1, 1, 4}, SLUICE_DTYPE_INT8, 1},
                    {{1, 1, 1, 4}, SLUICE_DTYPE_INT8, 2}};
    spec.layers = {{SLUICE_OP_RESHAPE, {0}, {1}, {}}};
    return spec;
  }
  sluice_test::Nouns n{Spec()};
  sluice_coschedule_options_t options = {};
  std::vector<sluice_model_t> models;
  CohortProblem problem{
      n.hardware, {},   {}, options, &n.arena, &n.arena, &n.diagnostic,
      Budget(),   1024, 0,  {},      0,        0};
};

TEST_CASE("arrange: the ranges between reservations, in their order") {
  Shared none({{0, 0}, {0, 0}});
  REQUIRE(none.Find() == Status::kOk);
  CHECK(none.ranges() == Ranges{{0, 1024}});
  CHECK(none.problem.free_models == 2);
  CHECK(none.problem.largest == 0);
  Shared two({{512, 64}, {0, 0}, {128, 100}});
  REQUIRE(two.Find() == Status::kOk);
  // Behind 228 bytes the next range begins at a multiple of 64.
  CHECK(two.ranges() == Ranges{{0, 128}, {256, 256}, {576, 448}});
  CHECK(two.problem.free_models == 1);
  CHECK(two.problem.largest == 2);
  Shared all({{0, 1024}});
  REQUIRE(all.Find() == Status::kOk);
  CHECK(all.ranges() == Ranges{{0, 0}, {1024, 0}});
  CHECK(all.problem.free_models == 0);
  Shared touching({{64, 64}, {128, 64}});
  REQUIRE(touching.Find() == Status::kOk);
  CHECK(touching.ranges() == Ranges{{0, 64}, {128, 0}, {192, 832}});
}

TEST_CASE("arrange: reservations outside, not aligned, or overlapping are named") {
  const auto said = [](const std::vector<std::pair<uint64_t, uint64_t>>& reservations) {
    Shared s(reservations);
    CHECK(s.Find() == Status::kBadArgument);
    return std::string(s.n.diagnostic.message);
  };
  const std::string outside = " lies outside the scratchpad or at no multiple of 64";
  CHECK(said({{0, 1025}}) == "the reservation of model 0" + outside);
  CHECK(said({{1088, 64}}) == "the reservation of model 0" + outside);
  CHECK(said({{0, 64}, {32, 64}}) == "the reservation of model 1" + outside);
  CHECK(said({{128, 64}, {64, 65}}) == "the reservations of models 1 and 0 overlap");
}

TEST_CASE("arrange: equal shares are of all free bytes, and fit the largest range") {
  Shared two({{0, 0}, {0, 0}, {0, 0}});
  REQUIRE(two.Find() == Status::kOk);
  CHECK(EqualShare(two.problem) == 320);  // a third, 341, in multiples of 64
  Shared split({{512, 64}, {0, 0}});
  REQUIRE(split.Find() == Status::kOk);
  CHECK(EqualShare(split.problem) == 512);  // 960 are free, in two ranges
}

TEST_CASE("arrange: sums are weighted, a weight of 0 is 1, and they saturate") {
  Shared s({{0, 0}, {0, 0}});
  s.models[1].weight = 3;
  Arrangement a(&s.n.arena);
  a.finish[0] = 10;
  a.finish[1] = 100;
  CHECK(FinishSum(s.problem, a) == 310);
  CHECK(SaturatedSum(5, 3, 7) == 26);
  CHECK(SaturatedSum(1, 4, uint64_t{1} << 62) == UINT64_MAX);
  CHECK(SaturatedSum(UINT64_MAX - 5, 1, 6) == UINT64_MAX);
  CHECK(SaturatedSum(UINT64_MAX - 6, 1, 6) == UINT64_MAX);
}

}  // namespace
}  // namespace sluice
