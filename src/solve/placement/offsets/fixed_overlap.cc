// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/offsets/fixed_overlap.h"

#include <algorithm>

#include "base/checked.h"
#include "base/sort.h"

namespace sluice {
namespace {

// How often each slot of the address axis is covered; adds and maxima over ranges.
class Cover {
 public:
  Status Init(size_t slots, Arena* arena) {
    size_ = 1;
    while (size_ < slots) size_ *= 2;
    SLUICE_TRY(arena->Allocate(2 * size_, &most_));
    return arena->Allocate(2 * size_, &added_);
  }
  void Add(size_t begin, size_t end, int32_t by) { Add(1, 0, size_, begin, end, by); }
  bool Any(size_t begin, size_t end) const { return Most(1, 0, size_, begin, end) > 0; }

 private:
  void Add(size_t node, size_t low, size_t high, size_t begin, size_t end, int32_t by) {
    if (end <= low || high <= begin) return;
    if (begin <= low && high <= end) {
      most_[node] += by;
      added_[node] += by;
      return;
    }
    const size_t middle = (low + high) / 2;
    Add(2 * node, low, middle, begin, end, by);
    Add(2 * node + 1, middle, high, begin, end, by);
    most_[node] = Max(most_[2 * node], most_[2 * node + 1]) + added_[node];
  }
  int32_t Most(size_t node, size_t low, size_t high, size_t begin, size_t end) const {
    if (end <= low || high <= begin) return 0;
    if (begin <= low && high <= end) return most_[node];
    const size_t middle = (low + high) / 2;
    return Max(Most(2 * node, low, middle, begin, end),
               Most(2 * node + 1, middle, high, begin, end)) +
           added_[node];
  }

  size_t size_ = 1;
  Span<int32_t> most_, added_;
};

struct Event {
  int64_t time;
  bool begins;  // ends first: half-open
  uint32_t block;
};

size_t SlotOf(Span<const int64_t> addresses, int64_t byte) {
  return static_cast<size_t>(
      std::lower_bound(addresses.begin(), addresses.end(), byte) - addresses.begin());
}

bool Meet(const FixedBlock& a, const FixedBlock& b) {
  return a.begin < b.end && b.begin < a.end && a.first_byte < b.last_byte &&
         b.first_byte < a.last_byte && !(a.reserved && b.reserved);
}

}  // namespace

Status FindFixedOverlap(Span<const FixedBlock> blocks, Arena* arena,
                        FixedOverlap* out) {
  *out = FixedOverlap();
  if (blocks.empty()) return Status::kOk;
  ArenaScope scope(arena);
  Span<Event> events;
  Span<int64_t> addresses;
  SLUICE_TRY(arena->Allocate(2 * blocks.size(), &events));
  SLUICE_TRY(arena->Allocate(2 * blocks.size(), &addresses));
  for (uint32_t b = 0; b < blocks.size(); ++b) {
    events[2 * b] = Event{blocks[b].begin, true, b};
    events[2 * b + 1] = Event{blocks[b].end, false, b};
    addresses[2 * b] = blocks[b].first_byte;
    addresses[2 * b + 1] = blocks[b].last_byte;
  }
  Sort(addresses.begin(), addresses.end());
  Sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    if (a.time != b.time) return a.time < b.time;
    return a.begins != b.begins ? b.begins : a.block < b.block;
  });
  Cover fixed, reserved;
  SLUICE_TRY(fixed.Init(addresses.size(), arena));
  SLUICE_TRY(reserved.Init(addresses.size(), arena));
  for (const Event& event : events) {
    const FixedBlock& block = blocks[event.block];
    const size_t begin = SlotOf(addresses, block.first_byte);
    const size_t end = SlotOf(addresses, block.last_byte);
    if (event.begins &&
        (fixed.Any(begin, end) || (!block.reserved && reserved.Any(begin, end)))) {
      for (const Event& earlier : events) {
        const FixedBlock& other = blocks[earlier.block];
        if (!earlier.begins || earlier.block == event.block || !Meet(other, block)) {
          continue;
        }
        out->found = true;
        out->first = other;
        out->second = block;
        return Status::kOk;
      }
    }
    (block.reserved ? reserved : fixed).Add(begin, end, event.begins ? 1 : -1);
  }
  return Status::kOk;
}

}  // namespace sluice
