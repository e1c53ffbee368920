// SPDX-License-Identifier: Apache-2.0
#include "plan/space/place_images.h"

#include <doctest/doctest.h>

#include <vector>

#include "base/rng.h"
#include "solve/placement/offsets/offsets.h"
#include "support/read_graph.h"

namespace sluice {
namespace {

struct Plan {
  std::vector<SpaceImage> images;
  std::vector<SpaceSegment> segments;
  SpacePlan plan() {
    SpacePlan p;
    p.images = Span<SpaceImage>(images.data(), images.size());
    p.segments = Span<const SpaceSegment>(segments.data(), segments.size());
    return p;
  }
};

Plan RandomPlan(uint64_t seed, bool alone = true) {
  Rng rng(seed);
  Plan p;
  for (uint32_t s = 0; s < 12; ++s) {
    p.segments.push_back({s, s + 1, static_cast<uint32_t>(p.images.size()), 0});
    if (alone && rng.Below(6) == 0) {  // a layer that is alone
      p.segments.back().alone_bytes = 40;
      continue;
    }
    for (uint64_t i = 0, n = 1 + rng.Below(3); i < n; ++i) {
      SpaceImage image = {};
      image.first = s;
      image.from = s - static_cast<uint32_t>(rng.Below(s + 1 < 4 ? s + 1 : 4));
      image.last = image.used =
          std::min<uint32_t>(11, s + static_cast<uint32_t>(rng.Below(3)));
      image.load = rng.Below(2) == 0;
      image.slots = static_cast<uint8_t>(1 + rng.Below(2));
      image.bytes = 16 * static_cast<int64_t>(1 + rng.Below(6));
      p.images.push_back(image);
    }
  }
  return p;
}

// Checks that all images lie in the scratchpad and share no bytes with others that live at the
// same time.
void CheckApart(const Plan& p, int64_t capacity) {
  for (const SpaceImage& a : p.images) {
    for (const SpaceSegment& alone : p.segments) {
      if (a.first > alone.first || alone.first > a.last) continue;
      CHECK(a.offset >= alone.alone_bytes);
    }
    CHECK(a.offset >= 0);
    CHECK(a.offset + a.bytes * a.slots <= capacity);
    for (const SpaceImage& b : p.images) {
      if (&a == &b || a.first > b.last || b.first > a.last) continue;
      const bool apart = a.offset + a.bytes * a.slots <= b.offset ||
                         b.offset + b.bytes * b.slots <= a.offset;
      CHECK(apart);
    }
  }
}

// Places the images of 200 random plans; returns the number of plans with a placement.
int PlaceAll(int64_t capacity, bool lean = false, bool first = false) {
  int placed = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    Plan p = RandomPlan(seed);
    sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
    Arena arena(&memory);
    Budget budget;
    int64_t slack[12] = {};
    const Status status = PlaceImages(
        p.plan(), {capacity, 16, &budget, Span<int64_t>(slack, 12), 24, lean, first},
        PlaceOrder::kByLeads, &arena);
    int64_t asked = 0;
    for (const int64_t bytes : slack) asked += bytes;
    CHECK((asked > 0) == (status == Status::kInfeasible));
    if (status != Status::kOk) continue;
    ++placed;
    CheckApart(p, capacity);
  }
  return placed;
}

TEST_CASE("place images: none shares bytes with another that lives at the same time") {
  CHECK(PlaceAll(1024) > 150);
  CHECK(PlaceAll(640) > 50);
  CHECK(PlaceAll(384) < 200);
}

TEST_CASE("place images: in one pass too, for searches that must end soon") {
  for (const bool first : {false, true}) {
    CAPTURE(first);
    CHECK(PlaceAll(1024, true, first) > 150);
    CHECK(PlaceAll(640, true, first) > 50);
    CHECK(PlaceAll(384, true, first) < 200);
  }
}

// Whether the images have a placement if each is loaded only when it is needed; decided by
// the exact search.
bool LiesWithoutLeads(const Plan& p, int64_t capacity) {
  std::vector<LiveRange> ranges;
  for (const SpaceImage& image : p.images) {
    LiveRange range;
    range.begin = image.first;
    range.end = int64_t{image.last} + 1;
    range.bytes = image.bytes * image.slots;
    range.alignment = 16;
    ranges.push_back(range);
  }
  LiveRangeSet set;
  set.buffers = {ranges.data(), ranges.size()};
  sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
  Arena arena(&memory);
  Budget budget;
  Diagnostic diagnostic = {};
  OffsetOptions options;
  options.exact = true;
  options.max_nodes = 20000;
  OffsetPlan placed;
  return PlaceOffsets(set, capacity, options, Workspace{&budget, &arena, &diagnostic},
                      &placed) == Status::kOk;
}

// Places 200 random plans that have a placement if all images are loaded late; returns the
// number placed.
int PlaceWhatLies(int64_t capacity) {
  int lie = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    Plan p = RandomPlan(seed, false);
    if (!LiesWithoutLeads(p, capacity)) continue;
    ++lie;
    sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
    Arena arena(&memory);
    Budget budget;
    int64_t slack[12] = {};
    CHECK(PlaceImages(p.plan(), {capacity, 16, &budget, Span<int64_t>(slack, 12), 24},
                      PlaceOrder::kByLeads, &arena) == Status::kOk);
    CheckApart(p, capacity);
  }
  return lie;
}

TEST_CASE("place images: what lies without leads is placed, at last by the search") {
  CHECK(PlaceWhatLies(480) > 50);
}

// For each loaded image, the number of positions for which its bytes are free before it is
// needed; their sum.
int64_t FreeFor(const Plan& p) {
  int64_t sum = 0;
  for (const SpaceImage& a : p.images) {
    if (!a.load) continue;
    uint32_t touched = 0;
    for (const SpaceImage& b : p.images) {
      const bool apart = a.offset + a.bytes * a.slots <= b.offset ||
                         b.offset + b.bytes * b.slots <= a.offset;
      if (!apart && b.last < a.first) touched = std::max(touched, b.last + 1);
    }
    sum += a.first - touched;
  }
  return sum;
}

TEST_CASE("place images: what is loaded moves to bytes that are free for longer") {
  int64_t before = 0, after = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    Plan p = RandomPlan(seed, false);
    sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
    Arena arena(&memory);
    Budget budget;
    int64_t slack[12] = {};
    const PlaceCall call = {768, 16, &budget, Span<int64_t>(slack, 12), 24};
    if (PlaceImages(p.plan(), call, PlaceOrder::kByLeads, &arena) != Status::kOk) {
      continue;
    }
    before += FreeFor(p);
    REQUIRE(PlaceImages(p.plan(), call, PlaceOrder::kEarlier, &arena) == Status::kOk);
    CheckApart(p, 768);
    after += FreeFor(p);
  }
  CHECK(after > before);
}

}  // namespace
}  // namespace sluice
