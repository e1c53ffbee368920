// SPDX-License-Identifier: Apache-2.0
// One object that says whether to go on: deadline, iterations, cancel word.
//
// Every loop of every solver polls it. Once exhausted it stays so.
#ifndef SLUICE_BASE_BUDGET_H_
#define SLUICE_BASE_BUDGET_H_

#include <stdint.h>

#include "sluice/sluice.h"

namespace sluice {

// Monotonic nanoseconds; the library's only look at a clock.
uint64_t MonotonicNs();

class Budget {
 public:
  Budget() = default;  // unlimited
  // deadline_ns is relative to now, 0 = none; max_iterations 0 = none.
  Budget(uint64_t deadline_ns, uint64_t max_iterations, const uint32_t* cancel);

  // Looks at cancel word and clock (the clock each 64th call only).
  bool Exhausted() {
    if (stop_reason_ != SLUICE_STOP_COMPLETE) return true;
    if (cancel_ == nullptr && deadline_ns_ == 0) return false;
    return Look();
  }
  // Counts one step of improvement; true when no further one is allowed.
  bool Spend() {
    if (max_iterations_ != 0 && iterations_ >= max_iterations_) {
      if (stop_reason_ == SLUICE_STOP_COMPLETE) stop_reason_ = SLUICE_STOP_ITERATIONS;
      return true;
    }
    ++iterations_;
    return Exhausted();
  }
  // A budget with this share of the time and of the iterations that are left.
  Budget Part(uint32_t percent) const;
  // Counts what a part has spent. That a part ran out ends the whole only when the
  // whole has run out too.
  void Join(const Budget& part) {
    iterations_ += part.iterations_;
    if (part.stop_reason_ == SLUICE_STOP_CANCELLED) stop_reason_ = part.stop_reason_;
  }
  uint32_t stop_reason() const { return stop_reason_; }  // SLUICE_STOP_
  uint64_t iterations() const { return iterations_; }

 private:
  bool Look();

  uint64_t deadline_ns_ = 0;  // absolute
  uint64_t max_iterations_ = 0;
  uint64_t iterations_ = 0;
  const uint32_t* cancel_ = nullptr;
  uint32_t polls_ = 0;
  uint32_t stop_reason_ = SLUICE_STOP_COMPLETE;
};

}  // namespace sluice

#endif  // SLUICE_BASE_BUDGET_H_
