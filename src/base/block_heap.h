// SPDX-License-Identifier: Apache-2.0
// First-fit heap with coalescing inside one block that the caller gives, for in-place
// mode.
//
// Input    a block of memory, of any alignment
// Output   pieces of it, aligned to 64 bytes
// Errors   false or nullptr when there is no room, or for an alignment above 64
// Cost     linear in the number of holes: it serves a few large chunks (arenas), so its
//          list stays short
#ifndef SLUICE_BASE_BLOCK_HEAP_H_
#define SLUICE_BASE_BLOCK_HEAP_H_

#include <stddef.h>

#include "sluice/sluice.h"

namespace sluice {

class BlockHeap {
 public:
  // Aligns the start of the block itself. False when the block is too small.
  bool Init(void* block, size_t bytes);
  void* Allocate(size_t bytes, size_t alignment);
  void Release(void* pointer, size_t bytes);
  // The heap as an allocator; it must outlive what uses that.
  sluice_allocator_t allocator();

 private:
  struct Hole {  // free range, in address order; lives in the range itself
    size_t bytes;
    Hole* next;
  };
  Hole* holes_ = nullptr;
};

}  // namespace sluice

#endif  // SLUICE_BASE_BLOCK_HEAP_H_
