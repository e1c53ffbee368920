// SPDX-License-Identifier: Apache-2.0
// What segments cost that were made before of equal layers, wired alike: blocks of a
// network repeat, and what was found for one of them holds for the next.
//
// A layer's signature says what it computes, how its operands lie in their roots, and how
// far it is to the next layers that touch those. Segments whose layers have equal
// signatures, with equal loops and equal roots on chip, cost the same.
//
// Input    a problem and who makes its segments; segments with the roots held before them.
// Output   whether the segment fits, its cost, and the roots held after it.
// Errors   none: what is not known is made.
// Cost     linear in what is held; Init linear in layers and tensors. What it has room for
//          grows with the layers up to a fixed number of segments.
#ifndef SLUICE_SOLVE_SPACE_MEMO_H_
#define SLUICE_SOLVE_SPACE_MEMO_H_

#include "solve/space/segment.h"

namespace sluice {

struct SegmentKey {
  Span<const Held> held;
  uint32_t first, last;
  const LoopChoice& loops;
};

class SegmentMemo {
 public:
  // Roots held after a segment; with more it is taken not to fit.
  static constexpr size_t kMostHeld = 256;

  SegmentMemo(const SpaceProblem& problem, SegmentMaker* maker)
      : p_(problem), maker_(maker) {}
  Status Init(Arena* arena);

  // False where the segment does not fit.
  bool Make(const SegmentKey& key);

  // Of the last Make that returned true.
  const SpaceCost& cost() const { return cost_; }
  Span<const Held> held() const { return Span<const Held>(held_, held_count_); }

  // How many were known.
  uint64_t hits() const { return hits_; }

 private:
  static constexpr size_t kMostKept = 12;  // roots held after a segment that is kept
  // A held root: one of those before, or an operand of a layer of the segment.
  struct Name {
    uint16_t layer;  // of the segment; kBefore: none
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
  uint64_t KeyOf(const SegmentKey& key) const;
  bool Find(const SegmentKey& key, uint64_t hash, bool* fits);
  void Keep(const SegmentKey& key, uint64_t hash, bool fits);
  bool NameOf(const SegmentKey& key, const Held& held, Name* name) const;
  Status Sign(Span<uint64_t> signatures, Arena* scratch) const;
  uint64_t HashOfOperand(uint32_t position, uint32_t tensor, uint64_t hash) const;
  Status FindRepeats(Span<const uint64_t> signatures, Arena* scratch);

  const SpaceProblem& p_;
  SegmentMaker* maker_;
  SpaceCost cost_;
  Held held_[kMostHeld];
  size_t held_count_ = 0;
  uint64_t hits_ = 0;
  Span<uint64_t> root_;    // by root: what it is
  Span<uint64_t> layers_;  // by position: signatures of all layers before it
  Span<uint64_t> power_;
  Span<uint8_t> repeats_;   // by position: another layer is equal
  Span<uint64_t> misfits_;  // keys of segments that do not fit
  Span<Entry> entries_;     // of others
};

}  // namespace sluice

#endif  // SLUICE_SOLVE_SPACE_MEMO_H_
