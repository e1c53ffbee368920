// SPDX-License-Identifier: Apache-2.0
// A segment while its cost is found, and the steps in which SegmentMaker finds it: the
// loops and the form of each root, a glance at the first iterations, room in the
// scratchpad, all iterations, its images, the charge for transfers.
//
// Input    each step needs what the steps before it found.
// Output   the members of SegmentDraft that the step names.
// Errors   false where the segment does not fit or cannot be written as a program;
//          InitDraft: kOutOfMemory.
// Cost     glance and measure derive the boxes of distinct iterations; the other steps are
//          linear in layers and roots used.
#ifndef SLUICE_SOLVE_SPACE_SEGMENT_DRAFT_H_
#define SLUICE_SOLVE_SPACE_SEGMENT_DRAFT_H_

#include "solve/space/boxes.h"
#include "solve/space/problem.h"
#include "solve/space/segment_cost.h"
#include "solve/space/tile_prices.h"

namespace sluice {

// How much of a root lies in the scratchpad during the segment, and for how long.
enum class UseForm : uint8_t {
  kHeld,      // whole, as before the segment
  kUnused,    // as kHeld, but not used by the segment
  kLoad,      // loaded: what each iteration needs
  kLoadKeep,  // loaded whole; stays for later segments
  kMade,      // what each iteration makes; not needed later
  kMadeKeep,  // made whole; stays for later segments
  kMadeOut,   // what each iteration makes; stored to DRAM
};

// What a segment does with a root.
struct RootUse {
  uint32_t root;
  UseForm form, was;  // was: the form that DescribeSegment chose
  bool stored;        // kHeld, kUnused: Held::stored
  bool made;          // by a layer of the segment
  bool begun;         // made, and earlier segments made other parts of it
  bool gone;          // it has left the scratchpad
  bool lives;         // later segments read or make it
  bool crossed;       // the segment touches a view of it whose axes are not nested
  bool scattered;     // crossed, and a piece of it is not contiguous
  bool travels;       // two iterations in a row of the outer loops need different boxes
  bool inner;         // only the block touches it; its box follows the block's loop
  uint32_t from, to;  // positions of the segment that touch it
  uint32_t depends;   // bits of loops that change what is needed of it
  int64_t frame;      // bytes of the largest box needed
  int64_t part;       // inner: the frame that GlanceAtBlock found
  int64_t first_frame;      // bytes of the first iteration's box
  int64_t moved;            // bytes of all boxes that differ from the one before
  int64_t made_bytes;       // bytes that its layers make, all iterations
  int64_t lost, made_lost;  // SpaceProblem::LostBytes of `moved`, of `made_bytes`
  int64_t count;            // number of the boxes in `moved`
  uint8_t slots = 1;        // frames, used in turn
  int32_t slices;           // weights that come in slices: how many; else 0
  uint32_t loop;            // the loop over the slices
};

// The roots that the segment uses and those that were held before it.
struct SegmentUses {
  Span<RootUse> all;
  uint32_t count = 0;
  Span<uint32_t> of;    // by root: its place in `all` + 1; 0: it has none
  Span<Box> first_box;  // by use: what the first iteration needs of it
  Span<Box> block_box;  // by use: what the block's first iteration needs of it

  RootUse& Of(uint32_t root) const { return all[of[root] - 1]; }
  RootUse* begin() const { return all.begin(); }
  RootUse* end() const { return all.begin() + count; }
};

// Layers [first, last) under one more loop, over pieces of the tensors that they hand on to
// each other or over parts of the last layer's sum. loop kNone: there is no block.
struct SegmentBlock {
  uint32_t loop = kNone, first = 0, last = 0;
};

// The loops of the segment: those around all layers, then those of slices and of the block.
struct SegmentNest {
  Span<SpaceLoop> loops;
  uint32_t count = 0;
  int outer = 0;               // loops around all layers
  uint32_t innermost = kNone;  // the innermost of them
  int32_t tiles = 1;           // their iterations
  SegmentBlock block;
  int64_t sum_bytes = 0;  // of the frame in which a block adds up its parts; 0: none

  int32_t block_trips() const {
    return block.loop == kNone ? 1 : loops[block.loop].trips;
  }
};

// The images that begin with the segment, in the order of its uses, the frame of a sum last;
// and the roots that are held after it.
struct SegmentImages {
  Span<SpaceImage> all;
  Span<Held> held;
  uint32_t count = 0, held_count = 0;
};

struct SegmentDraft {
  explicit SegmentDraft(const SpaceProblem& the_problem)
      : problem(the_problem),
        boxes(*problem.graph, problem.hardware->array, *problem.lowering, plan),
        prices(problem) {}

  const SpaceProblem& problem;
  Budget* budget = nullptr;  // nullptr: without end
  SpacePlan plan;            // `layers` and `nest.loops`, as `boxes` sees them
  SpaceBoxes boxes;
  TilePrices prices;
  Span<TileCost> least;          // by position: of the layers before it, as whole tiles
  Span<SpaceLayer> layers;       // by position
  uint32_t first = 0, last = 0;  // its positions
  SegmentNest nest;
  SegmentUses uses;
  SegmentImages images;
  Span<int64_t> level;         // by position: bytes that start or end there
  Span<int64_t> first_cycles;  // by position: of its tile in the first iteration
  SpaceCost cost;
  bool derived = false;   // the glance ended with the boxes of the first iteration
  bool excluded = false;  // the caller's limit excludes it

