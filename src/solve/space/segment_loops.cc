// SPDX-License-Identifier: Apache-2.0
// Loops inside the outer loops of a segment: over parts of a sum, over slices of a
// layer's weights, and over pieces of the tensors that layers hand on to each other.
#include "base/checked.h"
#include "solve/space/segment.h"

namespace sluice {

uint32_t SummedOf(const SpaceProblem& problem, uint32_t first, uint32_t last) {
  for (uint32_t p = last; p-- > first;) {
    const Layer& layer = problem.at(p);
    if (KindOf(layer.op) == LayerKind::kCompute && MaySplitSum(layer) &&
        TraitsOf(layer).sum != SumRule::kErrorRows &&
        AccumulatedChannels(*problem.graph, layer) > 1) {
      return p;
    }
  }
  return kNone;
}

int32_t PartsOfSum(const SpaceProblem& problem, uint32_t position, int32_t trips) {
  const Layer& layer = problem.at(position);
  const int64_t channels = AccumulatedChannels(*problem.graph, layer);
  const int64_t unit = CutsOn(problem.hardware->array, *problem.graph, layer).sum_unit;
  const int64_t step = RoundUpTo(CeilDivide(channels, trips), unit);
  return static_cast<int32_t>(CeilDivide(channels, step));
}

// Puts a loop over parts of a sum around the layer that adds it up and the layers
// before that make what one part adds up. False where the sum has fewer parts than the
// loop has trips, where another layer reads what is made for a part, where different
// layers make different parts, and where layers would be under no loop: such layers are
// segments of their own.
bool SegmentMaker::TakeSum(const LoopChoice& loops) {
  if (outer_ == loops.count) return true;
  const uint32_t at = SummedOf(p_, first_, last_);
  const int32_t trips = loops.trips[outer_];
  if (at == kNone || PartsOfSum(p_, at, trips) != trips) return false;
  const int64_t channels = AccumulatedChannels(*p_.graph, p_.at(at));
  const int64_t unit = CutsOn(p_.hardware->array, *p_.graph, p_.at(at)).sum_unit;
  const int64_t step = RoundUpTo(CeilDivide(channels, trips), unit);
  block_.loop = loop_count_++;
  block_.last = at + 1;
  loops_[block_.loop] = {innermost_, trips};
  layers_[at].summed = true;
  layers_[at].cut[kSumCut] = {block_.loop, static_cast<int32_t>(step)};
  sum_bytes_ = 1;
  FindBlockOfSum(at);
  const bool all = block_.first == first_ && block_.last == last_;
  if (outer_ == 0 && !all) return false;
  for (uint32_t p = block_.first; p < at; ++p) {
    const Use& use = uses_[use_of_[p_.root_of[p_.at(p).outputs[0]]] - 1];
    if (layers_[p].leaves || use.to > at) return false;
    if (IsPieceAlong(p_.at(p).outputs[0], 3)) return false;
  }
  for (uint32_t p = block_.first; p <= at; ++p) layers_[p].loop = block_.loop;
  return true;
}

// The block begins at the first layer that makes less for one part of the sum than for
// the whole sum.
void SegmentMaker::FindBlockOfSum(uint32_t summed) {
  block_.first = summed;
  if (summed == first_) return;
  boxes_.Derive(first_, last_);
  for (uint32_t p = first_; p < summed; ++p) level_[p] = boxes_.made(p).elements();
  boxes_.SetTrip(block_.loop, 0);
  boxes_.Derive(first_, summed + 1);
  boxes_.SetTrip(block_.loop, kAllTrips);
  for (uint32_t p = summed; p-- > first_;) {
    if (boxes_.made(p).elements() < level_[p]) block_.first = p;
  }
}

// Gives each layer with large weights a loop of its own over slices of output channels.
void SegmentMaker::TakeSlices(const LoopChoice& loops) {
  for (uint32_t p = first_; p < last_ && loops.slice != 0; ++p) {
    SpaceLayer* at = &layers_[p];
    const Layer& layer = p_.at(p);
    if (KindOf(layer.op) != LayerKind::kCompute || at->cut[3].loop != kNone ||
        InBlock(p)) {
      continue;
    }
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

// Whether the root is made and read in this segment and nowhere else.
bool SegmentMaker::IsHandedOn(const Use& use) const {
  const SpaceRoot& root = p_.roots[use.root];
  return use.made && !root.output && !root.dram && !p_.Lives(use.root, last_) &&
         root.first_maker == root.last_maker && root.first_maker >= first_;
}

// Puts a loop over pieces of rows or columns around the layers that make and read large
// tensors. The loops around it may cut images only, and none of these layers may have a
// window along the pieces, because it would read rows of the piece before.
void SegmentMaker::TakePieces(const LoopChoice& loops) {
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
  block_.first = first;
  block_.last = last;
  const int32_t trips = static_cast<int32_t>(CeilDivide(most, loops.piece));
  for (int axis = 1; axis < 3; ++axis) {
    if (PieceAlong(axis, trips)) return;
  }
}

bool SegmentMaker::PieceAlong(int axis, int32_t trips) {
  int32_t extent = 0, step = 0;
  for (uint32_t p = block_.first; p < block_.last; ++p) {
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
  block_.loop = loop_count_++;
  loops_[block_.loop] = {innermost_, static_cast<int32_t>(CeilDivide(extent, step))};
  for (uint32_t p = block_.first; p < block_.last; ++p) {
    layers_[p].loop = block_.loop;
    layers_[p].cut[axis] = {block_.loop, step};
    // Layers behind the block read all pieces of this output.
    const uint32_t root = p_.root_of[p_.at(p).outputs[0]];
    if (uses_[use_of_[root] - 1].to >= block_.last) layers_[p].leaves = true;
  }
  return true;
}

// Sizes the frames of roots that only the block touches, by the first two iterations of
// its loop in the first iteration of the loops around it.
void SegmentMaker::GlanceBlock() {
  for (int trip = 0; trip < 2; ++trip) {
    boxes_.SetTrip(block_.loop, trip);
    boxes_.Derive(block_.first, block_.last);
    for (uint32_t i = 0; i < use_count_; ++i) {
      Use* use = &uses_[i];
      if (!InBlock(*use)) continue;
      const Box& need = boxes_.need(use->root);
      const int64_t bytes = BytesOfBox(need, p_.graph->tensors[use->root]);
      if (trip == 0) {
        block_box_[i] = need;
      } else if (!(block_box_[i] == need)) {
        const int64_t before = BytesOfBox(block_box_[i], p_.graph->tensors[use->root]);
        use->inner = true;
        use->depends = 1;
        use->part = Max(before, bytes);
        use->frame = use->part;
      }
    }
  }
  boxes_.SetTrip(block_.loop, kAllTrips);
}

// Constants that the block needs piece by piece would be loaded again in each iteration
// of the loops around it. As many of them as fit are loaded whole and once instead.
void SegmentMaker::LoadOnce(const LoopChoice& loops) {
  for (int i = 0; i < outer_; ++i) {
    if (loops.cut[i] == 3) return;  // these constants change with channels
  }
  const auto may = [&](const Use& use) {
    return use.part != 0 && use.form == Form::kLoad && p_.roots[use.root].constant;
  };
  for (uint32_t i = 0; i < use_count_; ++i) {
    Use* use = &uses_[i];
    use->slots = use->depends != 0 ? 2 : 1;
    if (!may(*use)) continue;
    use->inner = false;
    use->depends = 0;
    use->slots = 1;
    use->frame = p_.graph->tensors[use->root].bytes;
  }
  for (FillLevels(); Peak() > p_.capacity; FillLevels()) {
    Use* largest = nullptr;
    for (uint32_t i = 0; i < use_count_; ++i) {
      Use* use = &uses_[i];
      if (use->inner || !may(*use)) continue;
      if (largest == nullptr || use->frame > largest->frame) largest = use;
    }
    if (largest == nullptr) break;
    largest->inner = true;
    largest->depends = 1;
    largest->slots = 2;
    largest->frame = largest->part;
  }
  for (uint32_t i = 0; i < use_count_; ++i) uses_[i].slots = 1;
}

// Adds the iterations of the block's loop: the first, the last, those between.
void SegmentMaker::AddBlock(int64_t times, bool first, bool last) {
  const int32_t trips = block_trips();
  const int64_t cycles = cost_.cycles, first_cycles = cost_.first_cycles;
  for (int look = 0; look < Min(trips, 3); ++look) {
    const int64_t alike = look == 2 ? times * (trips - 2) : times;
    boxes_.SetTrip(block_.loop, look == 0 ? 0 : look == 1 ? trips - 1 : 1);
    boxes_.Derive(block_.first, block_.last);
    for (uint32_t i = 0; i < use_count_; ++i) {
      Use* use = &uses_[i];
      if (use->inner) AddBox(alike, first && look == 0, use);
    }
    for (uint32_t p = block_.first; p < block_.last && !Ends(); ++p) {
      AddTile(p, alike, first && look == 0, last && look == 1);
    }
  }
  // What the block makes can be stored after its last iteration.
  if (first) cost_.first_cycles = first_cycles + (cost_.cycles - cycles) / times;
  boxes_.SetTrip(block_.loop, kAllTrips);
}

int64_t SegmentMaker::SliceBytes(const Use& use) const {
  const SpaceLayer& at = layers_[use.from];
  const int64_t extent = p_.graph->tensors[p_.at(use.from).outputs[0]].extent[3];
  return CeilDivide(p_.graph->tensors[use.root].bytes * at.cut[3].step, extent);
}

}  // namespace sluice
