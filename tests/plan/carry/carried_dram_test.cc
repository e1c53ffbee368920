// SPDX-License-Identifier: Apache-2.0
// DRAM schedules that are carried over to the same section, and damaged ones.
#include "plan/carry/carried_dram.h"

#include <doctest/doctest.h>

#include "tests/plan/fused/carried_case.h"

namespace sluice {
namespace {

using sluice_test::CarriedCase;
using sluice_test::Chain;
using sluice_test::EarlierPlan;

TEST_CASE("carried dram: positions count the tiles of their groups") {
  const uint32_t order[] = {4, 5, 6, 7};
  const uint8_t cut[] = {kCutDram, kCutNone, kCutFine, kCutDram};
  const int32_t tiles[] = {3, 9, 2, 0};
  const Positions p = {{order, 4}, {cut, 4}, {tiles, 4}};
  CHECK(p.size() == 4);
  CHECK(p.Begins(0));
  CHECK(!p.Begins(1));
  CHECK(p.Begins(2));
  CHECK(p.Begins(4));
  CHECK(p.Tiles(0, 2) == 3 + 3);  // the second layer is in the first one's group
  CHECK(p.Tiles(0, 4) == 3 + 3 + 2 + 1);
  CHECK(p.Tiles(2, 3) == 2);
}

TEST_CASE("carried dram: a section of the earlier plan by its positions") {
  const EarlierPlan before(sluice_test::ChainWithHost(6, 3));
  const CarriedCase after(before, sluice_test::ChainWithHost(6, 3));
  const Positions plain = PositionsBefore(after.carried, 1);
  REQUIRE(plain.size() == 1);
  CHECK(plain.order[0] == 3);
  CHECK(PositionsBefore(after.carried, 0).size() == 3);
}

struct Adopted {
  Adopted(EarlierPlan* before, int64_t capacity)
      : after(*before, Chain(8, 16), {}, capacity), section(after.Listed()) {
    REQUIRE(AdoptDram(after.Call(), DmaNotation{}, 0, section, &parts, &adopted) ==
            Status::kOk);
  }
  CarriedCase after;
  Section* section;
  CarriedParts parts = {};
  bool adopted = false;
};

TEST_CASE("carried dram: an unchanged section keeps its order and its durations") {
  EarlierPlan before(Chain(8, 16), 1536);
  const Adopted a(&before, 1536);
  REQUIRE(a.adopted);
  CHECK(a.parts.all);
  CHECK(!a.parts.tight);
  const PlanNotation& n = before.out.notation;
  const TileList& list = a.section->result.list;
  REQUIRE(list.transfers == n.dram.size());
  for (uint32_t i = 0; i < list.transfers; ++i) {
    const uint32_t id = n.dram[i].tensor;
    CHECK(a.section->result.dma.order[i] == id);
    const bool store = list.transfer[id].kind == kStore;
    CHECK((store ? a.section->result.dma.end[id] : a.section->result.dma.start[id]) ==
          n.dram[i].duration);
  }
}

TEST_CASE(
    "carried dram: in a smaller scratchpad loads start later, or nothing is kept") {
  EarlierPlan before(Chain(8, 16), 1536);
  const Adopted whole(&before, 1536);
  REQUIRE(whole.adopted);
  Span<int64_t> profile;
  Arena arena(&before.n.memory);
  const TileList& list = whole.section->result.list;
  REQUIRE(arena.Allocate(list.tiles + 2, &profile) == Status::kOk);
  const int64_t peak = ProfileBuffer(list, whole.section->result.dma, profile);
  const Adopted tight(&before, peak - 1);
  CHECK(tight.parts.tight);
  REQUIRE(tight.adopted);
  CHECK(ProfileBuffer(list, tight.section->result.dma, profile) <= peak - 1);
  CHECK(tight.section->result.score.latency_cycles >=
        whole.section->result.score.latency_cycles);
  CHECK(!Adopted(&before, 32).adopted);
}

TEST_CASE("carried dram: around an edited layer head and tail keep their schedule") {
  const EarlierPlan before(sluice_test::LongChain(false), 3072);
  CarriedCase after(before, sluice_test::LongChain(true), {7}, 3072);
  Section* s = after.Listed(true);
  const DmaNotation listed = s->result.dma;
  const PlanNotation& n = before.out.notation;
  const TileList& list = s->result.list;
  REQUIRE(list.transfers == n.dram.size() + 1);  // the table
  CarriedParts parts = {};
  bool adopted = false;
  REQUIRE(AdoptDram(after.Call(), listed, 0, s, &parts, &adopted) == Status::kOk);
  REQUIRE(adopted);
  CHECK(!parts.all);
  CHECK(parts.head == 7);
  CHECK(parts.tail == 8);
  CHECK(parts.head_tiles + parts.tail_tiles + 1 == list.tiles);
  CHECK(parts.head_transfers + parts.tail_transfers + 1 == list.transfers);
  const int32_t more =
      static_cast<int32_t>(list.tiles) - static_cast<int32_t>(parts.tiles_before);
  std::vector<uint32_t> expected, found;
  for (const PlanDramTensor& d : n.dram) {
    const bool tail = d.tensor >= parts.head_transfers;
    const uint32_t id = d.tensor + (tail ? 1 : 0);
    expected.push_back(id);
    CAPTURE(id);
    const bool store = list.transfer[id].kind == kStore;
    CHECK((store ? s->result.dma.end[id] : s->result.dma.start[id]) ==
          d.duration + (tail ? more : 0));
  }
  const uint32_t table = parts.head_transfers;
  CHECK(list.transfer[table].kind == kLoadWeight);
  CHECK(s->result.dma.start[table] == listed.start[table]);
  for (uint32_t i = 0; i < list.transfers; ++i) {
    if (s->result.dma.order[i] != table) found.push_back(s->result.dma.order[i]);
  }
  CHECK(found == expected);
}

TEST_CASE("carried dram: without times for what is new an edited section has none") {
  const EarlierPlan before(sluice_test::LongChain(false), 3072);
  CarriedCase after(before, sluice_test::LongChain(true), {7}, 3072);
  Section* s = after.Listed(true);
  CarriedParts parts = {};
  bool adopted = true;
  REQUIRE(AdoptDram(after.Call(), DmaNotation{}, 0, s, &parts, &adopted) ==
          Status::kOk);
  CHECK(!adopted);
}

TEST_CASE("carried dram: a notation that names no such transfer or tile is left out") {
  EarlierPlan before(Chain(8, 16), 1536);
  std::vector<PlanDramTensor> dram(before.out.notation.dram.begin(),
                                   before.out.notation.dram.end());
  before.out.notation.dram = {dram.data(), dram.size()};
  REQUIRE(Adopted(&before, 1536).adopted);
  const PlanDramTensor good = dram[1];
  dram[1].tensor = 1000;
  CHECK(!Adopted(&before, 1536).adopted);
  dram[1] = good;
  dram[1].duration = 1000000;
  CHECK(!Adopted(&before, 1536).adopted);
  dram[1] = dram[0];  // one twice, another one never
  CHECK(!Adopted(&before, 1536).adopted);
}

}  // namespace
}  // namespace sluice
