// SPDX-License-Identifier: Apache-2.0
// Keys of segments: equal for segments that cost the same.
//
// A layer's signature says what it computes, how its operands lie in their roots, and
// how far it is to the next layers that touch those. Segments whose layers have equal
// signatures, with equal loops and equal roots on chip, cost the same.
//
// Input    a problem; segments with the roots held before them.
// Output   a number for each segment.
// Errors   Init: kOutOfMemory.
// Cost     linear in the roots held; Init linear in layers and tensors.
#ifndef SLUICE_SOLVE_SPACE_SEGMENT_KEYS_H_
#define SLUICE_SOLVE_SPACE_SEGMENT_KEYS_H_

#include "solve/space/problem.h"
#include "solve/space/segment_cost.h"

namespace sluice {

struct SegmentKey {
  Span<const Held> held;
  uint32_t first, last;
  const LoopChoice& loops;
};

class SegmentKeys {
 public:
  explicit SegmentKeys(const SpaceProblem& problem) : p_(problem) {}
  Status Init(Arena* arena);
  // Never 0.
  uint64_t Of(const SegmentKey& key) const;

 private:
  Status Sign(Span<uint64_t> signatures, Arena* scratch) const;
  uint64_t HashOfOperand(uint32_t position, uint32_t tensor, uint64_t hash) const;

  const SpaceProblem& p_;
  Span<uint64_t> root_;    // by root: hash of its kind and shape
  Span<uint64_t> layers_;  // by position: hash of the signatures before it
  Span<uint64_t> power_;
};

}  // namespace sluice

#endif  // SLUICE_SOLVE_SPACE_SEGMENT_KEYS_H_
