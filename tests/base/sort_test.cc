// SPDX-License-Identifier: Apache-2.0
#include "base/sort.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "base/rng.h"

namespace sluice {
namespace {

// Up to 24 elements are sorted by insertion, more by a heap.
TEST_CASE("sort: indices are ordered by what they point to, as std::sort orders them") {
  Rng rng(1);
  for (uint32_t n = 0; n < 100; ++n) {
    std::vector<uint32_t> key(n), items(n);
    for (uint32_t i = 0; i < n; ++i) key[i] = rng.Below(20), items[i] = i;
    std::vector<uint32_t> expected = items;
    const auto less = [&](uint32_t a, uint32_t b) {
      return key[a] != key[b] ? key[a] < key[b] : a < b;
    };
    std::sort(expected.begin(), expected.end(), less);
    Sort(items.data(), items.data() + n, less);
    CHECK(items == expected);
  }
}

TEST_CASE("sort: items of any number of words are moved whole") {
  struct Item {
    uint32_t key, copy, again;
  };
  Rng rng(3);
  for (uint32_t n = 0; n < 100; ++n) {
    std::vector<Item> items(n);
    std::vector<uint32_t> expected(n);
    for (uint32_t i = 0; i < n; ++i) {
      const uint32_t key = expected[i] = rng.Below(1000);
      items[i] = {key, key, ~key};
    }
    std::sort(expected.begin(), expected.end());
    Sort(items.data(), items.data() + n,
         [](const Item& a, const Item& b) { return a.key < b.key; });
    for (uint32_t i = 0; i < n; ++i) {
      CHECK(items[i].key == expected[i]);
      CHECK(items[i].copy == expected[i]);
      CHECK(items[i].again == ~expected[i]);
    }
  }
}

TEST_CASE("sort: other items are sorted in place") {
  Rng rng(2);
  for (uint32_t n = 0; n < 100; ++n) {
    std::vector<double> items(n);
    for (double& item : items) item = rng.Below(1000);
    std::vector<double> expected = items;
    std::sort(expected.begin(), expected.end());
    Sort(items.data(), items.data() + n);
    CHECK(items == expected);
  }
}

}  // namespace
}  // namespace sluice
