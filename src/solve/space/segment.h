// SPDX-License-Identifier: Apache-2.0
// The cost of one segment: a run of layers under given loops, with given roots already
// in the scratchpad. Finds the segment's images, the roots that must leave the
// scratchpad to make room, transfers, cycles and energy. Terms: model/space_plan.h.
//
// Roots that later layers read stay whole in the scratchpad while there is room. When
// there is none, the root whose next use is farthest away leaves first.
//
// Input    a problem; the roots held before; positions and loops.
// Output   layers and images of the segment, the roots held after it, its cost.
// Errors   Make: false where the segment does not fit or cannot be written as a
//          program; Init: kOutOfMemory.
// Cost     some microseconds per layer: each distinct iteration of the loops is
//          derived.
#ifndef SLUICE_SOLVE_SPACE_SEGMENT_H_
#define SLUICE_SOLVE_SPACE_SEGMENT_H_

#include "solve/space/segment_draft.h"

namespace sluice {

class SegmentMaker {
 public:
  explicit SegmentMaker(const SpaceProblem& problem) : draft_(problem) {}
  Status Init(Arena* arena) { return InitDraft(&draft_, arena); }
  // When the budget ends, nothing fits any more.
  void Watch(Budget* budget) { draft_.budget = budget; }

  // With a limit, may end early: then is_excluded() is true, and of the results only
  // cost() is there, a lower bound.
  bool Make(Span<const Held> held, uint32_t first, uint32_t last,
            const LoopChoice& loops, const SegmentLimit* limit = nullptr);
  // Whether the segment's frames fit as far as its first iterations show.
  bool Fits(Span<const Held> held, uint32_t first, uint32_t last,
            const LoopChoice& loops);
  bool is_excluded() const { return draft_.excluded; }
  TilePrices* prices() { return &draft_.prices; }

  // The results of the last Make that returned true. Loops are numbered from 0, those
  // of the choice first; images that stay beyond the segment end with it.
  const SpaceCost& cost() const { return draft_.cost; }
  Span<const SpaceLayer> layers() const {
    return draft_.layers.Slice(draft_.first, draft_.last);
  }
  Span<const SpaceLoop> loops() const {
    return draft_.nest.loops.Slice(0, draft_.nest.count);
  }
  Span<const SpaceImage> images() const {
    return draft_.images.all.Slice(0, draft_.images.count);
  }
  Span<const Held> held() const {
    return draft_.images.held.Slice(0, draft_.images.held_count);
  }
  // The last position of the segment that needs a root held before it. kNone: the
  // segment does not use the root, or no longer holds it.
  uint32_t LastUseOfHeld(uint32_t root) const;
  uint32_t FirstTouchOf(uint32_t root) const { return draft_.uses.Of(root).from; }
  uint32_t LastTouchOf(uint32_t root) const { return draft_.uses.Of(root).to; }
  int64_t alone_bytes() const { return AloneBytes(draft_); }

 private:
  SegmentDraft draft_;
};

// The layer whose sum a kSumCut loop cuts: the last of the positions [first, last) that
// may add up its sum in parts. kNone: there is none.
uint32_t SummedOf(const SpaceProblem& problem, uint32_t first, uint32_t last);

// The number of parts of the layer's sum when a loop of `trips` cuts it: less than
// `trips` where parts are rounded up to whole units.
int32_t PartsOfSum(const SpaceProblem& problem, uint32_t position, int32_t trips);

}  // namespace sluice

#endif  // SLUICE_SOLVE_SPACE_SEGMENT_H_
