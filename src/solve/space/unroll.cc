// SPDX-License-Identifier: Apache-2.0
#include "solve/space/unroll.h"

#include "base/checked.h"

namespace sluice {
namespace {

class Unroller {
 public:
  Unroller(const SpaceProblem& problem, SegmentMaker* maker, Arena* arena)
      : p_(problem),
        maker_(maker),
        layers_(arena),
        loops_(arena),
        images_(arena),
        segments_(arena) {}
  Status Init(Arena* scratch) {
    SLUICE_TRY(layers_.Reserve(p_.layer.size()));
    SLUICE_TRY(scratch->Allocate(p_.roots.size(), &open_));
    for (uint32_t& image : open_) image = kNone;
    return Status::kOk;
  }

  Status Add(const SpaceNode& before, const SpaceNode& node) {
    if (!maker_->Make(before.held, node.first, node.last, node.loops)) {
      return Status::kInternal;
    }
    const uint32_t loop_base = static_cast<uint32_t>(loops_.size());
    SpaceSegment segment = {node.first,
                            node.last,
                            static_cast<uint32_t>(images_.size()),
                            maker_->alone_bytes(),
                            node.loops,
                            node.compute};
    SLUICE_TRY(segments_.Push(segment));
    const auto based = [&](uint32_t loop) {
      return loop == kNone ? kNone : loop_base + loop;
    };
    for (const SpaceLoop& loop : maker_->loops()) {
      SLUICE_TRY(loops_.Push({based(loop.parent), loop.trips}));
    }
    for (SpaceLayer layer : maker_->layers()) {
      layer.loop = based(layer.loop);
      for (auto& cut : layer.cut) cut.loop = based(cut.loop);
      SLUICE_TRY(layers_.Push(layer));
    }
    EndHeld(before, node);
    int64_t early = node.early;
    for (SpaceImage image : maker_->images()) {
      image.loop = based(image.loop);
      image.from = image.first;
      if (image.load) {  // they are in the order in which they are needed
        early -= image.bytes * image.slots;
        if (early >= 0) image.from = Min(node.loads_from, image.first);
      }
      if (image.whole) open_[image.root] = static_cast<uint32_t>(images_.size());
      SLUICE_TRY(images_.Push(image));
    }
    // A root that is held after the segment stays at least to the segment's end.
    for (const Held& h : node.held) {
      SpaceImage* image = &images_[open_[h.root]];
      image->last = image->used = node.last - 1;
    }
    return Status::kOk;
  }

  void Finish(SpacePlan* plan) {
    plan->layers = layers_.span();
    plan->loops = loops_.span();
    plan->images = images_.span();
    plan->segments = segments_.span();
  }

 private:
  // Ends the images that were held before the segment and are not held after it.
  void EndHeld(const SpaceNode& before, const SpaceNode& node) {
    for (const Held& h : before.held) {
      SpaceImage* image = &images_[open_[h.root]];
      const uint32_t used = maker_->LastUseOfHeld(h.root);
      if (used != kNone) {
        image->last = used;
        image->used = maker_->LastTouchOf(h.root);
      } else if (!h.stored && !StillHeld(node, h.root)) {
        image->store = SpaceStore::kAtEnd;
      }
    }
  }
  static bool StillHeld(const SpaceNode& node, uint32_t root) {
    for (const Held& h : node.held) {
      if (h.root == root) return true;
    }
    return false;
  }

  const SpaceProblem& p_;
  SegmentMaker* maker_;
  Vector<SpaceLayer> layers_;
  Vector<SpaceLoop> loops_;
  Vector<SpaceImage> images_;
  Vector<SpaceSegment> segments_;
  Span<uint32_t> open_;  // by root: its latest whole image
};

}  // namespace

Status UnrollNodes(const SpaceProblem& problem, const Sequence<SpaceNode>& nodes,
                   uint32_t last, SegmentMaker* maker, Arena* arena, SpacePlan* plan) {
  Arena scratch(arena->memory());
  Vector<uint32_t> way(&scratch);
  for (uint32_t n = last; n != kNone; n = nodes[n].before) SLUICE_TRY(way.Push(n));
  Unroller unroller(problem, maker, arena);
  SLUICE_TRY(unroller.Init(&scratch));
  for (size_t i = way.size() - 1; i-- > 0;) {
    SLUICE_TRY(unroller.Add(nodes[way[i + 1]], nodes[way[i]]));
  }
  unroller.Finish(plan);
  plan->energy_pj = nodes[last].energy_pj;
  plan->cycles = Max(nodes[last].compute, nodes[last].stored);
  return Status::kOk;
}

}  // namespace sluice
