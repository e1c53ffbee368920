// SPDX-License-Identifier: Apache-2.0
#include "import/constant_bytes.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace sluice::import {
namespace {

// Writes bytes to out + begin, and zeros from *end up to there.
void Place(const uint8_t* bytes, size_t size, uint64_t begin, uint8_t* out,
           uint64_t* end) {
  std::fill(out + *end, out + begin, uint8_t{0});
  std::memcpy(out + begin, bytes, size);
  *end = begin + size;
}

}  // namespace

void ConstantBytes::Copy(const uint8_t* bytes, size_t size) {
  if (size == 0) return;
  Bytes own(bytes, bytes + size);
  const uint8_t* data = own.data();
  constants_.push_back({size_, std::move(own), data, size});
  size_ += size;
}

void ConstantBytes::Refer(const uint8_t* bytes, size_t size) {
  if (size == 0) return;
  constants_.push_back({size_, {}, bytes, size});
  size_ += size;
}

const uint8_t* ConstantBytes::At(uint64_t place) const {
  auto at = std::upper_bound(constants_.begin(), constants_.end(), place,
                             [](uint64_t wanted, const Constant& constant) {
                               return wanted < constant.begin;
                             });
  if (at == constants_.begin()) return nullptr;
  --at;
  return place - at->begin < at->size ? at->bytes + (place - at->begin) : nullptr;
}

void ConstantBytes::Truncate(uint64_t size) {
  while (!constants_.empty() && constants_.back().begin >= size) constants_.pop_back();
  size_ = size;
}

void ConstantBytes::CopyTo(uint8_t* out) const {
  uint64_t end = 0;
  for (const Constant& c : constants_) Place(c.bytes, c.size, c.begin, out, &end);
  std::fill(out + end, out + size_, uint8_t{0});
}

void ConstantBytes::MoveTo(uint8_t* out) {
  uint64_t end = 0;
  for (Constant& c : constants_) {
    Place(c.bytes, c.size, c.begin, out, &end);
    Bytes().swap(c.own);
  }
  std::fill(out + end, out + size_, uint8_t{0});
  constants_.clear();
  size_ = 0;
}

}  // namespace sluice::import
