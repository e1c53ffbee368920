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

template <typename T>
class InternTable {
  static_assert(__has_unique_object_representations(T), "no padding");
  static_assert(sizeof(T) % 4 == 0, "hashed by words");

 public:
  explicit InternTable(Arena* arena) : items_(arena), arena_(arena) {}

  Status Intern(const T& item, uint32_t* index) {
    if (items_.size() * 2 >= slots_.size()) SLUICE_TRY(Grow());
    size_t at = Hash(item) & (slots_.size() - 1);
    while (slots_[at] != 0) {
      if (memcmp(&items_[slots_[at] - 1], &item, sizeof item) == 0) {
        *index = slots_[at] - 1;
        return Status::kOk;
      }
      at = (at + 1) & (slots_.size() - 1);
    }
    *index = static_cast<uint32_t>(items_.size());
    SLUICE_TRY(items_.Push(item));
    slots_[at] = *index + 1;
    return Status::kOk;
  }
  size_t size() const { return items_.size(); }
  const T& operator[](size_t i) const { return items_[i]; }
  const Sequence<T>& items() const { return items_; }

 private:
  // Slots are never visible outside, so any good hash will do.
  static size_t Hash(const T& item) {
    const char* bytes = reinterpret_cast<const char*>(&item);
    uint64_t hash = sizeof item;
    for (size_t i = 0; i < sizeof item; i += 8) {
      uint64_t words = 0;
      memcpy(&words, bytes + i, i + 8 <= sizeof item ? 8 : 4);
      hash = (hash ^ words) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 32;
    }
    return static_cast<size_t>(hash);
  }
  Status Grow() {
    SLUICE_TRY(arena_->Allocate(slots_.size() == 0 ? 64 : 2 * slots_.size(), &slots_));
    for (uint32_t i = 0; i < items_.size(); ++i) {
      size_t at = Hash(items_[i]) & (slots_.size() - 1);
      while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = i + 1;
    }
    return Status::kOk;
  }

  Sequence<T> items_;
  Arena* arena_;
  Span<uint32_t> slots_;  // index + 1, 0 = empty; size a power of two
};

}  // namespace sluice

#endif  // SLUICE_BASE_INTERN_H_
