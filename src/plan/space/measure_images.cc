// SPDX-License-Identifier: Apache-2.0
#include "plan/space/measure_images.h"

#include "base/checked.h"
#include "solve/space/boxes.h"

namespace sluice {
namespace {

class Measurer {
 public:
  Measurer(const MeasureCall& call, const SpacePlan& plan, Arena* scratch)
      : call_(call),
        plan_(plan),
        boxes_(call.graph, call.array, call.lowering, plan),
        scratch_(scratch) {}

  Status Run() {
    SLUICE_TRY(boxes_.Init(scratch_));
    for (uint32_t s = 0; s < plan_.segments.size(); ++s) {
      const SpaceSegment& segment = plan_.segments[s];
      images_ = plan_.images.Slice(segment.images_begin,
                                   s + 1 < plan_.segments.size()
                                       ? plan_.segments[s + 1].images_begin
                                       : plan_.images.size());
      if (plan_.layers[segment.first].alone) continue;
      boxes_.Derive(segment.first, segment.last);
      Grow(kNone, segment.first, segment.last);
      SLUICE_TRY(Visit(segment.first, segment.last, kNone));
    }
    return Status::kOk;
  }

 private:
  // Visits all iterations of the loops inside `loop` around layers [first, last).
  Status Visit(uint32_t first, uint32_t last, uint32_t loop) {
    return boxes_.EachIteration(
        first, last, loop, [](uint32_t) { return Status::kOk; },
        [&](uint32_t begin, uint32_t end, uint32_t inner) {
          if (scratch_->memory()->Stop()) return Status::kStopped;
          Grow(inner, begin, end);
          return Visit(begin, end, inner);
        });
  }

  // Raises the sizes of the images of `loop`, and of its layers' sums, to what the
  // present iteration needs.
  void Grow(uint32_t loop, uint32_t first, uint32_t last) {
    for (SpaceImage& image : images_) {
      if (image.sum) {
        for (uint32_t p = first; p < last; ++p) {
          const Layer& layer = call_.lowering.executed[plan_.layers[p].layer];
          if (layer.outputs[0] != image.root || plan_.layers[p].loop != loop) continue;
          const Box& box = boxes_.made(p);
          if (box.extent[0] == 0) continue;
          Raise(&image, box.elements() * call_.accumulator_bytes);
        }
      } else if (image.loop == loop && !image.whole) {
        const Box& need = boxes_.need(image.root);
        if (need.extent[0] == 0) continue;
        Raise(&image, need.elements() * call_.graph.tensors[image.root].element_bytes);
      }
    }
  }
  void Raise(SpaceImage* image, int64_t bytes) const {
    image->bytes = Max(image->bytes, RoundUpTo(bytes, call_.alignment));
  }

  const MeasureCall& call_;
  const SpacePlan& plan_;
  SpaceBoxes boxes_;
  Arena* scratch_;
  Span<SpaceImage> images_;
};

}  // namespace

Status MeasureImages(const MeasureCall& call, const SpacePlan& plan, Arena* scratch) {
  Arena memory(scratch->memory());
  return Measurer(call, plan, &memory).Run();
}

}  // namespace sluice
