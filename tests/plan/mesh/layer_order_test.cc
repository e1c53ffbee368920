// SPDX-License-Identifier: Apache-2.0
// The order of layers for segments, compared with orders made by hand.
#include "plan/mesh/layer_order.h"

#include <doctest/doctest.h>

#include <vector>

#include "support/malloc_allocator.h"

namespace sluice {
namespace {

struct Given {
  bool leads;
  std::vector<uint32_t> producers;
  std::vector<uint32_t> before;
};

struct Ordered {
  explicit Ordered(const std::vector<Given>& given) {
    std::vector<std::vector<int64_t>> shares;
    std::vector<UnorderedLayer> network;
    for (uint32_t i = 0; i < given.size(); ++i) {
      // The share of a producer is its number, so that it can be told apart.
      shares.emplace_back(given[i].producers.begin(), given[i].producers.end());
      UnorderedLayer layer = {};
      layer.layer = i;
      layer.leads = given[i].leads;
      layer.producers = {given[i].producers.data(), given[i].producers.size()};
      layer.before = {given[i].before.data(), given[i].before.size()};
      network.push_back(layer);
    }
    for (uint32_t i = 0; i < given.size(); ++i)
      network[i].share = {shares[i].data(), shares[i].size()};
    REQUIRE(OrderLayers({network.data(), network.size()}, &arena, &layers) ==
            Status::kOk);
  }
  std::vector<uint32_t> Order() const {
    std::vector<uint32_t> order;
    for (const SegmentLayer& l : layers) order.push_back(l.layer);
    return order;
  }
  Memory memory{sluice_test::Malloc(), 0};
  Arena arena{&memory};
  Span<SegmentLayer> layers;
};

TEST_CASE("layer order: a chain stays as it is") {
  const Ordered o({{true, {}, {}}, {true, {0}, {}}, {false, {1}, {}}});
  CHECK(o.Order() == std::vector<uint32_t>{0, 1, 2});
  CHECK(o.layers[1].producers[0] == 0);
  CHECK(o.layers[2].producers[0] == 1);
}

TEST_CASE("layer order: branches of layers that lead keep their order") {
  // 0 feeds 1 and 2; 3 goes on from 1, 4 from 2; 5 joins both.
  const Ordered o({{true, {}, {}},
                   {true, {0}, {}},
                   {true, {0}, {}},
                   {true, {1}, {}},
                   {true, {2}, {}},
                   {true, {3, 4}, {}}});
  CHECK(o.Order() == std::vector<uint32_t>{0, 1, 2, 3, 4, 5});
  CHECK(o.layers[5].share[0] == 3);
  CHECK(o.layers[5].share[1] == 4);
}

TEST_CASE("layer order: what a follower reads comes before the layer that it follows") {
  // Layer 2 pools the result of 0, and 3 adds it to the result of 1: 0, 2 and 3 stand
  // together, behind 1.
  const Ordered o(
      {{true, {}, {}}, {true, {}, {}}, {false, {0}, {}}, {false, {1, 2}, {}}});
  CHECK(o.Order() == std::vector<uint32_t>{1, 0, 2, 3});
  // Producers have their new places, ascending, with their shares.
  const SegmentLayer& sum = o.layers[3];
  REQUIRE(sum.producers.size() == 2);
  CHECK(sum.producers[0] == 0);
  CHECK(sum.share[0] == 1);
  CHECK(sum.producers[1] == 2);
  CHECK(sum.share[1] == 2);
}

TEST_CASE("layer order: a pool follows its producer, unless others read that too") {
  // Layer 2 pools the result of 0; layer 1 is independent.
  const Ordered alone({{true, {}, {}}, {true, {}, {}}, {false, {0}, {}}});
  const std::vector<uint32_t> order = alone.Order();
  size_t at = 0;
  while (order[at] != 0) ++at;
  REQUIRE(at + 1 < order.size());
  CHECK(order[at + 1] == 2);
  // Layer 1 reads the result of 0 too, so the pool does not follow 0.
  const Ordered shared(
      {{true, {}, {}}, {true, {0}, {}}, {false, {0}, {}}, {true, {1, 2}, {}}});
  CHECK(shared.Order() == std::vector<uint32_t>{0, 1, 2, 3});
}

TEST_CASE("layer order: who makes a second operand comes before who reads it") {
  const Ordered o({{true, {}, {}}, {true, {}, {}}, {true, {0}, {1}}});
  const std::vector<uint32_t> order = o.Order();
  CHECK(order.back() == 2);
  REQUIRE(o.layers[2].before.size() == 1);
  CHECK(o.layers[o.layers[2].before[0]].layer == 1);
}

}  // namespace
}  // namespace sluice
