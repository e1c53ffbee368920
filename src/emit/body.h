// SPDX-License-Identifier: Apache-2.0
// The body of one block under construction: its tables, with equal operands and shapes
// stored once.
//
// Input    an arena for the tables
// Output   tables, each in the order of its entries' creation
// Errors   kOutOfMemory, from the tables
// Cost     expected constant time per operand
#ifndef SLUICE_EMIT_BODY_H_
#define SLUICE_EMIT_BODY_H_

#include "base/intern.h"
#include "model/tile_geometry.h"
#include "sluice/stream.h"

namespace sluice {

// What a slot is bound to: the place of a tensor, fixed or moved by a parameter. by[d]:
// bytes by which an iteration of loop d around the piece moves it, the outermost loop
// first.
struct Slot {
  uint32_t tensor;
  uint32_t moves;
  uint32_t parameter;
  uint32_t step;
  int64_t by[SLUICE_MAX_LOOPS];
};

// A layer, and in by[d] how far an iteration of loop d moves its tiles. `placed`: a
// tile has set `by`.
struct KernelUse {
  uint32_t layer;
  bool placed;
  int32_t by[SLUICE_MAX_LOOPS][kAxes + 1];
};

struct Body {
  explicit Body(Arena* arena)
      : waits(arena),
        tiles(arena),
        transfers(arena),
        host_calls(arena),
        host_operands(arena),
        operands(arena),
        shapes(arena),
        slots(arena),
        kernels(arena) {}

  Span<uint32_t> list;  // engine e runs instructions list[e] up to list[e + 1]
  Span<sluice_instruction_t> instructions;
  Span<uint32_t> layers;  // graph layer of each instruction
  Sequence<sluice_wait_t> waits;
  Sequence<sluice_tile_t> tiles;
  Sequence<sluice_transfer_t> transfers;
  Sequence<sluice_host_call_t> host_calls;
  // Contiguous lists; numbered after `operands`.
  Sequence<sluice_operand_t> host_operands;
  InternTable<sluice_operand_t> operands;
  InternTable<sluice_shape_t> shapes;
  Vector<Slot> slots;  // slot 1 + i; slot 0 is the scratchpad
  Vector<KernelUse> kernels;
};

}  // namespace sluice

#endif  // SLUICE_EMIT_BODY_H_
