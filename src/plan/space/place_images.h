// SPDX-License-Identifier: Apache-2.0
// Gives the images of a plan their addresses.
//
// By age: what is loaded gets bytes that were touched last longest ago, around what is
// made, which is placed by its lifetimes. By leads: all are placed by their lifetimes,
// which begin when they may be loaded; those that find no place are loaded later. Earlier:
// from where they lie, what is loaded moves to bytes that are free for longer.
//
// Input    a plan; scratchpad bytes, alignment of frames.
// Output   the offset of each image; its `from` may be later.
// Errors   kInfeasible: they do not lie, and, by leads, bytes are added to `slack` where
//          they did not; earlier: there are many images, or layers that are alone;
//          kStopped, kOutOfMemory.
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
  Span<int64_t> slack;    // by position: bytes to leave empty next time
  int64_t more;           // bytes that are added to it where images do not lie
  uint64_t search_bytes;  // that a search for offsets may take; 0: as many as there are
};

// kEarlier moves what is loaded from where it lies.
enum class PlaceOrder : uint8_t { kByAge, kByLeads, kEarlier };

Status PlaceImages(const SpacePlan& plan, const PlaceCall& call, PlaceOrder order,
                   Arena* scratch);

}  // namespace sluice

#endif  // SLUICE_PLAN_SPACE_PLACE_IMAGES_H_
