// SPDX-License-Identifier: Apache-2.0
// Counts the work of the library and of the simulator, exactly: the number of basic blocks
// that they have executed since the program began. Both are compiled once more for this
// (tests/work), with a call at the head of each block. As a clock it makes deadlines exact:
// the same call always ends at the same block, however busy the machine is.
#ifndef SLUICE_TESTS_SUPPORT_WORK_CLOCK_H_
#define SLUICE_TESTS_SUPPORT_WORK_CLOCK_H_

#include <cstdint>

namespace sluice_test {

// Blocks executed so far. Programs of one thread only.
uint64_t WorkDone();
// Sets *word to 1 once so many more blocks have been executed.
void CancelAfter(uint64_t work, uint32_t* word);

// A clock for sluice_context_options_t that advances `slow` per block. It also notes the
// most work between two readings, which are the library's polls.
class WorkClock {
 public:
  explicit WorkClock(uint64_t slow = 1) : slow_(slow) {}
  static uint64_t Now(void* user) { return static_cast<WorkClock*>(user)->Read(); }
  // Begins a call: its first poll is counted from here.
  void Begin() {
    begin_ = last_ = WorkDone();
    most_ = 0;
  }
  // Ends a call: returns the most work that it did without a poll.
  uint64_t End() {
    Note(WorkDone());
    return most_;
  }
  // Work of the call up to now.
  uint64_t Spent() const { return WorkDone() - begin_; }

 private:
  void Note(uint64_t now) {
    if (now - last_ > most_) most_ = now - last_;
    last_ = now;
  }
  uint64_t Read() {
    const uint64_t now = WorkDone();
    Note(now);
    return slow_ * now;
  }
  uint64_t slow_, begin_ = 0, last_ = 0, most_ = 0;
};

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_WORK_CLOCK_H_
