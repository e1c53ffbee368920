// SPDX-License-Identifier: Apache-2.0
// Items of one plain type, each distinct value stored once and numbered in the order of
// its first use.
//
// Input    types without padding, whose size is a multiple of 4: bytes are compared.
// Output   the number of an item; items in the order of their numbers
// Errors   kOutOfMemory.
// Cost     expected constant time per item; slots double in the arena.
#ifndef SLUICE_BASE_INTERN_H_
#define SLUICE_BASE_INTERN_H_

#include "base/sequence.h"

namespace sluice {

// The part of InternTable that does not depend on the type, compiled once.
class InternSlots {
 protected:
  explicit InternSlots(Arena* arena) : arena_(arena) {}
  // `at` gives the bytes of each of the items.
  struct Items {
    const void* list;
    const void* (*at)(const void* list, size_t i);
    uint32_t bytes, count;
  };
  // The slot of the item that has these bytes: its number + 1, or 0 where there is none yet.
  Status Find(const Items& items, const void* item, uint32_t** slot);

 private:
  Status Grow(const Items& items);

  Arena* arena_;
  Span<uint32_t> slots_;  // index + 1, 0 = empty; size a power of two
};

template <typename T>
class InternTable : InternSlots {
  static_assert(__has_unique_object_representations(T), "no padding");
  static_assert(sizeof(T) % 4 == 0, "hashed by words");

 public:
  explicit InternTable(Arena* arena) : InternSlots(arena), items_(arena) {}

  Status Intern(const T& item, uint32_t* index) {
    const uint32_t count = static_cast<uint32_t>(items_.size());
    uint32_t* slot = nullptr;
    SLUICE_TRY(Find({&items_, At, sizeof(T), count}, &item, &slot));
    if (*slot == 0) {
      SLUICE_TRY(items_.Push(item));
      *slot = count + 1;
    }
    *index = *slot - 1;
    return Status::kOk;
  }
  size_t size() const { return items_.size(); }
  const T& operator[](size_t i) const { return items_[i]; }
  const Sequence<T>& items() const { return items_; }

 private:
  static const void* At(const void* list, size_t i) {
    return &(*static_cast<const Sequence<T>*>(list))[i];
  }

  Sequence<T> items_;
};

}  // namespace sluice

#endif  // SLUICE_BASE_INTERN_H_
