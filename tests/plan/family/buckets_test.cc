// SPDX-License-Identifier: Apache-2.0
// Buckets for a planner with a known cost function.
#include "plan/family/buckets.h"

#include <doctest/doctest.h>

#include <functional>
#include <vector>

#include "support/read_graph.h"

namespace sluice {
namespace {

struct Planner {
  explicit Planner(std::function<double(int64_t)> cost) : cost_of(std::move(cost)) {}
  static Status Plan(void* user, int64_t value, uint32_t at, double* cost) {
    Planner* self = static_cast<Planner*>(user);
    if (value == self->refused) return Status::kInfeasible;
    self->asked.push_back(value);
    self->places.push_back(at);
    *cost = self->cost_of(value);
    return Status::kOk;
  }
  std::vector<int64_t> Tops(const BucketRange& range) {
    REQUIRE(ChooseBuckets(range, {this, Plan}, &buckets) == Status::kOk);
    std::vector<int64_t> tops;
    for (const Bucket& b : buckets) {
      tops.push_back(b.top);
      CHECK(b.cost == cost_of(b.top));
    }
    return tops;
  }
  std::function<double(int64_t)> cost_of;
  int64_t refused = -1;
  std::vector<int64_t> asked;
  std::vector<uint32_t> places;
  Memory memory{sluice_test::Nouns::Allocator(), 0};
  Arena arena{&memory};
  Vector<Bucket> buckets{&arena};
};

using Values = std::vector<int64_t>;

double Flat(int64_t) { return 5; }
double Linear(int64_t value) { return static_cast<double>(value); }

TEST_CASE("buckets: the last value first, then the first, none between equal costs") {
  Planner flat(Flat);
  CHECK(flat.Tops({1, 100, 0, 0}) == Values{1, 100});
  CHECK(flat.asked == Values{100, 1});
  CHECK(flat.places == std::vector<uint32_t>{0, 0});
  Planner one(Flat);
  CHECK(one.Tops({7, 7, 0, 0}) == Values{7});
}

TEST_CASE("buckets: the costliest step is split in the middle until the limit") {
  Planner p(Linear);
  CHECK(p.Tops({1, 100, 4, 0}) == Values{1, 25, 50, 100});
  CHECK(p.asked == Values{100, 1, 50, 25});
  CHECK(p.places == std::vector<uint32_t>{0, 0, 1, 1});
  CHECK(Planner(Linear).Tops({1, 1000000, 0, 0}).size() == 16);
}

TEST_CASE("buckets: no step above the tolerance is left that can be split") {
  // The cost grows by half over the range. The last number is the tolerated growth per
  // bucket in percent; 0 is the default of 10.
  const auto slow = [](int64_t value) { return 100 + static_cast<double>(value) / 2; };
  CHECK(Planner(slow).Tops({0, 100, 0, 50}) == Values{0, 100});
  CHECK(Planner(slow).Tops({0, 100, 0, 25}) == Values{0, 50, 100});
  const Values tops = Planner(slow).Tops({0, 100, 0, 0});
  CHECK(tops == Values{0, 12, 25, 37, 50, 75, 100});
  for (size_t i = 1; i < tops.size(); ++i) {
    CHECK(slow(tops[i]) <= 1.1 * slow(tops[i - 1]));
  }
  // Neighbouring values have nothing between them.
  CHECK(Planner(Linear).Tops({1, 3, 0, 0}) == Values{1, 2, 3});
}

TEST_CASE("buckets: what the planner refuses ends it") {
  Planner p(Linear);
  p.refused = 50;
  CHECK(ChooseBuckets({1, 100, 4, 0}, {&p, Planner::Plan}, &p.buckets) ==
        Status::kInfeasible);
  CHECK(p.buckets.size() == 2);
}

TEST_CASE("buckets: a value falls into the first bucket that reaches it") {
  Planner p(Linear);
  (void)p.Tops({1, 100, 4, 0});
  const auto of = [&](int64_t value) { return BucketOf(p.buckets, value); };
  CHECK(of(-5) == 0);
  CHECK(of(1) == 0);
  CHECK(of(2) == 1);
  CHECK(of(25) == 1);
  CHECK(of(26) == 2);
  CHECK(of(100) == 3);
  CHECK(of(101) == 4);
}

}  // namespace
}  // namespace sluice
