// SPDX-License-Identifier: Apache-2.0
// Assigns scratchpad offsets to the images of a plan.
//
// By leads: all images are placed by their lifetimes, which begin when they may be
// loaded; an image without a place is loaded later, with a shorter lead. Earlier: from
// their present offsets, images that are loaded move to bytes that are free for longer.
//
// Input    a plan; scratchpad bytes, alignment of frames.
// Output   the offset of each image; its `from` may be later.
// Errors   kInfeasible: no offsets within the scratchpad were found; by leads then adds
//          to `slack` at the positions that are too full; earlier: too many images, or
//          layers that are alone. kStopped, kOutOfMemory.
// Cost     images times the images that live at the same time.
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
  Span<int64_t> slack;   // by position: bytes to leave empty next time
  int64_t more;          // bytes that are added to `slack` where images do not fit
  bool lean = false;     // heuristics alone, no search for offsets
  bool in_turn = false;  // the fastest of them first
  bool first = false;    // it alone, until leads are short
};

// kEarlier starts from the present offsets.
enum class PlaceOrder : uint8_t { kByLeads, kEarlier };

Status PlaceImages(const SpacePlan& plan, const PlaceCall& call, PlaceOrder order,
                   Arena* scratch);

}  // namespace sluice

#endif  // SLUICE_PLAN_SPACE_PLACE_IMAGES_H_
