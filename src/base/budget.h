// SPDX-License-Identifier: Apache-2.0
// Says whether to go on: deadline, iterations, cancel word, and the answer of the
// caller's progress callback.
//
// Every loop of every solver polls a budget. Once exhausted it stays so. The limits of
// a call as the caller gave them are its clock; the Memory of the call carries the
// clock to work that is passed no budget (Memory::Stop). A search gets a part of the
// clock.
//
// Input    limits, each optional
// Output   whether to stop, and why
// Errors   none
// Cost     Exhausted reads the clock, some 30 ns; Tick each 16th time only
#ifndef SLUICE_BASE_BUDGET_H_
#define SLUICE_BASE_BUDGET_H_

#include <stdint.h>

#include "sluice/sluice.h"

namespace sluice {

// Monotonic nanoseconds; the library's only look at a clock.
uint64_t MonotonicNs();

// Who is told how far a call has come, by whichever of its budgets is polled.
struct Progress {
  int32_t (*callback)(void* user, uint64_t iterations, double cost) = nullptr;
  void* user = nullptr;
  uint64_t iterations = 0;
  double cost = 0;  // of the best plan so far; 0 = there is none
  uint64_t told_ns = 0;
  bool stopped = false;  // the callback said so

  void Tell(uint64_t now);
  // There is a plan, or a better one.
  void Reach(double new_cost);
};

class Budget {
 public:
  Budget() = default;  // unlimited
  // deadline_ns is relative to now, 0 = none; max_iterations 0 = none. progress may be
  // NULL.
  Budget(uint64_t deadline_ns, uint64_t max_iterations, const uint32_t* cancel,
         Progress* progress = nullptr);

  // Looks at cancel word and clock.
  bool Exhausted();
  // The same for loops whose turns take less than some microseconds: looks each 16th
  // time only.
  bool Tick() {
    return stop_reason_ != SLUICE_STOP_COMPLETE || (++polls_ % 16 == 0 && Exhausted());
  }
  // Counts one step of improvement; true when no further one is allowed.
  bool Spend();
  // A budget with this share of the time and of the iterations that are left.
  Budget Part(uint32_t percent) const;
  // A budget that ends this much earlier, if it has a deadline.
  Budget Before(uint64_t reserve_ns) const;
  // The same for another thread: nobody is told of its progress.
  Budget Alone() const;
  // Counts what a part has spent. That a part ran out ends the whole only when the
  // whole has run out too.
  void Join(const Budget& part) {
    iterations_ += part.iterations_;
    if (part.stop_reason_ == SLUICE_STOP_CANCELLED) stop_reason_ = part.stop_reason_;
  }
  // Until the deadline; UINT64_MAX = there is none.
  uint64_t left_ns() const;
  // Since the budget was made, when somebody watches.
  uint64_t spent_ns() const { return MonotonicNs() - begin_ns_; }
  // Whether anything outside can end it: time, cancel word or progress callback.
  bool watched() const {
    return cancel_ != nullptr || deadline_ns_ != 0 || progress_ != nullptr;
  }
  uint32_t stop_reason() const { return stop_reason_; }  // SLUICE_STOP_
  uint64_t iterations() const { return iterations_; }

 private:
  uint64_t begin_ns_ = 0;  // absolute, as is the deadline
  uint64_t deadline_ns_ = 0;
  uint64_t max_iterations_ = 0;
  uint64_t iterations_ = 0;
  const uint32_t* cancel_ = nullptr;
  Progress* progress_ = nullptr;
  uint32_t polls_ = 0;
  uint32_t stop_reason_ = SLUICE_STOP_COMPLETE;
};

}  // namespace sluice

#endif  // SLUICE_BASE_BUDGET_H_