  bool alone() const { return problem.alone[first] != 0; }
  bool Ends() const { return budget != nullptr && budget->Tick(); }
};

Status InitDraft(SegmentDraft* s, Arena* arena);

// Whether the root must be in DRAM after the segment.
inline bool Leaves(const SegmentDraft& s, uint32_t root) {
  const SpaceRoot& r = s.problem.roots[root];
  return r.output || r.dram || s.problem.Lives(root, s.last);
}

inline bool InBlock(const SegmentDraft& s, uint32_t position) {
  const SegmentBlock& block = s.nest.block;
  return block.loop != kNone && position >= block.first && position < block.last;
}

inline bool InBlock(const SegmentDraft& s, const RootUse& use) {
  return use.form != UseForm::kUnused && InBlock(s, use.from) && InBlock(s, use.to);
}

// Whether DMA fills or empties its frames while tiles run.
inline bool Moves(const RootUse& use) {
  return use.form == UseForm::kLoad || use.form == UseForm::kMadeOut ||
         (use.form == UseForm::kMade && use.begun);
}

// Whether the use has one frame that changes in a loop: DMA refills or empties it while
// no tile runs.
inline bool InPlace(const RootUse& use) { return use.depends != 0 && use.slots == 1; }

// ---- loops and forms

// Sets all that does not depend on boxes; false where the layers cannot be cut by these
// loops (segment_describe.cc).
bool DescribeSegment(SegmentDraft* s, Span<const Held> held, const LoopChoice& loops);
// Whether the tensor is one of several parts that lie along this axis of a root and are
// made by different layers. A cut along the axis would make one part in some iterations
// and the next part in others, but iterations are taken to be alike.
bool IsPieceAlong(const SegmentDraft& s, uint32_t tensor, int axis);

void CollectUses(SegmentDraft* s, Span<const Held> held);  // segment_uses.cc
// Decides where each root goes, as if there were room for all that is needed later.
void ChooseForms(SegmentDraft* s);

// Puts a loop over parts of a sum around the layer that adds it up and the layers
// before that make what one part adds up. False where the sum has fewer parts than the
// loop has trips, where another layer reads what is made for a part, where different
// layers make different parts, and where layers would be under no loop: such layers are
// segments of their own (segment_loops.cc).
bool TakeSum(SegmentDraft* s, const LoopChoice& loops);
// Gives each layer with large weights a loop of its own over slices of output channels.
void TakeSlices(SegmentDraft* s, const LoopChoice& loops);
// Puts a loop over pieces of rows or columns around the layers that make and read large
// tensors. The loops around it may cut images only, and none of these layers may have a
// window along the pieces, because it would read rows of the piece before.
void TakePieces(SegmentDraft* s, const LoopChoice& loops);

// ---- iterations (segment_measure.cc)

// Sizes frames by the boxes of the first and the second iteration. Where both need the
// same box of a tensor, looks at the last iteration too: when an image is enlarged,
// neighbouring iterations may read the same rows although the loop moves on. False where
// the first look's boxes alone do not fit.
bool GlanceAtSegment(SegmentDraft* s, const LoopChoice& loops);
// Derives the distinct iterations and sums up their tiles: the first of each loop, those
// between, the last. With a limit, may end early: then `excluded` is set.
bool MeasureSegment(SegmentDraft* s, const LoopChoice& loops,
                    const SegmentLimit* limit);

// ---- room (segment_room.cc)

// Positions [span[0], span[1]] during which the segment needs the root's bytes.
void SpanOf(const SegmentDraft& s, const RootUse& use, uint32_t span[2]);
// The bytes that a use takes in the scratchpad, in all its frames.
int64_t BytesOf(const SegmentDraft& s, const RootUse& use);
// The bytes that a layer that is alone takes; 0 for other segments.
int64_t AloneBytes(const SegmentDraft& s);
// The most bytes that `level` has at a position.
int64_t PeakOf(const SegmentDraft& s);
// Constants that the block needs piece by piece would be loaded again in each iteration
// of the loops around it. As many of them as fit are loaded whole and once instead.
void LoadOnce(SegmentDraft* s, const LoopChoice& loops);
// Sends roots out of the scratchpad until the others fit; false where they never do.
bool MakeRoom(SegmentDraft* s);
// Takes the second slot (the double buffer) from the use whose frames change least
// often, among equals from the largest one. False if no use has two slots.
bool TakeSlot(SegmentDraft* s);

// ---- cost (segment_cost.cc)

// Sums up what each layer costs at least: what it costs as one tile. The parts of a tile
// take no fewer cycles together, and read and write no fewer bytes.
void SumLeastCosts(SegmentDraft* s);
// Adds the tiles and boxes of `times` iterations that are like the one derived.
void AddIteration(SegmentDraft* s, int64_t times, bool first, bool last);
// Whether the limit excludes what the segment costs at least, as far as that is known.
// The roots that stay whole by a glance are taken to stay.
bool Excludes(SegmentDraft* s, const SegmentLimit& limit);
// Adds what all transfers cost.
void ChargeTransfers(SegmentDraft* s);

// ---- what the segment brings (segment_images.cc)

void ListImages(SegmentDraft* s);

}  // namespace sluice

#endif  // SLUICE_SOLVE_SPACE_SEGMENT_DRAFT_H_
