// SPDX-License-Identifier: Apache-2.0
// What lies in rows and what in the image, by hand: cases that plans of the preset, whose
// buffers begin at lines, do not have.
#include <doctest/doctest.h>

#include <array>
#include <vector>

extern "C" {
#include "bindings/targets/gemmini/sluice_gemmini_internal.h"
}

namespace gemmini_model {
namespace {

// A lowering whose commands are recorded.
struct Fixture {
  using Command = std::array<uint64_t, 3>;
  std::vector<Command> commands;
  std::vector<unsigned char> lines = std::vector<unsigned char>(SLUICE_GEMMINI_ROWS);
  sluice_gemmini_input input{};
  sluice_gemmini_port port{};
  sluice_gemmini_counts counts{};
  lowering_t lowering{};

  Fixture() {
    input.lines = lines.data();
    port.user = &commands;
    port.command = [](void* user, uint32_t funct, uint64_t rs1, uint64_t rs2) {
      if (funct != SLUICE_GEMMINI_CONFIG)
        static_cast<std::vector<Command>*>(user)->push_back({funct, rs1, rs2});
      return 0;
    };
    port.fence = [](void*) { return 0; };
    lowering.in = &input;
    lowering.port = &port;
    lowering.counts = &counts;
  }
};

// Bytes of GBUF without a gap.
sluice_walk_operand_t Bytes(uint64_t offset, uint32_t size) {
  sluice_walk_operand_t o{};
  o.region = SLUICE_REGION_GBUF;
  o.dtype = SLUICE_DTYPE_INT8;
  o.offset = offset;
  o.bytes = o.span = size;
  for (int a = 0; a < 4; ++a) {
    o.extent[a] = a == 3 ? size : 1;
    o.stride[a] = 1;
  }
  return o;
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
  // Not where an operand stays, and nowhere if operands leave no room.
  p.a_stays = 1;
  p.first = Bytes(16 * uint64_t{at}, 16);
  CHECK(gemmini_room(&f.lowering, &p, 40, &first) == 1);
  CHECK((first + 40 <= at || first > at));
  p.first = Bytes(0, 16 * SLUICE_GEMMINI_ROWS);
  CHECK(gemmini_room(&f.lowering, &p, 40, &first) == 0);
}

}  // namespace gemmini_model
