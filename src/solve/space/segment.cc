// SPDX-License-Identifier: Apache-2.0
#include "solve/space/segment.h"

#include "base/checked.h"
#include "base/hash.h"

namespace sluice {
namespace {

constexpr size_t kSliced = 64;      // layers of a segment
constexpr int64_t kAloneShare = 8;  // of the scratchpad, for a layer that is alone

}  // namespace

__attribute__((cold)) Status SegmentMaker::Init(Arena* arena) {
  const size_t n = p_.layer.size(), tensors = p_.roots.size();
  SLUICE_TRY(arena->Allocate(n, &layers_));
  SLUICE_TRY(arena->Allocate(kMaxLoops + kSliced, &loops_));
  SLUICE_TRY(arena->Allocate(tensors + 1, &uses_));
  SLUICE_TRY(arena->Allocate(tensors, &use_of_));
  SLUICE_TRY(arena->Allocate(tensors + 1, &images_));
  SLUICE_TRY(arena->Allocate(tensors, &held_));
  SLUICE_TRY(arena->Allocate(n + 1, &level_));
  SLUICE_TRY(arena->Allocate(n, &first_cycles_));
  SLUICE_TRY(arena->Allocate(tensors + 1, &first_box_));
  SLUICE_TRY(arena->Allocate(tensors + 1, &block_box_));
  SLUICE_TRY(prices_.Init(arena));
  SLUICE_TRY(arena->Allocate(n + 1, &least_));
  plan_.layers = layers_;
  plan_.loops = loops_;
  for (uint32_t i = 0; i < n; ++i) {
    layers_[i].layer = p_.layer[i];
    layers_[i].alone = p_.alone[i] != 0;
  }
  SLUICE_TRY(boxes_.Init(arena));
  SumLeast();
  return Status::kOk;
}

bool SegmentMaker::Fits(Span<const Held> held, uint32_t first, uint32_t last,
                        const LoopChoice& loops) {
  first_ = first;
  last_ = last;
  if (!Describe(held, loops)) return false;
  // Glance sees only some of the iterations: if their frames do not fit, the segment
  // does not.
  if (p_.alone[first_] == 0 && !Glance(loops)) return false;
  ChooseForms();
  if (block_.loop != kNone && tiles_ > 1) LoadOnce(loops);
  return MakeRoom();
}

bool SegmentMaker::Make(Span<const Held> held, uint32_t first, uint32_t last,
                        const LoopChoice& loops, const SegmentLimit* limit) {
  excluded_ = false;
  if (!Fits(held, first, last, loops)) return false;
  if (limit != nullptr && Excludes(limit)) return true;
  if (p_.alone[first_] == 0 && !Measure(loops, limit)) return false;
  if (excluded_) return true;
  for (uint32_t i = 0; i < use_count_; ++i) {
    uses_[i].slots = loop_count_ != 0 && uses_[i].depends != 0 ? 2 : 1;
  }
  for (;;) {
    for (uint32_t i = 0; i < use_count_; ++i) uses_[i].form = uses_[i].was;
    for (uint32_t i = 0; i < use_count_; ++i) uses_[i].gone = false;
    cost_.squeezed = false;
    ChooseForms();
    if (MakeRoom()) break;
    if (!TakeSlot()) return false;
  }
  ListImages();
  Charge();
  return true;
}

// Takes the second slot (the double buffer) from the use whose frames change least
// often, among equals from the largest one. False if no use has two slots.
bool SegmentMaker::TakeSlot() {
  Use* least = nullptr;
  for (uint32_t i = 0; i < use_count_; ++i) {
    Use* use = &uses_[i];
    if (!Moves(*use) || use->slots == 1) continue;
    const bool less = least == nullptr || use->count < least->count ||
                      (use->count == least->count && use->frame > least->frame);
    if (less) least = use;
  }
  if (least == nullptr) return false;
  least->slots = 1;
  return true;
}

// Sets all that does not depend on boxes; false where the layers cannot be cut by these
// loops.
bool SegmentMaker::Describe(Span<const Held> held, const LoopChoice& loops) {
  cost_ = SpaceCost{};
  for (uint32_t p = first_; p < last_; ++p) {
    if (p_.alone[p] != 0 && (last_ - first_ > 1 || loops.count != 0)) return false;
  }
  if (!SetLoops(loops)) return false;
  CollectUses(held);
  for (uint32_t p = first_; p < last_; ++p) {
    const Layer& layer = p_.at(p);
    const uint32_t root = p_.root_of[layer.outputs[0]];
    const bool append = KindOf(layer.op) == LayerKind::kAppend;
    layers_[p].leaves = append || Leaves(root);
    // A frame that is read on both sides of an append would lack the appended rows
    // behind it.
    const Use* use = use_of_[root] == 0 ? nullptr : &uses_[use_of_[root] - 1];
    if (append && use != nullptr && use->from < p && use->to > p) return false;
  }
  if (!TakeSum(loops)) return false;
  TakeSlices(loops);
  TakePieces(loops);
  for (uint32_t i = 0; i < use_count_; ++i) uses_[i].was = uses_[i].form;
  return true;
}

// Sizes frames by the boxes of the first and the second iteration. Where both need the
// same box of a tensor, looks at the last iteration too: when an image is enlarged,
// neighbouring iterations may read the same rows although the loop moves on. False where
// the first look's boxes alone do not fit.
bool SegmentMaker::Glance(const LoopChoice& loops) {
  // The second iteration comes first: its boxes have more halo, and Measure goes on with
  // those of the first one. A block is sized in the first iteration.
  const bool block = block_.loop != kNone;
  const int begin = block || outer_ == 0 ? 0 : 1;
  derived_ = !block;
  for (int k = 0; k < (outer_ == 0 ? 1 : 3); ++k) {
    const int look = k == 2 ? 2 : k ^ begin;
    if (look == 2 && !AnyAlike()) break;
    derived_ = derived_ && look != 2;
    for (int i = 0; i < outer_; ++i) {
      const int32_t last = loops.trips[i] - 1;
      boxes_.SetTrip(static_cast<uint32_t>(i), look == 2 ? last : Min(look, last));
    }
    boxes_.Derive(first_, last_);
    for (uint32_t i = 0; i < use_count_; ++i) {
      Use* use = &uses_[i];
      if (use->form == Form::kUnused || use->inner) continue;
      const Box& need = boxes_.need(use->root);
      use->frame = Max(use->frame, BytesOfBox(need, p_.graph->tensors[use->root]));
      if (k == 0) first_box_[i] = need;
      if (k > 0 && !(first_box_[i] == need)) use->depends = use->travels = true;
      if (use->slices == 0) continue;
      use->frame = SliceBytes(*use);
      use->depends = 1;
    }
    if (look == 0 && block) GlanceBlock();
    if (Ends() || (k == 0 && Overflows())) return false;
  }
  return true;
}

// Whether some layer's frames do not fit, even if nothing else is in the scratchpad.
bool SegmentMaker::Overflows() {
  for (uint32_t p = first_; p <= last_; ++p) level_[p] = 0;
  for (uint32_t i = 0; i < use_count_; ++i) {
    const Use& use = uses_[i];
    if (use.form == Form::kUnused) continue;
    const int64_t bytes = Min(p_.Aligned(use.frame), p_.roots[use.root].bytes);
    level_[use.from] += bytes;
    level_[use.to + 1] -= bytes;
  }
  return Peak() > p_.capacity;
}

// Whether the iterations looked at need the same box of some root that is not a
// constant.
bool SegmentMaker::AnyAlike() const {
  for (uint32_t i = 0; i < use_count_; ++i) {
    const Use& use = uses_[i];
    const bool moves = use.form != Form::kUnused && !p_.roots[use.root].constant;
    if (moves && use.depends == 0) return true;
  }
  return false;
}

bool SegmentMaker::Leaves(uint32_t root) const {
  const SpaceRoot& r = p_.roots[root];
  return r.output || r.dram || p_.Lives(root, last_);
}

// Sets the loops around all layers; false when they cannot cut a layer.
bool SegmentMaker::SetLoops(const LoopChoice& loops) {
  outer_ = loops.count;
  if (outer_ > 0 && loops.cut[outer_ - 1] == kSumCut) --outer_;
  innermost_ = outer_ == 0 ? kNone : static_cast<uint32_t>(outer_ - 1);
  loop_count_ = static_cast<uint32_t>(outer_);
  block_.loop = kNone;
  sum_bytes_ = 0;
  tiles_ = 1;
  boxes_.Forget();
  for (int i = 0; i < outer_; ++i) {
    loops_[i] = {i == 0 ? kNone : static_cast<uint32_t>(i - 1), loops.trips[i]};
    tiles_ *= loops.trips[i];
  }
  for (uint32_t p = first_; p < last_; ++p) {
    SpaceLayer* at = &layers_[p];
    at->loop = innermost_;
    at->sliced = at->summed = false;
    for (auto& cut : at->cut) cut = {kNone, 0};
    const Layer& layer = p_.at(p);
    if (outer_ == 0) continue;
    if (KindOf(layer.op) == LayerKind::kAppend) {
      if (!CutRows(loops, p)) return false;
      continue;
    }
    const CutRule& rule = boxes_.rule(p);
    const Tensor& out = p_.graph->tensors[layer.outputs[0]];
    for (int i = 0; i < outer_; ++i) {
      const int a = loops.cut[i];
      if (!rule.cuttable[a] && out.extent[a] > 1) {
        if (Leaves(p_.root_of[layer.outputs[0]])) return false;
        continue;
      }
      if (last_ - first_ > 1 && IsPieceAlong(layer.outputs[0], a)) return false;
      int64_t step =
          RoundUpTo(CeilDivide(out.extent[a], loops.trips[i]), int64_t{rule.unit[a]});
      const int64_t whole = boxes_.Step(layer.outputs[0], a, step);
      // Rows and columns are not cut together where some views see them as one axis.
      if (whole != step && a > 0 && i > 0 && loops.cut[i - 1] > 0) return false;
      step = whole;
      at->cut[a] = {static_cast<uint32_t>(i), static_cast<int32_t>(step)};
    }
  }
  return true;
}

// Whether the tensor is one of several parts that lie along this axis of a root and are
// made by different layers. A cut along the axis would make one part in some iterations
// and the next part in others, but iterations are taken to be alike.
bool SegmentMaker::IsPieceAlong(uint32_t tensor, int axis) const {
  const uint32_t root = p_.root_of[tensor];
  return p_.roots[root].first_maker != p_.roots[root].last_maker &&
         p_.graph->tensors[root].extent[axis] != p_.graph->tensors[tensor].extent[axis];
}

// Cuts the rows that a state append adds: into images only, and only where no other
// layer of the segment reads the state, because inside the loop the reader would find
// the rows of some images only.
bool SegmentMaker::CutRows(const LoopChoice& loops, uint32_t position) {
  const Tensor& rows = p_.graph->tensors[p_.at(position).inputs[1]];
  if (outer_ != 1 || loops.cut[0] != 0) return false;
  const uint32_t state = p_.root_of[p_.at(position).outputs[0]];
  for (uint32_t p = first_; p < last_; ++p) {
    if (p == position) continue;
    for (uint32_t t : p_.at(p).inputs) {
      if (t != kNone && p_.root_of[t] == state) return false;
    }
  }
  const int64_t step = CeilDivide(rows.extent[0], loops.trips[0]);
  layers_[position].cut[0] = {0, static_cast<int32_t>(step)};
  return true;
}

SegmentMaker::Use* SegmentMaker::UseOf(uint32_t root, uint32_t position) {
  if (use_of_[root] == 0) {
    uses_[use_count_] = Use{};
    uses_[use_count_].root = root;
    uses_[use_count_].from = position;
    uses_[use_count_].lives = p_.Lives(root, last_);
    use_of_[root] = ++use_count_;
  }
  Use* use = &uses_[use_of_[root] - 1];
  if (position != kNone) {
    use->from = Min(use->from, position);
    use->to = Max(use->to, position);
  }
  return use;
}

void SegmentMaker::CollectUses(Span<const Held> held) {
  for (uint32_t i = 0; i < use_count_; ++i) use_of_[uses_[i].root] = 0;
  use_count_ = 0;
  for (const Held& h : held) {
    Use* use = UseOf(h.root, kNone);
    use->form = Form::kUnused;
    use->stored = h.stored;
  }
  const auto touch = [&](uint32_t tensor, uint32_t p, bool made) {
    const uint32_t root = p_.root_of[tensor];
    const bool known = use_of_[root] != 0;
    Use* use = UseOf(root, p);
    if (!known) use->form = Form::kLoad;
    if (use->form == Form::kUnused) use->form = Form::kHeld;
    use->made = use->made || made;
    use->crossed = use->crossed || !boxes_.nested(tensor);
  };
  for (uint32_t p = first_; p < last_; ++p) {
    const Layer& layer = p_.at(p);
    const bool append = KindOf(layer.op) == LayerKind::kAppend;
    for (size_t i = append ? 1 : 0; i < layer.inputs.size(); ++i) {
      if (layer.inputs[i] != kNone) touch(layer.inputs[i], p, false);
    }
    if (append) continue;
    for (uint32_t t : layer.outputs) touch(t, p, true);
  }
  for (uint32_t i = 0; i < use_count_; ++i) {
    const SpaceRoot& root = p_.roots[uses_[i].root];
    uses_[i].begun =
        uses_[i].made && root.first_maker != kNone && root.first_maker < first_;
  }
}

void SegmentMaker::ChooseForms() {
  for (uint32_t i = 0; i < use_count_; ++i) {
    Use* use = &uses_[i];
    const SpaceRoot& root = p_.roots[use->root];
    if (use->form == Form::kUnused) continue;
    if (p_.alone[first_] != 0) {  // goes through DRAM
      if (use->form == Form::kHeld) {
        use->gone = !use->stored || use->made;
        use->form = Form::kUnused;
      } else {
        use->form = use->made ? Form::kMadeOut : Form::kLoad;
      }
      continue;
    }
    if (use->form == Form::kHeld) continue;
    // A root that always lies in DRAM may stay on chip too once all of it is made.
    const bool may_stay = !root.dram || p_.IsMade(use->root, first_);
    const bool later = use->lives && may_stay;
    if (!use->made) {
      use->form = later ? Form::kLoadKeep : Form::kLoad;
    } else if (later && !use->begun) {
      use->form = Form::kMadeKeep;
    } else {
      use->form = Leaves(use->root) ? Form::kMadeOut : Form::kMade;
    }
  }
}

// Whether all iterations of a loop are alike: it cuts images, or channels of one layer,
// into equal parts.
bool SegmentMaker::AllAlike(const LoopChoice& loops, int loop) const {
  const int axis = loops.cut[loop];
  if (axis != 0 && (axis != 3 || last_ - first_ > 1)) return false;
  for (uint32_t p = first_; p < last_; ++p) {
    const auto& cut = layers_[p].cut[axis];
    const Layer& layer = p_.at(p);
    if (KindOf(layer.op) == LayerKind::kAppend) return false;
    const Tensor& out = p_.graph->tensors[layer.outputs[0]];
    if (cut.loop == kNone || cut.step * loops.trips[loop] != out.extent[axis]) {
      return false;
    }
  }
  return true;
}

// An iteration in the middle, which has its halo on both sides. Where pieces are rounded
// up to whole rows, iterations in the second half may make nothing.
int32_t SegmentMaker::Middle(const LoopChoice& loops, int loop) const {
  const int axis = loops.cut[loop];
  int32_t pieces = loops.trips[loop];
  for (uint32_t p = first_; p < last_; ++p) {
    const auto& cut = layers_[p].cut[axis];
    if (!layers_[p].leaves || cut.loop == kNone) continue;
    const Tensor& out = p_.graph->tensors[p_.at(p).outputs[0]];
    const int64_t own = CeilDivide(out.extent[axis], cut.step);
    pieces = Min(pieces, static_cast<int32_t>(own));
  }
  return Max(1, Min(pieces / 2, loops.trips[loop] - 2));
}

// Derives the distinct iterations: the first of each loop, those between, the last.
bool SegmentMaker::Measure(const LoopChoice& loops, const SegmentLimit* limit) {
  for (uint32_t u = 0; u < use_count_ && outer_ > 1; ++u) {
    uses_[u].depends = uses_[u].inner ? 1 : 0;
  }
  int32_t kinds[kMaxLoops];
  int all = 1;
  for (int i = 0; i < outer_; ++i) {
    kinds[i] = AllAlike(loops, i) ? 1 : Min(loops.trips[i], 3);
    all *= kinds[i];
  }
  // After the first iteration comes the one that stands for most others: where the
  // segment costs too much, that is seen soon.
  for (int n = 0; n < all; ++n) {
    int which = n == 0 ? 0 : n == 1 ? all - 1 : n - 1;
    int64_t times = 1;
    bool is_first = true, is_last = true;
    uint32_t changed = 0;
    for (int i = outer_; i-- > 0; which /= kinds[i]) {
      const int32_t kind = which % kinds[i], trips = loops.trips[i];
      if (kind != 0) changed |= 1u << i;
      const int32_t trip = kind == 0 ? 0 : kind == 1 ? trips - 1 : Middle(loops, i);
      boxes_.SetTrip(static_cast<uint32_t>(i), trip);
      if (kind == 2) times *= trips - 2;
      if (kinds[i] == 1) times *= trips;
      is_first = is_first && trip == 0;
      is_last = is_last && (trip == trips - 1 || kinds[i] == 1);
    }
    if (!derived_ || changed != 0) boxes_.Derive(first_, last_);
    // Where only one loop is not at its first trip, what differs depends on that loop.
    if (outer_ > 1 && (changed & (changed - 1)) == 0) FindDependence(changed);
    AddIteration(times, is_first, is_last);
    if (n < 2) FindScattered();
    if (budget_ != nullptr && budget_->stop_reason() != SLUICE_STOP_COMPLETE) {
      return false;
    }
    if (limit != nullptr && Excludes(limit)) return true;
  }
  // Of a loop whose iterations are all alike only the first one was derived.
  for (int i = 0; i < outer_ && outer_ > 1; ++i) {
    if (kinds[i] != 1) continue;
    for (int k = 0; k < outer_; ++k) boxes_.SetTrip(static_cast<uint32_t>(k), k == i);
    boxes_.Derive(first_, last_);
    FindDependence(1u << i);
  }
  return CountMoved(loops);
}

// Sets what depends on all iterations together. False where pieces of a tensor are not
// contiguous in a view whose axes are not those of its root.
bool SegmentMaker::CountMoved(const LoopChoice& loops) {
  for (uint32_t i = 0; i < use_count_; ++i) {
    Use* use = &uses_[i];
    int64_t inner = 1;
    for (int k = outer_ - 1; k >= 0 && (use->depends >> k & 1) == 0 && !use->inner;
         --k) {
      inner *= loops.trips[k];
    }
    use->moved /= inner;
    use->lost /= inner;
    use->count = tiles_ / inner * (use->inner ? block_trips() : 1);
    if (use->slices != 0) {
      use->frame = use->first_frame = SliceBytes(*use);
      use->moved = p_.graph->tensors[use->root].bytes * tiles_;
      use->lost = 0;
      use->count = int64_t{use->slices} * tiles_;
      use->depends = 1;
    }
    if (use->scattered && use->frame < p_.graph->tensors[use->root].bytes) return false;
  }
  return true;
}

// Marks the roots of which another box is needed than in the first iteration. `changed`:
// bits of the loops whose trip is not the first.
void SegmentMaker::FindDependence(uint32_t changed) {
  for (uint32_t u = 0; u < use_count_; ++u) {
    if (uses_[u].form == Form::kUnused) continue;
    const Box& need = boxes_.need(uses_[u].root);
    if (changed == 0) {
      first_box_[u] = need;
    } else if (!(first_box_[u] == need)) {
      uses_[u].depends |= changed;
    }
  }
}

// Positions [span[0], span[1]] during which the segment needs the root's bytes.
void SegmentMaker::SpanOf(const Use& use, uint32_t span[2]) const {
  span[0] = first_;
  span[1] = last_ - 1;
  const bool once = innermost_ == kNone;
  switch (use.form) {
    case Form::kUnused:
      break;
    case Form::kHeld:
      if (once && !use.lives) span[1] = use.to;
      break;
    case Form::kLoad:
      if (once || Returns(use)) span[0] = use.from, span[1] = use.to;
      // Slices are loaded while the layer before computes.
      if (use.slices != 0 && use.from != first_) {
        span[0] = use.from - 1;
        span[1] = use.to;
      }
      break;
    case Form::kLoadKeep:
    case Form::kMadeKeep:
      if (once) span[0] = use.from;
      break;
    case Form::kMade:
    case Form::kMadeOut:
      if (once || !Moves(use) || Returns(use)) span[0] = use.from, span[1] = use.to;
      break;
  }
  // Every iteration of the block needs the root, so its frames last for the whole
  // block, unless they start anew in each iteration.
  const bool part =
      use.form == Form::kLoad || use.form == Form::kMade || use.form == Form::kMadeOut;
  const bool anew = part && use.inner && (use.slots == 1 || !Moves(use));
  if (block_.loop == kNone || anew) return;
  if (span[0] >= block_.last || span[1] < block_.first) return;
  span[0] = Min(span[0], block_.first);
  span[1] = Max(span[1], block_.last - 1);
}

// The bytes that a use takes in the scratchpad, in all its frames.
int64_t SegmentMaker::BytesOf(const Use& use) const {
  switch (use.form) {
    case Form::kHeld:
    case Form::kUnused:
    case Form::kLoadKeep:
    case Form::kMadeKeep:
      return use.gone ? 0 : p_.roots[use.root].bytes;
    case Form::kLoad:
    case Form::kMadeOut:
    case Form::kMade:
      return p_.Aligned(use.frame) * (Moves(use) ? use.slots : 1);
  }
  return 0;
}

// Adds a use's bytes to the levels; takes them away with sign -1.
void SegmentMaker::Occupy(const Use& use, int sign) {
  if (p_.alone[first_] != 0 && use.form != Form::kUnused) return;
  uint32_t span[2];
  SpanOf(use, span);
  const int64_t bytes = sign * BytesOf(use);
  level_[span[0]] += bytes;
  level_[span[1] + 1] -= bytes;
}

void SegmentMaker::FillLevels() {
  for (uint32_t p = first_; p <= last_; ++p) level_[p] = 0;
  if (p_.alone[first_] != 0) {
    level_[first_] = p_.capacity / kAloneShare;
  }
  if (sum_bytes_ != 0) {
    level_[block_.first] += sum_bytes_;
    level_[block_.last] -= sum_bytes_;
  }
  for (uint32_t i = 0; i < use_count_; ++i) Occupy(uses_[i], 1);
}

int64_t SegmentMaker::Peak() const {
  int64_t now = 0, peak = 0;
  for (uint32_t p = first_; p < last_; ++p) {
    now += level_[p];
    peak = Max(peak, now + p_.slack[p]);
  }
  return peak;
}

// Of the roots that can leave the scratchpad, the one whose next use is farthest away.
SegmentMaker::Use* SegmentMaker::FarthestUse() {
  Use* farthest = nullptr;
  uint32_t when = 0;
  for (uint32_t i = 0; i < use_count_; ++i) {
    Use* use = &uses_[i];
    const bool keeps = use->form == Form::kLoadKeep || use->form == Form::kMadeKeep;
    if (!keeps && (use->form != Form::kUnused || use->gone)) continue;
    if (keeps && p_.Aligned(use->frame) * use->slots >= p_.roots[use->root].bytes)
      continue;
    const uint32_t next = p_.NextUse(use->root, last_);
    if (farthest == nullptr || next > when) {
      farthest = use;
      when = next;
    }
  }
  if (farthest != nullptr) return farthest;
  // No other root can leave: of the held roots that this segment reads, the largest may
  // come from DRAM piece by piece.
  for (uint32_t i = 0; i < use_count_; ++i) {
    Use* use = &uses_[i];
    if (use->form != Form::kHeld || use->made || use->gone ||
        p_.Aligned(use->frame) * use->slots >= p_.roots[use->root].bytes) {
      continue;
    }
    if (farthest == nullptr ||
        p_.roots[use->root].bytes > p_.roots[farthest->root].bytes) {
      farthest = use;
    }
  }
  return farthest;
}

bool SegmentMaker::MakeRoom() {
  FillLevels();
  for (;;) {
    cost_.peak = Peak();
    if (cost_.peak <= p_.capacity) return true;
    Use* use = FarthestUse();
    if (use == nullptr) return false;
    cost_.squeezed = true;
    Occupy(*use, -1);
    switch (use->form) {
      case Form::kUnused:
        use->gone = true;
        break;
      case Form::kLoadKeep:
        use->form = Form::kLoad;
        break;
      case Form::kMadeKeep:
        use->form = Form::kMadeOut;
        break;
      default:
        use->gone = true;
        use->form = Form::kLoad;
        break;
    }
    Occupy(*use, 1);
  }
}

void SegmentMaker::AddImage(const Use& use) {
  const SpaceRoot& root = p_.roots[use.root];
  SpaceImage image = {};
  uint32_t span[2];
  SpanOf(use, span);
  image.root = use.root;
  image.first = span[0];
  image.last = span[1];
  image.used = use.to;
  image.whole = use.form == Form::kLoadKeep || use.form == Form::kMadeKeep;
  const bool local = !image.whole && use.depends != 0;
  image.loop = !local            ? kNone
               : use.slices != 0 ? use.loop
               : use.inner       ? block_.loop
                                 : innermost_;
  const bool begun = root.first_maker == kNone || root.first_maker < first_;
  image.load = begun;
  const bool out =
      use.form == Form::kMadeOut || (use.form == Form::kMadeKeep && root.output);
  image.store = out ? SpaceStore::kMade : SpaceStore::kNever;
  image.slots = local && Moves(use) ? use.slots : uint8_t{1};
  image.bytes = image.whole ? root.bytes : p_.Aligned(use.frame);
  images_[image_count_++] = image;
}

void SegmentMaker::AddSums() {
  if (sum_bytes_ == 0) return;
  SpaceImage image = {};
  image.root = p_.at(block_.last - 1).outputs[0];
  image.first = block_.first;
  image.last = image.used = block_.last - 1;
  image.loop = innermost_;
  image.sum = true;
  image.slots = 1;
  image.bytes = sum_bytes_;
  images_[image_count_++] = image;
}

void SegmentMaker::ListImages() {
  image_count_ = held_count_ = 0;
  const bool alone = p_.alone[first_] != 0;
  for (uint32_t i = 0; i < use_count_; ++i) {
    const Use& use = uses_[i];
    const bool was =
        use.form == Form::kHeld || (use.form == Form::kUnused && !use.gone);
    const bool keeps = use.form == Form::kLoadKeep || use.form == Form::kMadeKeep;
    if (!was && use.form != Form::kUnused && !alone) AddImage(use);
    if ((was || keeps) && use.lives) {
      bool stored = use.stored;
      if (use.form == Form::kLoadKeep) stored = true;
      if (use.made) stored = p_.roots[use.root].output;
      held_[held_count_++] = Held{use.root, stored};
    }
  }
  AddSums();
}

uint32_t SegmentMaker::LastUseOfHeld(uint32_t root) const {
  if (use_of_[root] == 0) return kNone;
  const Use& use = uses_[use_of_[root] - 1];
  if (use.form != Form::kHeld) return kNone;
  uint32_t span[2];
  SpanOf(use, span);
  return span[1];
}

int64_t SegmentMaker::alone_bytes() const {
  return p_.alone[first_] != 0 ? p_.capacity / kAloneShare : 0;
}

}  // namespace sluice
