// SPDX-License-Identifier: Apache-2.0
// Loops as the judge sees them: wrong fields are named, wrong steps are found.
#include "cases.h"
#include "judged_case.h"

namespace sluice_test {
namespace {

using sluice::Status;

// Changes LoopCase once and checks the whole message.
template <typename F>
void CheckChanged(F change, const char* rule, const std::string& message) {
  Case c = LoopCase();
  change(&c.stream);
  CheckRejected(c, rule, message);
}

TEST_CASE("visits: two loops make six visits, moved in DRAM and in the layer") {
  const Case c = LoopCase();
  CHECK(Judge(c).status == Status::kOk);
  OwnJudge own(c);
  REQUIRE(ReadStream(&own.judge) == Status::kOk);
  const sluice::judge::StreamView& s = own.judge.stream;
  REQUIRE(s.visits.size() == 6);
  CHECK(s.instructions == 18);
  CHECK(s.stored == 3);
  CHECK(s.visits[4].index[0] == 1);
  CHECK(s.visits[4].index[1] == 1);
  CHECK(s.visits[4].first_number == 12);
  CHECK(MoveOfSlot(s, 4, 0) == 0);
  CHECK(MoveOfSlot(s, 4, 1) == 128);
  sluice_tile_t tile = c.stream.blocks[0].tiles[0];
  REQUIRE(MoveTile(s, 5, &tile));
  CHECK(tile.origin[0] == 1);
  CHECK(tile.origin[1] == 2);
  CHECK(tile.origin[2] == 0);
}

TEST_CASE("visits: a tile that loops move stays within 31 bits on every axis") {
  const Case c = LoopCase();
  OwnJudge own(c);
  REQUIRE(ReadStream(&own.judge) == Status::kOk);
  const sluice::judge::StreamView& s = own.judge.stream;
  const auto moves = [&](int axis, uint32_t origin) {
    sluice_tile_t tile = c.stream.blocks[0].tiles[0];
    tile.origin[axis] = origin;
    return MoveTile(s, 5, &tile);
  };
  CHECK(moves(0, INT32_MAX - 1));  // the outer loop moves it by one
  CHECK(!moves(0, INT32_MAX));
  CHECK(moves(1, INT32_MAX - 2));
  CHECK(!moves(1, INT32_MAX - 1));
  Case down = LoopCase();
  down.stream.steps[7] = -1;
  OwnJudge below(down);
  REQUIRE(ReadStream(&below.judge) == Status::kOk);
  sluice_tile_t tile = c.stream.blocks[0].tiles[0];
  CHECK(!MoveTile(below.judge.stream, 5, &tile));
  tile.origin[0] = 1;
  CHECK(MoveTile(below.judge.stream, 5, &tile));
  CHECK(tile.origin[0] == 0);
}

TEST_CASE("visits: a loop moves a slot by all addresses at most") {
  // Two iterations: 2^47 bytes each are the most, up or down.
  const auto refused = [](int32_t high, int32_t low) {
    Case c = LoopCase();
    c.stream.steps[3] = low;
    c.stream.steps[4] = high;
    const Verdict v = Judge(c);
    CHECK(v.status == Status::kRejected);
    return v.message == "a loop moves a slot beyond its region";
  };
  CHECK(refused(1 << 15, 1));
  CHECK(!refused(1 << 15, 0));
  CHECK(!refused(-(1 << 15), 0));
  CHECK(refused(-(1 << 15) - 1, -1));
}

TEST_CASE("visits: loops are nested, and steps are those of the innermost one") {
  const char* loop = "loop 1 is not nested or apart, or its count or parent is wrong";
  CheckChanged([](StreamBuilder* s) { s->loops[1].parent = SLUICE_NONE; }, "structure",
               loop);
  CheckChanged([](StreamBuilder* s) { s->loops[1].count = 1; }, "structure", loop);
  CheckChanged([](StreamBuilder* s) { s->loops[1].last = 1; }, "structure", loop);
  const char* steps = "the steps of instance 0 are missing or name another loop";
  CheckChanged([](StreamBuilder* s) { s->steps[0] = 0; }, "structure", steps);
  CheckChanged([](StreamBuilder* s) { s->steps.pop_back(); }, "structure", steps);
  CheckChanged([](StreamBuilder* s) { s->instances[0].first_step = SLUICE_NONE; },
               "structure", steps);
  CheckChanged([](StreamBuilder* s) { s->loops.clear(); }, "structure",
               "steps of an instance outside of loops");
  CheckChanged([](StreamBuilder* s) { s->steps[1] = 32; }, "structure",
               "a loop moves a slot in the scratchpad or a patched one");
  CheckChanged([](StreamBuilder* s) { s->steps[4] = 1 << 20; }, "bounds",
               "a loop moves a slot beyond its region");
  Case c = LoopCase();
  c.stream.loops[0].count = 1u << 23;
  CHECK(Judge(c).status == Status::kUnsupported);
}

TEST_CASE("visits: a wrong count, distance or row is found") {
  const auto rejected = [](auto change) {
    Case c = LoopCase();
    change(&c.stream);
    const sluice_test::Verdict v = Judge(c);
    CHECK(v.status == Status::kRejected);
    return v.rule;
  };
  CHECK(rejected([](StreamBuilder* s) { s->loops[1].count = 2; }) == "output");
  CHECK(rejected([](StreamBuilder* s) { s->loops[0].count = 3; }) == "bounds");
  CHECK(rejected([](StreamBuilder* s) { s->steps[3] = 64; }) == "content");  // input
  CHECK(rejected([](StreamBuilder* s) { s->steps[16] = 64; }) != "");        // output
  CHECK(rejected([](StreamBuilder* s) { s->steps[19] = 2; }) == "content");  // rows
  CHECK(rejected([](StreamBuilder* s) { s->steps[19] = -1; }) == "tile");
  CHECK(rejected([](StreamBuilder* s) { s->steps[22] = 1; }) == "tile");  // channels
  CHECK(rejected([](StreamBuilder* s) {
          s->blocks[0].lists[kCompute][0].waits.clear();
        }) != "");
}

TEST_CASE("visits: loops may go downwards") {
  Case c = LoopCase();
  c.stream.bindings[1].base_lo = c.stream.bindings[2].base_lo = 160;
  c.stream.blocks[0].tiles[0].origin[0] = 1;
  c.stream.blocks[0].tiles[0].origin[1] = 2;
  for (const size_t low : {3, 5, 14, 16}) {
    c.stream.steps[low] = -c.stream.steps[low];
    c.stream.steps[low + 1] = -1;
  }
  c.stream.steps[7] = c.stream.steps[19] = -1;
  CHECK(Judge(c).message == "");
}

}  // namespace
}  // namespace sluice_test
