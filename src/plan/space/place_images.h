// SPDX-License-Identifier: Apache-2.0
// Gives the images of a plan their addresses.
//
// Input    a plan; scratchpad bytes, alignment of frames.
// Output   the offset of each image.
// Errors   kInfeasible or kStopped: they do not lie; kOutOfMemory.
// Cost     images times those that live at the same time.
#ifndef SLUICE_PLAN_SPACE_PLACE_IMAGES_H_
#define SLUICE_PLAN_SPACE_PLACE_IMAGES_H_

#include "base/budget.h"
#include "base/memory.h"
#include "model/space_plan.h"

namespace sluice {

struct PlaceCall {
  int64_t capacity;   // of the scratchpad, bytes
  int64_t alignment;  // of frames
  Budget* budget;
  bool ahead;  // fails unless loads find bytes that are free early
};

Status PlaceImages(const SpacePlan& plan, const PlaceCall& call, Arena* scratch);

}  // namespace sluice

#endif  // SLUICE_PLAN_SPACE_PLACE_IMAGES_H_
