// SPDX-License-Identifier: Apache-2.0
// Gives the memory the clock of a call, for as long as the call lasts.
//
// Input    the memory of a context; the budget made from the call's limits
// Output   Memory::Stop() answers for this call
// Errors   none
// Cost     that of Memory::Watch
#ifndef SLUICE_BASE_WATCH_SCOPE_H_
#define SLUICE_BASE_WATCH_SCOPE_H_

#include "base/memory.h"

namespace sluice {

class WatchScope {
 public:
  WatchScope(Memory* memory, Budget* clock) : memory_(memory) { memory->Watch(clock); }
  ~WatchScope() { memory_->Watch(nullptr); }
  WatchScope(const WatchScope&) = delete;
  WatchScope& operator=(const WatchScope&) = delete;

 private:
  Memory* memory_;
};

}  // namespace sluice

#endif  // SLUICE_BASE_WATCH_SCOPE_H_
