// SPDX-License-Identifier: Apache-2.0
// Tile costs from the caller: a callback, a table, and what is wrong with either.
#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "sluice/sluice.h"
#include "support/library.h"
#include "support/stream_builder.h"

namespace {

using sluice_test::Bytes;
using sluice_test::Library;
using sluice_test::PlanPtr;

struct Caller {
  std::vector<sluice_tile_row_t> asked;
  int64_t cycles = 1;
  double energy_pj = 0;
  int32_t answer = 1;

  static int32_t Cost(void* user, uint32_t layer, const int32_t extent[4],
                      int32_t channels, sluice_tile_cost_t* out) {
    Caller* caller = static_cast<Caller*>(user);
    sluice_tile_row_t row = {};
    row.layer = layer;
    for (int i = 0; i < 4; ++i) row.extent[i] = extent[i];
    row.channels = channels;
    out->cycles = row.cost.cycles = caller->cycles;
    out->energy_pj = row.cost.energy_pj = caller->energy_pj;
    caller->asked.push_back(row);
    return caller->answer;
  }
};

struct Scheduled {
  Library library;
  sluice_test::GraphPtr graph = library.Graph(sluice_test::ConvCase().Graph());
  sluice_test::HardwarePtr hardware =
      library.Hardware(sluice_test::ConvCase().Hardware());
  sluice_schedule_options_t options = {};
  sluice_report_t report = {};

  Scheduled() { options.struct_size = sizeof options; }
  sluice_status_t Run() {
    sluice_plan_t* made = nullptr;
    const sluice_status_t status =
        sluice_schedule(library.context.get(), graph.get(), hardware.get(), &options,
                        &made, &library.diagnostic);
    const PlanPtr plan(made);
    if (status != SLUICE_OK) return status;
    report.struct_size = sizeof report;
    return sluice_plan_report(plan.get(), &report);
  }
  std::string message() const { return library.diagnostic.message; }
};

TEST_CASE("tile costs: the callback's cycles and energy are the plan's") {
  Scheduled plain;
  REQUIRE(plain.Run() == SLUICE_OK);
  Caller caller;
  caller.cycles = 100000;
  caller.energy_pj = 7e6;
  Scheduled asked;
  asked.options.tile_cost = Caller::Cost;
  asked.options.tile_cost_user = &caller;
  REQUIRE(asked.Run() == SLUICE_OK);
  REQUIRE_FALSE(caller.asked.empty());
  CHECK(asked.report.latency_cycles >=
        asked.report.tiles * static_cast<uint64_t>(caller.cycles));
  CHECK(asked.report.energy_compute_pj == caller.energy_pj * asked.report.tiles);
  // Each distinct tile is asked for once.
  std::map<std::string, int> times;
  for (const sluice_tile_row_t& row : caller.asked) {
    times[std::string(reinterpret_cast<const char*>(&row), 24)]++;
  }
  for (const auto& entry : times) CHECK(entry.second == 1);
  // The same costs as a table: the same plan, and nothing left to ask.
  Scheduled table;
  Caller never;
  table.options.tile_rows = caller.asked.data();
  table.options.tile_row_count = caller.asked.size();
  table.options.tile_cost = Caller::Cost;
  table.options.tile_cost_user = &never;
  REQUIRE(table.Run() == SLUICE_OK);
  CHECK(never.asked.empty());
  CHECK(table.report.latency_cycles == asked.report.latency_cycles);
  CHECK(table.report.energy_pj == asked.report.energy_pj);
}

TEST_CASE("tile costs: cycles below the peak are raised, unknown tiles are ours") {
  Scheduled plain;
  plain.options.solver = SLUICE_SOLVER_FUSION;  // the default asks callers less often
  REQUIRE(plain.Run() == SLUICE_OK);
  Caller caller;
  Scheduled fast;
  fast.options.solver = SLUICE_SOLVER_FUSION;
  fast.options.tile_cost = Caller::Cost;
  fast.options.tile_cost_user = &caller;
  REQUIRE(fast.Run() == SLUICE_OK);  // verify would reject one cycle per tile
  CHECK(fast.report.latency_cycles <= plain.report.latency_cycles);
  caller.answer = 0;
  caller.cycles = 100000;
  REQUIRE(fast.Run() == SLUICE_OK);
  CHECK(fast.report.latency_cycles == plain.report.latency_cycles);
  CHECK(fast.report.energy_pj == plain.report.energy_pj);
}

TEST_CASE("tile costs: what is wrong with them is said with layer, row and code") {
  Caller caller;
  Scheduled run;
  run.options.tile_cost = Caller::Cost;
  run.options.tile_cost_user = &caller;
  caller.answer = -7;
  CHECK(run.Run() == SLUICE_BAD_ARGUMENT);
  CHECK(run.message() == "the tile cost callback returned -7");
  CHECK(run.library.diagnostic.layer == 0);
  caller.answer = 1;
  for (const int64_t cycles : {int64_t{0}, int64_t{-1}, int64_t{1} << 32}) {
    caller.cycles = cycles;
    CHECK(run.Run() == SLUICE_BAD_ARGUMENT);
    CHECK(run.message().find("gave a cost out of range") != std::string::npos);
  }
  caller.cycles = 5;
  for (const double pj : {-1.0, std::numeric_limits<double>::quiet_NaN(),
                          std::numeric_limits<double>::infinity()}) {
    caller.energy_pj = pj;
    CHECK(run.Run() == SLUICE_BAD_ARGUMENT);
  }
  run.options.tile_cost = nullptr;
  sluice_tile_row_t rows[2] = {};
  rows[0].cost.cycles = rows[1].cost.cycles = 1;
  run.options.tile_rows = rows;
  run.options.tile_row_count = 2;
  CHECK(run.Run() == SLUICE_BAD_ARGUMENT);
  CHECK(run.message() == "tile cost row 1 is for the same tile as row 0");
  rows[1].layer = 99;
  CHECK(run.Run() == SLUICE_BAD_ARGUMENT);
  CHECK(run.message() == "tile cost row 1: there is no layer 99");
  rows[1].layer = 0;
  rows[1].channels = 1;
  rows[1].cost.cycles = 0;
  CHECK(run.Run() == SLUICE_BAD_ARGUMENT);
  CHECK(run.message().find("row 1: cycles must be 1 to 2^32 - 1") != std::string::npos);
  run.options.tile_rows = nullptr;
  CHECK(run.Run() == SLUICE_BAD_ARGUMENT);
}

}  // namespace
