// SPDX-License-Identifier: Apache-2.0
// What a segment is before any of its boxes are known: which loops cut its layers, and what
// becomes of each root.
#include "base/checked.h"
#include "solve/space/segment_draft.h"

namespace sluice {
namespace {

constexpr size_t kSliced = 64;  // layers of a segment

// Cuts the rows that a state append adds: into images only, and only where no other
// layer of the segment reads the state, because inside the loop the reader would find
// the rows of some images only.
bool CutRows(SegmentDraft* s, const LoopChoice& loops, uint32_t position) {
  const Tensor& rows = s->problem.graph->tensors[s->problem.at(position).inputs[1]];
  if (s->nest.outer != 1 || loops.cut[0] != 0) return false;
  const uint32_t state = s->problem.root_of[s->problem.at(position).outputs[0]];
  for (uint32_t p = s->first; p < s->last; ++p) {
    if (p == position) continue;
    for (uint32_t t : s->problem.at(p).inputs) {
      if (t != kNone && s->problem.root_of[t] == state) return false;
    }
  }
  const int64_t step = CeilDivide(rows.extent[0], loops.trips[0]);
  s->layers[position].cut[0] = {0, static_cast<int32_t>(step)};
  return true;
}

// Sets the loops around all layers; false when they cannot cut a layer.
bool SetLoops(SegmentDraft* s, const LoopChoice& loops) {
  SegmentNest* nest = &s->nest;
  nest->outer = loops.count;
  if (nest->outer > 0 && loops.cut[nest->outer - 1] == kSumCut) --nest->outer;
  nest->innermost = nest->outer == 0 ? kNone : static_cast<uint32_t>(nest->outer - 1);
  nest->count = static_cast<uint32_t>(nest->outer);
  nest->block.loop = kNone;
  nest->sum_bytes = 0;
  nest->tiles = 1;
  s->boxes.Forget();
  for (int i = 0; i < nest->outer; ++i) {
    nest->loops[i] = {i == 0 ? kNone : static_cast<uint32_t>(i - 1), loops.trips[i]};
    nest->tiles *= loops.trips[i];
  }
  for (uint32_t p = s->first; p < s->last; ++p) {
    SpaceLayer* at = &s->layers[p];
    at->loop = nest->innermost;
    at->sliced = at->summed = false;
    for (auto& cut : at->cut) cut = {kNone, 0};
    const Layer& layer = s->problem.at(p);
    if (nest->outer == 0) continue;
    if (KindOf(layer.op) == LayerKind::kAppend) {
      if (!CutRows(s, loops, p)) return false;
      continue;
    }
    const CutRule& rule = s->boxes.rule(p);
    const Tensor& out = s->problem.graph->tensors[layer.outputs[0]];
    for (int i = 0; i < nest->outer; ++i) {
      const int a = loops.cut[i];
      if (!rule.cuttable[a] && out.extent[a] > 1) {
        if (Leaves(*s, s->problem.root_of[layer.outputs[0]])) return false;
        continue;
      }
      if (s->last - s->first > 1 && IsPieceAlong(*s, layer.outputs[0], a)) return false;
      int64_t step =
          RoundUpTo(CeilDivide(out.extent[a], loops.trips[i]), int64_t{rule.unit[a]});
      const int64_t whole = s->boxes.Step(layer.outputs[0], a, step);
      // Rows and columns are not cut together where some views see them as one axis.
      if (whole != step && a > 0 && i > 0 && loops.cut[i - 1] > 0) return false;
      step = whole;
      at->cut[a] = {static_cast<uint32_t>(i), static_cast<int32_t>(step)};
    }
  }
  return true;
}

}  // namespace

__attribute__((cold)) Status InitDraft(SegmentDraft* s, Arena* arena) {
  const size_t n = s->problem.layer.size(), tensors = s->problem.roots.size();
  SLUICE_TRY(arena->Allocate(n, &s->layers));
  SLUICE_TRY(arena->Allocate(kMaxLoops + kSliced, &s->nest.loops));
  SLUICE_TRY(arena->Allocate(tensors + 1, &s->uses.all));
  SLUICE_TRY(arena->Allocate(tensors, &s->uses.of));
  SLUICE_TRY(arena->Allocate(tensors + 1, &s->images.all));
  SLUICE_TRY(arena->Allocate(tensors, &s->images.held));
  SLUICE_TRY(arena->Allocate(n + 1, &s->level));
  SLUICE_TRY(arena->Allocate(n, &s->first_cycles));
  SLUICE_TRY(arena->Allocate(tensors + 1, &s->uses.first_box));
  SLUICE_TRY(arena->Allocate(tensors + 1, &s->uses.block_box));
  SLUICE_TRY(s->prices.Init(arena));
  SLUICE_TRY(arena->Allocate(n + 1, &s->least));
  s->plan.layers = s->layers;
  s->plan.loops = s->nest.loops;
  for (uint32_t i = 0; i < n; ++i) {
    s->layers[i].layer = s->problem.layer[i];
    s->layers[i].alone = s->problem.alone[i] != 0;
  }
  SLUICE_TRY(s->boxes.Init(arena));
  SumLeastCosts(s);
  return Status::kOk;
}

bool IsPieceAlong(const SegmentDraft& s, uint32_t tensor, int axis) {
  const uint32_t root = s.problem.root_of[tensor];
  return s.problem.roots[root].first_maker != s.problem.roots[root].last_maker &&
         s.problem.graph->tensors[root].extent[axis] !=
             s.problem.graph->tensors[tensor].extent[axis];
}

bool DescribeSegment(SegmentDraft* s, Span<const Held> held, const LoopChoice& loops) {
  s->cost = SpaceCost{};
  for (uint32_t p = s->first; p < s->last; ++p) {
    if (s->problem.alone[p] != 0 && (s->last - s->first > 1 || loops.count != 0))
      return false;
  }
  if (!SetLoops(s, loops)) return false;
  CollectUses(s, held);
  for (uint32_t p = s->first; p < s->last; ++p) {
    const Layer& layer = s->problem.at(p);
    const uint32_t root = s->problem.root_of[layer.outputs[0]];
    const bool append = KindOf(layer.op) == LayerKind::kAppend;
    s->layers[p].leaves = append || Leaves(*s, root);
    // A frame that is read on both sides of an append would lack the appended rows
    // behind it.
    const RootUse* use = s->uses.of[root] == 0 ? nullptr : &s->uses.Of(root);
    if (append && use != nullptr && use->from < p && use->to > p) return false;
  }
  if (!TakeSum(s, loops)) return false;
  TakeSlices(s, loops);
  TakePieces(s, loops);
  for (RootUse& use : s->uses) use.was = use.form;
  return true;
}

}  // namespace sluice
