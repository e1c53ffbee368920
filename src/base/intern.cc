// SPDX-License-Identifier: Apache-2.0
#include "base/intern.h"

#include <string.h>

namespace sluice {
namespace {

// Slots are never visible outside, so any good hash will do.
size_t Hash(const void* item, size_t size) {
  const char* bytes = static_cast<const char*>(item);
  uint64_t hash = size;
  if (size % 8 != 0) {  // a word is left over
    uint32_t word;
    memcpy(&word, bytes + (size -= 4), 4);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  }
  const auto mix = [&](size_t at) {
    uint64_t words;
    memcpy(&words, bytes + at, 8);
    hash = (hash ^ words) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  };
  if (size % 16 != 0) mix(size -= 8);
  for (size_t i = 0; i < size; i += 16) {
    mix(i);
    mix(i + 8);
  }
  return static_cast<size_t>(hash);
}

}  // namespace

Status InternSlots::Find(const Items& items, const void* item, uint32_t** slot) {
  if (items.count * size_t{2} >= slots_.size()) SLUICE_TRY(Grow(items));
  size_t at = Hash(item, items.bytes) & (slots_.size() - 1);
  while (slots_[at] != 0 &&
         memcmp(items.at(items.list, slots_[at] - 1), item, items.bytes) != 0) {
    at = (at + 1) & (slots_.size() - 1);
  }
  *slot = &slots_[at];
  return Status::kOk;
}

Status InternSlots::Grow(const Items& items) {
  SLUICE_TRY(arena_->Allocate(slots_.size() == 0 ? 64 : 2 * slots_.size(), &slots_));
  for (uint32_t i = 0; i < items.count; ++i) {
    size_t at = Hash(items.at(items.list, i), items.bytes) & (slots_.size() - 1);
    while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = i + 1;
  }
  return Status::kOk;
}

}  // namespace sluice
