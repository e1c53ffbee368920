// SPDX-License-Identifier: Apache-2.0
// Remembers what segments cost. Searches repeat segments, and networks repeat blocks:
// what was found for a segment holds for every segment of equal layers that are connected
// alike.
//
// Input    a problem, the maker of its segments; segments with the roots held before
//          them.
// Output   whether the segment fits, its cost, and the roots held after it.
// Errors   kOutOfMemory by Init. Make passes segments that are not known to the maker.
// Cost     linear in the roots held; Init linear in layers and tensors. The tables grow
//          with the number of layers, up to a fixed number of segments.
#ifndef SLUICE_SOLVE_SPACE_MEMO_H_
#define SLUICE_SOLVE_SPACE_MEMO_H_

#include "solve/space/segment.h"
#include "solve/space/segment_keys.h"

namespace sluice {

class SegmentMemo {
 public:
  // The most roots held after a segment; a segment with more is taken not to fit.
  static constexpr size_t kMostHeld = 256;

  SegmentMemo(const SpaceProblem& problem, SegmentMaker* maker)
      : p_(problem), keys_(problem), maker_(maker) {}
  Status Init(Arena* arena);

  // False where the segment does not fit. If the limit excludes a segment that may fit,
  // is_excluded() is true, and cost() is a bound.
  bool Make(const SegmentKey& key, const SegmentLimit* limit = nullptr);
  bool is_excluded() const { return excluded_; }

  // False where the segment does not fit. It may be true for one that does not.
  bool MayFit(const SegmentKey& key);

  // Call this before Make continues another plan: what is held may be of other roots.
  void Forget() { last_ = 0; }

  // The results of the last Make that returned true.
  const SpaceCost& cost() const { return cost_; }
  Span<const Held> held() const { return Span<const Held>(held_, held_count_); }

  // How many calls of Make found a known segment.
  uint64_t hits() const { return hits_; }

 private:
  // The most roots held after a segment that is kept.
  static constexpr size_t kMostKept = 12;
  // Names a held root by its place: among the roots held before the segment, or among
  // the operands of a layer of the segment.
  struct Name {
    uint16_t layer;  // of the segment; kBefore: a root held before it
    uint8_t operand;
    bool stored;
  };
  static constexpr uint16_t kBefore = 0xffff;
  struct Entry {
    uint64_t key;  // 0: free
    SpaceCost cost;
    Name held[kMostKept];
    uint8_t count;
  };
  bool Find(const SegmentKey& key, uint64_t hash, bool* fits);
  void Keep(const SegmentKey& key, uint64_t hash, bool fits);
  bool NameOf(const SegmentKey& key, const Held& held, Name* name) const;

  const SpaceProblem& p_;
  SegmentKeys keys_;
  SegmentMaker* maker_;
  SpaceCost cost_;
  Held held_[kMostHeld];
  size_t held_count_ = 0;
  bool excluded_ = false;
  uint64_t hits_ = 0;
  uint64_t last_ = 0;       // key of the results at hand; 0: none
  Span<uint64_t> misfits_;  // keys of segments that do not fit
  Span<Entry> entries_;     // segments that fit
};

}  // namespace sluice

#endif  // SLUICE_SOLVE_SPACE_MEMO_H_
