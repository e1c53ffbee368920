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

#include "base/memory.h"

namespace sluice {

template <typename T>
class Sequence {
 public:
  explicit Sequence(Arena* arena) : arena_(arena), pages_(arena) {}

  Status Push(const T& value) {
    if (size_ >> kShift == pages_.size()) SLUICE_TRY(AddPage());
    pages_[size_ >> kShift][size_ & kMask] = value;
    ++size_;
    return Status::kOk;
  }
  size_t size() const { return size_; }
  // Keeps the pages for what is pushed next.
  void Truncate(size_t n) { size_ = n; }
  T& operator[](size_t i) { return pages_[i >> kShift][i & kMask]; }
  const T& operator[](size_t i) const { return pages_[i >> kShift][i & kMask]; }

  // Calls `visit` with a Span of each contiguous run, in order.
  template <typename Visit>
  void ForEachRun(Visit visit) const {
    for (size_t at = 0; at < size_; at += kMask + 1) {
      const size_t n = size_ - at < kMask + 1 ? size_ - at : kMask + 1;
      visit(Span<const T>(pages_[at >> kShift], n));
    }
  }

 private:
  static constexpr size_t Shift() {
    size_t shift = 0;
    while (sizeof(T) << (shift + 1) <= 1024) ++shift;
    return shift;
  }
  static constexpr size_t kShift = Shift();
  static constexpr size_t kMask = (size_t{1} << kShift) - 1;

  Status AddPage() {
    void* page = nullptr;
    SLUICE_TRY(arena_->AllocatePage(sizeof(T) << kShift, alignof(T), &page));
    return pages_.Push(static_cast<T*>(page));
  }

  Arena* arena_;
  Vector<T*> pages_;
  size_t size_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_BASE_SEQUENCE_H_
