// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/offsets/fixed_overlap.h"

#include <algorithm>

#include "base/checked.h"
#include "base/sort.h"

namespace sluice {
namespace {

constexpr uint32_t kNoBlock = 0xffffffffu;
constexpr size_t kMostThere = 512;  // alive on average, for comparing one by one

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

// Blocks by begin; sweeps over time compare each with those before it.
Status SortByBegin(Span<const FixedBlock> blocks, Arena* arena, Span<uint32_t>* order) {
  SLUICE_TRY(arena->Allocate(blocks.size(), order));
  for (uint32_t b = 0; b < blocks.size(); ++b) (*order)[b] = b;
  Sort(order->begin(), order->end(), [&](uint32_t a, uint32_t b) {
    if (blocks[a].begin != blocks[b].begin) return blocks[a].begin < blocks[b].begin;
    return a < b;
  });
  return Status::kOk;
}

// Compares each block with all blocks alive at its time: fastest while these are few.
// *hit: the first block that overlaps an earlier one, or none. False after too many
// comparisons.
bool SweepFew(Span<const FixedBlock> blocks, Span<const uint32_t> order,
              Span<uint32_t> there, uint32_t* hit) {
  size_t count = 0, left = kMostThere * blocks.size();
  for (uint32_t b : order) {
    size_t kept = 0;
    if (count > left) return false;
    left -= count;
    for (size_t i = 0; i < count; ++i) {
      const FixedBlock& other = blocks[there[i]];
      if (other.end <= blocks[b].begin) continue;
      if (Meet(other, blocks[b])) {
        *hit = b;
        return true;
      }
      there[kept++] = there[i];
    }
    count = kept;
    there[count++] = b;
  }
  return true;
}

// As SweepFew, for any number of blocks alive at a time.
Status SweepMany(Span<const FixedBlock> blocks, Arena* arena, uint32_t* hit) {
  Span<Event> events;
  Span<int64_t> addresses;
  SLUICE_TRY(arena->Allocate(2 * blocks.size(), &events));
  SLUICE_TRY(arena->Allocate(2 * blocks.size(), &addresses));
  for (uint32_t b = 0; b < blocks.size(); ++b) {
    events[size_t{2} * b] = Event{blocks[b].begin, true, b};
    events[size_t{2} * b + 1] = Event{blocks[b].end, false, b};
    addresses[size_t{2} * b] = blocks[b].first_byte;
    addresses[size_t{2} * b + 1] = blocks[b].last_byte;
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
      *hit = event.block;
      return Status::kOk;
    }
    (block.reserved ? reserved : fixed).Add(begin, end, event.begins ? 1 : -1);
  }
  return Status::kOk;
}

}  // namespace

Status FindFixedOverlap(Span<const FixedBlock> blocks, Arena* arena,
                        FixedOverlap* out) {
  *out = FixedOverlap();
  if (blocks.empty()) return Status::kOk;
  ArenaScope scope(arena);
  Span<uint32_t> order, there;
  SLUICE_TRY(SortByBegin(blocks, arena, &order));
  SLUICE_TRY(arena->Allocate(blocks.size(), &there));
  uint32_t hit = kNoBlock;
  if (!SweepFew(blocks, order, there, &hit)) SLUICE_TRY(SweepMany(blocks, arena, &hit));
  if (hit == kNoBlock) return Status::kOk;
  for (uint32_t b : order) {
    if (b == hit || !Meet(blocks[b], blocks[hit])) continue;
    *out = FixedOverlap{true, blocks[b], blocks[hit]};
    break;
  }
  return Status::kOk;
}

}  // namespace sluice
