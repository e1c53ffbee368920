// SPDX-License-Identifier: Apache-2.0
// Independent judges of placements, and helpers of the tests in this folder. Shares nothing
// with the solvers but the input structs.
#ifndef SLUICE_TESTS_SOLVE_PLACEMENT_JUDGE_H_
#define SLUICE_TESTS_SOLVE_PLACEMENT_JUDGE_H_

#include <stdlib.h>
#include <time.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/memory.h"
#include "base/rng.h"
#include "model/live_range.h"
#include "support/malloc_allocator.h"

namespace sluice_test {

struct Ground {
  sluice::Memory memory{Malloc(), 0};
  sluice::Arena arena{&memory};
  sluice::Diagnostic diagnostic{};
};

inline double CpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <typename T>
sluice::Span<const T> View(const std::vector<T>& v) {
  return sluice::Span<const T>(v.data(), v.size());
}

struct Buffers {
  std::vector<sluice::LiveRange> ranges;
  std::vector<sluice::LiveGap> gaps;
  std::vector<sluice::ReservedRegion> reserved;
  int64_t bank_bytes = 0;

  sluice::LiveRange& Add(int64_t begin, int64_t end, int64_t bytes) {
    sluice::LiveRange range{};
    range.begin = begin;
    range.end = end;
    range.bytes = bytes;
    range.alignment = 1;
    range.fixed_offset = sluice::kFreeOffset;
    ranges.push_back(range);
    return ranges.back();
  }
  sluice::LiveRangeSet Set() const {
    sluice::LiveRangeSet set;
    set.buffers = View(ranges);
    set.gaps = View(gaps);
    set.reserved = View(reserved);
    set.bank_bytes = bank_bytes;
    return set;
  }
};

// The bytes [first, last) that buffer i uses at a moment, relative to its offset; empty if
// it uses none.
inline std::pair<int64_t, int64_t> UsedAt(const Buffers& b, size_t i, int64_t time) {
  const sluice::LiveRange& r = b.ranges[i];
  if (time < r.begin || time >= r.end) return {0, 0};
  for (uint32_t g = 0; g < r.gap_count; ++g) {
    const sluice::LiveGap& gap = b.gaps[r.first_gap + g];
    if (time >= gap.begin && time < gap.end) return {gap.first_byte, gap.last_byte};
  }
  return {0, r.bytes};
}

// No placement is lower than the most bytes that are used at one moment.
inline int64_t MostAtOnce(const Buffers& b) {
  int64_t most = 0;
  for (const sluice::LiveRange& from : b.ranges) {
    int64_t sum = 0;
    for (size_t i = 0; i < b.ranges.size(); ++i) {
      const auto bytes = UsedAt(b, i, from.begin);
      sum += bytes.second - bytes.first;
    }
    most = std::max(most, sum);
  }
  return most;
}

// "" when the offsets are a legal placement within capacity, else what is wrong.
inline std::string JudgeOffsets(const Buffers& b, const int64_t* offsets,
                                int64_t capacity) {
  std::vector<int64_t> moments;
  for (const sluice::LiveRange& r : b.ranges) moments.push_back(r.begin);
  for (const sluice::LiveGap& g : b.gaps) {
    moments.push_back(g.begin);
    moments.push_back(g.end);
  }
  for (const sluice::ReservedRegion& r : b.reserved) moments.push_back(r.begin);
  const auto name = [](const char* what, size_t i, size_t j) {
    return std::string(what) + " " + std::to_string(i) + " " + std::to_string(j);
  };
  for (size_t i = 0; i < b.ranges.size(); ++i) {
    const sluice::LiveRange& r = b.ranges[i];
    const int64_t at = offsets[i];
    if (at < 0 || at + r.bytes > capacity) return name("bounds", i, i);
    if (at % r.alignment != 0) return name("alignment", i, i);
    if (r.fixed_offset >= 0 && r.fixed_offset != at) return name("fixed", i, i);
    if (b.bank_bytes != 0) {
      const int64_t first = at / b.bank_bytes, last = (at + r.bytes - 1) / b.bank_bytes;
      if (r.single_bank && first != last) return name("straddles", i, i);
      for (int64_t bank = first; r.banks != 0 && bank <= last; ++bank) {
        if (bank >= 64 || (r.banks >> bank & 1) == 0) return name("bank", i, i);
      }
    }
  }
  for (int64_t t : moments) {
    std::vector<std::pair<std::pair<int64_t, int64_t>, size_t>> used;
    for (size_t i = 0; i < b.ranges.size(); ++i) {
      const auto bytes = UsedAt(b, i, t);
      if (bytes.first == bytes.second) continue;
      used.push_back({{offsets[i] + bytes.first, offsets[i] + bytes.second}, i});
    }
    for (size_t k = 0; k < b.reserved.size(); ++k) {
      const sluice::ReservedRegion& r = b.reserved[k];
      if (t < r.begin || t >= r.end) continue;
      for (const auto& u : used) {
        if (u.first.first < r.offset + r.bytes && r.offset < u.first.second) {
          return name("reserved", u.second, k);
        }
      }
    }
    for (size_t i = 0; i < used.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (used[i].first.first < used[j].first.second &&
            used[j].first.first < used[i].first.second) {
          return name("overlap", used[i].second, used[j].second);
        }
      }
    }
  }
  return "";
}

