// SPDX-License-Identifier: Apache-2.0
// Growable array in pages of an arena. Growing moves no elements and leaves no old
// copies behind, so a long list costs little more than its elements.
//
// Input    an arena; elements
// Output   elements by index, or as contiguous runs
// Errors   kOutOfMemory; kStopped when the clock of the memory has run out
// Cost     constant time per element; 8 bytes per page of at most 1 KiB.
#ifndef SLUICE_BASE_SEQUENCE_H_
#define SLUICE_BASE_SEQUENCE_H_

#include <type_traits>

#include "base/memory.h"

namespace sluice {

// The part of Sequence that does not depend on the type, compiled once.
class SequenceStorage {
 protected:
  explicit SequenceStorage(Arena* arena) : pages_(arena), arena_(arena) {}
  // layout: Arena::LayoutOf the elements, of which a page has 2^shift.
  Status PushItem(const void* item, uint32_t layout, uint32_t shift);

  Vector<void*> pages_;
  Arena* arena_;
  size_t size_ = 0;
};

template <typename T>
class Sequence : SequenceStorage {
 public:
  explicit Sequence(Arena* arena) : SequenceStorage(arena) {}

  Status Push(const T& value) { return PushItem(&value, Arena::LayoutOf<T>(), kShift); }
  size_t size() const { return size_; }
  // Keeps the pages for what is pushed next.
  void Truncate(size_t n) { size_ = n; }
  T& operator[](size_t i) { return Page(i)[i & kMask]; }
  const T& operator[](size_t i) const { return Page(i)[i & kMask]; }

  // Calls `visit` with a Span of each contiguous run, in order.
  template <typename Visit>
  void ForEachRun(Visit visit) const {
    for (size_t at = 0; at < size_; at += kMask + 1) {
      const size_t n = size_ - at < kMask + 1 ? size_ - at : kMask + 1;
      visit(Span<const T>(Page(at), n));
    }
  }

 private:
  static_assert(std::is_trivially_copyable<T>::value, "bytes are copied");
  static constexpr uint32_t Shift() {
    uint32_t shift = 0;
    while (sizeof(T) << (shift + 1) <= 1024) ++shift;
    return shift;
  }
  static constexpr uint32_t kShift = Shift();
  static constexpr size_t kMask = (size_t{1} << kShift) - 1;

  T* Page(size_t i) const { return static_cast<T*>(pages_[i >> kShift]); }
};

}  // namespace sluice

#endif  // SLUICE_BASE_SEQUENCE_H_
