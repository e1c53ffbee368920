// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <vector>

#include "base/block_heap.h"
#include "base/intern.h"
#include "base/rng.h"
#include "support/malloc_allocator.h"

namespace sluice {
namespace {

using sluice_test::Malloc;

TEST_CASE("memory: the cap is never exceeded and live bytes return to zero") {
  Memory memory(Malloc(), 100 * 1024);
  {
    Arena arena(&memory);
    Span<uint64_t> numbers;
    REQUIRE(arena.Allocate(1000, &numbers) == Status::kOk);
    CHECK(numbers[999] == 0);
    Span<char> much;
    CHECK(arena.Allocate(200 * 1024, &much) == Status::kOutOfMemory);
    // A chunk of the usual size would exceed the cap; one of exactly this size does
    // not.
    CHECK(arena.Allocate(30 * 1024, &much) == Status::kOk);
    CHECK(arena.Allocate(30 * 1024, &much) == Status::kOk);
    CHECK(memory.live_bytes() <= 100 * 1024);
  }
  CHECK(memory.live_bytes() == 0);
  CHECK(memory.peak_bytes() <= 100 * 1024);
}

TEST_CASE("memory: what is free ends at the lower cap, and refusals are counted") {
  const sluice_allocator_t allocator = Malloc();
  sluice::Memory endless(allocator, 0);
  CHECK(endless.free_bytes() == UINT64_MAX);
  sluice::Memory memory(allocator, 1000);
  void* const p = memory.Allocate(300, 64);
  REQUIRE(p != nullptr);
  CHECK(memory.free_bytes() == 700);
  memory.Limit(500);
  CHECK(memory.free_bytes() == 200);
  CHECK(memory.refusals() == 0);
  CHECK(memory.Allocate(201, 64) == nullptr);
  CHECK(memory.limit_hits() == 1);
  memory.Limit(100);  // less than what is live
  CHECK(memory.free_bytes() == 0);
  memory.Limit(0);
  CHECK(memory.Allocate(701, 64) == nullptr);
  CHECK(memory.refusals() == 2);
  CHECK(memory.limit_hits() == 1);
  memory.Release(p, 300, 64);
  CHECK(memory.free_bytes() == 1000);
}

TEST_CASE("arena: a table that cannot grow stays as it is, however often it is asked") {
  Memory memory(Malloc(), 40 * 1024);
  Arena arena(&memory);
  InternTable<uint32_t> table(&arena);
  uint32_t index = 0, known = 0;
  while (table.Intern(known, &index) == Status::kOk) REQUIRE(index == known++);
  REQUIRE(known > 100);
  for (uint32_t i = 0; i < 1000; ++i) {
    REQUIRE(table.Intern(known + i, &index) == Status::kOutOfMemory);
  }
  CHECK(table.size() == known);
  CHECK(table[known - 1] == known - 1);
}

TEST_CASE("arena: rewinding gives back what came after the mark") {
  Memory memory(Malloc(), 0);
  Arena arena(&memory);
  Span<char> kept;
  REQUIRE(arena.Allocate(10, &kept) == Status::kOk);
  kept[9] = 7;
  const uint64_t before = memory.live_bytes();
  {
    ArenaScope scope(&arena);
    Span<char> scratch;
    REQUIRE(arena.Allocate(1 << 20, &scratch) == Status::kOk);
    CHECK(memory.live_bytes() > before);
  }
  CHECK(memory.live_bytes() == before);
  CHECK(kept[9] == 7);
}

// An allocator that counts the bytes it has handed out.
struct Held {
  uint64_t live = 0, peak = 0, calls = 0;
  sluice_allocator_t allocator() {
    sluice_allocator_t a = {};
    a.struct_size = sizeof a;
    a.user = this;
    a.allocate = [](void* user, size_t bytes, size_t alignment) {
      Held* h = static_cast<Held*>(user);
      h->live += bytes;
      h->peak = h->peak < h->live ? h->live : h->peak;
      ++h->calls;
      return std::aligned_alloc(alignment,
                                (bytes + alignment - 1) / alignment * alignment);
    };
    a.release = [](void* user, void* p, size_t bytes, size_t) {
      static_cast<Held*>(user)->live -= bytes;
      std::free(p);
    };
    return a;
  }
};

TEST_CASE("memory: a call takes its own chunks up again and never holds more for it") {
  Held held;
  Memory memory(held.allocator(), 0);
  Rng rng(2);
  memory.BeginCall();
  for (int i = 0; i < 200; ++i) {
    Arena arena(&memory);
    Span<char> some;
    for (uint32_t k = rng.Below(40); k-- > 0;) {
      REQUIRE(arena.Allocate(1 + rng.Below(150000), &some) == Status::kOk);
      REQUIRE(some[some.size() - 1] == 0);
      some[some.size() - 1] = 1;
      REQUIRE(held.live == memory.live_bytes() + memory.kept_bytes());
    }
  }
  CHECK(memory.live_bytes() == 0);
  CHECK(memory.kept_bytes() != 0);
  CHECK(memory.allocations() == held.calls);
  CHECK(held.peak == memory.peak_bytes());
  memory.EndCall();
  CHECK(held.live == 0);
}

TEST_CASE("memory: a call that is late gives nothing back, the next one does") {
  Held held;
  Memory memory(held.allocator(), 0);
  const uint32_t cancelled = 1;
  Budget clock({}, 0, 0, &cancelled);
  void* small = memory.Allocate(256, 64);
  memory.BeginCall();
  {
    Arena arena(&memory);
    Span<char> much;
    for (size_t n : {20000, 300000, 70000}) {
      REQUIRE(arena.Allocate(n, &much) == Status::kOk);
    }
    memory.Watch(&clock);
  }
  memory.Watch(nullptr);
  memory.Release(small, 256, 64);
  const uint64_t before = held.live;
  memory.EndCall();
  CHECK(memory.live_bytes() == 0);
  CHECK(before > 390000);
  CHECK(held.live == before);
  void* next = memory.Allocate(128, 64);
  CHECK(held.live == 128);
  memory.Release(next, 128, 64);
  CHECK(held.live == 0);
}

TEST_CASE("memory: what is kept for comfort is there when the allocator is dry") {
  std::vector<char> block(1 << 20);
  BlockHeap heap;
  REQUIRE(heap.Init(block.data(), block.size()));
  sluice_allocator_t inside = {};
  inside.struct_size = sizeof inside;
  inside.user = &heap;
  inside.allocate = [](void* user, size_t bytes, size_t alignment) {
    return static_cast<BlockHeap*>(user)->Allocate(bytes, alignment);
  };
  inside.release = [](void* user, void* p, size_t bytes, size_t) {
    static_cast<BlockHeap*>(user)->Release(p, bytes);
  };
  Memory memory(inside, 0);
  memory.BeginCall();
  {
    Arena arena(&memory);
    Span<char> some;
    for (int i = 0; i < 12; ++i) {
      REQUIRE(arena.Allocate(60000, &some) == Status::kOk);
    }
  }
  CHECK(memory.kept_bytes() >= 12 * 60000);
  Arena arena(&memory);
  Span<char> much;
  CHECK(arena.Allocate(600000, &much) == Status::kOk);
  memory.EndCall();
}

}  // namespace
}  // namespace sluice
