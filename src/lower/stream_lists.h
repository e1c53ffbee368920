// SPDX-License-Identifier: Apache-2.0
// A stream's lists and waits, for those who translate them: what order the stream asks
// for, without what it moves and computes.
//
// Input    a stream image, 4-byte aligned. The bytes need not be trusted: no table is
//          read outside the image.
// Output   views into the image; the directory and the numbers of instructions are copied
// Errors   kBadInput: the bytes are no stream; kUnsupported: too many instructions;
//          kOutOfMemory
// Cost     linear in the image and in the instances
// Source   stream.h
#ifndef SLUICE_LOWER_STREAM_LISTS_H_
#define SLUICE_LOWER_STREAM_LISTS_H_

#include "base/memory.h"
#include "sluice/stream.h"

namespace sluice {

struct ListBlock {
  Span<const uint32_t> list;  // engines + 1
  Span<const sluice_instruction_t> instructions;
  Span<const sluice_wait_t> waits;
  Span<const sluice_export_t> exports;
};

struct StreamLists {
  uint32_t engines;
  Span<ListBlock> blocks;
  Span<const sluice_instance_t> instances;
  // Instruction i of instance n has number first_number[n] + i.
  Span<uint32_t> first_number;
  uint32_t instructions;  // of all instances

  const ListBlock& BlockOf(uint32_t instance) const {
    return blocks[instances[instance].block];
  }
};

Status ReadStreamLists(Span<const uint8_t> image, Arena* arena, StreamLists* lists,
                       Diagnostic* diagnostic);

// The number of the last instruction that a wait of `instance` needs, or SLUICE_NONE:
// the wait names an instance before the first, or an export that its block lacks.
uint32_t NumberOf(const StreamLists& lists, uint32_t instance,
                  const sluice_wait_t& wait);

// The engine that a wait of `instance` waits for; NumberOf is not SLUICE_NONE.
uint32_t EngineOf(const StreamLists& lists, uint32_t instance,
                  const sluice_wait_t& wait);

}  // namespace sluice

#endif  // SLUICE_LOWER_STREAM_LISTS_H_
