// SPDX-License-Identifier: Apache-2.0
// How many bytes a segment takes in the scratchpad at each of its layers, and what leaves it
// where these do not fit.
#include "base/checked.h"
#include "solve/space/segment_draft.h"

namespace sluice {
namespace {

constexpr int64_t kAloneShare = 8;  // of the scratchpad, for a layer that is alone

// Whether the frame starts anew in each iteration, so that other frames may use its
// bytes in between.
bool Returns(const SegmentDraft& s, const RootUse& use) {
  const bool each =
      s.nest.innermost != kNone && (use.depends >> s.nest.innermost & 1) != 0;
  return InPlace(use) && (use.inner || each);
}

// Adds a use's bytes to the levels; takes them away with sign -1.
void Occupy(SegmentDraft* s, const RootUse& use, int sign) {
  if (s->alone() && use.form != UseForm::kUnused) return;
  uint32_t span[2];
  SpanOf(*s, use, span);
  const int64_t bytes = sign * BytesOf(*s, use);
  s->level[span[0]] += bytes;
  s->level[span[1] + 1] -= bytes;
}

void FillLevels(SegmentDraft* s) {
  for (uint32_t p = s->first; p <= s->last; ++p) s->level[p] = 0;
  s->level[s->first] = AloneBytes(*s);
  if (s->nest.sum_bytes != 0) {
    s->level[s->nest.block.first] += s->nest.sum_bytes;
    s->level[s->nest.block.last] -= s->nest.sum_bytes;
  }
  for (const RootUse& use : s->uses) Occupy(s, use, 1);
}

// Of the roots that can leave the scratchpad, the one whose next use is farthest away.
RootUse* FarthestUse(SegmentDraft* s) {
  RootUse* farthest = nullptr;
  uint32_t when = 0;
  for (RootUse& use : s->uses) {
    const bool keeps = use.form == UseForm::kLoadKeep || use.form == UseForm::kMadeKeep;
    if (!keeps && (use.form != UseForm::kUnused || use.gone)) continue;
    if (keeps &&
        s->problem.Aligned(use.frame) * use.slots >= s->problem.roots[use.root].bytes)
      continue;
    const uint32_t next = s->problem.NextUse(use.root, s->last);
    if (farthest == nullptr || next > when) {
      farthest = &use;
      when = next;
    }
  }
  if (farthest != nullptr) return farthest;
  // No other root can leave: of the held roots that this segment reads, the largest may
  // come from DRAM piece by piece.
  for (RootUse& use : s->uses) {
    if (use.form != UseForm::kHeld || use.made || use.gone ||
        s->problem.Aligned(use.frame) * use.slots >= s->problem.roots[use.root].bytes) {
      continue;
    }
    if (farthest == nullptr ||
        s->problem.roots[use.root].bytes > s->problem.roots[farthest->root].bytes) {
      farthest = &use;
    }
  }
  return farthest;
}

}  // namespace

void SpanOf(const SegmentDraft& s, const RootUse& use, uint32_t span[2]) {
  span[0] = s.first;
  span[1] = s.last - 1;
  const bool once = s.nest.innermost == kNone;
  switch (use.form) {
    case UseForm::kUnused:
      break;
    case UseForm::kHeld:
      if (once && !use.lives) span[1] = use.to;
      break;
    case UseForm::kLoad:
      if (once || Returns(s, use)) span[0] = use.from, span[1] = use.to;
      // Slices are loaded while the layer before computes.
      if (use.slices != 0 && use.from != s.first) {
        span[0] = use.from - 1;
        span[1] = use.to;
      }
      break;
    case UseForm::kLoadKeep:
    case UseForm::kMadeKeep:
      if (once) span[0] = use.from;
      break;
    case UseForm::kMade:
    case UseForm::kMadeOut:
      if (once || !Moves(use) || Returns(s, use)) span[0] = use.from, span[1] = use.to;
      break;
  }
  // Every iteration of the block needs the root, so its frames last for the whole
  // block, unless they start anew in each iteration.
  const bool part = use.form == UseForm::kLoad || use.form == UseForm::kMade ||
                    use.form == UseForm::kMadeOut;
  const bool anew = part && use.inner && (use.slots == 1 || !Moves(use));
  if (s.nest.block.loop == kNone || anew) return;
  if (span[0] >= s.nest.block.last || span[1] < s.nest.block.first) return;
  span[0] = Min(span[0], s.nest.block.first);
  span[1] = Max(span[1], s.nest.block.last - 1);
}

int64_t BytesOf(const SegmentDraft& s, const RootUse& use) {
  switch (use.form) {
    case UseForm::kHeld:
    case UseForm::kUnused:
    case UseForm::kLoadKeep:
    case UseForm::kMadeKeep:
      return use.gone ? 0 : s.problem.roots[use.root].bytes;
    case UseForm::kLoad:
    case UseForm::kMadeOut:
    case UseForm::kMade:
      return s.problem.Aligned(use.frame) * (Moves(use) ? use.slots : 1);
  }
  return 0;
}

int64_t AloneBytes(const SegmentDraft& s) {
  return s.alone() ? s.problem.capacity / kAloneShare : 0;
}

int64_t PeakOf(const SegmentDraft& s) {
  int64_t now = 0, peak = 0;
  for (uint32_t p = s.first; p < s.last; ++p) {
    now += s.level[p];
    peak = Max(peak, now + s.problem.slack[p]);
  }
  return peak;
}

void LoadOnce(SegmentDraft* s, const LoopChoice& loops) {
  for (int i = 0; i < s->nest.outer; ++i) {
    if (loops.cut[i] == 3) return;  // these constants change with channels
  }
  const auto may = [&](const RootUse& use) {
    return use.part != 0 && use.form == UseForm::kLoad &&
           s->problem.roots[use.root].constant;
  };
  for (RootUse& use : s->uses) {
    use.slots = use.depends != 0 ? 2 : 1;
    if (!may(use)) continue;
    use.inner = false;
    use.depends = 0;
    use.slots = 1;
    use.frame = s->problem.graph->tensors[use.root].bytes;
  }
  for (FillLevels(s); PeakOf(*s) > s->problem.capacity; FillLevels(s)) {
    RootUse* largest = nullptr;
    for (RootUse& use : s->uses) {
      if (use.inner || !may(use)) continue;
      if (largest == nullptr || use.frame > largest->frame) largest = &use;
    }
    if (largest == nullptr) break;
    largest->inner = true;
    largest->depends = 1;
    largest->slots = 2;
    largest->frame = largest->part;
  }
  for (RootUse& use : s->uses) use.slots = 1;
}

bool MakeRoom(SegmentDraft* s) {
  FillLevels(s);
  for (;;) {
    s->cost.peak = PeakOf(*s);
    if (s->cost.peak <= s->problem.capacity) return true;
    RootUse* use = FarthestUse(s);
    if (use == nullptr) return false;
    s->cost.squeezed = true;
    Occupy(s, *use, -1);
    switch (use->form) {
      case UseForm::kUnused:
        use->gone = true;
        break;
      case UseForm::kLoadKeep:
        use->form = UseForm::kLoad;
        break;
      case UseForm::kMadeKeep:
        use->form = UseForm::kMadeOut;
        break;
      default:
        use->gone = true;
        use->form = UseForm::kLoad;
        break;
    }
    Occupy(s, *use, 1);
  }
}

bool TakeSlot(SegmentDraft* s) {
  RootUse* least = nullptr;
  for (RootUse& use : s->uses) {
    if (!Moves(use) || use.slots == 1) continue;
    const bool less = least == nullptr || use.count < least->count ||
                      (use.count == least->count && use.frame > least->frame);
    if (less) least = &use;
  }
  if (least == nullptr) return false;
  least->slots = 1;
  return true;
}

}  // namespace sluice
