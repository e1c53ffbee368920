// SPDX-License-Identifier: Apache-2.0
// Addresses that are carried over to the same section, and ones that no longer hold.
#include "plan/carry/carried_offsets.h"

#include <doctest/doctest.h>

#include "tests/plan/fused/carried_case.h"

namespace sluice {
namespace {

using sluice_test::CarriedCase;
using sluice_test::Chain;
using sluice_test::EarlierPlan;

// The earlier plan with addresses that a test may change.
struct Before : EarlierPlan {
  Before() : EarlierPlan(Chain(8, 16), 1536) {
    buffer.assign(out.notation.buffer.begin(), out.notation.buffer.end());
    out.notation.buffer = {buffer.data(), buffer.size()};
  }
  std::vector<uint32_t> buffer;
};

struct Adopted {
  explicit Adopted(const Before& before) : after(before, Chain(8, 16), {}, 1536) {
    section = after.Listed();
    CarriedParts parts;
    bool adopted = false;
    REQUIRE(AdoptDram(after.Call(), DmaNotation{}, 0, section, &parts, &adopted) ==
            Status::kOk);
    REQUIRE(adopted);
    REQUIRE(BuffersOfFused(section->run, section->result, &after.n.arena,
                           &section->buffers) == Status::kOk);
    REQUIRE(AdoptOffsets(after.Call(), parts, section, &held, &crowded) == Status::kOk);
  }
  // Whether buffers that live at the same time are apart, and below the capacity.
  bool Lies() const {
    const Span<LiveRange> r = section->buffers.ranges;
    const Span<int64_t> at = section->offsets;
    for (size_t i = 0; i < r.size(); ++i) {
      if (at[i] < 0 || at[i] + r[i].bytes > 1536) return false;
      for (size_t k = 0; k < i; ++k) {
        if (r[i].begin < r[k].end && r[k].begin < r[i].end &&
            at[i] < at[k] + r[k].bytes && at[k] < at[i] + r[i].bytes) {
          return false;
        }
      }
    }
    return true;
  }
  CarriedCase after;
  Section* section;
  bool held = false, crowded = false;
};

TEST_CASE("carried offsets: an unchanged section keeps every address") {
  const Before before;
  const Adopted a(before);
  REQUIRE(a.held);
  CHECK(!a.crowded);
  REQUIRE(a.section->offsets.size() == before.buffer.size());
  for (size_t b = 0; b < before.buffer.size(); ++b) {
    CHECK(a.section->offsets[b] == before.buffer[b]);
  }
  CHECK(a.Lies());
}

TEST_CASE("carried offsets: a buffer without a legal address gets a free one") {
  Before before;
  before.buffer[2] = 1536;  // it would end above the scratchpad
  const Adopted a(before);
  REQUIRE(a.held);
  CHECK(a.Lies());
  int moved = 0;
  for (size_t b = 0; b < before.buffer.size(); ++b) {
    moved += a.section->offsets[b] != before.buffer[b] ? 1 : 0;
  }
  CHECK(moved == 1);
}

TEST_CASE("carried offsets: addresses that overlap, or none, are not held") {
  Before before;
  for (uint32_t& offset : before.buffer) offset = 0;
  CHECK(!Adopted(before).held);
  before.out.notation.section_buffer = {};
  const Adopted none(before);
  CHECK(!none.held);
  CHECK(!none.crowded);
}

TEST_CASE("carried offsets: around an edited layer buffers keep their addresses") {
  const EarlierPlan before(sluice_test::LongChain(false), 3072);
  CarriedCase after(before, sluice_test::LongChain(true), {7}, 3072);
  Section* s = after.Listed(true);
  const DmaNotation listed = s->result.dma;
  CarriedParts parts;
  bool adopted = false, held = false, crowded = false;
  REQUIRE(AdoptDram(after.Call(), listed, 0, s, &parts, &adopted) == Status::kOk);
  REQUIRE(adopted);
  REQUIRE(BuffersOfFused(s->run, s->result, &after.n.arena, &s->buffers) ==
          Status::kOk);
  REQUIRE(AdoptOffsets(after.Call(), parts, s, &held, &crowded) == Status::kOk);
  REQUIRE(held);
  const Span<const uint32_t> old = before.out.notation.buffer;
  REQUIRE(s->offsets.size() == old.size() + 1);
  // Loads come first, tiles behind them: the table stands behind the loads of the head,
  // and one tile is layer 7's.
  const uint32_t table = s->buffers.of_transfer[parts.head_transfers];
  const uint32_t edited = s->buffers.of_tile[parts.head_tiles];
  int kept = 0;
  for (uint32_t b = 0; b < s->offsets.size(); ++b) {
    if (b == table || b == edited) continue;
    CAPTURE(b);
    CHECK(s->offsets[b] == old[b < table ? b : b - 1]);
    ++kept;
  }
  CHECK(kept > 50);
}

TEST_CASE("carried offsets: another number of buffers is not taken for this section") {
  Before before;
  before.out.notation.buffer = {before.buffer.data(), before.buffer.size() - 1};
  CHECK(!Adopted(before).held);
}

}  // namespace
}  // namespace sluice
