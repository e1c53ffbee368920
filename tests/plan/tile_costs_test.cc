// SPDX-License-Identifier: Apache-2.0
// Costs of tiles from the caller's table, from the caller's callback, and without both.
#include "plan/tile_costs.h"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include "support/read_graph.h"

namespace sluice {
namespace {

sluice_tile_row_t Row(uint32_t layer, int32_t rows, int64_t cycles, double pj = 0,
                      double scratchpad_pj = 0) {
  return {layer, {1, rows, 4, 8}, 0, {cycles, pj, scratchpad_pj}};
}

struct Asked {
  Asked() {
    REQUIRE(Lower(n.graph, n.hardware, &n.arena, &lowering, &n.diagnostic) ==
            Status::kOk);
  }
  Status Init(const std::vector<sluice_tile_row_t>& table) {
    rows = table;
    options.tile_rows = rows.data();
    options.tile_row_count = rows.size();
    return costs.Init(&n.diagnostic);
  }
  // Cycles of a tile of `tile_rows` rows; 0 if the cost is not known.
  int64_t Cycles(uint32_t layer, int32_t tile_rows, int32_t channels = 0) {
    const int32_t extent[4] = {1, tile_rows, 4, 8};
    const TileCoster coster = costs.coster();
    cost = {};
    return coster.cost(coster.user, layer, extent, channels, &cost) ? cost.cycles : 0;
  }
  // The callback knows tiles of one row only; for two rows it returns `second`.
  static int32_t Ask(void* user, uint32_t layer, const int32_t extent[4], int32_t,
                     sluice_tile_cost_t* out) {
    Asked* self = static_cast<Asked*>(user);
    ++self->calls;
    *out = {100 + layer, 5, 2};
    if (extent[1] == 2) *out = self->second;
    if (extent[1] == 2) return self->answer;
    return extent[1] == 1 ? 1 : 0;
  }
  void Call() {
    options.tile_cost = Ask;
    options.tile_cost_user = this;
  }
  std::string Message() const { return n.diagnostic.message; }

