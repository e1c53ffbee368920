// SPDX-License-Identifier: Apache-2.0
// What schedules of one small layer cost, compared with numbers by hand.
#include "plan/evaluate/evaluate_notation.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/solve/fusion/lowered.h"

namespace sluice {
namespace {

using doctest::Approx;

// One layer of 256 elements, in and out; DRAM moves 4 bytes a cycle after 10 cycles, the
// engine computes 16 elements a cycle.
struct Evaluated {
  Evaluated() {
    notation.struct_size = sizeof notation;
    notation.layers = 1;
    notation.order = &order;
    notation.cuts = &cut;
    notation.tiles = &tiles;
    options.struct_size = sizeof options;
    out.struct_size = sizeof out;
  }
  Status Evaluate() {
    return EvaluateNotation({n.graph, n.hardware, notation, options}, &n.arena, &out,
                            &n.diagnostic);
  }
  sluice_test::Nouns n{sluice_test::Chain(1)};
  uint32_t order = 0;
  uint8_t cut = SLUICE_CUT_DRAM;
  int32_t tiles = 1;
  sluice_notation_t notation = {};
  sluice_schedule_options_t options = {};
  sluice_evaluation_t out = {};
};

TEST_CASE("evaluate notation: one tile is loaded, computed and stored in turn") {
  Evaluated e;
  REQUIRE(e.Evaluate() == Status::kOk);
  CHECK(e.out.fault == SLUICE_SCHEDULE_LEGAL);
  CHECK(e.out.tiles == 1);
  CHECK(e.out.transfers == 2);
  CHECK(e.out.load_bytes == 256);
  CHECK(e.out.store_bytes == 256);
  CHECK(e.out.compute_cycles == 16);
  CHECK(e.out.dram_cycles == 2 * (10 + 64));
  CHECK(e.out.latency_cycles == 16 + 2 * (10 + 64));
  CHECK(e.out.peak_buffer_bytes == 512);
  // 10 pJ a bit in DRAM, 0.1 in the scratchpad, 0.1 an operation.
  CHECK(e.out.dram_pj == Approx(512 * 8 * 10));
  CHECK(e.out.scratchpad_pj == Approx((512 + 512) * 8 * 0.1));
  CHECK(e.out.compute_pj == Approx(256 * 0.1));
  CHECK(e.out.energy_pj ==
        Approx(e.out.dram_pj + e.out.scratchpad_pj + e.out.compute_pj));
}

TEST_CASE(
    "evaluate notation: the second of two tiles is loaded while the first computes") {
  Evaluated e;
  e.tiles = 2;
  REQUIRE(e.Evaluate() == Status::kOk);
  CHECK(e.out.tiles == 2);
  CHECK(e.out.transfers == 4);
  // The channel moves four halves without a gap; the tiles compute meanwhile.
  CHECK(e.out.latency_cycles == 4 * (10 + 32));
  CHECK(e.out.energy_pj == Approx(512 * 8 * 10 + 1024 * 8 * 0.1 + 256 * 0.1));
}

TEST_CASE("evaluate notation: too little scratchpad is rejected, with the numbers") {
  Evaluated e;
  e.options.scratchpad_bytes = 511;
  CHECK(e.Evaluate() == Status::kRejected);
  CHECK(e.out.fault == SLUICE_SCHEDULE_BUFFER);
  CHECK(std::string(e.n.diagnostic.rule) == "buffer");
  CHECK(e.n.diagnostic.required_bytes == 512);
  CHECK(e.n.diagnostic.available_bytes == 511);
  e.options.scratchpad_bytes = 512;
  CHECK(e.Evaluate() == Status::kOk);
  // More than the machine has counts as what it has.
  e.options.scratchpad_bytes = 1 << 30;
  CHECK(e.Evaluate() == Status::kOk);
}

TEST_CASE("evaluate notation: tiles that the layer does not have are rejected") {
  Evaluated e;
  e.tiles = 1 << 20;
  CHECK(e.Evaluate() == Status::kRejected);
  CHECK(e.out.fault == SLUICE_SCHEDULE_TILES);
}

TEST_CASE("evaluate notation: a timed schedule has no graph") {
  const sluice_timed_tile_t tile = {10, 1.5, 4, 1, 1};
  sluice_timed_transfer_t transfer[] = {
      {8, 8, 0, SLUICE_DRAM_INPUT, SLUICE_NO_INDEX, 0, -1, 1, 0},
      {4, 4, 0, SLUICE_DRAM_STORE, SLUICE_NO_INDEX, 0, 0, 1, 0}};
  sluice_timed_schedule_t schedule = {};
  schedule.struct_size = sizeof schedule;
  schedule.tiles = 1;
  schedule.transfers = 2;
  schedule.tile = &tile;
  schedule.transfer = transfer;
  schedule.bandwidth_bytes = 2;
  schedule.bandwidth_cycles = 1;
  schedule.latency_cycles = 1;
  schedule.dram_pj_per_byte = 10;
  schedule.buffer_bytes = 16;
  Evaluated e;
  REQUIRE(EvaluateTimedSchedule(schedule, &e.n.arena, &e.out, &e.n.diagnostic) ==
          Status::kOk);
  CHECK(e.out.latency_cycles == (1 + 4) + 10 + (1 + 2));
  CHECK(e.out.energy_pj == Approx(1.5 + 10 * 12));
  schedule.buffer_bytes = 8;
  CHECK(EvaluateTimedSchedule(schedule, &e.n.arena, &e.out, &e.n.diagnostic) ==
        Status::kRejected);
  CHECK(std::string(e.n.diagnostic.rule) == "buffer");
}

}  // namespace
}  // namespace sluice
