// SPDX-License-Identifier: Apache-2.0
#include "base/block_heap.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "base/rng.h"

namespace sluice {
namespace {

// Four granules of 64 bytes, aligned to 64.
struct FourGranules {
  alignas(64) char bytes[256];
  BlockHeap heap;
  FourGranules() { REQUIRE(heap.Init(bytes, sizeof bytes)); }
  void* Take(size_t n) { return heap.Allocate(n, 64); }
  void* At(size_t offset) { return bytes + offset; }
};

TEST_CASE(
    "block heap: a block that holds no granule behind its first border is refused") {
  alignas(64) char block[128];
  BlockHeap heap;
  CHECK_FALSE(heap.Init(nullptr, 1000));
  CHECK_FALSE(heap.Init(block, 63));
  CHECK_FALSE(heap.Init(block + 1, 126));  // 63 bytes are left once it is aligned
  REQUIRE(heap.Init(block + 1, 127));
  CHECK(heap.Allocate(65, 64) == nullptr);
  void* const behind = block + 64;
  CHECK(heap.Allocate(64, 64) == behind);
  CHECK(heap.Allocate(1, 1) == nullptr);
}

TEST_CASE("block heap: pieces are whole granules, the first hole that fits is taken") {
  FourGranules f;
  CHECK(f.Take(1) == f.At(0));
  CHECK(f.Take(65) == f.At(64));
  CHECK(f.Take(64) == f.At(192));
  CHECK(f.Take(1) == nullptr);
  f.heap.Release(f.At(0), 1);
  f.heap.Release(f.At(192), 64);
  CHECK(f.Take(128) == nullptr);  // two holes that do not touch
  CHECK(f.Take(64) == f.At(0));
  CHECK(f.Take(64) == f.At(192));
}

TEST_CASE("block heap: holes join with what lies before, behind and on both sides") {
  const size_t orders[][3] = {{0, 1, 2}, {2, 1, 0}, {0, 2, 1}, {2, 0, 1}, {1, 0, 2}};
  for (const auto& order : orders) {
    FourGranules f;
    for (size_t i = 0; i < 4; ++i) REQUIRE(f.Take(64) == f.At(64 * i));
    for (const size_t i : order) f.heap.Release(f.At(64 * i), 64);
    CHECK(f.Take(193) == nullptr);
    CHECK(f.Take(192) == f.At(0));
  }
}

TEST_CASE("block heap: alignments above a granule and sizes that wrap are refused") {
  FourGranules f;
  CHECK(f.heap.Allocate(64, 128) == nullptr);
  CHECK(f.Take(SIZE_MAX) == nullptr);
  CHECK(f.Take(SIZE_MAX - 63) == nullptr);
  CHECK(f.Take(256) == f.At(0));
}

TEST_CASE("block heap: a piece of no bytes is a place of its own") {
  FourGranules f;
  void* const nothing = f.Take(0);
  CHECK(nothing == f.At(0));
  CHECK(f.Take(64) == f.At(64));
  f.heap.Release(nothing, 0);
  f.heap.Release(f.At(64), 64);
  CHECK(f.Take(256) == f.At(0));
}

TEST_CASE("block heap: random allocations never overlap, all space comes back") {
  std::vector<char> block(1 << 16);
  BlockHeap heap;
  REQUIRE(heap.Init(block.data() + 1, block.size() - 1));
  struct Piece {
    char* at;
    size_t bytes;
  };
  std::vector<Piece> live;
  Rng rng(1);
  for (int i = 0; i < 5000; ++i) {
    if (rng.Below(2) == 0 || live.empty()) {
      const size_t bytes = 1 + rng.Below(3000);
      char* p = static_cast<char*>(heap.Allocate(bytes, 64));
      if (p == nullptr) continue;
      for (const Piece& other : live) {
        REQUIRE((p + bytes <= other.at || other.at + other.bytes <= p));
      }
      REQUIRE(p >= block.data());
      REQUIRE(p + bytes <= block.data() + block.size());
      live.push_back({p, bytes});
    } else {
      const size_t i_th = rng.Below(static_cast<uint32_t>(live.size()));
      heap.Release(live[i_th].at, live[i_th].bytes);
      live.erase(live.begin() + static_cast<long>(i_th));
    }
  }
  for (const Piece& piece : live) heap.Release(piece.at, piece.bytes);
  CHECK(heap.Allocate(block.size() - 128, 64) != nullptr);
}

TEST_CASE("block heap: as an allocator it gives and takes the same pieces") {
  FourGranules f;
  const sluice_allocator_t inside = f.heap.allocator();
  CHECK(inside.struct_size == sizeof inside);
  void* const first = inside.allocate(inside.user, 100, 64);
  CHECK(first == f.At(0));
  CHECK(inside.allocate(inside.user, 200, 64) == nullptr);
  inside.release(inside.user, first, 100, 64);
  CHECK(inside.allocate(inside.user, 256, 64) == f.At(0));
}

}  // namespace
}  // namespace sluice
