// SPDX-License-Identifier: Apache-2.0
// A stream's instruction lists and waits, without what the instructions move and
// compute: the input of a translation to another way of ordering engines.
//
// Input    a stream image, 4-byte aligned. The bytes need not be trusted: no table is
//          read outside the image.
// Output   views into the image; the directory and the numbers of instructions are
//          copied
// Errors   kBadInput: the bytes are no stream; kUnsupported: too many instructions;
//          kOutOfMemory
// Cost     linear in the image and in the visits
// Source   stream.h
#ifndef SLUICE_LOWER_STREAM_LISTS_H_
#define SLUICE_LOWER_STREAM_LISTS_H_

#include "base/memory.h"
#include "sluice/lowering.h"
#include "sluice/stream.h"

namespace sluice {

struct ListBlock {
  Span<const uint32_t> list;  // engines + 1
  Span<const sluice_instruction_t> instructions;
  Span<const sluice_wait_t> waits;
};

struct StreamLists {
  uint32_t engines;
  Span<ListBlock> blocks;
  Span<const sluice_instance_t> instances;
  Span<sluice_visit_t> visits;
  // Instruction i of visit n has number first_number[n] + i.
  Span<uint32_t> first_number;
  uint32_t instructions;  // of all visits

  const ListBlock& BlockOf(uint32_t visit) const {
    return blocks[instances[visits[visit].instance].block];
  }
};

Status ReadStreamLists(Span<const uint8_t> image, Arena* arena, StreamLists* lists,
                       Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_LOWER_STREAM_LISTS_H_
