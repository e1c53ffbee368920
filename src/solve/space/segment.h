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

#include "solve/space/boxes.h"
#include "solve/space/problem.h"
#include "solve/space/tile_prices.h"

namespace sluice {

// A root that lies whole in the scratchpad between two segments.
struct Held {
  uint32_t root;
  bool stored;  // all that was made of it is in DRAM too
};

// The first loads of a segment, in the order in which its tiles need them: the bytes
// that these loads move, and the bytes of the frames that must be free for them.
struct EarlyLoads {
  int64_t bytes, room;
};

struct SpaceCost {
  static constexpr uint8_t kEarly = 3;  // as `early` says
  int64_t cycles = 0;                   // of its tiles
  EarlyLoads early[kEarly] = {};        // the first load, the first two, all
  int64_t ahead = 0;            // bytes that can be loaded before its first tile ends
  int64_t first_wait = 0;       // cycles its first tiles wait if loads start at once
  int64_t load = 0, store = 0;  // bytes, all
  int64_t transfers = 0;
  int64_t spill = 0;  // bytes of `store` that can go before its first tile
  int64_t first_cycles = 0, last_cycles = 0;  // of its first, of its last iteration
  int64_t last_store = 0;                     // bytes of its last iteration
  int64_t exposed = 0;  // bytes that move while no tile runs: frames are not doubled
  int64_t peak = 0;
  double energy_pj = 0;
  bool squeezed = false;  // a root had to leave that another cut may keep
  uint8_t early_count = 0;

  // Bytes that its first iteration needs.
  int64_t first_load() const {
    return early_count == 0 ? 0 : early[early_count - 1].bytes;
  }
};

// Says of a segment that costs at least `least` whether it can be of no use. Of `least`
// count cycles, energy_pj, load and store.
struct SegmentLimit {
  bool (*excludes)(const void* of, const SpaceCost& least);
  const void* of;
};

class SegmentMaker {
 public:
  explicit SegmentMaker(const SpaceProblem& problem)
      : p_(problem),
        boxes_(*problem.graph, problem.hardware->array, *problem.lowering, plan_),
        prices_(problem) {}
  Status Init(Arena* arena);
  // When the budget ends, nothing fits any more.
  void Watch(Budget* budget) { budget_ = budget; }

  // With a limit, may end early: then is_excluded() is true, and of the results only
  // cost() is there, a lower bound.
  bool Make(Span<const Held> held, uint32_t first, uint32_t last,
            const LoopChoice& loops, const SegmentLimit* limit = nullptr);
  // Whether the segment's frames fit as far as its first iterations show.
  bool Fits(Span<const Held> held, uint32_t first, uint32_t last,
            const LoopChoice& loops);
  bool is_excluded() const { return excluded_; }
  TilePrices* prices() { return &prices_; }

  // The results of the last Make that returned true. Loops are numbered from 0, those
  // of the choice first; images that stay beyond the segment end with it.
  const SpaceCost& cost() const { return cost_; }
  Span<const SpaceLayer> layers() const { return layers_.Slice(first_, last_); }
  Span<const SpaceLoop> loops() const { return loops_.Slice(0, loop_count_); }
  Span<const SpaceImage> images() const { return images_.Slice(0, image_count_); }
  // The last position of the segment that needs a root held before it. kNone: the
  // segment does not use the root, or no longer holds it.
  uint32_t LastUseOfHeld(uint32_t root) const;
  uint32_t FirstTouchOf(uint32_t root) const { return uses_[use_of_[root] - 1].from; }
  uint32_t LastTouchOf(uint32_t root) const { return uses_[use_of_[root] - 1].to; }
  int64_t alone_bytes() const;
  Span<const Held> held() const { return held_.Slice(0, held_count_); }

