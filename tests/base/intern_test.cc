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

}  // namespace
}  // namespace sluice
