// SPDX-License-Identifier: Apache-2.0
// The roots that a segment uses, and in which form each of them is in the scratchpad.
#include "base/checked.h"
#include "solve/space/segment_draft.h"

namespace sluice {
namespace {

// The use of a root that the segment touches at `position`; kNone: it does not.
RootUse* UseOf(SegmentDraft* s, uint32_t root, uint32_t position) {
  if (s->uses.of[root] == 0) {
    RootUse* fresh = &s->uses.all[s->uses.count];
    *fresh = RootUse{};
    fresh->root = root;
    fresh->from = position;
    fresh->lives = s->problem.Lives(root, s->last);
    s->uses.of[root] = ++s->uses.count;
  }
  RootUse* use = &s->uses.Of(root);
  if (position != kNone) {
    use->from = Min(use->from, position);
    use->to = Max(use->to, position);
  }
  return use;
}

}  // namespace

void CollectUses(SegmentDraft* s, Span<const Held> held) {
  for (const RootUse& use : s->uses) s->uses.of[use.root] = 0;
  s->uses.count = 0;
  for (const Held& h : held) {
    RootUse* use = UseOf(s, h.root, kNone);
    use->form = UseForm::kUnused;
    use->stored = h.stored;
  }
  const auto touch = [&](uint32_t tensor, uint32_t p, bool made) {
    const uint32_t root = s->problem.root_of[tensor];
    const bool known = s->uses.of[root] != 0;
    RootUse* use = UseOf(s, root, p);
    if (!known) use->form = UseForm::kLoad;
    if (use->form == UseForm::kUnused) use->form = UseForm::kHeld;
    use->made = use->made || made;
    use->crossed = use->crossed || !s->boxes.nested(tensor);
  };
  for (uint32_t p = s->first; p < s->last; ++p) {
    const Layer& layer = s->problem.at(p);
    const bool append = KindOf(layer.op) == LayerKind::kAppend;
    for (size_t i = append ? 1 : 0; i < layer.inputs.size(); ++i) {
      if (layer.inputs[i] != kNone) touch(layer.inputs[i], p, false);
    }
    if (append) continue;
    for (uint32_t t : layer.outputs) touch(t, p, true);
  }
  for (RootUse& use : s->uses) {
    const SpaceRoot& root = s->problem.roots[use.root];
    use.begun = use.made && root.first_maker != kNone && root.first_maker < s->first;
  }
}

void ChooseForms(SegmentDraft* s) {
  for (RootUse& use : s->uses) {
    const SpaceRoot& root = s->problem.roots[use.root];
    if (use.form == UseForm::kUnused) continue;
    if (s->alone()) {  // goes through DRAM
      if (use.form == UseForm::kHeld) {
        use.gone = !use.stored || use.made;
        use.form = UseForm::kUnused;
      } else {
        use.form = use.made ? UseForm::kMadeOut : UseForm::kLoad;
      }
      continue;
    }
    if (use.form == UseForm::kHeld) continue;
    // A root that always lies in DRAM may stay on chip too once all of it is made.
    const bool may_stay = !root.dram || s->problem.IsMade(use.root, s->first);
    const bool later = use.lives && may_stay;
    if (!use.made) {
      use.form = later ? UseForm::kLoadKeep : UseForm::kLoad;
    } else if (later && !use.begun) {
      use.form = UseForm::kMadeKeep;
    } else {
      use.form = Leaves(*s, use.root) ? UseForm::kMadeOut : UseForm::kMade;
    }
  }
}

}  // namespace sluice
