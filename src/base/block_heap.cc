// SPDX-License-Identifier: Apache-2.0
#include "base/block_heap.h"

#include <stdint.h>

namespace sluice {

namespace {

constexpr size_t kBlockGranule = 64;  // bytes; every allocation is a multiple

// Bytes that an allocation occupies: whole granules, at least one. An empty allocation
// without a granule would have the address of a hole, and its release would put that
// hole into the list twice.
size_t WholeGranules(size_t bytes) {
  if (bytes == 0) return kBlockGranule;
  return (bytes + kBlockGranule - 1) & ~(kBlockGranule - 1);
}

}  // namespace

bool BlockHeap::Init(void* block, size_t bytes) {
  const uintptr_t start = reinterpret_cast<uintptr_t>(block);
  const uintptr_t aligned = (start + kBlockGranule - 1) & ~uintptr_t{kBlockGranule - 1};
  const size_t lost = aligned - start;
  if (block == nullptr || bytes < lost + kBlockGranule) return false;
  holes_ = reinterpret_cast<Hole*>(aligned);
  holes_->bytes = (bytes - lost) & ~(kBlockGranule - 1);
  holes_->next = nullptr;
  return true;
}

void* BlockHeap::Allocate(size_t bytes, size_t alignment) {
  if (alignment > kBlockGranule || bytes > SIZE_MAX - kBlockGranule) return nullptr;
  bytes = WholeGranules(bytes);
  for (Hole** link = &holes_; *link != nullptr; link = &(*link)->next) {
    Hole* hole = *link;
    if (hole->bytes < bytes) continue;
    if (hole->bytes == bytes) {
      *link = hole->next;
    } else {
      Hole* rest = reinterpret_cast<Hole*>(reinterpret_cast<char*>(hole) + bytes);
      rest->bytes = hole->bytes - bytes;
      rest->next = hole->next;
      *link = rest;
    }
    return hole;
  }
  return nullptr;
}

void BlockHeap::Release(void* pointer, size_t bytes) {
  bytes = WholeGranules(bytes);
  Hole* freed = static_cast<Hole*>(pointer);
  Hole* before = nullptr;
  Hole* after = holes_;
  while (after != nullptr && after < freed) {
    before = after;
    after = after->next;
  }
  freed->bytes = bytes;
  freed->next = after;
  if (before == nullptr) {
    holes_ = freed;
  } else {
    before->next = freed;
  }
  const auto end_of = [](Hole* hole) {
    return reinterpret_cast<char*>(hole) + hole->bytes;
  };
  if (after != nullptr && end_of(freed) == reinterpret_cast<char*>(after)) {
    freed->bytes += after->bytes;
    freed->next = after->next;
  }
  if (before != nullptr && end_of(before) == reinterpret_cast<char*>(freed)) {
    before->bytes += freed->bytes;
    before->next = freed->next;
  }
}

sluice_allocator_t BlockHeap::allocator() {
  sluice_allocator_t inside = {};
  inside.struct_size = sizeof inside;
  inside.user = this;
  inside.allocate = [](void* user, size_t bytes, size_t alignment) {
    return static_cast<BlockHeap*>(user)->Allocate(bytes, alignment);
  };
  inside.release = [](void* user, void* pointer, size_t bytes, size_t) {
    static_cast<BlockHeap*>(user)->Release(pointer, bytes);
  };
  return inside;
}

}  // namespace sluice
