// SPDX-License-Identifier: Apache-2.0
// Sorts in place: insertion sort for short runs, heap sort for long ones. Each use
// takes a fifth of the code of std::sort, and equal elements end in the same order on
// every platform. All sorts of indices share one function, and so do all others.
//
// Input    [begin, end), less: a strict weak order. Not stable.
// Output   the same elements, sorted
// Errors   none
// Cost     n log n comparisons at most; no scratch
#ifndef SLUICE_BASE_SORT_H_
#define SLUICE_BASE_SORT_H_

#include <stddef.h>
#include <stdint.h>

#include <type_traits>

namespace sluice {

// less(context, a, b)
using LessIndex = bool (*)(const void*, uint32_t, uint32_t);
void SortIndices(uint32_t* items, uint32_t* end, LessIndex less, const void* context);

// Sorts n items of `item_bytes` bytes each (a multiple of 4, at most kMostItemBytes) by
// less(context, &a, &b).
constexpr size_t kMostItemBytes = 64;
using LessItem = bool (*)(const void*, const void*, const void*);
struct ItemsToSort {
  void* items;
  size_t n, item_bytes;
};
void SortItems(const ItemsToSort& list, LessItem less, const void* context);

template <typename T, typename Less>
void Sort(T* items, T* end, Less less) {
  static_assert(std::is_trivially_copyable<T>::value, "bytes are moved");
  static_assert(sizeof(T) <= kMostItemBytes && sizeof(T) % 4 == 0, "by words");
  const auto call = [](const void* context, const void* a, const void* b) {
    return (*static_cast<const Less*>(context))(*static_cast<const T*>(a),
                                                *static_cast<const T*>(b));
  };
  SortItems({items, static_cast<size_t>(end - items), sizeof(T)}, call, &less);
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
