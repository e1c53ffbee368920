// SPDX-License-Identifier: Apache-2.0
#include "solve/space/segment.h"

#include "base/checked.h"

namespace sluice {

bool SegmentMaker::Fits(Span<const Held> held, uint32_t first, uint32_t last,
                        const LoopChoice& loops) {
  SegmentDraft* s = &draft_;
  s->first = first;
  s->last = last;
  if (!DescribeSegment(s, held, loops)) return false;
  // A glance sees only some of the iterations: if their frames do not fit, the segment
  // does not.
  if (!s->alone() && !GlanceAtSegment(s, loops)) return false;
  ChooseForms(s);
  if (s->nest.block.loop != kNone && s->nest.tiles > 1) LoadOnce(s, loops);
  return MakeRoom(s);
}

bool SegmentMaker::Make(Span<const Held> held, uint32_t first, uint32_t last,
                        const LoopChoice& loops, const SegmentLimit* limit) {
  SegmentDraft* s = &draft_;
  s->excluded = false;
  if (!Fits(held, first, last, loops)) return false;
  if (limit != nullptr && Excludes(s, *limit)) return true;
  if (!s->alone() && !MeasureSegment(s, loops, limit)) return false;
  if (s->excluded) return true;
  for (RootUse& use : s->uses) {
    use.slots = s->nest.count != 0 && use.depends != 0 ? 2 : 1;
  }
  for (;;) {
    for (RootUse& use : s->uses) {
      use.form = use.was;
      use.gone = false;
    }
    s->cost.squeezed = false;
    ChooseForms(s);
    if (MakeRoom(s)) break;
    if (!TakeSlot(s)) return false;
  }
  ListImages(s);
  ChargeTransfers(s);
  return true;
}

uint32_t SegmentMaker::LastUseOfHeld(uint32_t root) const {
  if (draft_.uses.of[root] == 0) return kNone;
  const RootUse& use = draft_.uses.Of(root);
  if (use.form != UseForm::kHeld) return kNone;
  uint32_t span[2];
  SpanOf(draft_, use, span);
  return span[1];
}

}  // namespace sluice
