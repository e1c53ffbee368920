// SPDX-License-Identifier: Apache-2.0
// Ends a run that another thread has cancelled, from any depth of its loops.
//
// Input    the run's cancel word, or nullptr
// Output   none
// Errors   throws CancelledRun, which Simulate, SimulateTogether and RunReference catch
// Cost     one load
#ifndef SLUICE_FIRMWARE_SIM_CANCEL_H_
#define SLUICE_FIRMWARE_SIM_CANCEL_H_

#include <cstdint>

namespace sluice_sim {

struct CancelledRun {};

// Loops over whole operands call this at least once per row of channels.
inline void Poll(const uint32_t* cancel) {
  if (cancel != nullptr && __atomic_load_n(cancel, __ATOMIC_RELAXED) != 0) {
    throw CancelledRun{};
  }
}

}  // namespace sluice_sim

#endif  // SLUICE_FIRMWARE_SIM_CANCEL_H_
