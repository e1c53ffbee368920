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

namespace {

// The block begins at the first layer that makes less for one part of the sum than for
// the whole sum.
void FindBlockOfSum(SegmentDraft* s, uint32_t summed) {
  s->nest.block.first = summed;
  if (summed == s->first) return;
  s->boxes.Derive(s->first, s->last);
  for (uint32_t p = s->first; p < summed; ++p)
    s->level[p] = s->boxes.made(p).elements();
  s->boxes.SetTrip(s->nest.block.loop, 0);
  s->boxes.Derive(s->first, summed + 1);
  s->boxes.SetTrip(s->nest.block.loop, kAllTrips);
  for (uint32_t p = summed; p-- > s->first;) {
    if (s->boxes.made(p).elements() < s->level[p]) s->nest.block.first = p;
  }
}

// Whether the root is made and read in this segment and nowhere else.
bool IsHandedOn(const SegmentDraft& s, const RootUse& use) {
  const SpaceRoot& root = s.problem.roots[use.root];
  return use.made && !root.output && !root.dram && !s.problem.Lives(use.root, s.last) &&
         root.first_maker == root.last_maker && root.first_maker >= s.first;
}

// Cuts the layers of the block along an axis, if all of them may be cut into the same
// pieces.
bool PieceAlong(SegmentDraft* s, int axis, int32_t trips) {
  SegmentBlock* block = &s->nest.block;
  int32_t extent = 0, step = 0;
  for (uint32_t p = block->first; p < block->last; ++p) {
    const Layer& layer = s->problem.at(p);
    if (KindOf(layer.op) != LayerKind::kCompute || s->layers[p].sliced) return false;
    const CutRule rule = CutsOn(s->problem.hardware->array, *s->problem.graph, layer);
    const Tensor& out = s->problem.graph->tensors[layer.outputs[0]];
    const Window window = WindowOf(*s->problem.graph, layer, axis);
    if (!rule.cuttable[axis] || rule.unit[axis] != 1 || window.filter > 1) return false;
    if (extent != 0 && out.extent[axis] != extent) return false;
    extent = out.extent[axis];
    step = static_cast<int32_t>(CeilDivide(extent, Min(trips, extent)));
    if (s->boxes.Step(layer.outputs[0], axis, step) != step) return false;
  }
  if (step >= extent) return false;
  block->loop = s->nest.count++;
  s->nest.loops[block->loop] = {s->nest.innermost,
                                static_cast<int32_t>(CeilDivide(extent, step))};
  for (uint32_t p = block->first; p < block->last; ++p) {
    s->layers[p].loop = block->loop;
    s->layers[p].cut[axis] = {block->loop, step};
    // Layers behind the block read all pieces of this output.
    const uint32_t root = s->problem.root_of[s->problem.at(p).outputs[0]];
    if (s->uses.Of(root).to >= block->last) s->layers[p].leaves = true;
  }
  return true;
}

}  // namespace

bool TakeSum(SegmentDraft* s, const LoopChoice& loops) {
  if (s->nest.outer == loops.count) return true;
  SegmentBlock* block = &s->nest.block;
  const uint32_t at = SummedOf(s->problem, s->first, s->last);
  const int32_t trips = loops.trips[s->nest.outer];
  if (at == kNone || PartsOfSum(s->problem, at, trips) != trips) return false;
  const int64_t channels = AccumulatedChannels(*s->problem.graph, s->problem.at(at));
  const int64_t unit =
      CutsOn(s->problem.hardware->array, *s->problem.graph, s->problem.at(at)).sum_unit;
  const int64_t step = RoundUpTo(CeilDivide(channels, trips), unit);
  block->loop = s->nest.count++;
  block->last = at + 1;
  s->nest.loops[block->loop] = {s->nest.innermost, trips};
  s->layers[at].summed = true;
  s->layers[at].cut[kSumCut] = {block->loop, static_cast<int32_t>(step)};
  s->nest.sum_bytes = 1;
  FindBlockOfSum(s, at);
  const bool all = block->first == s->first && block->last == s->last;
  if (s->nest.outer == 0 && !all) return false;
  for (uint32_t p = block->first; p < at; ++p) {
    const RootUse& use = s->uses.Of(s->problem.root_of[s->problem.at(p).outputs[0]]);
    if (s->layers[p].leaves || use.to > at) return false;
    if (IsPieceAlong(*s, s->problem.at(p).outputs[0], 3)) return false;
  }
  for (uint32_t p = block->first; p <= at; ++p) s->layers[p].loop = block->loop;
  return true;
}

void TakeSlices(SegmentDraft* s, const LoopChoice& loops) {
  for (uint32_t p = s->first; p < s->last && loops.slice != 0; ++p) {
    SpaceLayer* at = &s->layers[p];
    const Layer& layer = s->problem.at(p);
    if (KindOf(layer.op) != LayerKind::kCompute || at->cut[3].loop != kNone ||
        InBlock(*s, p)) {
      continue;
    }
    const uint32_t weights = OperandsOf(layer).tensor[kRoleWeight];
    if (weights == kNone || weights != s->problem.root_of[weights]) continue;
    RootUse* use = &s->uses.Of(weights);
    const CutRule rule = CutsOn(s->problem.hardware->array, *s->problem.graph, layer);
    const int64_t bytes = s->problem.roots[weights].bytes;
    if (!s->problem.roots[weights].constant || use->form != UseForm::kLoad ||
        use->from != use->to || s->problem.Lives(weights, s->last) ||
        bytes <= loops.slice || !rule.cuttable[3] ||
        s->nest.count == s->nest.loops.size()) {
      continue;
    }
    const int64_t extent = s->problem.graph->tensors[layer.outputs[0]].extent[3];
    const int64_t step = RoundUpTo(CeilDivide(extent, CeilDivide(bytes, loops.slice)),
                                   int64_t{rule.unit[3]});
    if (step >= extent) continue;
    use->slices = static_cast<int32_t>(CeilDivide(extent, step));
    use->loop = s->nest.count;
    s->nest.loops[s->nest.count] = {s->nest.innermost, use->slices};
    at->loop = s->nest.count++;
    at->cut[3] = {at->loop, static_cast<int32_t>(step)};
    at->sliced = true;
  }
}

void TakePieces(SegmentDraft* s, const LoopChoice& loops) {
  if (loops.piece == 0 || loops.count > 1 || (loops.count == 1 && loops.cut[0] != 0)) {
    return;
  }
  uint32_t first = s->last, last = s->first;
  int64_t most = 0;
  for (bool more = true; more;) {
    more = false;
    for (const RootUse& use : s->uses) {
      const int64_t bytes = s->problem.roots[use.root].bytes / s->nest.tiles;
      if (!IsHandedOn(*s, use) || bytes <= loops.piece) continue;
      const bool meets = most == 0 || (use.from <= last && use.to + 1 >= first);
      if (!meets || (use.from >= first && use.to < last)) continue;
      first = Min(first, use.from);
      last = Max(last, use.to + 1);
      most = Max(most, bytes);
      more = true;
    }
  }
  if (most == 0 || s->nest.count == s->nest.loops.size()) return;
  s->nest.block.first = first;
  s->nest.block.last = last;
  const int32_t trips = static_cast<int32_t>(CeilDivide(most, loops.piece));
  for (int axis = 1; axis < 3; ++axis) {
    if (PieceAlong(s, axis, trips)) return;
  }
}

}  // namespace sluice
