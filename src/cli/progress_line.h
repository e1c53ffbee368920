// SPDX-License-Identifier: Apache-2.0
// A progress line on stderr: it appears after one second, only on a terminal, and is
// erased before anything else is printed.
#ifndef SLUICE_CLI_PROGRESS_LINE_H_
#define SLUICE_CLI_PROGRESS_LINE_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace sluice::cli {

// Progress of a search that reports iterations and cost; redrawn ten times a second.
class ProgressLine {
 public:
  // always: from the beginning, also where stderr is no terminal.
  explicit ProgressLine(bool always);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  bool told() const { return told_; }
  static int32_t Tell(void* user, uint64_t iterations, double cost);

 private:
  std::chrono::steady_clock::time_point begin_, next_;
  bool told_, shown_ = false;
};

// Progress of work without reports: its name and the seconds so far.
class Working {
 public:
  explicit Working(std::string what);
  ~Working();
  Working(const Working&) = delete;
  Working& operator=(const Working&) = delete;

 private:
  void Show();

  std::string what_;
  std::mutex mutex_;
  std::condition_variable over_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace sluice::cli

#endif  // SLUICE_CLI_PROGRESS_LINE_H_
