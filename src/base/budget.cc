// SPDX-License-Identifier: Apache-2.0
#include "base/budget.h"

#include <time.h>

namespace sluice {

uint64_t MonotonicNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u +
         static_cast<uint64_t>(now.tv_nsec);
}

Budget::Budget(uint64_t deadline_ns, uint64_t max_iterations, const uint32_t* cancel)
    : max_iterations_(max_iterations), cancel_(cancel) {
  if (deadline_ns != 0) {
    const uint64_t now = MonotonicNs();
    deadline_ns_ = deadline_ns > UINT64_MAX - now ? UINT64_MAX : now + deadline_ns;
  }
}

Budget Budget::Part(uint32_t percent) const {
  Budget part = *this;
  part.iterations_ = 0;
  part.polls_ = 0;
  if (max_iterations_ != 0) {
    const uint64_t left = max_iterations_ - iterations_;
    part.max_iterations_ = left / 100 * percent + left % 100 * percent / 100;
    if (part.max_iterations_ == 0) part.max_iterations_ = 1;
    if (part.max_iterations_ > left) part.stop_reason_ = SLUICE_STOP_ITERATIONS;
  }
  if (deadline_ns_ != 0) {
    const uint64_t now = MonotonicNs();
    const uint64_t left = now < deadline_ns_ ? deadline_ns_ - now : 0;
    part.deadline_ns_ = now + left / 100 * percent;
  }
  return part;
}

bool Budget::Look() {
  if (cancel_ != nullptr && __atomic_load_n(cancel_, __ATOMIC_RELAXED) != 0) {
    stop_reason_ = SLUICE_STOP_CANCELLED;
    return true;
  }
  if (deadline_ns_ != 0 && polls_++ % 64 == 0 && MonotonicNs() >= deadline_ns_) {
    stop_reason_ = SLUICE_STOP_DEADLINE;
    return true;
  }
  return false;
}

}  // namespace sluice
