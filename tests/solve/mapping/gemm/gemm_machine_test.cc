// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/gemm/gemm_machine.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "tests/solve/mapping/machines.h"

namespace sluice {
namespace {

constexpr uint32_t kAll = 127;
constexpr uint32_t kRows = DimBit(kDimP) | DimBit(kDimN);

// Registers of 16 PEs, a scratchpad, DRAM.
struct Chip : Machine {
  Chip() {
    AddLevel(8, 0.1, 0.2);
    levels.back().instances = 16;
    AddLevel(600, 1, 2);
    AddLevel(0, 10, 20);
    AddFanout(1, 16, kAll);
    hardware.mac_pj = 0.5;
    hardware.leakage_pj_per_cycle = 7;
    Finish();
  }
  Status Read(bool exact, GemmMachine* machine, Diagnostic* diagnostic) {
    Finish();
    return GemmMachineOf(hardware, {2, 1, 0}, exact, machine, diagnostic);
  }
};

TEST_CASE("gemm machine: energies of words of eight bits, words, PEs") {
  Chip chip;
  GemmMachine m;
  Diagnostic diagnostic = {};
  REQUIRE(chip.Read(false, &m, &diagnostic) == Status::kOk);
  CHECK(m.inner_words == 8);
  CHECK(m.middle_words == 600);
  CHECK(m.pe_count == 16);
  for (const int64_t limit : m.fanout_limit) CHECK(limit == 0);
  CHECK(m.outer_read_pj == doctest::Approx(80));
  CHECK(m.outer_write_pj == doctest::Approx(160));
  CHECK(m.middle_read_pj == doctest::Approx(8));
  CHECK(m.middle_write_pj == doctest::Approx(16));
  CHECK(m.inner_read_pj == doctest::Approx(0.8));
  CHECK(m.inner_write_pj == doctest::Approx(1.6));
  CHECK(m.mac_pj == 0.5);
  CHECK(m.middle_leak_pj == 7);
  // A machine without registers and with an unbounded scratchpad.
  chip.levels[1].capacity_bytes = 0;
  REQUIRE(GemmMachineOf(chip.hardware, {2, 1, SLUICE_NO_INDEX}, false, &m,
                        &diagnostic) == Status::kOk);
  CHECK(m.inner_words == 0);
  CHECK(m.middle_words > int64_t{1} << 50);
}

TEST_CASE(
    "gemm machine: fanouts along one axis each limit it, and equal ones multiply") {
  Chip chip;
  GemmMachine m;
  Diagnostic diagnostic = {};
  chip.fanouts.clear();
  chip.AddFanout(1, 8, kRows);
  chip.AddFanout(1, 2, DimBit(kDimC));
  REQUIRE(chip.Read(false, &m, &diagnostic) == Status::kOk);
  CHECK(m.pe_count == 16);
  CHECK(m.fanout_limit[0] == 8);
  CHECK(m.fanout_limit[1] == 1);
  CHECK(m.fanout_limit[2] == 2);
  chip.fanouts.clear();
  chip.AddFanout(1, 8, kRows);
  chip.AddFanout(1, 2, kRows);
  REQUIRE(chip.Read(true, &m, &diagnostic) == Status::kOk);
  CHECK(m.fanout_limit[0] == 16);
  CHECK(chip.Read(false, &m, &diagnostic) == Status::kUnsupported);  // PEs may idle
}

TEST_CASE("gemm machine: what three memories and an array cannot say is named") {
  struct Case {
    const char* message;
    std::function<void(Chip*)> spoil;
  };
  const Case cases[] = {
      {"fanout 0: a GEMM's array", [](Chip* c) { c->fanouts[0].multicast = false; }},
      {"fanout 0: a GEMM's array",
       [](Chip* c) { c->fanouts[0].transfer_pj_per_bit = 1; }},
      {"fanout 0: a GEMM's fanout",
       [](Chip* c) { c->fanouts[0].may_unroll = kRows | DimBit(kDimC); }},
      {"no fanout, hence no array", [](Chip* c) { c->fanouts.clear(); }},
      {"fanouts that share an axis", [](Chip* c) { c->AddFanout(1, 2, kRows); }},
      {"level 0: a GEMM's memory", [](Chip* c) { c->levels[0].may_hold = 3; }},
      {"level 1: a GEMM's memory", [](Chip* c) { c->levels[1].share_percent[0] = 9; }},
      {"level 0 has 4 instances; a GEMM needs 16",
       [](Chip* c) { c->levels[0].instances = 4; }},
  };
  for (const Case& c : cases) {
    Chip chip;
    c.spoil(&chip);
    GemmMachine m;
    Diagnostic diagnostic = {};
    CAPTURE(c.message);
    CHECK(chip.Read(true, &m, &diagnostic) == Status::kUnsupported);
    CHECK(std::string(diagnostic.message).find(c.message) != std::string::npos);
  }
}

TEST_CASE("gemm machine: levels that may be the middle or the inner memory") {
  Chip chip;
  GemmChoices choices;
  Diagnostic diagnostic = {};
  REQUIRE(GemmChoicesOf(chip.hardware, 2, &choices, &diagnostic) == Status::kOk);
  CHECK(choices.outer == 2);
  CHECK(choices.middle_begin == 1);
  CHECK(choices.inner_end == 1);
  REQUIRE(GemmChoicesOf(chip.hardware, 1, &choices, &diagnostic) == Status::kOk);
  CHECK(choices.inner_end == 1);
  for (const uint32_t outer : {0u, 3u}) {
    CHECK(GemmChoicesOf(chip.hardware, outer, &choices, &diagnostic) ==
          Status::kUnsupported);
  }
  chip.AddFanout(2, 4, kAll);
  chip.Finish();
  CHECK(GemmChoicesOf(chip.hardware, 1, &choices, &diagnostic) == Status::kUnsupported);
  REQUIRE(GemmChoicesOf(chip.hardware, 2, &choices, &diagnostic) == Status::kOk);
  CHECK(choices.middle_begin == 2);
  CHECK(choices.inner_end == 1);
  chip.hardware.node_cols = 2;
  CHECK(GemmChoicesOf(chip.hardware, 2, &choices, &diagnostic) == Status::kUnsupported);
}

}  // namespace
}  // namespace sluice
