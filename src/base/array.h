// SPDX-License-Identifier: Apache-2.0
// Span: a view of n elements. Owns nothing.
//
// Input    a pointer and a count
// Output   elements, slices
// Errors   none; an index out of range is our own mistake (SLUICE_ASSERT)
// Cost     two words
#ifndef SLUICE_BASE_ARRAY_H_
#define SLUICE_BASE_ARRAY_H_

#include <stddef.h>

#include "base/status.h"

namespace sluice {

template <typename T>
class Span {
 public:
  constexpr Span() = default;
  constexpr Span(T* data, size_t size) : data_(data), size_(size) {}
  operator Span<const T>() const { return Span<const T>(data_, size_); }

  constexpr T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T* begin() const { return data_; }
  constexpr T* end() const { return data_ + size_; }
  T& operator[](size_t i) const {
    SLUICE_ASSERT(i < size_);
    return data_[i];
  }
  Span Slice(size_t begin, size_t end) const {
    SLUICE_ASSERT(begin <= end && end <= size_);
    return Span(data_ + begin, end - begin);
  }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_BASE_ARRAY_H_
