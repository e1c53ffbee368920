// SPDX-License-Identifier: Apache-2.0
// A binary heap in place: the least item stands first.
//
// Input    items; less: a strict weak order
// Output   the same items in heap order. Which of equal items comes first depends on
//          the items alone.
// Errors   none
// Cost     MakeHeap linear, PopHeap log n comparisons; no scratch
#ifndef SLUICE_BASE_HEAP_H_
#define SLUICE_BASE_HEAP_H_

#include "base/array.h"

namespace sluice {

// Moves item i down to its place. The items below it must be in heap order already.
template <typename T, typename Less>
void SiftDown(Span<T> heap, size_t i, Less less) {
  const T moved = heap[i];
  for (size_t child; (child = 2 * i + 1) < heap.size(); i = child) {
    if (child + 1 < heap.size() && less(heap[child + 1], heap[child])) ++child;
    if (!less(heap[child], moved)) break;
    heap[i] = heap[child];
  }
  heap[i] = moved;
}

template <typename T, typename Less>
void MakeHeap(Span<T> items, Less less) {
  for (size_t i = items.size() / 2; i > 0; --i) SiftDown(items, i - 1, less);
}

// Removes the first item of a heap that is not empty.
template <typename T, typename Less>
void PopHeap(Span<T>* heap, Less less) {
  const size_t left = heap->size() - 1;
  (*heap)[0] = (*heap)[left];
  *heap = heap->Slice(0, left);
  if (left != 0) SiftDown(*heap, 0, less);
}

}  // namespace sluice

#endif  // SLUICE_BASE_HEAP_H_
