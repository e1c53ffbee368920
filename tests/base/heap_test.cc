// SPDX-License-Identifier: Apache-2.0
#include "base/heap.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "base/rng.h"

namespace sluice {
namespace {

TEST_CASE("heap: items come out in order, whatever their order was") {
  Rng rng(5);
  for (size_t n = 0; n < 40; ++n) {
    std::vector<uint32_t> items(n);
    for (uint32_t& item : items) item = rng.Below(20);
    std::vector<uint32_t> sorted = items, out;
    std::sort(sorted.begin(), sorted.end());
    Span<uint32_t> heap(items.data(), items.size());
    MakeHeap(heap, std::less<uint32_t>());
    while (!heap.empty()) {
      out.push_back(heap[0]);
      PopHeap(&heap, std::less<uint32_t>());
    }
    CHECK(out == sorted);
  }
}

TEST_CASE("heap: the caller's order decides which item is first") {
  int items[] = {3, 9, 1, 7};
  Span<int> heap(items, 4);
  MakeHeap(heap, std::greater<int>());
  CHECK(heap[0] == 9);
  PopHeap(&heap, std::greater<int>());
  CHECK(heap[0] == 7);
  CHECK(heap.size() == 3);
}

}  // namespace
}  // namespace sluice