// The same for many buffers without gaps and banks: what is alive is kept by address, and
// who begins is compared with its neighbours there alone.
inline std::string JudgeMany(const Buffers& b, const int64_t* offsets,
                             int64_t capacity) {
  struct Change {
    int64_t time;
    bool begins;
    int64_t at, end;
  };
  std::vector<Change> changes;
  for (size_t i = 0; i < b.ranges.size(); ++i) {
    const sluice::LiveRange& r = b.ranges[i];
    const int64_t at = offsets[i];
    if (at < 0 || at + r.bytes > capacity || at % r.alignment != 0 ||
        (r.fixed_offset >= 0 && r.fixed_offset != at) || r.gap_count != 0 ||
        r.banks != 0 || r.single_bank) {
      return "buffer " + std::to_string(i);
    }
    changes.push_back({r.begin, true, at, at + r.bytes});
    changes.push_back({r.end, false, at, at + r.bytes});
    for (const sluice::ReservedRegion& g : b.reserved) {
      if (g.begin < r.end && r.begin < g.end && g.offset < at + r.bytes &&
          at < g.offset + g.bytes) {
        return "reserved " + std::to_string(i);
      }
    }
  }
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& c) {
    return std::make_pair(a.time, a.begins) < std::make_pair(c.time, c.begins);
  });
  std::map<int64_t, int64_t> alive;  // addresses to ends
  for (const Change& change : changes) {
    if (!change.begins) {
      alive.erase(change.at);
      continue;
    }
    const auto above = alive.lower_bound(change.at);
    if ((above != alive.end() && above->first < change.end) ||
        (above != alive.begin() && std::prev(above)->second > change.at)) {
      return "overlap at " + std::to_string(change.at);
    }
    alive[change.at] = change.end;
  }
  return "";
}

// Buffers whose sizes add up to exactly `height` at every moment. In rare cases they have no
// placement within `height`.
inline Buffers FullBuffers(sluice::Rng* rng, int64_t height, int64_t times) {
  Buffers b;
  for (int64_t t = 0; t < times; ++t) {
    int64_t load = 0;
    for (const sluice::LiveRange& r : b.ranges) load += r.end > t ? r.bytes : 0;
    while (load < height) {
      const int64_t bytes = 1 + rng->Below(static_cast<uint32_t>(height - load));
      const int64_t end = t + 1 + rng->Below(4);
      b.Add(t, end < times ? end : times, bytes);
      load += bytes;
    }
  }
  return b;
}

// id,lower,upper,size with a header, as the minimalloc instances are written.
inline bool ReadCsv(const std::string& path, Buffers* out) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return false;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    long long id = 0, begin = 0, end = 0, bytes = 0;
    char comma = 0;
    if (fields >> id >> comma >> begin >> comma >> end >> comma >> bytes) {
      out->Add(begin, end, bytes);
    }
  }
  return !out->ranges.empty();
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SOLVE_PLACEMENT_JUDGE_H_
