// SPDX-License-Identifier: Apache-2.0
// The visits of a stream's instances: its loops, unrolled.
//
// Input    a stream image, 4-byte aligned. The bytes need not be trusted: no table is
//          read outside the image.
// Output   the visits, in order
// Errors   kBadInput: loops that are not nested, or outside the image; kUnsupported:
//          more visits than `most`; kOutOfMemory
// Cost     linear in the visits
// Source   stream.h
#ifndef SLUICE_BASE_STREAM_VISITS_H_
#define SLUICE_BASE_STREAM_VISITS_H_

#include "base/memory.h"
#include "sluice/lowering.h"
#include "sluice/stream.h"

namespace sluice {

// *what: a static text that names the fault, if the status is not kOk.
Status ListVisits(Span<const uint8_t> image, uint64_t most, Arena* arena,
                  Span<sluice_visit_t>* visits, const char** what);

}  // namespace sluice

#endif  // SLUICE_BASE_STREAM_VISITS_H_
