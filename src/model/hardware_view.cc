// SPDX-License-Identifier: Apache-2.0
#include "model/hardware_view.h"

namespace sluice {

Status ViewBelowScratchpad(const Hardware& hardware, HardwareView* view,
                           Diagnostic* diagnostic) {
  const uint32_t pad = hardware.scratchpad_level;
  if (pad == 0 || pad >= kMaxLevels || hardware.fanouts.size() > kMaxFanouts) {
    return Fail(diagnostic, Status::kUnsupported, "mapping")
        .Say(
            "the hardware has # levels below its scratchpad; tiles are mapped on 1 to "
            "#",
            pad, kMaxLevels - 1);
  }
  for (uint32_t l = 0; l <= pad; ++l) view->levels[l] = hardware.levels[l];
  view->levels[pad].capacity_bytes = 0;
  view->levels[pad].may_hold = 7;
  size_t fanouts = 0;
  for (const Fanout& fanout : hardware.fanouts) {
    if (fanout.level <= pad) view->fanouts[fanouts++] = fanout;
  }
  view->hardware = hardware;
  view->hardware.levels = Span<const MemoryLevel>(view->levels, pad + 1);
  view->hardware.fanouts = Span<const Fanout>(view->fanouts, fanouts);
  view->hardware.scratchpad_level = pad - 1;
  return Status::kOk;
}

}  // namespace sluice
