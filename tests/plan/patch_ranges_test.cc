// SPDX-License-Identifier: Apache-2.0
// Ranges in which hand-made streams differ.
#include "plan/patch_ranges.h"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

namespace sluice {
namespace {

using Ranges = std::vector<std::pair<uint64_t, uint64_t>>;  // offset, bytes

std::vector<uint8_t> Stream(size_t bytes, const std::vector<size_t>& changed) {
  std::vector<uint8_t> stream(bytes, 7);
  for (const size_t at : changed) stream[at] = 8;
  return stream;
}

// gap 0: the default.
Ranges Find(const std::vector<uint8_t>& before, const std::vector<uint8_t>& after,
            uint64_t gap, size_t room = 16) {
  std::vector<sluice_patch_range_t> ranges(room);
  size_t count = room;
  const Status status =
      FindPatchRanges({before.data(), before.size()}, {after.data(), after.size()}, gap,
                      ranges.data(), &count);
  CHECK(status == (count <= room ? Status::kOk : Status::kBufferTooSmall));
  Ranges found;
  for (size_t i = 0; i < count && i < room; ++i) {
    found.push_back({ranges[i].offset, ranges[i].bytes});
  }
  return found;
}

TEST_CASE("patch ranges: equal streams need none, a word is written whole") {
  CHECK(Find(Stream(64, {}), Stream(64, {}), 4).empty());
  CHECK(Find(Stream(64, {}), Stream(64, {9}), 4) == Ranges{{8, 4}});
  CHECK(Find(Stream(64, {0}), Stream(64, {63}), 4) == Ranges{{0, 4}, {60, 4}});
}

TEST_CASE("patch ranges: those closer than the gap become one") {
  const auto same = Stream(256, {}), two = Stream(256, {0, 20});
  CHECK(Find(same, two, 16) == Ranges{{0, 4}, {20, 4}});
  CHECK(Find(same, two, 17) == Ranges{{0, 24}});
  // 64 bytes where the caller does not say.
  CHECK(Find(same, Stream(256, {0, 64}), 0) == Ranges{{0, 68}});
  CHECK(Find(same, Stream(256, {0, 68}), 0) == Ranges{{0, 4}, {68, 4}});
}

TEST_CASE("patch ranges: what is new at the end is written, what is gone is not") {
  CHECK(Find(Stream(16, {}), Stream(32, {}), 4) == Ranges{{16, 16}});
  // Bytes behind the end of the old stream are not read, although they are equal here.
  const auto both = Stream(32, {});
  sluice_patch_range_t range = {};
  size_t count = 1;
  CHECK(FindPatchRanges({both.data(), 16}, {both.data(), 32}, 4, &range, &count) ==
        Status::kOk);
  CHECK(count == 1);
  CHECK(range.offset == 16);
  CHECK(range.bytes == 16);
  CHECK(Find(Stream(32, {}), Stream(16, {}), 4).empty());
}

TEST_CASE("patch ranges: without room they are counted") {
  const auto before = Stream(256, {}), after = Stream(256, {0, 100, 200});
  CHECK(Find(before, after, 4, 2) == Ranges{{0, 4}, {100, 4}});
  CHECK(Find(before, after, 4, 3).size() == 3);
  size_t count = 77;  // ignored, since there is no array
  CHECK(FindPatchRanges({before.data(), before.size()}, {after.data(), after.size()}, 4,
                        nullptr, &count) == Status::kBufferTooSmall);
  CHECK(count == 3);
}

}  // namespace
}  // namespace sluice
