// SPDX-License-Identifier: Apache-2.0
#include "cli/progress_line.h"

#include <unistd.h>

#include <iostream>
#include <system_error>

#include "cli/report.h"

namespace sluice::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPatience(1000), kPace(100);
constexpr char kClear[] = "\r\x1b[K";

}  // namespace

ProgressLine::ProgressLine(bool always)
    : begin_(Clock::now()),
      next_(begin_ + (always ? kPace : kPatience)),
      told_(always || isatty(STDERR_FILENO) != 0) {}

ProgressLine::~ProgressLine() {
  if (shown_) std::cerr << kClear << std::flush;
}

int32_t ProgressLine::Tell(void* user, uint64_t iterations, double cost) {
  ProgressLine* line = static_cast<ProgressLine*>(user);
  const auto now = Clock::now();
  if (now < line->next_) return 0;
  line->next_ = now + kPace;
  line->shown_ = true;
  const std::chrono::duration<double> seconds = now - line->begin_;
  std::cerr << kClear << Fixed(seconds.count(), 1) << " s, ";
  if (iterations > 0) std::cerr << Grouped(iterations) << " iterations, ";
  std::cerr << (cost > 0 ? "best cost so far " : "no plan yet");
  if (cost > 0) std::cerr << cost;
  std::cerr << std::flush;
  return 0;
}

Working::Working(std::string what) : what_(std::move(what)) {
  if (isatty(STDERR_FILENO) == 0) return;
  try {
    thread_ = std::thread([this] { Show(); });
  } catch (const std::system_error&) {  // without a thread there is no line
  }
}

Working::~Working() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
  }
  over_.notify_one();
  thread_.join();
}

void Working::Show() {
  const auto start = Clock::now();
  std::unique_lock<std::mutex> lock(mutex_);
  if (over_.wait_for(lock, kPatience, [this] { return ended_; })) return;
  do {
    const std::chrono::duration<double> seconds = Clock::now() - start;
    std::cerr << kClear << what_ << ", " << Fixed(seconds.count(), 1) << " s"
              << std::flush;
  } while (!over_.wait_for(lock, kPace, [this] { return ended_; }));
  std::cerr << kClear << std::flush;
}

}  // namespace sluice::cli
