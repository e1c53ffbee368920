// SPDX-License-Identifier: Apache-2.0
// Whether buffers fit, found by trying offsets; and random buffers that are few enough.
// Shares nothing with the solvers but the input structs.
#ifndef SLUICE_TESTS_SOLVE_PLACEMENT_OFFSETS_TRIED_OFFSETS_H_
#define SLUICE_TESTS_SOLVE_PLACEMENT_OFFSETS_TRIED_OFFSETS_H_

#include <algorithm>
#include <vector>

#include "tests/solve/placement/judge.h"

namespace sluice_test {

// Complete by a different argument than the solver's: a placement can be pushed down
// until every buffer lies at 0, a multiple of its alignment above the end of another
// one or of a blocked range, or at a bank border. Depth first over all of those.
inline bool BruteForceFits(const Buffers& b, int64_t capacity) {
  const size_t n = b.ranges.size();
  std::vector<int64_t> at(n, -1);
  std::vector<bool> done(n, false);
  const auto meets = [&](size_t i, size_t j) {
    for (int64_t t = 0; t < 32; ++t) {
      const auto x = UsedAt(b, i, t), y = UsedAt(b, j, t);
      if (x.first != x.second && y.first != y.second) return true;
    }
    return false;
  };
  struct Recursion {
    const Buffers& b;
    int64_t capacity;
    std::vector<int64_t>& at;
    std::vector<bool>& done;
    decltype(meets)& meet;
    bool Go(size_t left) {
      if (left == 0) {
        return JudgeOffsets(b, at.data(), capacity).empty();
      }
      for (size_t i = 0; i < at.size(); ++i) {
        if (done[i]) continue;
        const sluice::LiveRange& r = b.ranges[i];
        std::vector<int64_t> places{0};
        for (size_t j = 0; j < at.size(); ++j) {
          if (done[j] && meet(i, j)) places.push_back(at[j] + b.ranges[j].bytes);
        }
        for (const sluice::ReservedRegion& g : b.reserved)
          places.push_back(g.offset + g.bytes);
        for (int64_t k = 1; b.bank_bytes != 0 && k * b.bank_bytes < capacity; ++k) {
          places.push_back(k * b.bank_bytes);
        }
        if (r.fixed_offset >= 0) places = {r.fixed_offset};
        for (int64_t& p : places) p = (p + r.alignment - 1) / r.alignment * r.alignment;
        std::sort(places.begin(), places.end());
        places.erase(std::unique(places.begin(), places.end()), places.end());
        for (int64_t p : places) {
          if (p + r.bytes > capacity) continue;
          bool free = true;
          for (size_t j = 0; j < at.size() && free; ++j) {
            free = !done[j] || !meet(i, j) || p >= at[j] + b.ranges[j].bytes ||
                   at[j] >= p + r.bytes;
          }
          if (!free) continue;
          done[i] = true;
          at[i] = p;
          if (Go(left - 1)) return true;
          done[i] = false;
        }
      }
      return false;
    }
  };
  return Recursion{b, capacity, at, done, meets}.Go(n);
}

inline Buffers RandomBuffers(sluice::Rng* rng, uint32_t count, bool extras) {
  Buffers b;
  b.bank_bytes = extras && rng->Below(2) == 0 ? 8 : 0;
  for (uint32_t i = 0; i < count; ++i) {
    const int64_t begin = rng->Below(8);
    sluice::LiveRange& r = b.Add(begin, begin + 1 + rng->Below(5), 1 + rng->Below(6));
    if (!extras) continue;
    if (rng->Below(3) == 0) r.alignment = int64_t{1} << rng->Below(3);
    if (b.bank_bytes != 0 && rng->Below(4) == 0) r.banks = 1 + rng->Below(3);
    if (b.bank_bytes != 0 && rng->Below(4) == 0) r.single_bank = true;
    if (r.end - r.begin >= 3 && rng->Below(2) == 0) {
      r.first_gap = static_cast<uint32_t>(b.gaps.size());
      r.gap_count = 1;
      b.gaps.push_back(sluice::LiveGap{r.begin + 1, r.end - 1, 0, 0});
    }
  }
  if (extras && rng->Below(2) == 0) {
    b.reserved.push_back(
        sluice::ReservedRegion{2, 5, rng->Below(6), 1 + rng->Below(4)});
  }
  if (extras && rng->Below(3) == 0 && b.reserved.empty() && b.ranges[0].banks == 0 &&
      !b.ranges[0].single_bank) {
    b.ranges[0].fixed_offset = b.ranges[0].alignment * rng->Below(3);
  }
  return b;
}

// Every offset of every buffer, one after the other.
inline bool GridFits(const Buffers& b, int64_t capacity, std::vector<int64_t>* at) {
  const size_t i = at->size();
  if (i == b.ranges.size()) {
    return JudgeOffsets(b, at->data(), capacity).empty();
  }
  const sluice::LiveRange& r = b.ranges[i];
  for (int64_t p = 0; p + r.bytes <= capacity; p += r.alignment) {
    if (r.fixed_offset >= 0 && r.fixed_offset != p) continue;
    bool free = true;
    for (int64_t t = r.begin; t < r.end && free; ++t) {
      const auto x = UsedAt(b, i, t);
      for (size_t j = 0; j < i && free; ++j) {
        const auto y = UsedAt(b, j, t);
        free = x.first == x.second || y.first == y.second ||
               p + x.second <= (*at)[j] + y.first || (*at)[j] + y.second <= p + x.first;
      }
    }
    if (!free) continue;
    at->push_back(p);
    if (GridFits(b, capacity, at)) return true;
    at->pop_back();
  }
  return false;
}

// Random buffers whose gaps keep some bytes in use, with every other limit on where a buffer
// may lie.
inline Buffers PartialBuffers(sluice::Rng* rng, uint32_t count) {
  Buffers b;
  b.bank_bytes = rng->Below(3) == 0 ? 4 : 0;
  for (uint32_t i = 0; i < count; ++i) {
    const int64_t begin = rng->Below(4);
    sluice::LiveRange& r = b.Add(begin, begin + 2 + rng->Below(5), 1 + rng->Below(6));
    if (rng->Below(4) == 0) r.alignment = 2;
    if (b.bank_bytes != 0 && r.bytes <= 4 && rng->Below(3) == 0) r.single_bank = true;
    if (b.bank_bytes != 0 && rng->Below(4) == 0) r.banks = 1 + rng->Below(7);
    r.first_gap = static_cast<uint32_t>(b.gaps.size());
    for (int64_t t = r.begin; t < r.end; ++t) {
      if (rng->Below(2) == 0) continue;
      const int64_t low = rng->Below(static_cast<uint32_t>(r.bytes));
      b.gaps.push_back(sluice::LiveGap{
          t, t + 1, low, low + rng->Below(static_cast<uint32_t>(r.bytes - low + 1))});
      ++r.gap_count;
    }
  }
  if (rng->Below(3) == 0) {
    b.reserved.push_back(
        sluice::ReservedRegion{1, 3, rng->Below(5), 1 + rng->Below(2)});
  }
  return b;
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SOLVE_PLACEMENT_OFFSETS_TRIED_OFFSETS_H_