  sluice_test::Nouns n{sluice_test::TwoRequantized(4)};
  Lowering lowering = {};
  sluice_schedule_options_t options = {};
  std::vector<sluice_tile_row_t> rows;
  TileCosts costs{n.graph, n.hardware, lowering, options, &n.arena};
  TileCost cost = {};
  int calls = 0;
  int32_t answer = 1;
  sluice_tile_cost_t second = {7, 0, 0};
};

TEST_CASE("tile costs: the table's, for the very tile") {
  Asked a;
  REQUIRE(a.Init({Row(0, 1, 11, 3, 1), Row(0, 2, 12), Row(1, 1, 13)}) == Status::kOk);
  CHECK(a.Cycles(0, 1) == 11);
  CHECK(a.cost.energy_pj == 3);
  CHECK(a.cost.scratchpad_pj == 1);
  CHECK(a.Cycles(0, 2) == 12);
  CHECK(a.Cycles(1, 1) == 13);
  CHECK(a.Cycles(1, 2) != 12);
  CHECK(a.Cycles(0, 1, 4) != 11);
  CHECK(a.costs.coster().by_layer);
  CHECK(a.costs.quick());
  CHECK(a.costs.status(&a.n.diagnostic) == Status::kOk);
}

TEST_CASE("tile costs: a table of many rows is found whole") {
  Asked a;
  std::vector<sluice_tile_row_t> table;
  for (int32_t i = 1; i <= 300; ++i) {
    table.push_back(Row(0, i, 1000 + i));
    table.push_back(Row(1, i, 2000 + i));
    table.push_back(Row(0, 1, 3000 + i));
    table.back().channels = i;
  }
  REQUIRE(a.Init(table) == Status::kOk);
  for (int32_t i = 1; i <= 300; ++i) {
    CHECK(a.Cycles(0, i) == 1000 + i);
    CHECK(a.Cycles(1, i) == 2000 + i);
    CHECK(a.Cycles(0, 1, i) == 3000 + i);
  }
}

TEST_CASE("tile costs: each fault of a table is named by its row") {
  struct Case {
    std::vector<sluice_tile_row_t> table;
    std::string message;
  };
  const std::string range =
      ": cycles must be 1 to 2^32 - 1, energies finite and not negative, "
      "scratchpad_pj part of energy_pj";
  const double endless = std::numeric_limits<double>::infinity();
  const Case cases[] = {
      {{Row(0, 1, 1), Row(2, 1, 1)}, "tile cost row 1: there is no layer 2"},
      {{Row(0, 1, 0)}, "tile cost row 0" + range},
      {{Row(0, 1, int64_t{1} << 32)}, "tile cost row 0" + range},
      {{Row(0, 1, 1, -1)}, "tile cost row 0" + range},
      {{Row(0, 1, 1, endless)}, "tile cost row 0" + range},
      {{Row(0, 1, 1, 3, 4)}, "tile cost row 0" + range},
      {{Row(0, 1, 1, 3, -1)}, "tile cost row 0" + range},
      {{Row(0, 1, 1), Row(0, 2, 1), Row(0, 1, 2)},
       "tile cost row 2 is for the same tile as row 0"}};
  for (const Case& c : cases) {
    CAPTURE(c.message);
    Asked a;
    CHECK(a.Init(c.table) == Status::kBadArgument);
    CHECK(a.Message() == c.message);
  }
  Asked largest;
  CHECK(largest.Init({Row(1, 1, INT64_C(0xffffffff), 3, 3)}) == Status::kOk);
  Asked none;
  none.options.tile_row_count = 1;
  CHECK(none.costs.Init(&none.n.diagnostic) == Status::kBadArgument);
}

TEST_CASE("tile costs: the callback is asked once for each tile, behind the table") {
  Asked a;
  a.Call();
  REQUIRE(a.Init({Row(1, 1, 13)}) == Status::kOk);
  CHECK(a.Cycles(1, 1) == 13);
  CHECK(a.calls == 0);
  for (int i = 0; i < 2; ++i) CHECK(a.Cycles(0, 1) == 100);
  CHECK(a.cost.energy_pj == 5);
  CHECK(a.cost.scratchpad_pj == 2);
  CHECK(a.calls == 1);
  for (int i = 0; i < 2; ++i) CHECK(a.Cycles(0, 3) != 100);  // not known to it
  CHECK(a.calls == 2);
  CHECK(a.Cycles(0, 2) == 7);
  CHECK(a.costs.quick());
  CHECK(a.costs.status(&a.n.diagnostic) == Status::kOk);
}

TEST_CASE("tile costs: a callback that fails or lies is named with the layer") {
  for (const bool lies : {false, true}) {
    CAPTURE(lies);
    Asked a;
    a.Call();
    REQUIRE(a.Init({}) == Status::kOk);
    if (lies) {
      a.second.cycles = 0;
    } else {
      a.answer = -3;
    }
    (void)a.Cycles(1, 2);
    CHECK(a.costs.status(&a.n.diagnostic) == Status::kBadArgument);
    CHECK(a.n.diagnostic.layer == 1);
    CHECK(
        a.Message() ==
        (lies
             ? "the tile cost callback gave a cost out of range, with 0 cycles: cycles "
               "must be 1 to 2^32 - 1, energies finite and not negative, "
               "scratchpad_pj part of energy_pj"
             : "the tile cost callback returned -3"));
    const int calls = a.calls;
    (void)a.Cycles(0, 1);
    CHECK(a.calls == calls);  // it is not asked again
    CHECK(a.n.diagnostic.layer == 1);
  }
}

TEST_CASE("tile costs: without the caller's they are quick where nothing is searched") {
  Asked a;
  REQUIRE(a.Init({}) == Status::kOk);
  CHECK(a.costs.quick());
  CHECK(!a.costs.coster().by_layer);
  CHECK(a.Cycles(0, 1) == 0);  // peak rates
}

}  // namespace
}  // namespace sluice
