// SPDX-License-Identifier: Apache-2.0
// What each layer of a segment makes in one iteration of its loops, and what is needed
// of each root, derived from the readers backwards with their halo.
//
// Input    a plan; the iteration of each loop, kAllTrips where none is chosen.
// Output   per position the box of its output and the range of its sum, per root the
//          hull of the boxes that the derived positions read.
// Errors   kOutOfMemory.
// Cost     linear in the derived positions.
#ifndef SLUICE_SOLVE_SPACE_BOXES_H_
#define SLUICE_SOLVE_SPACE_BOXES_H_

#include "base/memory.h"
#include "model/granules.h"
#include "model/roots.h"
#include "model/space_plan.h"

namespace sluice {

constexpr int32_t kAllTrips = -1;

// Bytes of a box of the tensor; 0 if the box is empty.
inline int64_t BytesOfBox(const Box& box, const Tensor& tensor) {
  return box.extent[0] == 0 ? 0 : box.elements() * tensor.element_bytes;
}

// How a tensor lies in its root.
struct BoxPlace {
  uint32_t root;
  bool plain;  // the tensor is the root, in the root's own axes
  RootAxes axes;
};

// What a position reads and makes, looked up once.
struct BoxFacts {
  uint32_t tensor[kTileRoles];
  int32_t channels;
  CutRule rule;
  bool append, alone;
  uint32_t out;
};

class SpaceBoxes {
 public:
  SpaceBoxes(const Graph& graph, const MacArray& array, const Lowering& lowering,
             const SpacePlan& plan)
      : graph_(graph), array_(array), lowering_(lowering), plan_(plan) {}
  Status Init(Arena* arena);

  void SetTrip(uint32_t loop, int32_t trip) { trip_[loop] = trip; }
  int32_t trip(uint32_t loop) const { return trip_[loop]; }

  // Sets all loops to kAllTrips, to look at another part of a plan of the same layers
  // and loops.
  void Forget() {
    for (int32_t& trip : trip_) trip = kAllTrips;
  }

  // Derives positions [first, last), which are all layers under some loops.
  void Derive(uint32_t first, uint32_t last);

  // Goes through the layers [first, last) in order: calls at_layer(position) for those
  // directly in `loop`. Of each loop directly inside `loop`, sets each trip, derives the
  // loop's layers [begin, end), and calls in_trip(begin, end, the inner loop).
  template <typename AtLayer, typename InTrip>
  Status EachIteration(uint32_t first, uint32_t last, uint32_t loop, AtLayer at_layer,
                       InTrip in_trip) {
    for (uint32_t p = first; p < last;) {
      if (plan_.layers[p].loop == loop) {
        SLUICE_TRY(at_layer(p++));
        continue;
      }
      const uint32_t inner = LoopInside(p, loop);
      uint32_t end = p + 1;
      while (end < last && LoopInside(end, loop) == inner) ++end;
      for (int32_t trip = 0; trip < plan_.loops[inner].trips; ++trip) {
        SetTrip(inner, trip);
        Derive(p, end);
        SLUICE_TRY(in_trip(p, end, inner));
      }
      SetTrip(inner, kAllTrips);
      p = end;
    }
    return Status::kOk;
  }

  // The results of the last Derive with this position or root; extent[0] 0: nothing is
  // made or needed.
  const Box& made(uint32_t position) const { return made_[position]; }
  const Box& need(uint32_t root) const { return need_[root]; }
  // What the position makes by its own cuts, whatever is needed of it.
  Box Asked(uint32_t position) const;
  const RootMap& roots() const { return roots_; }
  // See StepOfRows.
  int64_t Step(uint32_t tensor, int axis, int64_t step) const {
    return StepOfRows(roots_, place_[tensor].axes, axis, static_cast<int32_t>(step));
  }
  bool nested(uint32_t tensor) const { return place_[tensor].axes.nested; }
  // How a position that computes may be cut.
  const CutRule& rule(uint32_t position) const { return known_[position].rule; }
  // Its operands by role, kNone where it has none; the channels that it sums over.
  const uint32_t* tensors(uint32_t position) const { return known_[position].tensor; }
  int32_t channels(uint32_t position) const { return known_[position].channels; }
  // The operands' boxes of what the position makes.
  const TileBoxes& tile(uint32_t position) const { return tile_[position]; }
  int32_t sum_begin(uint32_t position) const { return sum_[position].begin; }
  int32_t sum_end(uint32_t position) const { return sum_[position].end; }

 private:
  struct Range {
    int32_t begin, end;
  };
  // The loop directly inside `loop` that a position is under; kNone: it is in `loop` itself.
  uint32_t LoopInside(uint32_t position, uint32_t loop) const {
    uint32_t inner = kNone;
    for (uint32_t l = plan_.layers[position].loop; l != loop; l = plan_.loops[l].parent)
      inner = l;
    return inner;
  }

  void Need(uint32_t tensor, const Box& box) {
    const BoxPlace& place = place_[tensor];
    if (place.plain) return GrowBox(&need_[tensor], box);
    GrowBox(&need_[place.root], place.axes.nested ? BoxInRoot(place.axes, box)
                                                  : BoxInRoot(roots_, tensor, box));
  }
  Range Cut(uint32_t position, int cut, int32_t extent) const;
  Box WholeOf(uint32_t position, const BoxFacts& known);
  void Slice(uint32_t position);
  void AskFor(uint32_t position);

  const Graph& graph_;
  const MacArray& array_;
  const Lowering& lowering_;
  const SpacePlan& plan_;
  RootMap roots_;
  Span<int32_t> trip_;    // by loop
  Span<Box> made_;        // by position
  Span<Box> whole_;       // by position: of all slices, of the whole sum: see WholeOf
  Span<Range> sum_;       // by position
  Span<TileBoxes> tile_;  // by position: of the box in made_
  Span<Box> need_;        // by root
  Span<BoxPlace> place_;  // by tensor
  Span<BoxFacts> known_;  // by position
};

}  // namespace sluice

#endif  // SLUICE_SOLVE_SPACE_BOXES_H_