 private:
  // How much of a root lies in the scratchpad during the segment, and for how long.
  enum class Form : uint8_t {
    kHeld,      // whole, as before the segment
    kUnused,    // as kHeld, but not used by the segment
    kLoad,      // loaded: what each iteration needs
    kLoadKeep,  // loaded whole; stays for later segments
    kMade,      // what each iteration makes; not needed later
    kMadeKeep,  // made whole; stays for later segments
    kMadeOut,   // what each iteration makes; stored to DRAM
  };
  struct Use {
    uint32_t root;
    Form form, was;     // was: as found by Describe
    bool stored;        // kHeld, kUnused: Held::stored
    bool made;          // by a layer of the segment
    bool begun;         // made, and earlier segments made other parts of it
    bool gone;          // it has left the scratchpad
    bool lives;         // later segments read or make it
    bool crossed;       // the segment touches a view of it whose axes are not nested
    bool scattered;     // crossed, and a piece of it is not contiguous
    bool travels;       // the first two iterations of the outer loops need other boxes
    bool inner;         // only the block touches it; its box follows the block's loop
    uint32_t from, to;  // positions of the segment that touch it
    uint32_t depends;   // bits of loops that change what is needed of it
    int64_t frame;      // bytes of the largest box needed
    int64_t part;       // inner: the frame that GlanceBlock found
    int64_t first_frame;      // bytes of the first iteration's box
    int64_t moved;            // bytes of all boxes that differ from the one before
    int64_t made_bytes;       // bytes that its layers make, all iterations
    int64_t lost, made_lost;  // SpaceProblem::LostBytes of `moved`, of `made_bytes`
    int64_t count;            // number of the boxes in `moved`
    uint8_t slots = 1;        // frames, used in turn
    int32_t slices;           // weights that come in slices: how many; else 0
    uint32_t loop;            // the loop over the slices
  };
  bool Describe(Span<const Held> held, const LoopChoice& loops);
  bool SetLoops(const LoopChoice& loops);
  bool TakeSum(const LoopChoice& loops);
  void FindBlockOfSum(uint32_t summed);
  void TakeSlices(const LoopChoice& loops);
  void TakePieces(const LoopChoice& loops);
  bool PieceAlong(int axis, int32_t trips);
  bool IsHandedOn(const Use& use) const;
  bool InBlock(uint32_t position) const {
    return block_.loop != kNone && position >= block_.first && position < block_.last;
  }
  bool InBlock(const Use& use) const {
    return use.form != Form::kUnused && InBlock(use.from) && InBlock(use.to);
  }
  int32_t block_trips() const {
    return block_.loop == kNone ? 1 : loops_[block_.loop].trips;
  }
  void GlanceBlock();
  void LoadOnce(const LoopChoice& loops);
  void AddBlock(int64_t times, bool first, bool last);
  int64_t SliceBytes(const Use& use) const;
  bool IsPieceAlong(uint32_t tensor, int axis) const;
  bool CutRows(const LoopChoice& loops, uint32_t position);
  void CollectUses(Span<const Held> held);
  Use* UseOf(uint32_t root, uint32_t position);
  bool Leaves(uint32_t root) const;
  void ChooseForms();
  bool Glance(const LoopChoice& loops);
  bool Overflows();
  bool AnyAlike() const;
  int32_t Middle(const LoopChoice& loops, int loop) const;
  bool Measure(const LoopChoice& loops, const SegmentLimit* limit);
  void SumLeast();
  void FindScattered();
  int64_t LeastLoad(uint32_t i) const;
  bool Excludes(const SegmentLimit* limit);
  bool CountMoved(const LoopChoice& loops);
  bool AllAlike(const LoopChoice& loops, int loop) const;
  void FindDependence(uint32_t changed);
  bool Ends() const { return budget_ != nullptr && budget_->Tick(); }
  void AddIteration(int64_t times, bool first, bool last);
  double EnergyOf(uint32_t position, const TileBoxes& tile) const;
  void AddTile(uint32_t position, int64_t times, bool first, bool last);
  void AddPart(uint32_t position, const Box& box, int64_t times, bool first, bool last);
  bool MakeRoom();
  bool TakeSlot();
  // Whether the use has one frame that changes in a loop: DMA refills or empties it
  // while no tile runs.
  bool InPlace(const Use& use) const { return use.depends != 0 && use.slots == 1; }
  // Whether the frame starts anew in each iteration, so that other frames may use its
  // bytes in between.
  bool Returns(const Use& use) const {
    const bool each = innermost_ != kNone && (use.depends >> innermost_ & 1) != 0;
    return InPlace(use) && (use.inner || each);
  }
  void Occupy(const Use& use, int sign);
  void FillLevels();
  int64_t Peak() const;
  // Whether DMA fills or empties its frames while tiles run.
  static bool Moves(const Use& use) {
    return use.form == Form::kLoad || use.form == Form::kMadeOut ||
           (use.form == Form::kMade && use.begun);
  }
  int64_t BytesOf(const Use& use) const;
  void SpanOf(const Use& use, uint32_t span[2]) const;
  Use* FarthestUse();
  void ListImages();
  void AddImage(const Use& use);
  void AddSums();
  int64_t ReadAlone(uint32_t root) const;
  void AddBox(int64_t times, bool first, Use* use);
  void Charge();
  void ChargeBegun(const Use& use);
  void ChargeFirst();
  void AddEarly(int64_t bytes, int64_t room);

  const SpaceProblem& p_;
  Budget* budget_ = nullptr;
  SpacePlan plan_;
  SpaceBoxes boxes_;
  TilePrices prices_;
  Span<SpaceLayer> layers_;
  Span<SpaceLoop> loops_;
  Span<Use> uses_;
  Span<uint32_t> use_of_;  // by root: index into uses_ + 1 of this Make
  Span<SpaceImage> images_;
  Span<Held> held_;
  Span<Box> first_box_;  // by use: what the first iteration needs of it
  Span<Box> block_box_;  // by use: what the block's first iteration needs of it
  Span<int64_t> level_;  // by position of the segment: bytes that start or end there
  Span<int64_t> first_cycles_;  // by position: of its tile in the first iteration
  Span<TileCost> least_;        // by position: of the layers before it, as whole tiles
  SpaceCost cost_;
  bool excluded_ = false;
  uint32_t first_ = 0, last_ = 0;
  uint32_t use_count_ = 0, image_count_ = 0, held_count_ = 0;
  int outer_ = 0;               // loops around all layers
  uint32_t innermost_ = kNone;  // the innermost of the loops around all layers
  int64_t sum_bytes_ = 0;
  // The block: layers [first, last) under one more loop, over pieces of the tensors
  // that they hand on to each other or over parts of the last layer's sum. loop kNone:
  // there is no block.
  struct {
    uint32_t loop = kNone, first = 0, last = 0;
  } block_;
  uint32_t loop_count_ = 0;
  bool derived_ = false;  // Glance ended with the boxes of the first iteration
  int32_t tiles_ = 1;     // iterations of the loops around all layers
};

// The layer whose sum a kSumCut loop cuts: the last of the positions [first, last) that
// may add up its sum in parts. kNone: there is none.
uint32_t SummedOf(const SpaceProblem& problem, uint32_t first, uint32_t last);

// The number of parts of the layer's sum when a loop of `trips` cuts it: less than
// `trips` where parts are rounded up to whole units.
int32_t PartsOfSum(const SpaceProblem& problem, uint32_t position, int32_t trips);

}  // namespace sluice

#endif  // SLUICE_SOLVE_SPACE_SEGMENT_H_
