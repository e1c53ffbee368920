// SPDX-License-Identifier: Apache-2.0
#include "base/budget.h"

#include <time.h>

#include "base/checked.h"

namespace sluice {

namespace {

constexpr uint64_t kTellNs =
    2000000;  // at most between two calls of a progress callback

}  // namespace

uint64_t Clock::Now() const {
  if (now_ns != nullptr) return now_ns(user);
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u +
         static_cast<uint64_t>(now.tv_nsec);
}

uint64_t Clock::Since(uint64_t begin) const {
  const uint64_t now = Now();
  return now > begin ? now - begin : 0;
}

void Progress::Tell(uint64_t now) {
  if (!stopped && callback(user, iterations, cost) != 0) stopped = true;
  // A callback that takes long gets a tenth of the time; it would get all of it.
  told_ns = now + 10 * time.Since(now);
}

void Progress::Reach(double new_cost) {
  cost = new_cost;
  if (callback != nullptr) Tell(time.Now());
}

Budget::Budget(const Clock& time, uint64_t deadline_ns, uint64_t max_iterations,
               const uint32_t* cancel, Progress* progress)
    : time_(time),
      max_iterations_(max_iterations),
      cancel_(cancel),
      progress_(progress) {
  if (deadline_ns == 0) return;
  const uint64_t now = begin_ns_ = time.Now();
  deadline_ns_ = deadline_ns > UINT64_MAX - now ? UINT64_MAX : now + deadline_ns;
}

Budget Budget::Part(uint32_t percent) const {
  Budget part = *this;
  part.iterations_ = 0;
  part.polls_ = 0;
  part.cut_ = false;
  if (max_iterations_ != 0) {
    const uint64_t left = max_iterations_ - iterations_;
    part.max_iterations_ = left / 100 * percent + left % 100 * percent / 100;
    if (part.max_iterations_ == 0) part.max_iterations_ = 1;
    if (part.max_iterations_ > left) part.stop_reason_ = SLUICE_STOP_ITERATIONS;
  }
  if (deadline_ns_ != 0) {
    const uint64_t now = time_.Now();
    const uint64_t left = now < deadline_ns_ ? deadline_ns_ - now : 0;
    part.deadline_ns_ = Max<uint64_t>(now + left / 100 * percent, 1);  // 0 = none
  }
  return part;
}

Budget Budget::Before(uint64_t reserve_ns) const {
  Budget part = *this;
  if (deadline_ns_ != 0) {
    part.deadline_ns_ = deadline_ns_ > reserve_ns ? deadline_ns_ - reserve_ns : 1;
  }
  return part;
}

Budget Budget::Alone() const {
  Budget part = *this;
  part.progress_ = nullptr;
  part.iterations_ = 0;
  return part;
}

uint64_t Budget::left_ns() const {
  if (deadline_ns_ == 0) return UINT64_MAX;
  const uint64_t now = time_.Now();
  return now < deadline_ns_ ? deadline_ns_ - now : 0;
}

bool Budget::Spend(uint64_t count) {
  if (max_iterations_ != 0 && iterations_ + count > max_iterations_) {
    if (stop_reason_ == SLUICE_STOP_COMPLETE) stop_reason_ = SLUICE_STOP_ITERATIONS;
    return true;
  }
  iterations_ += count;
  if (progress_ != nullptr) progress_->iterations += count;
  return Exhausted();
}

bool Budget::Exhausted() {
  if (stop_reason_ != SLUICE_STOP_COMPLETE) return true;
  if (cancel_ != nullptr && __atomic_load_n(cancel_, __ATOMIC_RELAXED) != 0) {
    stop_reason_ = SLUICE_STOP_CANCELLED;
    return true;
  }
  if (deadline_ns_ == 0 && progress_ == nullptr) return false;
  const uint64_t now = time_.Now();
  if (progress_ != nullptr) {
    if (now >= progress_->told_ns + kTellNs) progress_->Tell(now);
    if (progress_->stopped) stop_reason_ = SLUICE_STOP_CANCELLED;
  }
  if (deadline_ns_ != 0 && now >= deadline_ns_ &&
      stop_reason_ == SLUICE_STOP_COMPLETE) {
    stop_reason_ = SLUICE_STOP_DEADLINE;
  }
  return stop_reason_ != SLUICE_STOP_COMPLETE;
}

}  // namespace sluice
