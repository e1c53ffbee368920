// SPDX-License-Identifier: Apache-2.0
// Tells a search when to stop: deadline, iteration limit, cancel word, or the answer of
// the caller's progress callback.
//
// Every loop of every solver polls a budget. An exhausted budget stays exhausted. A
// call has one budget made from its caller's limits, the clock; each search gets a part
// of it. Code that is not passed a budget reaches the clock through the call's Memory
// (Memory::Stop).
//
// Input    limits, each optional
// Output   whether to stop, and why
// Errors   none; a clock that goes back counts as one that stands still
// Cost     Exhausted reads the clock, the system's in some 30 ns; Tick reads it every
//          16th time only; a budget without deadline and progress never reads it
#ifndef SLUICE_BASE_BUDGET_H_
#define SLUICE_BASE_BUDGET_H_

#include <stdint.h>

#include "sluice/sluice.h"

namespace sluice {

// Where the time comes from: the function that the context's caller gave, or the
// system's monotonic clock. The library reads no other clock.
struct Clock {
  uint64_t (*now_ns)(void* user) = nullptr;  // nullptr: the system's
  void* user = nullptr;

  uint64_t Now() const;
  // Nanoseconds since an earlier Now(); 0 if the clock has gone back.
  uint64_t Since(uint64_t begin) const;
};

// The caller's progress callback and its arguments. Any budget of the call may invoke
// the callback.
struct Progress {
  Clock time;
  int32_t (*callback)(void* user, uint64_t iterations, double cost) = nullptr;
  void* user = nullptr;
  uint64_t iterations = 0;
  double cost = 0;  // of the best plan so far; 0 = no plan yet
  uint64_t told_ns = 0;
  bool stopped = false;  // the callback asked to stop

  void Tell(uint64_t now);
  // Records that a first or better plan of this cost exists.
  void Reach(double new_cost);
};

class Budget {
 public:
  Budget() = default;  // unlimited
  // deadline_ns is relative to now, 0 = none; max_iterations 0 = none. progress may be
  // NULL.
  Budget(const Clock& time, uint64_t deadline_ns, uint64_t max_iterations,
         const uint32_t* cancel, Progress* progress = nullptr);

  // Reads the cancel word and the clock, and calls the progress callback when it is
  // due.
  bool Exhausted();
  // The same for loops whose iterations take less than a few microseconds: reads the
  // clock every 16th time only.
  bool Tick() {
    return stop_reason_ != SLUICE_STOP_COMPLETE || (++polls_ % 16 == 0 && Exhausted());
  }
  // Counts iterations before they are made; true when the search must stop instead.
  bool Spend(uint64_t count = 1);
  // A budget with this share of the remaining time and iterations.
  Budget Part(uint32_t percent) const;
  // A budget that ends reserve_ns earlier, if there is a deadline.
  Budget Before(uint64_t reserve_ns) const;
  // The same budget for another thread, without progress callback.
  Budget Alone() const;
  // Adds the iterations of a part. A cancelled part stops the whole; a part that ran
  // out of time does not, but is_cut() remembers it.
  void Join(const Budget& part) {
    iterations_ += part.iterations_;
    if (part.stop_reason_ == SLUICE_STOP_CANCELLED) stop_reason_ = part.stop_reason_;
    if (part.cut_ || part.stop_reason_ == SLUICE_STOP_DEADLINE) cut_ = true;
  }
  // Whether the deadline ended a part: with more time there may be another result.
  bool is_cut() const { return cut_; }
  void Cut() { cut_ = true; }
  // Nanoseconds until the deadline; UINT64_MAX = no deadline.
  uint64_t left_ns() const;
  // Nanoseconds since the budget was made; 0 without a deadline.
  uint64_t spent_ns() const { return timed() ? time_.Since(begin_ns_) : 0; }
  // Whether there is a deadline.
  bool timed() const { return deadline_ns_ != 0; }
  // Whether time, the cancel word or the callback can end the budget (iterations
  // aside).
  bool watched() const { return cancel_ != nullptr || timed() || progress_ != nullptr; }
  uint32_t stop_reason() const { return stop_reason_; }  // SLUICE_STOP_
  uint64_t iterations() const { return iterations_; }

 private:
  Clock time_;
  uint64_t begin_ns_ = 0;  // absolute, as is the deadline
  uint64_t deadline_ns_ = 0;
  uint64_t max_iterations_ = 0;
  uint64_t iterations_ = 0;
  const uint32_t* cancel_ = nullptr;
  Progress* progress_ = nullptr;
  uint32_t polls_ = 0;
  uint32_t stop_reason_ = SLUICE_STOP_COMPLETE;
  bool cut_ = false;
};

}  // namespace sluice

#endif  // SLUICE_BASE_BUDGET_H_
