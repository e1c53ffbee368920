// SPDX-License-Identifier: Apache-2.0
// A plan of one node as data: which layers run in which loops, what lies in the
// scratchpad for how long, what is loaded and stored. A writer turns it into a program
// without further decisions.
//
// Layers run in the order of `layers`; a position is an index into it. A segment is a
// run of positions under a tree of loops. A root is a tensor that no other tensor
// contains (lowering.h); views are boxes of their root, on chip as in DRAM. An image is
// a frame in the scratchpad that holds a box of a root, or partial sums of a layer.
//
// Input    filled by a solver
// Output   none: plain data
// Errors   none
// Cost     none
#ifndef SLUICE_MODEL_SPACE_PLAN_H_
#define SLUICE_MODEL_SPACE_PLAN_H_

#include "model/graph.h"

namespace sluice {

constexpr int kSumCut = kAxes;  // behind the axes of the output: the range of its sum

struct SpaceLoop {
  uint32_t parent;  // of the plan's loops; kNone: outermost in its segment
  int32_t trips;
};

// A layer at a node of its segment's tree of loops. In iteration i of cut[a].loop it
// makes [i * step, (i + 1) * step) of axis a, clipped to the extent, or for kSumCut
// adds up that range of its sum. Axes without a loop are whole. A layer whose output
// does not leave the loops makes what its readers there need, with the halo of their
// windows.
struct SpaceLayer {
  uint32_t layer;  // of the graph
  uint32_t loop;   // the innermost around it, or kNone
  bool leaves;     // read outside of its loops, or stored
  bool alone;      // a segment of its own, from DRAM to DRAM (a copy or the like)
  bool sliced;     // its innermost loop is around it alone: slices of channels of what
                   // the other loops ask for
  bool summed;  // its innermost loop is around parts of its sum, and around the layers
                // before that make what a part adds up
  struct {
    uint32_t loop;
    int32_t step;
  } cut[kAxes + 1];
};

enum class SpaceStore : uint8_t {
  kNever,
  kMade,   // every tile, as soon as it is made
  kAtEnd,  // all of it that was made, when the image ends
};

// A frame in the scratchpad during positions [first, last]. With a loop it holds what
// one iteration needs or makes, and is filled anew in the next; without one it is
// filled once.
struct SpaceImage {
  uint32_t root;  // a root; of a sum: the layer's output
  uint32_t loop;  // kNone: none
  uint32_t from;  // the first position at which it may be loaded, at most `first`
  uint32_t first, last;
  uint32_t used;  // the last position that touches it
  bool whole;     // all of the root, in the root's strides; else what is needed
  bool sum;       // partial sums of the layer
  bool load;      // the part that was made before `first` comes from DRAM
  SpaceStore store;
  uint8_t slots;   // frames, used in turn
  int64_t bytes;   // of one frame, aligned
  int64_t offset;  // of the first frame
};

constexpr int kMaxLoops = 5;

// What a search chooses for a segment: the loops around it, the outermost first. Each
// cuts axis `cut` of the output of every layer into `trips` parts. The innermost one
// may be kSumCut: it cuts the sum of the last layer whose sum may be added up in parts
// (SummedOf), and contains that layer and the layers before it that make what a part
// adds up. Later layers run outside of that loop.
struct LoopChoice {
  int count = 0;
  uint8_t cut[kMaxLoops];
  int32_t trips[kMaxLoops];
  // Weights of more bytes than this are loaded in slices of output channels of so many
  // bytes, again in each iteration; 0: as a whole.
  int64_t slice = 0;
  // If layers hand on more bytes than this in an iteration, a loop of their own makes
  // them piece by piece; 0: at once.
  int64_t piece = 0;

  // Adds a loop inside of the others, if it has more than one trip.
  void Add(int axis, int32_t n) {
    if (n <= 1) return;
    cut[count] = static_cast<uint8_t>(axis);
    trips[count++] = n;
  }
  // Iterations of all loops; INT64_MAX for that many or more.
  int64_t Iterations() const {
    int64_t n = 1;
    for (int i = 0; i < count; ++i) {
      n = n > INT64_MAX / trips[i] ? INT64_MAX : n * trips[i];
    }
    return n;
  }
};

inline bool SameLoops(const LoopChoice& a, const LoopChoice& b) {
  bool same = a.count == b.count && a.slice == b.slice && a.piece == b.piece;
  for (int i = 0; same && i < a.count; ++i) {
    same = a.cut[i] == b.cut[i] && a.trips[i] == b.trips[i];
  }
  return same;
}

struct SpaceSegment {
  uint32_t first, last;    // positions [first, last)
  uint32_t images_begin;   // its first image; they end at the next segment's
  int64_t alone_bytes;     // at address 0, for a layer that is `alone`
  LoopChoice choice = {};  // from which loops, layers and images follow
  int64_t end = 0;         // cycle in which its last tile ends, as the search predicts
};

struct SpacePlan {
  Span<const SpaceLayer> layers;
  Span<const SpaceLoop> loops;
  Span<SpaceImage> images;
  Span<const SpaceSegment> segments;
  double energy_pj = 0;  // as the search predicts
  int64_t cycles = 0;
};

}  // namespace sluice

#endif  // SLUICE_MODEL_SPACE_PLAN_H_
