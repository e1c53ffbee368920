// SPDX-License-Identifier: Apache-2.0
// Follows one linear extension: which instruction wrote each byte, and what the byte
// means.
//
// Input    physical boxes per memory (a node's scratchpad or a DRAM region).
// Output   a read returns parts, each an axis-parallel box of one root; a write stores
//          parts.
// Errors   kRejected "order" when conflicting accesses are not ordered, "content" when
//          bytes that are read were never written; kUnsupported, kOutOfMemory.
// Cost     about log + pieces touched per access; scratch per live piece and read. A
//          piece wholly covered by one later box, or by a run of bytes, is dropped at
//          once; in scratchpads of at most 512 KiB, whose bytes are looked at one by one,
//          what several boxes cover together is dropped when it doubles the number of
//          pieces. So this number does not grow with the stream.
//
// Roots are: graph tensors that are not views; with T tensors, T + t for state t where
// an append may have changed it; and partial sums, numbered from first_partial on, one
// per (layer, set of channel ranges), with the coordinates of the layer's output.
#ifndef SLUICE_VERIFY_CONTENTS_H_
#define SLUICE_VERIFY_CONTENTS_H_

#include "verify/order.h"
#include "verify/parts.h"

namespace sluice {
namespace judge {

constexpr uint32_t kMaxRanges = 8;

struct PartialSum {
  uint32_t layer;
  uint32_t ranges;
  int32_t begin[kMaxRanges];  // disjoint, ascending, not touching
  int32_t end[kMaxRanges];
};

// A box that lay in many pieces when an engine last read it: all of it was of one root.
// Those pieces are ordered before the engine's later reads too, so these need not look at
// them again until one of the bytes is written.
struct KnownBox {
  Box box;  // twins are element indices of the root
  int64_t end;
  uint32_t memory, root, engine;
};
constexpr uint32_t kMostKnown = 32;

struct Contents {
  explicit Contents(Judge* the_judge)
      : judge(the_judge),
        pool(the_judge->arena),
        partials(the_judge->arena),
        found(the_judge->arena),
        remaining(the_judge->arena),
        outside(the_judge->arena),
        todo(the_judge->arena),
        remaining_rows(the_judge->arena),
        inside(the_judge->arena) {}

  Judge* judge;
  PiecePool pool;
  Span<MemoryMap*> writes;  // per memory
  Span<MemoryMap*> reads;
  Span<RecentPieces> recent;  // writes
  Span<uint8_t> painted;      // by byte of a scratchpad; empty: too large to look at
  // Per memory: how many pieces became covered since those that are hidden were dropped,
  // and at how many they are dropped again.
  Span<uint32_t> covered, most_covered;
  // Of DRAM, by column: the last read that was dropped because a store is ordered after it.
  Span<uint32_t> dropped;
  Vector<PartialSum> partials;
  uint32_t first_partial = 0;
  // The piece whose bytes the current write replaces exactly; the next PutPart reuses
  // it.
  Piece* replaced = nullptr;
  uint32_t replaced_in = 0;
  uint32_t sequence = 0;
  KnownBox known[kMostKnown];
  uint32_t known_count = 0;
  // The instruction to which accesses belong.
  Step step = {};
  const uint32_t* clock = nullptr;
  bool at_end = false;
  // Working memory of the functions below.
  Vector<Piece*> found;
  Vector<Box> remaining, outside, todo;
  Vector<Rows> remaining_rows;
  Vector<Inside> inside;
};

Status InitContents(Contents* c);

inline uint32_t MemoryOf(const Contents& c, uint32_t region, uint32_t node) {
  return region == SLUICE_REGION_GBUF ? node : c.judge->stream.nodes + region;
}

// Content that is there from the start; *fresh is false if the box already has content.
Status PutPreset(Contents* c, uint32_t memory, const Part& part, int64_t base,
                 const int64_t* stride, bool* fresh);
// Later accesses belong to this instruction, which starts when what its clock counts
// has ended.
void EnterStep(Contents* c, const Step& step, const uint32_t* clock);
// Ends the stream: every access is ordered before what follows.
inline void EnterEnd(Contents* c) { c->at_end = true; }

// Appends the parts that lie in the box. record: later writes must be ordered after
// this read.
Status ReadParts(Contents* c, uint32_t memory, const Box& box, bool record,
                 Vector<Part>* parts);
// Finds the piece that has all of the box, no byte of it covered; nullptr: there is none.
Status FindPiece(Contents* c, uint32_t memory, const Box& box, Part* part,
                 const Piece** piece);
Status RecordRead(Contents* c, uint32_t memory, const Box& box);
// Whether these bytes are known to be of the root, and notes that they are.
bool IsKnown(const Contents& c, uint32_t memory, uint32_t root, const Box& box);
void NoteKnown(Contents* c, uint32_t memory, uint32_t root, const Box& box);
// Announces a write of the whole box: checks conflicts, drops covered pieces. The box
// must be nested. in_place: this instruction's own read of exactly this box is no
// conflict.
Status Overwrite(Contents* c, uint32_t memory, const Box& box, bool in_place);
// Stores a part; its twin space is the memory's addresses.
Status PutPart(Contents* c, uint32_t memory, const Part& part);

inline bool IsPartial(const Contents& c, uint32_t root) {
  return root >= c.first_partial;
}
inline const PartialSum& PartialOf(const Contents& c, uint32_t root) {
  return c.partials[root - c.first_partial];
}
Status RootOf(Contents* c, const PartialSum& sum, uint32_t* root);

}  // namespace judge
}  // namespace sluice

#endif  // SLUICE_VERIFY_CONTENTS_H_
