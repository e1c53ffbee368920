// SPDX-License-Identifier: Apache-2.0
// Where a stream may be interrupted: between two instances, all engines drained. What
// the instances take when they start on an idle machine, and which scratchpad bytes
// nobody behind a border reads before writing them.
//
// Input    the image of a plan that verify has accepted, of one node.
// Output   cycles of prefixes; dead bytes of every border.
// Errors   kOutOfMemory; kUnsupported for more than one node.
// Cost     DrainedCycles linear in instructions and waits; FindDead the bytes that all
//          operands touch, and an eighth of the scratchpad's bytes as scratch.
#ifndef SLUICE_MODEL_STREAM_CUTS_H_
#define SLUICE_MODEL_STREAM_CUTS_H_

#include "base/memory.h"
#include "model/hardware.h"
#include "sluice/stream.h"

namespace sluice {

// Bytes [begin, end) of the scratchpad; live: bytes that are not dead, anywhere.
struct DeadBytes {
  int64_t begin, end;
  int64_t live;
};

// end[i], for i >= first: cycles from the start of instance `first` on an idle machine
// until it and all up to i have completed; INT64_MAX behind the first beyond the limit.
// end: one entry per instance that is looked at.
Status DrainedCycles(const Hardware& hardware, Span<const uint8_t> image,
                     uint32_t first, int64_t limit, Arena* scratch, Span<int64_t> end);

// Cycles of the instance that takes longest by itself, on an idle machine.
Status LongestInstance(const Hardware& hardware, Span<const uint8_t> image,
                       Arena* scratch, int64_t* cycles);

// dead[i]: the longest dead run before instance i; one more for the end of the stream.
Status FindDead(Span<const uint8_t> image, int64_t capacity, Arena* scratch,
                Span<DeadBytes> dead);

inline uint32_t InstanceCount(Span<const uint8_t> image) {
  return reinterpret_cast<const sluice_stream_header_t*>(image.data())->instance_count;
}

}  // namespace sluice

#endif  // SLUICE_MODEL_STREAM_CUTS_H_
