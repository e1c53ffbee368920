// SPDX-License-Identifier: Apache-2.0
// What lies in rows and what in the image, by hand: cases that plans of the preset, whose
// buffers begin at lines, do not have.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "targets/gemmini/recorded.h"

namespace gemmini_model {
namespace {

// Bytes of GBUF without a gap.
sluice_walk_operand_t Bytes(uint64_t offset, uint32_t size) {
  return Box(offset, {1, 1, 1, size});
}

}  // namespace

TEST_CASE("targets: a line that a box shares is moved before the box is written") {
  // The box [offset, offset + size) in lines of which rows alone have the data.
  struct {
    uint64_t offset;
    uint32_t size;
    std::vector<uint64_t> moved;  // lines
  } const cases[] = {{16, 32, {}}, {24, 24, {1}},    {16, 24, {2}}, {20, 40, {1, 3}},
                     {20, 4, {1}}, {20, 36, {1, 3}}, {20, 28, {1}}};
  for (const auto& c : cases) {
    CAPTURE(c.offset);
    CAPTURE(c.size);
    Fixture f;
    for (int i = 0; i < 8; ++i) f.lines[i] = IN_ROWS;
    const sluice_walk_operand_t box = Bytes(c.offset, c.size);
    gemmini_mark(&f.lowering, &box, IN_IMAGE);
    REQUIRE(f.commands.size() == c.moved.size());
    for (size_t i = 0; i < c.moved.size(); ++i) {
      CHECK(f.commands[i][0] == SLUICE_GEMMINI_MVOUT);
      CHECK(f.commands[i][1] == 16 * c.moved[i]);
      CHECK(f.commands[i][2] == local(static_cast<uint32_t>(c.moved[i]), 16, 1));
    }
    for (uint64_t i = 0; i < 8; ++i) {
      const bool inside = i >= c.offset / 16 && i <= (c.offset + c.size - 1) / 16;
      CHECK(f.lines[i] == (inside ? IN_IMAGE : IN_ROWS));
    }
  }
}

TEST_CASE("targets: lines are moved where they are missing, run by run") {
  Fixture f;
  const unsigned char both = IN_ROWS | IN_IMAGE;
  const unsigned char lines[] = {both, IN_ROWS, both, IN_ROWS, IN_ROWS, 0, IN_ROWS};
  std::copy(std::begin(lines), std::end(lines), f.lines.begin());
  const sluice_walk_operand_t box = Bytes(0, 16 * 7);
  gemmini_hold(&f.lowering, &box, IN_IMAGE);
  REQUIRE(f.commands.size() == 3);
  CHECK(f.commands[0][2] == local(1, 16, 1));
  CHECK(f.commands[1][2] == local(3, 16, 2));
  CHECK(f.commands[2][2] == local(6, 16, 1));
  CHECK(f.counts.spilled_bytes == 4 * 16);
  CHECK(f.lines[5] == 0);
  CHECK(f.lines[6] == both);
}

TEST_CASE("targets: a fence stands between a store and a load of one region") {
  const auto store = gemmini_writes, load = gemmini_reads;
  for (const auto& order : {std::array{store, load}, std::array{load, store}}) {
    for (uint32_t region = 0; region < SLUICE_REGION_COUNT; ++region) {
      CAPTURE(region);
      Fixture f;
      order[0](&f.lowering, region);
      order[1](&f.lowering, region + 1);
      if (region > 0) order[1](&f.lowering, region - 1);
      order[0](&f.lowering, region);
      CHECK(f.counts.fences == 0);
      order[1](&f.lowering, region);
      CHECK(f.counts.fences == 1);
      order[1](&f.lowering, region);
      CHECK(f.counts.fences == 1);
    }
  }
}

// The fence for rows that MVOUT_SPAD has written forgets no store or load behind it.
TEST_CASE("targets: a store or load that waits for rows is waited for too") {
  const auto store = gemmini_writes, load = gemmini_reads;
  for (const auto& order : {std::array{store, load}, std::array{load, store}}) {
    Fixture f;
    f.lowering.writes = 1u << ROWS;
    order[0](&f.lowering, SLUICE_REGION_GBUF);
    gemmini_command(&f.lowering, SLUICE_GEMMINI_MVOUT, 0, 0);
    CHECK(f.counts.fences == 1);
    order[1](&f.lowering, SLUICE_REGION_GBUF);
    CHECK(f.counts.fences == 2);
  }
  // Whatever reads rows waits; more such rows and configurations do not.
  for (const uint32_t funct : {SLUICE_GEMMINI_CONFIG, SLUICE_GEMMINI_MVOUT_SPAD,
                               SLUICE_GEMMINI_PRELOAD, SLUICE_GEMMINI_COMPUTE}) {
    CAPTURE(funct);
    Fixture f;
    f.lowering.writes = 1u << ROWS;
    gemmini_command(&f.lowering, funct, 0, 0);
    const bool waits =
        funct != SLUICE_GEMMINI_CONFIG && funct != SLUICE_GEMMINI_MVOUT_SPAD;
    CHECK(f.counts.fences == (waits ? 1 : 0));
  }
}

TEST_CASE("targets: a box lies in lines that there are, from their beginnings on") {
  const uint64_t all = 16 * uint64_t{LINES};
  const struct {
    sluice_walk_operand_t box;
    int lies;
  } cases[] = {{Bytes(0, 16), 1},        {Bytes(all - 16, 16), 1},
               {Bytes(all - 16, 32), 0}, {Bytes(all - 32, 32), 1},
               {Bytes(8, 16), 0},        {Bytes(16, 24), 0}};
  for (const auto& c : cases) {
    CAPTURE(&c - cases);
    CHECK(gemmini_in_lines(&c.box, nullptr) == c.lies);
  }
}

TEST_CASE("targets: a box is held where all of its lines are, and no more") {
  Fixture f;
  f.lines[4] = f.lines[5] = IN_ROWS;
  const sluice_walk_operand_t two = Bytes(64, 32), three = Bytes(64, 33);
  CHECK(gemmini_holds(&f.lowering, &two, IN_ROWS) == 1);
  CHECK(gemmini_holds(&f.lowering, &two, IN_IMAGE) == 0);
  CHECK(gemmini_holds(&f.lowering, &three, IN_ROWS) == 0);
}

TEST_CASE("targets: rows for a moment are those that cost least, and are moved out") {
  Fixture f;
  product_t p{};
  std::fill(f.lines.begin(), f.lines.end(), static_cast<unsigned char>(IN_ROWS));
  // The cheapest 40 rows on the grid: two that rows alone have.
  const uint32_t at = SLUICE_GEMMINI_ROWS - 40 - 3 * 64;
  for (uint32_t i = at + 2; i < at + 40; ++i) f.lines[i] = IN_ROWS | IN_IMAGE;
  uint32_t first = 0;
  CHECK(gemmini_room(&f.lowering, &p, 40, &first) == 1);
  CHECK(first == at);
  REQUIRE(f.commands.size() == 1);
  CHECK(f.commands[0][1] == 16 * uint64_t{at});
  CHECK(f.commands[0][2] == local(at, 16, 2));
  for (uint32_t i = at; i < at + 40; ++i) CHECK(f.lines[i] == IN_IMAGE);
  CHECK(f.lines[at - 1] == IN_ROWS);
  CHECK(f.lines[at + 40] == IN_ROWS);
  // The last rows of all, and the first, where others cost as much or more.
  std::fill(f.lines.begin(), f.lines.end(), static_cast<unsigned char>(IN_IMAGE));
  CHECK(gemmini_room(&f.lowering, &p, 40, &first) == 1);
  CHECK(first == SLUICE_GEMMINI_ROWS - 40);
  std::fill(f.lines.begin(), f.lines.end(), static_cast<unsigned char>(IN_ROWS));
  f.lines[0] = IN_IMAGE;
  CHECK(gemmini_room(&f.lowering, &p, 64, &first) == 1);
  CHECK(first == 0);
  // Of rooms that cost the same, the last.
  std::fill(f.lines.begin(), f.lines.end(), static_cast<unsigned char>(IN_ROWS));
  CHECK(gemmini_room(&f.lowering, &p, 64, &first) == 1);
  CHECK(first == SLUICE_GEMMINI_ROWS - 64);
  f.lines[0] = IN_IMAGE;
  // Operands that stay end where the room begins, or begin where it ends.
  f.lines[0] = IN_IMAGE;
  p.a_stays = p.b_stays = p.to_rows = 1;
  p.t.in = Bytes(0, 16 * (SLUICE_GEMMINI_ROWS - 128));
  p.t.weight = Bytes(16 * (SLUICE_GEMMINI_ROWS - 64), 16 * 32);
  p.t.out = Bytes(16 * (SLUICE_GEMMINI_ROWS - 32), 16 * 32);
  CHECK(gemmini_room(&f.lowering, &p, 64, &first) == 1);
  CHECK(first == SLUICE_GEMMINI_ROWS - 128);
  for (sluice_walk_operand_t* o : {&p.t.in, &p.t.weight, &p.t.out}) {
    const sluice_walk_operand_t was = *o;
    *o = Bytes(0, 16 * SLUICE_GEMMINI_ROWS);
    CHECK(gemmini_room(&f.lowering, &p, 64, &first) == 0);
    *o = was;
  }
  p.a_stays = p.b_stays = p.to_rows = 0;
  // Not where an operand stays, and nowhere if operands leave no room.
  p.a_stays = 1;
  p.t.in = Bytes(16 * uint64_t{at}, 16);
  CHECK(gemmini_room(&f.lowering, &p, 40, &first) == 1);
  CHECK((first + 40 <= at || first > at));
  p.t.in = Bytes(0, 16 * SLUICE_GEMMINI_ROWS);
  CHECK(gemmini_room(&f.lowering, &p, 40, &first) == 0);
}

}  // namespace gemmini_model
