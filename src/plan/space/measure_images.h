// SPDX-License-Identifier: Apache-2.0
// Sizes the frames of a plan's images for the iteration that needs the most bytes.
//
// Input    a plan whose images have the sizes that a search has assumed.
// Output   the bytes of each image.
// Errors   kOutOfMemory, kStopped.
// Cost     linear in tiles times the layers of their loops.
#ifndef SLUICE_PLAN_SPACE_MEASURE_IMAGES_H_
#define SLUICE_PLAN_SPACE_MEASURE_IMAGES_H_

#include "base/memory.h"
#include "model/hardware.h"
#include "model/lowering.h"
#include "model/space_plan.h"

namespace sluice {

struct MeasureCall {
  const Graph& graph;
  const MacArray& array;
  const Lowering& lowering;
  int64_t alignment;          // of frames
  int64_t accumulator_bytes;  // of one partial sum
};

Status MeasureImages(const MeasureCall& call, const SpacePlan& plan, Arena* scratch);

}  // namespace sluice

#endif  // SLUICE_PLAN_SPACE_MEASURE_IMAGES_H_
