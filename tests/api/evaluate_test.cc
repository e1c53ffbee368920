// SPDX-License-Identifier: Apache-2.0
// Schedules that the caller gives, by the C functions.
#include <doctest/doctest.h>

#include <string>

#include "objects.h"
#include "sluice/experimental.h"
#include "support/library.h"

namespace sluice_test {
namespace {

TEST_CASE("evaluate: a convolution of four tiles, its work and traffic by hand") {
  Objects o;
  const uint32_t order[] = {0};
  const uint8_t cuts[] = {SLUICE_CUT_DRAM};
  const int32_t tiles[] = {4};
  sluice_notation_t notation = {};
  notation.struct_size = sizeof notation;
  notation.layers = 1;
  notation.order = order;
  notation.cuts = cuts;
  notation.tiles = tiles;
  sluice_evaluation_t e = {};
  e.struct_size = sizeof e;
  REQUIRE(sluice_evaluate(o.context, o.graph, o.hardware, &notation, &e,
                          &o.diagnostic) == SLUICE_OK);
  CHECK(e.groups == 1);
  CHECK(e.tiles == 4);
  // Each tile is 2 x 4 x 8 outputs of 72 MACs, 64 at a time.
  CHECK(e.compute_cycles == 4 * 72);
  CHECK(e.store_bytes == 256);
  // Weight, parameters, and each input row once: rows that two tiles read stay on chip.
  CHECK(e.load_bytes == 576 + 96 + 256);
  CHECK(e.compute_pj == doctest::Approx(4 * 2 * 4 * 8 * 72 * 0.2));
  sluice_evaluation_t older = {};
  older.struct_size = offsetof(sluice_evaluation_t, tiles) + sizeof older.tiles;
  REQUIRE(sluice_evaluate(o.context, o.graph, o.hardware, &notation, &older,
                          &o.diagnostic) == SLUICE_OK);
  CHECK(older.tiles == 4);
  CHECK(older.latency_cycles == 0);  // beyond the caller's struct_size
}

TEST_CASE("evaluate: null pointers and unknown structs are named") {
  Objects o;
  sluice_evaluation_t e = {};
  e.struct_size = sizeof e;
  CHECK(sluice_evaluate(o.context, o.graph, o.hardware, nullptr, &e, &o.diagnostic) ==
        SLUICE_BAD_ARGUMENT);
  CHECK(std::string(o.diagnostic.message) ==
        "context, graph, hardware, notation and evaluation must not be null, structs "
        "of a "
        "known version");
  CHECK(sluice_evaluate_timed(o.context, nullptr, &e, &o.diagnostic) ==
        SLUICE_BAD_ARGUMENT);
  CHECK(
      std::string(o.diagnostic.message) ==
      "context, schedule and evaluation must not be null, structs of a known version");
}

TEST_CASE(
    "evaluate: resolved tiles and transfers of any machine are evaluated the same "
    "way") {
  Library library;
  // Two tiles of 10 cycles; a load of 8 bytes for each, a store of 4 from the second.
  const sluice_timed_tile_t tiles[] = {{10, 1.5, 4, 2, 0xffffffffu},
                                       {10, 2.5, 0, 2, 2}};
  sluice_timed_transfer_t transfers[] = {
      {8, 8, 0, SLUICE_DRAM_INPUT, 0xffffffffu, 0, -1, 1, 0},
      {8, 8, 0, SLUICE_DRAM_INPUT, 0xffffffffu, 1, 0, 2, 0},
      {4, 4, 0, SLUICE_DRAM_STORE, 0xffffffffu, 1, 1, 2, 0}};
  sluice_timed_schedule_t schedule = {};
  schedule.struct_size = sizeof schedule;
  schedule.tiles = 2;
  schedule.transfers = 3;
  schedule.tile = tiles;
  schedule.transfer = transfers;
  schedule.bandwidth_bytes = 2;
  schedule.bandwidth_cycles = 1;
  schedule.latency_cycles = 1;
  schedule.dram_pj_per_byte = 10;
  schedule.buffer_bytes = 20;
  sluice_evaluation_t e = {};
  e.struct_size = sizeof e;
  int64_t begin[2] = {}, profile[3] = {};
  e.tile_begin = begin;
  e.buffer_bytes = profile;
  sluice_diagnostic_t d = EmptyDiagnostic();
  const auto evaluate = [&] {
    return sluice_evaluate_timed(library.context.get(), &schedule, &e, &d);
  };
  REQUIRE(evaluate() == SLUICE_OK);
  // Loads of 5 cycles each, the second during the first tile; the store of 3 at the
  // end.
  CHECK(e.latency_cycles == 5 + 10 + 10 + 3);
  CHECK(begin[1] == 15);
  CHECK(profile[1] == 20);
  CHECK(profile[2] == 16);
  CHECK(e.energy_pj == 4.0 + 10 * 20);
  schedule.buffer_bytes = 19;
  CHECK(evaluate() == SLUICE_REJECTED);
  CHECK(std::string(d.rule) == "buffer");
  schedule.buffer_bytes = 20;
  transfers[1].start = 2;
  CHECK(evaluate() == SLUICE_BAD_ARGUMENT);
}

}  // namespace
}  // namespace sluice_test
