// SPDX-License-Identifier: Apache-2.0
// Writes tables of a stream one after the other.
//
// Input    memory, or nullptr to count bytes only
// Output   bytes; size()
// Errors   none: the caller has reserved enough
// Cost     one copy
#ifndef SLUICE_EMIT_TABLE_WRITER_H_
#define SLUICE_EMIT_TABLE_WRITER_H_

#include "base/sequence.h"
#include "emit/emitter.h"

namespace sluice {

class TableWriter {
 public:
  explicit TableWriter(uint8_t* out) : out_(out) {}
  uint64_t size() const { return size_; }

  template <typename T>
  void Put(const Sequence<T>& items) {
    static_assert(alignof(T) <= 4, "stream structs have fields of at most four bytes");
    items.ForEachRun([&](Span<const T> run) { Put(run.data(), run.size()); });
  }
  template <typename T>
  void Put(const T* items, size_t n) {
    if (out_ != nullptr && n != 0) memcpy(out_ + size_, items, n * sizeof(T));
    size_ += n * sizeof(T);
  }
  // Skipped bytes keep their value; the memory starts zeroed.
  void Seek(uint64_t at) { size_ = at; }
  void Align() {
    size_ = (size_ + kImageAlignment - 1) / kImageAlignment * kImageAlignment;
  }

 private:
  uint8_t* out_;
  uint64_t size_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_EMIT_TABLE_WRITER_H_
