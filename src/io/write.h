// SPDX-License-Identifier: Apache-2.0
// Plan -> bytes of plan.fbs, by a small writer of our own: the generated builder
// allocates as it grows and cannot report failure.
//
// Input    a plan; the sizes of its stream and debug map, which the caller writes in
//          place later.
// Output   bytes in `arena`, 8-byte aligned; the generated verifier accepts them.
// Errors   kUnsupported above 2 GiB, kOutOfMemory.
// Cost     linear, one allocation.
#ifndef SLUICE_IO_WRITE_H_
#define SLUICE_IO_WRITE_H_

#include "base/memory.h"
#include "model/plan.h"

namespace sluice {

struct PlanBytes {
  Span<const uint8_t> all;
  Span<uint8_t> stream;        // zeroed, 16-byte aligned
  Span<uint32_t> debug_layer;  // zeroed
  uint8_t* stop_reason;        // report field that NoteEnd sets
  uint8_t* iterations;
};

// Sets stop reason and iterations in the report of a written plan.
void NoteEnd(uint32_t stop_reason, uint64_t iterations, PlanBytes* bytes);

// Ignores plan.stream and plan.debug_layer.
Status WritePlan(const Plan& plan, size_t stream_bytes, size_t instructions,
                 Arena* arena, PlanBytes* out, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_IO_WRITE_H_
