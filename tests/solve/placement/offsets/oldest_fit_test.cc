// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/offsets/oldest_fit.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "tests/solve/placement/judge.h"

using namespace sluice;
using sluice_test::Ground;

namespace {

Status Fit(const std::vector<AgedRange>& buffers, int64_t capacity,
           std::vector<int64_t>* offsets) {
  Ground ground;
  offsets->assign(buffers.size(), kFreeOffset);
  return OldestFit(sluice_test::View(buffers), capacity, &ground.arena,
                   {offsets->data(), offsets->size()});
}

}  // namespace

TEST_CASE(
    "oldest fit: the bytes that were touched longest ago, not the lowest free ones") {
  std::vector<int64_t> at;
  // The first two end up side by side; both are over when the third begins.
  REQUIRE(Fit({{0, 4, 3, 16}, {1, 2, 1, 16}, {4, 5, 4, 16}}, 32, &at) == Status::kOk);
  CHECK(at == std::vector<int64_t>{0, 16, 16});
  // The first is held longer than the second, but touched last before it.
  REQUIRE(Fit({{0, 4, 0, 16}, {1, 2, 1, 16}, {4, 5, 4, 16}}, 32, &at) == Status::kOk);
  CHECK(at == std::vector<int64_t>{0, 16, 0});
  // Bytes that nobody has touched are older than all others.
  REQUIRE(Fit({{0, 1, 0, 16}, {1, 2, 1, 16}}, 32, &at) == Status::kOk);
  CHECK(at == std::vector<int64_t>{0, 16});
}

TEST_CASE("oldest fit: buffers of one time, the largest first, then as given") {
  std::vector<int64_t> at;
  REQUIRE(Fit({{0, 1, 0, 16}, {0, 1, 0, 32}, {0, 1, 0, 16}}, 64, &at) == Status::kOk);
  CHECK(at == std::vector<int64_t>{32, 0, 48});
}

TEST_CASE(
    "oldest fit: bytes that a fixed buffer needs later in the life are not taken") {
  std::vector<int64_t> at;
  REQUIRE(Fit({{0, 3, 0, 16}, {2, 3, 2, 16, 0}}, 32, &at) == Status::kOk);
  CHECK(at == std::vector<int64_t>{16, 0});
  // The fixed buffer begins when the free one is over.
  REQUIRE(Fit({{0, 2, 0, 16}, {2, 3, 2, 16, 0}}, 32, &at) == Status::kOk);
  CHECK(at == std::vector<int64_t>{0, 0});
  // A fixed buffer of the same time comes first.
  REQUIRE(Fit({{0, 1, 0, 16}, {0, 1, 0, 16, 0}}, 32, &at) == Status::kOk);
  CHECK(at == std::vector<int64_t>{16, 0});
}

TEST_CASE("oldest fit: a buffer without free bytes is infeasible") {
  std::vector<int64_t> at;
  CHECK(Fit({{0, 3, 0, 16}, {2, 3, 2, 24, 0}}, 32, &at) == Status::kInfeasible);
  CHECK(Fit({{0, 1, 0, 48}}, 32, &at) == Status::kInfeasible);
  CHECK(Fit({{0, 2, 0, 16}, {1, 2, 1, 24}}, 32, &at) == Status::kInfeasible);
}

namespace {

bool Earlier(const std::vector<AgedRange>& buffers, size_t a, size_t b) {
  if (buffers[a].begin != buffers[b].begin) return buffers[a].begin < buffers[b].begin;
  const bool fixed = buffers[a].fixed_offset != kFreeOffset;
  if (fixed != (buffers[b].fixed_offset != kFreeOffset)) return fixed;
  if (!fixed && buffers[a].bytes != buffers[b].bytes)
    return buffers[a].bytes > buffers[b].bytes;
  return a < b;
}

// The last touch, before buffer b, of the bytes from x on; INT64_MAX if they are not
// free during its life.
int64_t TouchedBefore(const std::vector<AgedRange>& buffers,
                      const std::vector<int64_t>& at, size_t b, int64_t x) {
  int64_t touched = -1;
  for (size_t o = 0; o < buffers.size(); ++o) {
    if (o == b || at[o] >= x + buffers[b].bytes || x >= at[o] + buffers[o].bytes)
      continue;
    const bool known = Earlier(buffers, o, b) || buffers[o].fixed_offset != kFreeOffset;
    if (!known || buffers[o].begin >= buffers[b].end) continue;
    if (buffers[o].end > buffers[b].begin) return INT64_MAX;
    touched = std::max(touched, buffers[o].used);
  }
  return touched;
}

}  // namespace

TEST_CASE("oldest fit: no other free bytes are older, found by trying all offsets") {
  Rng rng(7);
  int placed = 0;
  for (int round = 0; round < 2000; ++round) {
    CAPTURE(round);
    const int64_t capacity = 16 + rng.Below(17);
    std::vector<AgedRange> buffers(2 + rng.Below(10));
    for (AgedRange& buffer : buffers) {
      buffer.begin = rng.Below(8);
      buffer.end = buffer.begin + 1 + rng.Below(4);
      buffer.used =
          buffer.begin + rng.Below(static_cast<uint32_t>(buffer.end - buffer.begin));
      buffer.bytes = 1 + rng.Below(8);
    }
    buffers[0].fixed_offset = rng.Below(8);
    std::vector<int64_t> at;
    if (Fit(buffers, capacity, &at) != Status::kOk) continue;
    ++placed;
    CHECK(at[0] == buffers[0].fixed_offset);
    for (size_t b = 1; b < buffers.size(); ++b) {
      CHECK(at[b] >= 0);
      CHECK(at[b] + buffers[b].bytes <= capacity);
      const int64_t touched = TouchedBefore(buffers, at, b, at[b]);
      CHECK(touched < INT64_MAX);
      for (int64_t x = 0; x + buffers[b].bytes <= capacity; ++x) {
        CHECK(TouchedBefore(buffers, at, b, x) >= touched);
      }
    }
  }
  CHECK(placed > 500);
}
