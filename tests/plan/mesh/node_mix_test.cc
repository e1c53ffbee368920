// SPDX-License-Identifier: Apache-2.0
// Covers of a few layers, against every cover.
#include "plan/mesh/node_mix.h"

#include <doctest/doctest.h>

#include <vector>

#include "base/rng.h"
#include "support/malloc_allocator.h"

namespace sluice {
namespace {

constexpr double kNone = 1e300;

NodeItem Item(uint32_t first, uint32_t layers, double cost, size_t steps,
              const NodeRun* run = nullptr) {
  NodeItem item = {first, layers, cost, steps, {}, nullptr};
  item.way.run = run;
  return item;
}

double Least(const std::vector<NodeItem>& items, uint32_t at, uint32_t layers) {
  if (at == layers) return 0;
  double least = kNone;
  for (const NodeItem& item : items) {
    if (item.first != at) continue;
    least = std::min(least, item.cost + Least(items, at + item.layers, layers));
  }
  return least;
}

struct Mixed {
  Memory memory{sluice_test::Malloc(), 0};
  Arena arena{&memory};
  Span<const NodeItem*> cover;
  Status status;
  Mixed(uint32_t layers, std::vector<NodeItem>* items, size_t most_steps = 1000) {
    status =
        MixItems({layers, {items->data(), items->size()}, most_steps}, &arena, &cover);
  }
  double Cost() const {
    double cost = 0;
    for (const NodeItem* item : cover) cost += item->cost;
    return cost;
  }
};

TEST_CASE("node mix: random items are covered at the least cost of all covers") {
  Rng rng(7);
  for (int i = 0; i < 300; ++i) {
    const uint32_t layers = 1 + rng.Below(6);
    std::vector<NodeItem> items;
    for (uint32_t k = 0, n = 1 + rng.Below(12); k < n; ++k) {
      const uint32_t first = rng.Below(layers);
      items.push_back(Item(first, 1 + rng.Below(layers - first), 1 + rng.Below(20), 1));
    }
    const double least = Least(items, 0, layers);
    const Mixed mixed(layers, &items);
    CHECK((mixed.status == Status::kOk) == (least < kNone));
    if (mixed.status != Status::kOk) continue;
    CHECK(mixed.Cost() == least);
    uint32_t at = 0;
    for (const NodeItem* item : mixed.cover) {
      CHECK(item->first == at);
      at += item->layers;
    }
    CHECK(at == layers);
  }
}

TEST_CASE("node mix: the run with the most steps is left out of a long program") {
  const NodeRun run = {};
  std::vector<NodeItem> items = {Item(0, 1, 5, 10), Item(1, 1, 5, 10),
                                 Item(2, 1, 5, 10), Item(0, 2, 1, 900, &run),
                                 Item(2, 1, 1, 200, &run)};
  const Mixed all(3, &items, 1100);
  CHECK(all.Cost() == 2);
  const Mixed fewer(3, &items, 1000);
  CHECK(fewer.Cost() == 11);
  // Layers by themselves are not left out, however long they are.
  const Mixed least(3, &items, 1);
  REQUIRE(least.status == Status::kOk);
  CHECK(least.Cost() == 15);
}

}  // namespace
}  // namespace sluice
