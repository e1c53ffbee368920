// SPDX-License-Identifier: Apache-2.0
#include "base/sequence.h"

#include <string.h>

namespace sluice {

Status SequenceStorage::PushItem(const void* item, uint32_t layout, uint32_t shift) {
  const size_t bytes = layout >> 8;
  if (size_ >> shift == pages_.size()) {
    void* page = nullptr;
    SLUICE_TRY(arena_->AllocatePage(bytes << shift, layout & 0xff, &page));
    SLUICE_TRY(pages_.Push(page));
  }
  const size_t at = size_ & ((size_t{1} << shift) - 1);
  memcpy(static_cast<char*>(pages_[size_ >> shift]) + at * bytes, item, bytes);
  ++size_;
  return Status::kOk;
}

}  // namespace sluice
