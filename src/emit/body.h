// SPDX-License-Identifier: Apache-2.0
// One body under construction: its tables, with equal operands and shapes written once.
//
// Cost     expected constant time per operand; capacity grows in the arena.
#ifndef SLUICE_EMIT_BODY_H_
#define SLUICE_EMIT_BODY_H_

#include "base/hash.h"
#include "base/memory.h"
#include "sluice/stream.h"

namespace sluice {

// Items of one plain type, each distinct value stored once.
template <typename T>
class InternTable {
 public:
  explicit InternTable(Arena* arena) : items_(arena), arena_(arena) {}

  Status Intern(const T& item, uint32_t* index) {
    if (items_.size() * 2 >= slots_.size()) SLUICE_TRY(Grow());
    size_t at = Fnv1a(&item, sizeof item) & (slots_.size() - 1);
    while (slots_[at] != 0) {
      if (memcmp(&items_[slots_[at] - 1], &item, sizeof item) == 0) {
        *index = slots_[at] - 1;
        return Status::kOk;
      }
      at = (at + 1) & (slots_.size() - 1);
    }
    *index = static_cast<uint32_t>(items_.size());
    SLUICE_TRY(items_.Push(item));
    slots_[at] = *index + 1;
    return Status::kOk;
  }
  Span<T> items() { return items_.span(); }

 private:
  Status Grow() {
    SLUICE_TRY(arena_->Allocate(slots_.size() == 0 ? 64 : 2 * slots_.size(), &slots_));
    for (uint32_t i = 0; i < items_.size(); ++i) {
      size_t at = Fnv1a(&items_[i], sizeof(T)) & (slots_.size() - 1);
      while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = i + 1;
    }
    return Status::kOk;
  }

  Vector<T> items_;
  Arena* arena_;
  Span<uint32_t> slots_;  // index + 1, 0 = empty; size a power of two
};

// What a slot is bound to: a tensor's place, moving with a parameter or not.
struct Slot {
  uint32_t tensor;
  bool moves;
  uint32_t parameter;
  uint32_t step;
};

struct Body {
  explicit Body(Arena* arena)
      : instructions{Vector<sluice_instruction_t>(arena),
                     Vector<sluice_instruction_t>(arena),
                     Vector<sluice_instruction_t>(arena)},
        layers{Vector<uint32_t>(arena), Vector<uint32_t>(arena),
               Vector<uint32_t>(arena)},
        waits(arena),
        tiles(arena),
        transfers(arena),
        host_calls(arena),
        host_operands(arena),
        operands(arena),
        shapes(arena),
        slots(arena),
        kernel_layers(arena) {}

  Vector<sluice_instruction_t> instructions[3];  // per ProgramEngine
  Vector<uint32_t> layers[3];                    // graph layer of each instruction
  Vector<sluice_wait_t> waits;
  Vector<sluice_tile_t> tiles;
  Vector<sluice_transfer_t> transfers;
  Vector<sluice_host_call_t> host_calls;
  Vector<sluice_operand_t> host_operands;  // contiguous lists, behind `operands`
  InternTable<sluice_operand_t> operands;
  InternTable<sluice_shape_t> shapes;
  Vector<Slot> slots;              // slot 1 + i; slot 0 is the scratchpad
  Vector<uint32_t> kernel_layers;  // graph layer of kernel i
};

}  // namespace sluice

#endif  // SLUICE_EMIT_BODY_H_
