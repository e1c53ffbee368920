// SPDX-License-Identifier: Apache-2.0
// Plan -> bytes of plan.fbs, by our own small writer: the generated builder grows by
// allocation and has no way to fail.
//
// Input    a complete plan.
// Output   bytes in `arena`, 8-byte aligned; the generated verifier accepts them.
// Errors   kUnsupported above 2 GiB, kOutOfMemory.
// Cost     linear, one allocation.
#ifndef SLUICE_IO_WRITE_H_
#define SLUICE_IO_WRITE_H_

#include "base/memory.h"
#include "model/plan.h"

namespace sluice {

Status WritePlan(const Plan& plan, Arena* arena, Span<const uint8_t>* out,
                 Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_IO_WRITE_H_
