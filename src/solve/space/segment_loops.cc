// SPDX-License-Identifier: Apache-2.0
// Loops inside those of a segment: around slices of a layer's weights, and around pieces
// of what layers hand on.
#include "base/checked.h"
#include "solve/space/segment.h"

namespace sluice {

// Gives layers whose weights are large a loop of their own around slices of channels.
void SegmentMaker::TakeSlices(const LoopChoice& loops) {
  loop_count_ = static_cast<uint32_t>(loops.count);
  for (uint32_t p = first_; p < last_ && loops.slice != 0; ++p) {
    SpaceLayer* at = &layers_[p];
    const Layer& layer = p_.at(p);
    if (KindOf(layer.op) != LayerKind::kCompute || at->cut[3].loop != kNone) continue;
    const uint32_t weights = OperandsOf(layer).tensor[kRoleWeight];
    if (weights == kNone || weights != p_.root_of[weights]) continue;
    Use* use = &uses_[use_of_[weights] - 1];
    const CutRule rule = CutsOn(p_.hardware->array, *p_.graph, layer);
    const int64_t bytes = p_.roots[weights].bytes;
    if (!p_.roots[weights].constant || use->form != Form::kLoad ||
        use->from != use->to || p_.Lives(weights, last_) || bytes <= loops.slice ||
        !rule.cuttable[3] || loop_count_ == loops_.size()) {
      continue;
    }
    const int64_t extent = p_.graph->tensors[layer.outputs[0]].extent[3];
    const int64_t step = RoundUpTo(CeilDivide(extent, CeilDivide(bytes, loops.slice)),
                                   int64_t{rule.unit[3]});
    if (step >= extent) continue;
    use->slices = static_cast<int32_t>(CeilDivide(extent, step));
    use->loop = loop_count_;
    loops_[loop_count_] = {innermost_, use->slices};
    at->loop = loop_count_++;
    at->cut[3] = {at->loop, static_cast<int32_t>(step)};
    at->sliced = true;
  }
}

// What is made and read in the segment, and nowhere else.
bool SegmentMaker::IsHandedOn(const Use& use) const {
  const SpaceRoot& root = p_.roots[use.root];
  return use.made && !root.output && !root.dram && !p_.Lives(use.root, last_) &&
         root.first_maker == root.last_maker && root.first_maker >= first_;
}

// Around the layers that make and read what is large, in images or all at once: windows
// would read rows of the piece before.
void SegmentMaker::TakePieces(const LoopChoice& loops) {
  pieces_.loop = kNone;
  if (loops.piece == 0 || loops.count > 1 || (loops.count == 1 && loops.cut[0] != 0)) {
    return;
  }
  uint32_t first = last_, last = first_;
  int64_t most = 0;
  for (bool more = true; more;) {
    more = false;
    for (uint32_t i = 0; i < use_count_; ++i) {
      const Use& use = uses_[i];
      const int64_t bytes = p_.roots[use.root].bytes / tiles_;
      if (!IsHandedOn(use) || bytes <= loops.piece) continue;
      const bool meets = most == 0 || (use.from <= last && use.to + 1 >= first);
      if (!meets || (use.from >= first && use.to < last)) continue;
      first = Min(first, use.from);
      last = Max(last, use.to + 1);
      most = Max(most, bytes);
      more = true;
    }
  }
  if (most == 0 || loop_count_ == loops_.size()) return;
  pieces_.first = first;
  pieces_.last = last;
  const int32_t trips = static_cast<int32_t>(CeilDivide(most, loops.piece));
  for (int axis = 1; axis < 3; ++axis) {
    if (PieceAlong(axis, trips)) return;
  }
}

bool SegmentMaker::PieceAlong(int axis, int32_t trips) {
  int32_t extent = 0, step = 0;
  for (uint32_t p = pieces_.first; p < pieces_.last; ++p) {
    const Layer& layer = p_.at(p);
    if (KindOf(layer.op) != LayerKind::kCompute || layers_[p].sliced) return false;
    const CutRule rule = CutsOn(p_.hardware->array, *p_.graph, layer);
    const Tensor& out = p_.graph->tensors[layer.outputs[0]];
    const Window window = WindowOf(*p_.graph, layer, axis);
    if (!rule.cuttable[axis] || rule.unit[axis] != 1 || window.filter > 1) return false;
    if (extent != 0 && out.extent[axis] != extent) return false;
    extent = out.extent[axis];
    step = static_cast<int32_t>(CeilDivide(extent, Min(trips, extent)));
    if (boxes_.Step(layer.outputs[0], axis, step) != step) return false;
  }
  if (step >= extent) return false;
  pieces_.loop = loop_count_++;
  loops_[pieces_.loop] = {innermost_, static_cast<int32_t>(CeilDivide(extent, step))};
  for (uint32_t p = pieces_.first; p < pieces_.last; ++p) {
    layers_[p].loop = pieces_.loop;
    layers_[p].cut[axis] = {pieces_.loop, step};
  }
  return true;
}

// The iterations of the loop around pieces: the first, those between, the last.
void SegmentMaker::AddPieces(int64_t times, bool first, bool last) {
  const int32_t trips = loops_[pieces_.loop].trips;
  for (int look = 0; look < Min(trips, 3); ++look) {
    boxes_.SetTrip(pieces_.loop, look == 0 ? 0 : look == 1 ? trips - 1 : 1);
    boxes_.Derive(pieces_.first, pieces_.last);
    for (uint32_t i = 0; i < use_count_; ++i) {
      Use* use = &uses_[i];
      if (!IsPiece(*use)) continue;
      use->frame = Max(
          use->frame, BytesOfBox(boxes_.need(use->root), p_.graph->tensors[use->root]));
      use->depends = 1;
    }
    for (uint32_t p = pieces_.first; p < pieces_.last; ++p) {
      AddTile(p, look == 2 ? times * (trips - 2) : times, first && look == 0,
              last && look == 0);
    }
  }
  boxes_.SetTrip(pieces_.loop, kAllTrips);
}

int64_t SegmentMaker::SliceBytes(const Use& use) const {
  const SpaceLayer& at = layers_[use.from];
  const int64_t extent = p_.graph->tensors[p_.at(use.from).outputs[0]].extent[3];
  return CeilDivide(p_.graph->tensors[use.root].bytes * at.cut[3].step, extent);
}

}  // namespace sluice
