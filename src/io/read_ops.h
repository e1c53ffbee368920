// SPDX-License-Identifier: Apache-2.0
// What a machine's compute engines can do, and its host. Private to io.
//
// Input    a verified descriptor
// Output   hardware->ops, hardware->host
// Errors   kBadInput, each fault with its own sentence; kOutOfMemory
// Cost     linear in the rows
#ifndef SLUICE_IO_READ_OPS_H_
#define SLUICE_IO_READ_OPS_H_

#include "base/memory.h"
#include "model/hardware.h"

namespace sluice {

namespace wire {
struct Hardware;
}

constexpr uint32_t kMaxOps = 256;

// Values up to 2^40, the denominator at least 1. what: names the quantity in the
// message.
Status ReadBandwidth(uint64_t numerator, uint64_t denominator, const char* what,
                     Rational* out, Diagnostic* diagnostic);

Status ReadOps(const wire::Hardware* in, Arena* arena, Hardware* hardware,
               Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_IO_READ_OPS_H_
