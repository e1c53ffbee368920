// SPDX-License-Identifier: Apache-2.0
// Writes out the images of a segment and the roots held after it.
#include "base/checked.h"
#include "solve/space/segment_draft.h"

namespace sluice {
namespace {

void AddImage(const SegmentDraft& s, const RootUse& use, SegmentImages* out) {
  const SpaceRoot& root = s.problem.roots[use.root];
  SpaceImage image = {};
  uint32_t span[2];
  SpanOf(s, use, span);
  image.root = use.root;
  image.first = span[0];
  image.last = span[1];
  image.used = use.to;
  image.whole = use.form == UseForm::kLoadKeep || use.form == UseForm::kMadeKeep;
  const bool local = !image.whole && use.depends != 0;
  image.loop = !local            ? kNone
               : use.slices != 0 ? use.loop
               : use.inner       ? s.nest.block.loop
                                 : s.nest.innermost;
  const bool begun = root.first_maker == kNone || root.first_maker < s.first;
  image.load = begun;
  // What a later layer makes into an image of an output, also one that came back from DRAM
  // when only a part of it was made, is stored at once.
  const bool stores = use.form == UseForm::kMadeOut || (image.whole && root.output);
  image.store = stores ? SpaceStore::kMade : SpaceStore::kNever;
  image.slots = local && Moves(use) ? use.slots : uint8_t{1};
  image.bytes = image.whole ? root.bytes : s.problem.Aligned(use.frame);
  out->all[out->count++] = image;
}

void AddSums(const SegmentDraft& s, SegmentImages* out) {
  if (s.nest.sum_bytes == 0) return;
  SpaceImage image = {};
  image.root = s.problem.at(s.nest.block.last - 1).outputs[0];
  image.first = s.nest.block.first;
  image.last = image.used = s.nest.block.last - 1;
  image.loop = s.nest.innermost;
  image.sum = true;
  image.slots = 1;
  image.bytes = s.nest.sum_bytes;
  out->all[out->count++] = image;
}

}  // namespace

void ListImages(SegmentDraft* s) {
  SegmentImages* out = &s->images;
  out->count = out->held_count = 0;
  const bool alone = s->alone();
  for (const RootUse& use : s->uses) {
    const bool was =
        use.form == UseForm::kHeld || (use.form == UseForm::kUnused && !use.gone);
    const bool keeps = use.form == UseForm::kLoadKeep || use.form == UseForm::kMadeKeep;
    if (!was && use.form != UseForm::kUnused && !alone) AddImage(*s, use, out);
    if ((was || keeps) && use.lives) {
      bool stored = use.stored;
      if (use.form == UseForm::kLoadKeep) stored = true;
      if (use.made) stored = s->problem.roots[use.root].output;
      out->held[out->held_count++] = Held{use.root, stored};
    }
  }
  AddSums(*s, out);
}

}  // namespace sluice
