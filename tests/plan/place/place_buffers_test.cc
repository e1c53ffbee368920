// SPDX-License-Identifier: Apache-2.0
// Placement of buffers through the structs of the C interface, for problems made by hand.
#include "plan/place/place_buffers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/rng.h"
#include "support/read_graph.h"

namespace sluice {
namespace {

sluice_buffer_t Buffer(int64_t begin, int64_t end, int64_t bytes) {
  sluice_buffer_t b = {};
  b.begin = begin;
  b.end = end;
  b.bytes = bytes;
  return b;
}

struct Placed {
  Status Run(const std::vector<sluice_buffer_t>& given, int64_t capacity) {
    problem.buffers = given.data();
    problem.buffer_count = static_cast<uint32_t>(given.size());
    problem.capacity_bytes = capacity;
    problem.gaps = gaps.data();
    problem.gap_count = static_cast<uint32_t>(gaps.size());
    problem.regions = regions.data();
    problem.region_count = static_cast<uint32_t>(regions.size());
    offsets.assign(given.size(), -1);
    conflict.assign(given.size(), 77);
    return PlaceBuffers(
        {problem, options, offsets.data(), wants_conflict ? conflict.data() : nullptr},
        &arena, &out, &diagnostic);
  }
  Memory memory{sluice_test::Nouns::Allocator(), 0};
  Arena arena{&memory};
  Diagnostic diagnostic = {};
  sluice_placement_problem_t problem = {};
  sluice_placement_options_t options = {};
  std::vector<sluice_buffer_gap_t> gaps;
  std::vector<sluice_reserved_region_t> regions;
  sluice_placement_t out = {};
  std::vector<int64_t> offsets;
  std::vector<uint32_t> conflict;
  bool wants_conflict = true;
};

TEST_CASE("place buffers: side by side while they live, one over the other after") {
  Placed p;
  p.options.smallest = 1;
  REQUIRE(p.Run({Buffer(0, 2, 64), Buffer(1, 3, 32), Buffer(2, 4, 64)}, 256) ==
          Status::kOk);
  CHECK(p.out.placed == 1);
  CHECK(p.out.proved == 1);
  CHECK(p.out.peak_bytes == 96);
  CHECK(p.out.lower_bound_bytes == 96);
  CHECK(p.offsets[0] == p.offsets[2]);
  CHECK(p.out.conflict_count == 0);
}

TEST_CASE("place buffers: a fixed one stays, regions and alignment are kept") {
  Placed p;
  sluice_buffer_t fixed = Buffer(0, 4, 16), aligned = Buffer(0, 4, 8);
  fixed.flags = SLUICE_BUFFER_FIXED;
  fixed.fixed_offset = 48;
  aligned.alignment = 32;
  p.regions = {{0, 2, 0, 8}};
  REQUIRE(p.Run({fixed, aligned}, 64) == Status::kOk);
  CHECK(p.offsets == std::vector<int64_t>{48, 32});
  fixed.flags = 0;  // then the offset means nothing
  REQUIRE(p.Run({fixed}, 24) == Status::kOk);
  CHECK(p.offsets[0] == 8);
}

TEST_CASE("place buffers: gaps leave room for others") {
  Placed p;
  sluice_buffer_t hollow = Buffer(0, 10, 64);
  hollow.gap_begin = 0;
  hollow.gap_count = 1;
  p.gaps = {{2, 8, 0, 16}};  // only its first 16 bytes are in use then
  REQUIRE(p.Run({hollow, Buffer(2, 8, 48)}, 64) == Status::kOk);
  CHECK(p.offsets == std::vector<int64_t>{0, 16});
  p.gaps.clear();
  hollow.gap_count = 0;
  CHECK(p.Run({hollow, Buffer(2, 8, 48)}, 64) == Status::kInfeasible);
}

TEST_CASE("place buffers: banks bind a buffer to a part of the scratchpad") {
  Placed p;
  p.problem.bank_bytes = 64;
  sluice_buffer_t third = Buffer(0, 1, 32);
  third.banks = 4;
  REQUIRE(p.Run({third}, 192) == Status::kOk);
  CHECK(p.offsets[0] == 128);
  sluice_buffer_t fixed = Buffer(0, 1, 32), one = Buffer(0, 1, 48);
  fixed.flags = SLUICE_BUFFER_FIXED;
  REQUIRE(p.Run({fixed, one}, 192) == Status::kOk);
  CHECK(p.offsets[1] == 32);
  one.flags = SLUICE_BUFFER_SINGLE_BANK;
  REQUIRE(p.Run({fixed, one}, 192) == Status::kOk);
  CHECK(p.offsets[1] == 64);
}

TEST_CASE("place buffers: the smallest peak is looked for where that is asked") {
  int lower = 0;
  Rng rng(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<sluice_buffer_t> buffers;
    for (int i = 0; i < 9; ++i) {
      const int64_t begin = rng.Below(12);
      buffers.push_back(
          Buffer(begin, begin + 1 + rng.Below(6), 1 + int64_t{rng.Below(20)}));
    }
    Placed first, smallest;
    smallest.options.smallest = 1;
    REQUIRE(first.Run(buffers, 1000) == Status::kOk);
    REQUIRE(smallest.Run(buffers, 1000) == Status::kOk);
    CHECK(smallest.out.proved == 1);
    CHECK(smallest.out.peak_bytes <= first.out.peak_bytes);
    lower += smallest.out.peak_bytes < first.out.peak_bytes ? 1 : 0;
  }
  CHECK(lower > 0);
}

TEST_CASE("place buffers: those that cannot all be placed are named, where wanted") {
  const std::vector<sluice_buffer_t> three = {Buffer(0, 1, 40), Buffer(5, 6, 10),
                                              Buffer(0, 1, 40)};
  Placed p;
  CHECK(p.Run(three, 64) == Status::kInfeasible);
  CHECK(p.out.placed == 1);  // above the capacity
  CHECK(p.out.peak_bytes == 80);
  CHECK(p.out.irreducible == 1);
  REQUIRE(p.out.conflict_count == 2);
  CHECK(p.conflict[0] + p.conflict[1] == 2);  // the first and the last
  CHECK(p.conflict[2] == 77);
  Placed none;
  none.wants_conflict = false;
  CHECK(none.Run(three, 64) == Status::kInfeasible);
  CHECK(none.out.conflict_count == 2);
  Placed silent;
  silent.options.no_conflict = 1;
  CHECK(silent.Run(three, 64) == Status::kInfeasible);
  CHECK(silent.out.conflict_count == 0);
}

TEST_CASE("place buffers: flags and offsets that mean nothing are refused by number") {
  Placed p;
  sluice_buffer_t bad = Buffer(0, 1, 8);
  bad.flags = 4;
  CHECK(p.Run({Buffer(0, 1, 8), bad}, 64) == Status::kBadArgument);
  CHECK(std::string(p.diagnostic.message) == "buffer 1 has unknown flags");
  CHECK(p.diagnostic.tensor == 1);
  bad.flags = 0;
  bad.reserved = 1;
  CHECK(p.Run({bad}, 64) == Status::kBadArgument);
  bad = Buffer(0, 1, 8);
  bad.flags = SLUICE_BUFFER_FIXED;
  bad.fixed_offset = -1;
  CHECK(p.Run({bad}, 64) == Status::kBadInput);
  CHECK(std::string(p.diagnostic.message) == "buffer 0 is fixed at a negative offset");
  CHECK(p.out.peak_bytes == 0);  // a wrong problem has no results
}

TEST_CASE("place buffers: thousands come within 5 % of the bound") {
  Rng rng(11);
  std::vector<sluice_buffer_t> buffers;
  for (int i = 0; i < 3000; ++i) {
    const int64_t begin = i + int64_t{rng.Below(16)};
    buffers.push_back(Buffer(begin, begin + 1 + int64_t{rng.Below(60)},
                             64 * (1 + int64_t{rng.Below(256)})));
  }
  Placed p;
  p.options.smallest = 1;
  p.options.fast = 1;
  REQUIRE(p.Run(buffers, int64_t{1} << 40) == Status::kOk);
  CHECK(p.out.placed == 1);
  CHECK(p.out.peak_bytes <= p.out.lower_bound_bytes * 21 / 20);
  int64_t peak = 0;
  for (size_t i = 0; i < buffers.size(); ++i) {
    peak = std::max(peak, p.offsets[i] + buffers[i].bytes);
    for (size_t k = i + 1; k < buffers.size(); ++k) {
      const bool meet =
          buffers[i].begin < buffers[k].end && buffers[k].begin < buffers[i].end;
      REQUIRE((!meet || p.offsets[i] + buffers[i].bytes <= p.offsets[k] ||
               p.offsets[k] + buffers[k].bytes <= p.offsets[i]));
    }
  }
  CHECK(peak == p.out.peak_bytes);
  Placed exact;  // a capacity that only the beams reach
  REQUIRE(exact.Run(buffers, p.out.peak_bytes) == Status::kOk);
  CHECK(exact.out.peak_bytes <= p.out.peak_bytes);
}

TEST_CASE("place buffers: thousands of which most are alive at once") {
  Rng rng(12);
  std::vector<sluice_buffer_t> buffers;
  for (int i = 0; i < 9000; ++i) {  // some 27 million pairs
    const int64_t begin = i + int64_t{rng.Below(16)};
    buffers.push_back(Buffer(begin, begin + 1 + int64_t{rng.Below(9000)},
                             64 * (1 + int64_t{rng.Below(256)})));
    buffers.back().alignment = 64;
  }
  Placed p;
  p.options.smallest = 1;
  p.options.fast = 1;
  REQUIRE(p.Run(buffers, int64_t{1} << 40) == Status::kOk);
  CHECK(p.out.placed == 1);
  CHECK(p.out.peak_bytes >= p.out.lower_bound_bytes);
  CHECK(p.out.peak_bytes <= p.out.lower_bound_bytes * 21 / 20);
  Placed fits;
  fits.options.fast = 1;
  REQUIRE(fits.Run(buffers, p.out.peak_bytes) == Status::kOk);
  CHECK(fits.out.peak_bytes <= p.out.peak_bytes);
  Placed above;
  above.options.fast = 1;
  CHECK(above.Run(buffers, p.out.lower_bound_bytes) == Status::kStopped);
  CHECK(above.out.placed == 1);
  CHECK(above.out.peak_bytes > p.out.lower_bound_bytes);
  Placed none;
  none.options.fast = 1;
  CHECK(none.Run(buffers, p.out.lower_bound_bytes - 1) == Status::kInfeasible);
  CHECK(none.out.proved == 1);
  CHECK(none.out.conflict_count > 0);
  const uint32_t now = 1;
  Placed cancelled;
  cancelled.options.smallest = cancelled.options.fast = 1;
  cancelled.options.cancel = &now;
  CHECK(cancelled.Run(buffers, int64_t{1} << 40) == Status::kStopped);
  CHECK(cancelled.out.placed == 0);
}

TEST_CASE(
    "place buffers: too many pairs for an exact search, at the bound all the same") {
  std::vector<sluice_buffer_t> buffers;
  for (int64_t i = 0; i < 9000; ++i) buffers.push_back(Buffer(i, 18000 - i, 1 + i % 7));
  Placed p;
  p.options.smallest = 1;
  REQUIRE(p.Run(buffers, int64_t{1} << 40) == Status::kOk);
  CHECK(p.out.proved == 1);
  CHECK(p.out.peak_bytes == p.out.lower_bound_bytes);
  buffers.back().flags = SLUICE_BUFFER_FIXED;
  buffers.back().fixed_offset = int64_t{1} << 30;
  REQUIRE(p.Run(buffers, int64_t{1} << 20) == Status::kInfeasible);
  REQUIRE(p.out.conflict_count == 1);
  CHECK(p.conflict[0] == 8999);
}

}  // namespace
}  // namespace sluice
