// SPDX-License-Identifier: Apache-2.0
// Where a stream may be interrupted: between two instances, with all engines drained.
// Cycles of the instances when they start on an idle machine, and dead scratchpad
// bytes: those that no later instance reads before writing them.
//
// Input    the image of a plan that verify has accepted, of one node.
// Output   cycles of prefixes; dead bytes of every border.
// Errors   kOutOfMemory; DrainedCycles: kUnsupported for more than one node or queue.
// Cost     DrainedCycles linear in instructions and waits; FindDead the bytes that all
//          operands touch, and an eighth of the scratchpad's bytes as scratch.
#ifndef SLUICE_MODEL_STREAM_CUTS_H_
#define SLUICE_MODEL_STREAM_CUTS_H_

#include "base/memory.h"
#include "model/hardware.h"
#include "sluice/stream.h"

namespace sluice {

// [begin, end): a run of dead scratchpad bytes; live: number of other bytes.
struct DeadBytes {
  int64_t begin, end;
  int64_t live;
};

// end[i], i >= first: cycles from the start of instance `first` on an idle machine
// until all instances up to i have completed. Entries after the first that exceeds the
// limit are INT64_MAX. end has one entry per instance to look at.
Status DrainedCycles(const Hardware& hardware, Span<const uint8_t> image,
                     uint32_t first, int64_t limit, Arena* scratch, Span<int64_t> end);

// Cycles of the slowest instance run alone on an idle machine.
Status LongestInstance(const Hardware& hardware, Span<const uint8_t> image,
                       Arena* scratch, int64_t* cycles);

// dead[i]: the longest dead run before instance i; last entry: at the stream's end.
Status FindDead(Span<const uint8_t> image, int64_t capacity, Arena* scratch,
                Span<DeadBytes> dead);

inline uint32_t InstanceCount(Span<const uint8_t> image) {
  return reinterpret_cast<const sluice_stream_header_t*>(image.data())->instance_count;
}

}  // namespace sluice

#endif  // SLUICE_MODEL_STREAM_CUTS_H_
