// SPDX-License-Identifier: Apache-2.0
// An allocator that records what is allocated, checks what is released, and fails on
// demand.
//
// Input    fail_at: the number of the allocation to refuse, counted from 1; 0 = none
// Output   live blocks and bytes, allocations so far, whether every release was right
#ifndef SLUICE_TESTS_SUPPORT_RECORDING_ALLOCATOR_H_
#define SLUICE_TESTS_SUPPORT_RECORDING_ALLOCATOR_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>

#include "sluice/sluice.h"

namespace sluice_test {

class RecordingAllocator {
 public:
  RecordingAllocator() {
    std::memset(&interface_, 0, sizeof interface_);
    interface_.struct_size = sizeof interface_;
    interface_.user = this;
    interface_.allocate = [](void* user, size_t bytes, size_t alignment) {
      return static_cast<RecordingAllocator*>(user)->Allocate(bytes, alignment);
    };
    interface_.release = [](void* user, void* p, size_t bytes, size_t alignment) {
      static_cast<RecordingAllocator*>(user)->Release(p, bytes, alignment);
    };
  }
  RecordingAllocator(const RecordingAllocator&) = delete;
  RecordingAllocator& operator=(const RecordingAllocator&) = delete;

  const sluice_allocator_t* interface() const { return &interface_; }
  sluice_context_options_t Options(uint64_t max_bytes = 0) const {
    sluice_context_options_t o;
    std::memset(&o, 0, sizeof o);
    o.struct_size = sizeof o;
    o.allocator = &interface_;
    o.max_bytes = max_bytes;
    return o;
  }
  // The n-th allocation from here on fails, and with `all` every later one, too.
  void FailAt(uint64_t n, bool all = false) {
    fail_at_ = n == 0 ? 0 : allocations_ + n;
    fail_all_ = all;
  }
  uint64_t allocations() const { return allocations_; }
  uint64_t live_blocks() const { return live_.size(); }
  uint64_t live_bytes() const { return live_bytes_; }
  uint64_t peak_bytes() const { return peak_bytes_; }
  bool sound() const { return sound_; }  // releases matched, requests were legal

 private:
  struct Block {
    size_t bytes, alignment;
  };
  void* Allocate(size_t bytes, size_t alignment) {
    ++allocations_;
    const bool power = alignment != 0 && (alignment & (alignment - 1)) == 0;
    if (bytes == 0 || !power) sound_ = false;
    if (fail_at_ != 0 &&
        (allocations_ == fail_at_ || (fail_all_ && allocations_ > fail_at_))) {
      return nullptr;
    }
    void* p = nullptr;
    if (posix_memalign(&p, std::max(alignment, sizeof(void*)), bytes) != 0) {
      return nullptr;
    }
    std::memset(p, 0xa5, bytes);  // callers must not rely on zeros
    live_[p] = {bytes, alignment};
    live_bytes_ += bytes;
    peak_bytes_ = std::max(peak_bytes_, live_bytes_);
    return p;
  }
  void Release(void* p, size_t bytes, size_t alignment) {
    const auto it = live_.find(p);
    if (it == live_.end() || it->second.bytes != bytes ||
        it->second.alignment != alignment) {
      sound_ = false;
      return;
    }
    live_bytes_ -= bytes;
    live_.erase(it);
    std::memset(p, 0x5a, bytes);
    std::free(p);
  }

  sluice_allocator_t interface_;
  std::map<void*, Block> live_;
  uint64_t allocations_ = 0, fail_at_ = 0, live_bytes_ = 0, peak_bytes_ = 0;
  bool fail_all_ = false;
  bool sound_ = true;
};

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_RECORDING_ALLOCATOR_H_
