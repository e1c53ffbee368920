// SPDX-License-Identifier: Apache-2.0
// Goes through the distinct iterations of a segment: two or three at a glance, which show most
// segments that do not fit, then all of them.
#include "base/checked.h"
#include "solve/space/segment_draft.h"

namespace sluice {
namespace {

// Whether some layer's frames do not fit, even if nothing else is in the scratchpad.
bool Overflows(SegmentDraft* s) {
  for (uint32_t p = s->first; p <= s->last; ++p) s->level[p] = 0;
  for (const RootUse& use : s->uses) {
    if (use.form == UseForm::kUnused) continue;
    const int64_t bytes =
        Min(s->problem.Aligned(use.frame), s->problem.roots[use.root].bytes);
    s->level[use.from] += bytes;
    s->level[use.to + 1] -= bytes;
  }
  return PeakOf(*s) > s->problem.capacity;
}

// Whether the iterations looked at need the same box of some root that is not a
// constant.
bool AnyAlike(const SegmentDraft& s) {
  for (const RootUse& use : s.uses) {
    const bool moves =
        use.form != UseForm::kUnused && !s.problem.roots[use.root].constant;
    if (moves && use.depends == 0) return true;
  }
  return false;
}

// The bytes of one slice of weights.
int64_t SliceBytes(const SegmentDraft& s, const RootUse& use) {
  const SpaceLayer& at = s.layers[use.from];
  const int64_t extent =
      s.problem.graph->tensors[s.problem.at(use.from).outputs[0]].extent[3];
  return CeilDivide(s.problem.graph->tensors[use.root].bytes * at.cut[3].step, extent);
}

// Sizes the frames of roots that only the block touches, by the first two iterations of
// its loop in the first iteration of the loops around it.
void GlanceAtBlock(SegmentDraft* s) {
  for (int trip = 0; trip < 2; ++trip) {
    s->boxes.SetTrip(s->nest.block.loop, trip);
    s->boxes.Derive(s->nest.block.first, s->nest.block.last);
    for (uint32_t i = 0; i < s->uses.count; ++i) {
      RootUse* use = &s->uses.all[i];
      if (!InBlock(*s, *use)) continue;
      const Box& need = s->boxes.need(use->root);
      const int64_t bytes = BytesOfBox(need, s->problem.graph->tensors[use->root]);
      if (trip == 0) {
        s->uses.block_box[i] = need;
      } else if (!(s->uses.block_box[i] == need)) {
        const int64_t before =
            BytesOfBox(s->uses.block_box[i], s->problem.graph->tensors[use->root]);
        use->inner = true;
        use->depends = 1;
        use->part = Max(before, bytes);
        use->frame = use->part;
      }
    }
  }
  s->boxes.SetTrip(s->nest.block.loop, kAllTrips);
}

// Whether layers behind the block read no more of what it makes than its own cuts give: in
// each iteration of its loop a layer makes a piece of the images that the loops around it
// have come to. A transpose that brings images into rows reads the images to come as well.
__attribute__((cold, noinline)) bool BlockMakesAll(const SegmentDraft& s) {
  const SegmentBlock& block = s.nest.block;
  if (block.loop == kNone) return true;
  for (uint32_t p = block.first; p < block.last; ++p) {
    const uint32_t root = s.problem.root_of[s.problem.at(p).outputs[0]];
    const bool read_behind = !s.layers[p].summed && s.uses.Of(root).to >= block.last;
    if (read_behind && !(s.boxes.made(p) == s.boxes.Asked(p))) return false;
  }
  return true;
}

// Whether all iterations of a loop are alike: it cuts images, or channels of one layer,
// into equal parts.
bool AllAlike(const SegmentDraft& s, const LoopChoice& loops, int loop) {
  const int axis = loops.cut[loop];
  if (axis != 0 && (axis != 3 || s.last - s.first > 1)) return false;
  for (uint32_t p = s.first; p < s.last; ++p) {
    const auto& cut = s.layers[p].cut[axis];
    const Layer& layer = s.problem.at(p);
    if (KindOf(layer.op) == LayerKind::kAppend) return false;
    const Tensor& out = s.problem.graph->tensors[layer.outputs[0]];
    if (cut.loop == kNone || cut.step * loops.trips[loop] != out.extent[axis]) {
      return false;
    }
  }
  return true;
}

// An iteration in the middle, which has its halo on both sides. Where pieces are rounded
// up to whole rows, iterations in the second half may make nothing.
int32_t Middle(const SegmentDraft& s, const LoopChoice& loops, int loop) {
  const int axis = loops.cut[loop];
  int32_t pieces = loops.trips[loop];
  for (uint32_t p = s.first; p < s.last; ++p) {
    const auto& cut = s.layers[p].cut[axis];
    if (!s.layers[p].leaves || cut.loop == kNone) continue;
    const Tensor& out = s.problem.graph->tensors[s.problem.at(p).outputs[0]];
    const int64_t own = CeilDivide(out.extent[axis], cut.step);
    pieces = Min(pieces, static_cast<int32_t>(own));
  }
  return Max(1, Min(pieces / 2, loops.trips[loop] - 2));
}

// Sets what depends on all iterations together. False where pieces of a tensor are not
// contiguous in a view whose axes are not those of its root.
bool CountMoved(SegmentDraft* s, const LoopChoice& loops) {
  for (RootUse& use : s->uses) {
    int64_t inner = 1;
    for (int k = s->nest.outer - 1; k >= 0 && (use.depends >> k & 1) == 0 && !use.inner;
         --k) {
      inner *= loops.trips[k];
    }
    use.moved /= inner;
    use.lost /= inner;
    use.count = s->nest.tiles / inner * (use.inner ? s->nest.block_trips() : 1);
    if (use.slices != 0) {
      use.frame = use.first_frame = SliceBytes(*s, use);
      use.moved = s->problem.graph->tensors[use.root].bytes * s->nest.tiles;
      use.lost = 0;
      use.count = int64_t{use.slices} * s->nest.tiles;
      use.depends = 1;
    }
    if (use.scattered && use.frame < s->problem.graph->tensors[use.root].bytes)
      return false;
  }
  return true;
}

// Marks the roots of which another box is needed than in the first iteration. `changed`:
// bits of the loops whose trip is not the first.
void FindDependence(SegmentDraft* s, uint32_t changed) {
  for (uint32_t i = 0; i < s->uses.count; ++i) {
    RootUse* use = &s->uses.all[i];
    if (use->form == UseForm::kUnused) continue;
    const Box& need = s->boxes.need(use->root);
    if (changed == 0) {
      s->uses.first_box[i] = need;
    } else if (!(s->uses.first_box[i] == need)) {
      use->depends |= changed;
    }
  }
}

// Marks the roots of which a view whose axes are not nested needs a piece that is not
// contiguous.
void FindScattered(SegmentDraft* s) {
  for (RootUse& use : s->uses) {
    use.scattered = use.crossed &&
                    !IsContiguous(s->boxes.roots(), use.root, s->boxes.need(use.root));
  }
}

}  // namespace

bool GlanceAtSegment(SegmentDraft* s, const LoopChoice& loops) {
  // The second iteration comes first: its boxes have more halo, and MeasureSegment goes on with
  // those of the first one. A block is sized in the first iteration.
  const bool block = s->nest.block.loop != kNone;
  const int begin = block || s->nest.outer == 0 ? 0 : 1;
  s->derived = !block;
  for (int k = 0; k < (s->nest.outer == 0 ? 1 : 3); ++k) {
    const int look = k == 2 ? 2 : k ^ begin;
    if (look == 2 && !AnyAlike(*s)) break;
    s->derived = s->derived && look != 2;
    for (int i = 0; i < s->nest.outer; ++i) {
      const int32_t last = loops.trips[i] - 1;
      s->boxes.SetTrip(static_cast<uint32_t>(i), look == 2 ? last : Min(look, last));
    }
    s->boxes.Derive(s->first, s->last);
    if (!BlockMakesAll(*s)) return false;
    for (uint32_t i = 0; i < s->uses.count; ++i) {
      RootUse* use = &s->uses.all[i];
      if (use->form == UseForm::kUnused || use->inner) continue;
      const Box& need = s->boxes.need(use->root);
      use->frame =
          Max(use->frame, BytesOfBox(need, s->problem.graph->tensors[use->root]));
      if (k == 0) s->uses.first_box[i] = need;
      if (k > 0 && !(s->uses.first_box[i] == need)) use->depends = use->travels = true;
      if (use->slices == 0) continue;
      use->frame = SliceBytes(*s, *use);
      use->depends = 1;
    }
    if (look == 0 && block) GlanceAtBlock(s);
    if (s->Ends() || (k == 0 && Overflows(s))) return false;
  }
  return true;
}

bool MeasureSegment(SegmentDraft* s, const LoopChoice& loops,
                    const SegmentLimit* limit) {
  if (s->nest.outer > 1) {
    for (RootUse& use : s->uses) use.depends = use.inner ? 1 : 0;
  }
  int32_t kinds[kMaxLoops];
  int all = 1;
  for (int i = 0; i < s->nest.outer; ++i) {
    kinds[i] = AllAlike(*s, loops, i) ? 1 : Min(loops.trips[i], 3);
    all *= kinds[i];
  }
  // After the first iteration comes the one that stands for most others: where the
  // segment costs too much, that is seen soon.
  for (int n = 0; n < all; ++n) {
    int which = n == 0 ? 0 : n == 1 ? all - 1 : n - 1;
    int64_t times = 1;
    bool is_first = true, is_last = true;
    uint32_t changed = 0;
    for (int i = s->nest.outer; i-- > 0; which /= kinds[i]) {
      const int32_t kind = which % kinds[i], trips = loops.trips[i];
      if (kind != 0) changed |= 1u << i;
      const int32_t trip = kind == 0 ? 0 : kind == 1 ? trips - 1 : Middle(*s, loops, i);
      s->boxes.SetTrip(static_cast<uint32_t>(i), trip);
      if (kind == 2) times *= trips - 2;
      if (kinds[i] == 1) times *= trips;
      is_first = is_first && trip == 0;
      is_last = is_last && (trip == trips - 1 || kinds[i] == 1);
    }
    if (!s->derived || changed != 0) s->boxes.Derive(s->first, s->last);
    if (!BlockMakesAll(*s)) return false;
    // Where only one loop is not at its first trip, what differs depends on that loop.
    if (s->nest.outer > 1 && (changed & (changed - 1)) == 0) FindDependence(s, changed);
    AddIteration(s, times, is_first, is_last);
    if (n < 2) FindScattered(s);
    if (s->budget != nullptr && s->budget->stop_reason() != SLUICE_STOP_COMPLETE) {
      return false;
    }
    if (limit != nullptr && Excludes(s, *limit)) return true;
  }
  // Of a loop whose iterations are all alike only the first one was derived.
  for (int i = 0; i < s->nest.outer && s->nest.outer > 1; ++i) {
    if (kinds[i] != 1) continue;
    for (int k = 0; k < s->nest.outer; ++k)
      s->boxes.SetTrip(static_cast<uint32_t>(k), k == i);
    s->boxes.Derive(s->first, s->last);
    FindDependence(s, 1u << i);
  }
  return CountMoved(s, loops);
}

}  // namespace sluice
