// SPDX-License-Identifier: Apache-2.0
#include "base/intern.h"

#include <doctest/doctest.h>

#include <map>

#include "base/rng.h"
#include "support/malloc_allocator.h"

namespace sluice {
namespace {

using sluice_test::Malloc;

struct Item {
  uint32_t words[7];
};

TEST_CASE("intern table: equal items have one number, in the order of first use") {
  Memory memory(Malloc(), 0);
  Arena arena(&memory);
  InternTable<Item> table(&arena);
  std::map<uint32_t, uint32_t> known;
  Rng rng(3);
  for (int i = 0; i < 20000; ++i) {
    const uint32_t value = rng.Below(3000) * 65536;
    const Item item = {{0, 0, value, 0, 0, 0, 1}};
    uint32_t index = 0;
    REQUIRE(table.Intern(item, &index) == Status::kOk);
    const auto inserted = known.insert({value, static_cast<uint32_t>(known.size())});
    CHECK(index == inserted.first->second);
    CHECK(table[index].words[2] == value);
  }
  CHECK(table.size() == known.size());
}

TEST_CASE("intern table: an item for which there is no memory is not in it") {
  Memory memory(Malloc(), 20000);
  Arena arena(&memory);
  InternTable<Item> table(&arena);
  const auto item = [](uint32_t i) { return Item{{i, 1, 2, 3, 4, 5, ~i}}; };
  Status status = Status::kOk;
  uint32_t count = 0, index = 0;
  while ((status = table.Intern(item(count), &index)) == Status::kOk) ++count;
  CHECK(status == Status::kOutOfMemory);
  REQUIRE(count > 64);
  CHECK(table.size() == count);
  CHECK(table.Intern(item(count), &index) == Status::kOutOfMemory);
  CHECK(table.size() == count);
}

}  // namespace
}  // namespace sluice
