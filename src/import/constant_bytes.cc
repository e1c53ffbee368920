// SPDX-License-Identifier: Apache-2.0
#include "import/constant_bytes.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace sluice::import {
namespace {

// Writes zeros from *end up to out + begin, where a constant is written next.
void Fill(uint64_t begin, size_t size, uint8_t* out, uint64_t* end) {
  std::fill(out + *end, out + begin, uint8_t{0});
  *end = begin + size;
}

}  // namespace

void ConstantBytes::Copy(const uint8_t* bytes, size_t size) {
  if (size == 0) return;
  Bytes own(bytes, bytes + size);
  const uint8_t* data = own.data();
  constants_.push_back({size_, std::move(own), data, size, nullptr, 0});
  size_ += size;
}

void ConstantBytes::Refer(const uint8_t* bytes, size_t size) {
  if (size == 0) return;
  constants_.push_back({size_, {}, bytes, size, nullptr, size});
  size_ += size;
}

void ConstantBytes::Compute(size_t size, const uint8_t* source, size_t source_size,
                            Make make) {
  if (size == 0) return;
  constants_.push_back({size_, {}, source, size, std::move(make), source_size});
  size_ += size;
}

void ConstantBytes::Constant::Write(uint8_t* out) const {
  if (make) return make(out);
  std::memcpy(out, bytes, size);
}

Bytes ConstantBytes::Whole(uint64_t place, size_t size) const {
  for (const Constant& c : constants_) {
    if (place < c.begin || place - c.begin >= c.size) continue;
    const size_t skipped = static_cast<size_t>(place - c.begin);
    if (size > c.size - skipped) return {};
    if (!c.make) return Bytes(c.bytes + skipped, c.bytes + skipped + size);
    Bytes whole(c.size);
    c.make(whole.data());
    return Bytes(whole.begin() + static_cast<std::ptrdiff_t>(skipped),
                 whole.begin() + static_cast<std::ptrdiff_t>(skipped + size));
  }
  return {};
}

const uint8_t* ConstantBytes::At(uint64_t place) const {
  auto at = std::upper_bound(constants_.begin(), constants_.end(), place,
                             [](uint64_t wanted, const Constant& constant) {
                               return wanted < constant.begin;
                             });
  if (at == constants_.begin()) return nullptr;
  --at;
  if (at->make) return nullptr;
  return place - at->begin < at->size ? at->bytes + (place - at->begin) : nullptr;
}

void ConstantBytes::Truncate(uint64_t size) {
  while (!constants_.empty() && constants_.back().begin >= size) constants_.pop_back();
  size_ = size;
}

void ConstantBytes::CopyTo(uint8_t* out) const {
  uint64_t end = 0;
  for (const Constant& c : constants_) {
    Fill(c.begin, c.size, out, &end);
    c.Write(out + c.begin);
  }
  std::fill(out + end, out + size_, uint8_t{0});
}

// Piece by piece, so that of a large constant both copies are never there at once.
void ConstantBytes::Constant::Move(uint8_t* out, const Done& done) const {
  constexpr size_t kPiece = size_t{1} << 24;
  for (size_t at = 0; at < size; at += kPiece) {
    const size_t piece = std::min(kPiece, size - at);
    std::memcpy(out + at, bytes + at, piece);
    done(bytes + at, piece);
  }
}

void ConstantBytes::MoveTo(uint8_t* out, const Done& done) {
  uint64_t end = 0;
  for (Constant& c : constants_) {
    Fill(c.begin, c.size, out, &end);
    const bool elsewhere = done && c.source_size != 0;
    if (elsewhere && !c.make) {
      c.Move(out + c.begin, done);
    } else {
      c.Write(out + c.begin);
      if (elsewhere) done(c.bytes, c.source_size);
    }
    Bytes().swap(c.own);
    c.make = nullptr;
  }
  std::fill(out + end, out + size_, uint8_t{0});
  constants_.clear();
  size_ = 0;
}

}  // namespace sluice::import
