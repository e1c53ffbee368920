// SPDX-License-Identifier: Apache-2.0
#include "base/sort.h"

#include <string.h>

namespace sluice {
namespace {

// Items by their numbers; `held` is one that lies outside of the list for now.
class Indices {
 public:
  Indices(uint32_t* items, LessIndex less, const void* context)
      : items_(items), less_(less), context_(context) {}
  void Hold(size_t from) { held_ = items_[from]; }
  void PutHeld(size_t to) { items_[to] = held_; }
  void Move(size_t from, size_t to) { items_[to] = items_[from]; }
  bool Less(size_t a, size_t b) const { return less_(context_, items_[a], items_[b]); }
  bool HeldLess(size_t b) const { return less_(context_, held_, items_[b]); }

 private:
  uint32_t* const items_;
  const LessIndex less_;
  const void* const context_;
  uint32_t held_ = 0;
};

class Items {
 public:
  Items(const ItemsToSort& list, LessItem less, const void* context)
      : list_(list), less_(less), context_(context) {}
  void Hold(size_t from) { Copy(At(from), held_); }
  void PutHeld(size_t to) { Copy(held_, At(to)); }
  void Move(size_t from, size_t to) { Copy(At(from), At(to)); }
  bool Less(size_t a, size_t b) const { return less_(context_, At(a), At(b)); }
  bool HeldLess(size_t b) const { return less_(context_, held_, At(b)); }

 private:
  // By words: a call of memcpy for each item would take longer than all else.
  void Copy(const char* from, char* to) const {
    size_t at = list_.item_bytes & 4;
    if (at != 0) memcpy(to, from, 4);
    for (; at < list_.item_bytes; at += 8) memcpy(to + at, from + at, 8);
  }
  char* At(size_t i) const {
    return static_cast<char*>(list_.items) + i * list_.item_bytes;
  }

  const ItemsToSort list_;
  const LessItem less_;
  const void* const context_;
  alignas(16) char held_[kMostItemBytes];
};

template <typename List>
void SortList(List* list, size_t n) {
  if (n <= 24) {
    for (size_t i = 1; i < n; ++i) {
      list->Hold(i);
      size_t at = i;
      for (; at != 0 && list->HeldLess(at - 1); --at) list->Move(at - 1, at);
      list->PutHeld(at);
    }
    return;
  }
  // The first half of the rounds builds the heap, the second removes its largest
  // element.
  for (size_t root = n / 2;;) {
    if (root != 0) {
      list->Hold(--root);
    } else {
      if (--n == 0) return;
      list->Hold(n);
      list->Move(0, n);
    }
    size_t at = root;
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
      if (child + 1 < n && list->Less(child, child + 1)) ++child;
      if (!list->HeldLess(child)) break;
      list->Move(child, at);
    }
    list->PutHeld(at);
  }
}

}  // namespace

void SortIndices(uint32_t* items, uint32_t* end, LessIndex less, const void* context) {
  Indices list(items, less, context);
  SortList(&list, static_cast<size_t>(end - items));
}

void SortItems(const ItemsToSort& list, LessItem less, const void* context) {
  Items items(list, less, context);
  SortList(&items, list.n);
}

}  // namespace sluice
