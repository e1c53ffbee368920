// SPDX-License-Identifier: Apache-2.0
// The hardware from the scratchpad down, as a hierarchy of its own. It serves to map
// one tile whose operands lie in the scratchpad.
//
// Input    hardware with at least one level below the scratchpad
// Output   the same levels and fanouts; the scratchpad is outermost, holds every
//          operand and is unbounded, because the tile's planner has checked that it
//          fits
// Errors   kUnsupported: no level below the scratchpad, too many levels or fanouts
// Cost     O(levels + fanouts); the view holds its own tables and may not be copied
#ifndef SLUICE_MODEL_HARDWARE_VIEW_H_
#define SLUICE_MODEL_HARDWARE_VIEW_H_

#include "base/status.h"
#include "model/hardware.h"
#include "model/loop_nest.h"

namespace sluice {

constexpr uint32_t kMaxFanouts = 16;

struct HardwareView {
  HardwareView() = default;
  HardwareView(const HardwareView&) = delete;
  HardwareView& operator=(const HardwareView&) = delete;
  Hardware hardware;
  MemoryLevel levels[kMaxLevels];
  Fanout fanouts[kMaxFanouts];
};

Status ViewBelowScratchpad(const Hardware& hardware, HardwareView* view,
                           Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_MODEL_HARDWARE_VIEW_H_
