// SPDX-License-Identifier: Apache-2.0
// Where a stream may be interrupted: between two visits, with all engines drained.
// Cycles of the visits when they start on an idle machine, and dead scratchpad
// bytes: those that no later visit reads before writing them.
//
// Input    the image of a plan that verify has accepted, of one node.
// Output   cycles of prefixes; dead bytes of every border.
// Errors   kOutOfMemory; DrainedCycles: kUnsupported for more than one node or queue.
// Cost     DrainedCycles linear in instructions and waits; FindDead the bytes that all
//          operands touch, and an eighth of the scratchpad's bytes as scratch.
#ifndef SLUICE_MODEL_STREAM_CUTS_H_
#define SLUICE_MODEL_STREAM_CUTS_H_

#include "base/memory.h"
#include "base/stream_visits.h"
#include "model/hardware.h"
#include "sluice/stream.h"

namespace sluice {

// [begin, end): a run of dead scratchpad bytes; live: number of other bytes.
struct DeadBytes {
  int64_t begin, end;
  int64_t live;
};

// A verified stream and its visits.
struct StreamVisits {
  Span<const uint8_t> image;
  Span<sluice_visit_t> visits;

  uint32_t count() const { return static_cast<uint32_t>(visits.size()); }
};

Status FindVisits(Span<const uint8_t> image, Arena* arena, StreamVisits* visits);

// end[v], v >= first: cycles from the start of visit `first` on an idle machine until
// all visits up to v have completed. Entries after the first that exceeds the limit are
// INT64_MAX. end has one entry per visit to look at.
Status DrainedCycles(const Hardware& hardware, const StreamVisits& visits,
                     uint32_t first, int64_t limit, Arena* scratch, Span<int64_t> end);

// Cycles of the slowest visit run alone on an idle machine.
Status LongestVisit(const Hardware& hardware, const StreamVisits& visits,
                    Arena* scratch, int64_t* cycles);

// dead[v]: the longest dead run before visit v; last entry: at the stream's end.
Status FindDead(const StreamVisits& visits, int64_t capacity, Arena* scratch,
                Span<DeadBytes> dead);

}  // namespace sluice

#endif  // SLUICE_MODEL_STREAM_CUTS_H_
