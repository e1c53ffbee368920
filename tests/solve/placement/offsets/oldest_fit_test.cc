// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/offsets/oldest_fit.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <numeric>
#include <utility>
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

namespace {

// The rule once more, over a list of all bytes' stretches: which of several places of
// one age is taken, too.
class PlainShelf {
 public:
  explicit PlainShelf(int64_t capacity) : capacity_(capacity) {
    list_ = {{0, capacity, -1, -1}};
  }
  bool Find(const AgedRange& buffer, const std::vector<AgedRange>& all, int64_t* at) {
    int64_t best = buffer.begin;
    std::vector<std::pair<int64_t, int64_t>> avoid;
    for (const AgedRange& other : all) {
      const bool later = other.begin > buffer.begin && other.begin < buffer.end;
      if (other.fixed_offset == kFreeOffset || !later) continue;
      avoid.push_back({other.fixed_offset, other.fixed_offset + other.bytes});
    }
    std::vector<int64_t> places;
    for (const auto& s : list_) {
      if (s[2] > buffer.begin) continue;
      places.push_back(s[0]);
      places.push_back(s[1] - buffer.bytes);
    }
    for (const auto& [begin, end] : avoid) {
      places.push_back(end);
      places.push_back(begin - buffer.bytes);
    }
    for (const int64_t place : places) {
      const int64_t end = place + buffer.bytes;
      int64_t used = place < 0 || end > capacity_ ? INT64_MAX : -1;
      for (const auto& s : list_) {
        if (s[0] >= end || s[1] <= place) continue;
        used = std::max(used, s[2] > buffer.begin ? INT64_MAX : s[3]);
      }
      for (const auto& [from, to] : avoid) {
        if (from < end && place < to) used = INT64_MAX;
      }
      if (used >= best) continue;
      best = used;
      *at = place;
    }
    return best < buffer.begin;
  }
  void Take(int64_t begin, const AgedRange& buffer) {
    const int64_t end = begin + buffer.bytes;
    std::vector<std::array<int64_t, 4>> after;
    for (const auto& s : list_) {
      if (s[0] < begin) after.push_back({s[0], std::min(s[1], begin), s[2], s[3]});
    }
    after.push_back({begin, end, buffer.end, buffer.used});
    for (const auto& s : list_) {
      if (s[1] > end) after.push_back({std::max(s[0], end), s[1], s[2], s[3]});
    }
    list_ = after;
  }

 private:
  int64_t capacity_;
  std::vector<std::array<int64_t, 4>> list_;  // begin, end, until, used
};

// Short lives, sizes of two kinds; each eighth buffer lies where the caller says.
std::vector<AgedRange> ManyBuffers(uint32_t count, int64_t capacity, Rng* rng) {
  std::vector<AgedRange> buffers(count);
  for (uint32_t i = 0; i < count; ++i) {
    AgedRange& b = buffers[i];
    b.begin = i / 2;
    b.end = b.begin + 1 + rng->Below(3);
    b.used = b.begin + rng->Below(static_cast<uint32_t>(b.end - b.begin));
    b.bytes = rng->Below(3) == 0 ? 1 + rng->Below(40) : 4;
    if (i % 8 != 0) continue;
    b.end = b.begin + 4;  // the next one begins when this one is over
    b.bytes = 8;
    b.fixed_offset = 8 * rng->Below(static_cast<uint32_t>(capacity / 8));
  }
  return buffers;
}

}  // namespace

TEST_CASE("oldest fit: hundreds of places, and ties, as a plain list has them") {
  Rng rng(11);
  int placed = 0;
  for (int round = 0; round < 12; ++round) {
    CAPTURE(round);
    const int64_t capacity = 400 + rng.Below(2000);
    const std::vector<AgedRange> buffers = ManyBuffers(400, capacity, &rng);
    std::vector<size_t> order(buffers.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return Earlier(buffers, a, b); });
    PlainShelf shelf(capacity);
    std::vector<int64_t> expected(buffers.size(), kFreeOffset), at;
    bool fits = true;
    for (size_t i = 0; i < order.size() && fits; ++i) {
      const AgedRange& b = buffers[order[i]];
      int64_t* place = &expected[order[i]];
      *place = b.fixed_offset;
      if (b.fixed_offset == kFreeOffset) fits = shelf.Find(b, buffers, place);
      if (fits) shelf.Take(*place, b);
    }
    CHECK((Fit(buffers, capacity, &at) == Status::kOk) == fits);
    if (!fits) continue;
    ++placed;
    CHECK(at == expected);
  }
  CHECK(placed > 6);
}

TEST_CASE("oldest fit: 40,000 buffers of a long network take no time that matters") {
  Rng rng(3);
  const int64_t capacity = 1 << 17;
  const std::vector<AgedRange> buffers = ManyBuffers(40000, capacity, &rng);
  std::vector<int64_t> at;
  const std::clock_t begin = std::clock();
  REQUIRE(Fit(buffers, capacity, &at) == Status::kOk);
  // A look at all places for each buffer would take hours.
  CHECK(std::clock() - begin < 20 * CLOCKS_PER_SEC);
}
