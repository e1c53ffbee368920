// SPDX-License-Identifier: Apache-2.0
// Sorts in place: insertion sort for short runs, heap sort for long ones. Each use
// takes a fifth of the code of std::sort, and equal elements end in the same order on
// every platform. All sorts of indices share one function.
//
// Input    [begin, end), less: a strict weak order. Not stable.
// Output   the same elements, sorted
// Errors   none
// Cost     n log n comparisons at most; no scratch
#ifndef SLUICE_BASE_SORT_H_
#define SLUICE_BASE_SORT_H_

#include <stddef.h>
#include <stdint.h>

namespace sluice {

template <typename T, typename Less>
void SortInPlace(T* items, T* end, Less less) {
  size_t n = static_cast<size_t>(end - items);
  if (n <= 24) {
    for (size_t i = 1; i < n; ++i) {
      const T item = items[i];
      size_t at = i;
      for (; at != 0 && less(item, items[at - 1]); --at) items[at] = items[at - 1];
      items[at] = item;
    }
    return;
  }
  // The first half of the rounds builds the heap, the second removes its largest
  // element.
  for (size_t root = n / 2;;) {
    T item = items[0];
    if (root != 0) {
      item = items[--root];
    } else {
      if (--n == 0) return;
      item = items[n];
      items[n] = items[0];
    }
    size_t at = root;
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
      if (child + 1 < n && less(items[child], items[child + 1])) ++child;
      if (!less(item, items[child])) break;
      items[at] = items[child];
    }
    items[at] = item;
  }
}

// less(context, a, b)
using LessIndex = bool (*)(const void*, uint32_t, uint32_t);
void SortIndices(uint32_t* items, uint32_t* end, LessIndex less, const void* context);

template <typename T, typename Less>
void Sort(T* items, T* end, Less less) {
  SortInPlace(items, end, less);
}

template <typename Less>
void Sort(uint32_t* items, uint32_t* end, Less less) {
  const auto call = [](const void* context, uint32_t a, uint32_t b) {
    return (*static_cast<const Less*>(context))(a, b);
  };
  SortIndices(items, end, call, &less);
}

template <typename T>
void Sort(T* items, T* end) {
  Sort(items, end, [](const T& a, const T& b) { return a < b; });
}

}  // namespace sluice

#endif  // SLUICE_BASE_SORT_H_
