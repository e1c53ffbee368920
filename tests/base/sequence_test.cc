// SPDX-License-Identifier: Apache-2.0
#include "base/sequence.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "support/malloc_allocator.h"

namespace sluice {
namespace {

using sluice_test::Malloc;

struct Item {
  uint32_t words[7];
};

TEST_CASE("sequence: elements stay where they are and cost what they take") {
  Memory memory(Malloc(), 0);
  Arena arena(&memory);
  Sequence<Item> items(&arena);
  const Item* first = nullptr;
  constexpr uint32_t kItems = 100000;
  for (uint32_t i = 0; i < kItems; ++i) {
    REQUIRE(items.Push(Item{{i, 1, 2, 3, 4, 5, ~i}}) == Status::kOk);
    if (i == 0) first = &items[0];
  }
  CHECK(first == &items[0]);
  uint32_t next = 0;
  items.ForEachRun([&](Span<const Item> run) {
    for (const Item& item : run) {
      CHECK(item.words[0] == next);
      CHECK(item.words[6] == ~next++);
    }
  });
  CHECK(next == kItems);
  CHECK(items[77777].words[0] == 77777);
  CHECK(memory.peak_bytes() < kItems * sizeof(Item) * 6 / 5);
}

TEST_CASE("sequence: no memory is an answer") {
  Memory memory(Malloc(), 20000);
  Arena arena(&memory);
  Sequence<Item> items(&arena);
  Status status = Status::kOk;
  while (status == Status::kOk) status = items.Push(Item{});
  CHECK(status == Status::kOutOfMemory);
  CHECK(items.size() > 100);
}

}  // namespace
}  // namespace sluice
