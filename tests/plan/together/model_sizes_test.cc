// SPDX-License-Identifier: Apache-2.0
// What one model's sizes say about latencies, on sizes made by hand.
#include "plan/together/model_sizes.h"

#include <doctest/doctest.h>

#include <vector>

#include "tests/plan/together/small_cohort.h"

namespace sluice {
namespace {

struct Sizes : sluice_test::SmallCohort {
  Sizes() : model(&arena) {}
  SharedSize* Size(int64_t bytes) {
    REQUIRE(AddSize(&model, bytes) == Status::kOk);
    for (SharedSize& size : model.sizes) {
      if (size.point.bytes == bytes) return &size;
    }
    return nullptr;
  }
  // A plan for `bytes` that needs `need` and takes `latency` cycles.
  void Planned(int64_t bytes, int64_t need, int64_t latency, int64_t longest = 0) {
    CurvePoint point = {};
    point.bytes = bytes;
    point.need = need;
    point.latency = latency;
    point.longest = longest;
    REQUIRE(TakePoint(request, point, &model, Size(bytes)) == Status::kOk);
  }
  std::vector<int64_t> Bytes(SharedSize::State state) const {
    std::vector<int64_t> bytes;
    for (const SharedSize& size : model.sizes) {
      if (size.state == state) bytes.push_back(size.point.bytes);
    }
    return bytes;
  }
  ModelSizes model;
  FreeRange range = {0, 1024};
  ShareRequest request = {n.hardware, {}, {&range, 1}, 1024, 512, 5, 1};
};

using Bytes = std::vector<int64_t>;

TEST_CASE(
    "model sizes: a plan that needs less makes the sizes down to its need useless") {
  Sizes s;
  s.Size(1024), s.Size(768), s.Size(512), s.Size(256);
  s.Size(0);  // no size
  CHECK(s.model.sizes.size() == 4);
  s.Planned(1024, 512, 100);
  CHECK(s.Bytes(SharedSize::kPlanned) == Bytes{1024});
  CHECK(s.Bytes(SharedSize::kUseless) == Bytes{768, 512});
  CHECK(s.Bytes(SharedSize::kOpen) == Bytes{256});
  REQUIRE(AddSize(&s.model, 640) == Status::kOk);  // would have the same plan
  CHECK(s.model.sizes.size() == 4);
  // A slower plan of a size is not kept.
  s.Planned(1024, 400, 120);
  CHECK(Whole(s.model).latency == 100);
  CHECK(LatencyWithin(s.model, 512) == 100);
  CHECK(LatencyWithin(s.model, 511) == 0);
}

TEST_CASE(
    "model sizes: a plan with a long turn gives way to one without, and to less") {
  Sizes s;
  s.request.models = 2;
  s.request.options.max_block_cycles = 10;
  s.Size(1024);
  s.Planned(1024, 1024, 100, 11);
  CHECK(s.Bytes(SharedSize::kTooLong) == Bytes{1024});
  CHECK(s.Bytes(SharedSize::kOpen) == Bytes{896});
  s.Planned(1024, 1024, 200, 10);
  CHECK(s.Bytes(SharedSize::kPlanned) == Bytes{1024});
}

TEST_CASE("model sizes: bounds are those of the next larger plan, guesses lie above") {
  Sizes s;
  s.Planned(1024, 1024, 100);
  s.Size(512), s.Size(768);
  const auto expected = [&](int64_t bytes, Known known) {
    return ExpectedLatency(s.model, *s.Size(bytes), known);
  };
  CHECK(expected(512, Known::kBounds) == 100);
  // Half the share of bytes that is taken away: (1024 - 512) / 512 / 2.
  CHECK(expected(512, Known::kGuesses) == 150);
  s.Planned(256, 256, 400);
  // Half way between 100 and the line from there to the plan of 256 bytes.
  CHECK(expected(512, Known::kGuesses) == 100 + 300 * 512 / (2 * 768));
  CHECK(Fastest(s.model).latency == 100);
  // 768 has the same bound as 512, and is the largest open size that has.
  uint32_t smaller = 0;
  while (s.model.sizes[smaller].point.bytes != 512) ++smaller;
  CHECK(s.model.sizes[LargestAlike(s.model, smaller)].point.bytes == 768);
  CHECK(LargerPlan(s.model, 1024).empty());

  Span<uint32_t> sizes;
  Span<PartitionPoint> points;
  const auto curve = [&](Known known) {
    REQUIRE(MakePoints(s.model, {known, 64}, &s.scratch, &sizes, &points) ==
            Status::kOk);
    std::vector<int64_t> bytes;
    for (size_t i = 0; i < points.size(); ++i) {
      bytes.push_back(points[i].bytes);
      CHECK(s.model.sizes[sizes[i]].point.bytes == points[i].bytes);
      if (i > 0) CHECK(points[i].latency < points[i - 1].latency);
    }
    return bytes;
  };
  CHECK(curve(Known::kPlans) == Bytes{256, 1024});
  CHECK(curve(Known::kGuesses) == Bytes{256, 512, 768, 1024});
  CHECK(curve(Known::kBounds) == Bytes{256, 512});  // 768 and 1024 are no faster
}

TEST_CASE("model sizes: a refusal drops what is too small and adds what it named") {
  Sizes s;
  s.Planned(1024, 1024, 100);
  s.Size(512), s.Size(128);
  REQUIRE(RaiseLeast(s.request, 0, &s.model) == Status::kOk);  // none named
  CHECK(s.Bytes(SharedSize::kOpen) == Bytes{512, 128});
  REQUIRE(RaiseLeast(s.request, 130, &s.model) == Status::kOk);
  CHECK(s.Bytes(SharedSize::kUseless) == Bytes{128});
  CHECK(s.Bytes(SharedSize::kOpen) == Bytes{512, 192});
}

TEST_CASE("model sizes: the sizes looked at rise by one factor up to the whole") {
  Sizes s;
  REQUIRE(AddSize(&s.model, 1024) == Status::kOk);
  REQUIRE(AddSizes(s.request, &s.model) == Status::kOk);
  // The fair share; an eighth of it; then by the fourth root of 16.
  CHECK(s.Bytes(SharedSize::kOpen) == Bytes{1024, 512, 64, 128, 256});
}

}  // namespace
}  // namespace sluice
