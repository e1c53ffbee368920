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

#include "verify/memory_map.h"
#include "verify/order.h"

namespace sluice {
namespace judge {

struct Part {
  uint32_t root;
  int64_t width;
  int64_t origin[kAxes];  // first element, in the root's coordinates
  int64_t extent[kAxes];
  // Twin position of the first element, and its step along each axis of the root.
  int64_t twin;
  int64_t twin_stride[kAxes];
};

// True if each element of the part lies at its place in a dense tensor with these steps.
// *index is the place of the first one.
bool LiesDensely(const Part& part, const int64_t* dense, int64_t* index);

constexpr uint32_t kMaxRanges = 8;

struct PartialSum {
  uint32_t layer;
  uint32_t ranges;
  int32_t begin[kMaxRanges];  // disjoint, ascending, not touching
  int32_t end[kMaxRanges];
};

class Contents {
 public:
  explicit Contents(Judge* judge)
      : judge_(judge),
        pool_(judge->arena),
        found_(judge->arena),
        remaining_(judge->arena),
        outside_(judge->arena),
        todo_(judge->arena),
        remaining_rows_(judge->arena),
        inside_(judge->arena),
        partials_(judge->arena) {}
  Status Init();

  uint32_t MemoryOf(uint32_t region, uint32_t node) const {
    return region == SLUICE_REGION_GBUF ? node : judge_->stream.nodes + region;
  }

  // Content that is there from the start; *fresh is false if the box already has
  // content.
  Status Preset(uint32_t memory, const Part& part, int64_t base, const int64_t* stride,
                bool* fresh);
  // Later accesses belong to this instruction, which starts when what its clock counts
  // has ended.
  void Enter(const Step& step, const uint32_t* clock);
  // Ends the stream: every access is ordered before what follows.
  void EnterEnd() { at_end_ = true; }

  // Appends the parts that lie in the box. record: later writes must be ordered after
  // this read.
  Status Read(uint32_t memory, const Box& box, bool record, Vector<Part>* parts);
  Status Record(uint32_t memory, const Box& box);
  // Announces a write of the whole box: checks conflicts, drops covered pieces. The box
  // must be nested. in_place: this instruction's own read of exactly this box is no
  // conflict.
  Status Overwrite(uint32_t memory, const Box& box, bool in_place);
  // Stores a part; its twin space is the memory's addresses.
  Status Put(uint32_t memory, const Part& part);

  bool IsTensor(uint32_t root) const { return root < judge_->graph.tensors.size(); }
  bool IsPartial(uint32_t root) const { return root >= first_partial_; }
  const PartialSum& Partial(uint32_t root) const {
    return partials_[root - first_partial_];
  }
  Status RootOf(const PartialSum& sum, uint32_t* root);

 private:
  bool Before(const Piece& piece) const;
  // One engine alone accesses DRAM, in the order of its list.
  bool InDmaOrder(uint32_t memory) const {
    return memory >= judge_->stream.nodes && judge_->stream.dram_engines <= 1;
  }
  bool IsReadOnly(uint32_t memory) const {
    return memory == MemoryOf(SLUICE_REGION_CONST, 0) ||
           memory == MemoryOf(SLUICE_REGION_INPUT, 0);
  }
  Status KeepOverlapping(const Box& box);
  Status Leave(const Box& box);
  Status ReadPieces(const Box& box, Vector<Part>* parts);
  Status Missing(const Box& box);
  Status HideWrite(uint32_t memory, Piece* piece, const Frame& frame, const Rows& rows);
  void DropWrite(uint32_t memory, Piece* piece);
  void DropReplaced();
  Status DropHidden(uint32_t memory);
  Status DropImplied(uint32_t memory, int64_t begin, int64_t end);
  Status OverwriteReads(uint32_t memory, const Box& box, int64_t end, bool in_place,
                        const Frame& frame, const Rows& rows);
  Status Conflict(const Piece& piece, const char* doing);

  Judge* judge_;
  PiecePool pool_;
  Span<MemoryMap*> writes_;
  Span<MemoryMap*> reads_;
  Span<RecentPieces> recent_;  // writes, per memory
  Span<uint8_t> painted_;      // by byte of a scratchpad; empty: too large to look at
  // Per memory: how many pieces became covered since those that are hidden were dropped,
  // and at how many they are dropped again.
  Span<uint32_t> covered_, most_covered_;
  Vector<Piece*> found_;
  Vector<Box> remaining_, outside_, todo_;
  Vector<Rows> remaining_rows_;
  Vector<Inside> inside_;
  Vector<PartialSum> partials_;
  // The piece whose bytes the current write replaces exactly; the next Put reuses it.
  Piece* replaced_ = nullptr;
  uint32_t replaced_in_ = 0;
  uint32_t first_partial_ = 0;
  uint32_t sequence_ = 0;
  Step step_ = {};
  const uint32_t* clock_ = nullptr;
  bool at_end_ = false;
};

}  // namespace judge
}  // namespace sluice

#endif  // SLUICE_VERIFY_CONTENTS_H_
