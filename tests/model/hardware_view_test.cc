// SPDX-License-Identifier: Apache-2.0
#include "model/hardware_view.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/solve/mapping/machines.h"

namespace sluice {
namespace {

TEST_CASE("hardware view: the scratchpad is outermost, unbounded and holds all") {
  Machine m;
  m.AddLevel(16, 1, 2);
  m.AddLevel(64, 3, 4);
  m.AddLevel(1024, 5, 6);
  m.levels.back().may_hold = 3;
  m.AddLevel(0, 7, 8);
  for (const uint32_t level : {0u, 3u, 2u, 0u}) m.AddFanout(level, 2 + level, 127);
  m.hardware.macs_per_cycle = 99;
  m.Finish();  // the scratchpad is level 2
  HardwareView view;
  Diagnostic diagnostic = {};
  REQUIRE(ViewBelowScratchpad(m.hardware, &view, &diagnostic) == Status::kOk);
  const Hardware& h = view.hardware;
  REQUIRE(h.levels.size() == 3);
  CHECK(h.levels[0].capacity_bytes == 16);
  CHECK(h.levels[1].capacity_bytes == 64);
  CHECK(h.levels[2].capacity_bytes == 0);
  CHECK(h.levels[2].may_hold == 7);
  CHECK(h.levels[2].write_pj_per_bit == 6);
  CHECK(h.scratchpad_level == 1);
  CHECK(h.macs_per_cycle == 99);
  // In the machine's order, without DRAM's fanout.
  REQUIRE(h.fanouts.size() == 3);
  CHECK(h.fanouts[0].level == 0);
  CHECK(h.fanouts[1].extent == 4);
  CHECK(h.fanouts[2].level == 0);
  // The machine itself stays as it was.
  CHECK(m.hardware.levels[2].capacity_bytes == 1024);
  CHECK(m.hardware.levels[2].may_hold == 3);
}

TEST_CASE("hardware view: nothing below, too many levels or fanouts are refused") {
  Diagnostic diagnostic = {};
  HardwareView view;
  Machine flat;
  flat.AddLevel(64, 1, 1);
  flat.AddLevel(0, 1, 1);
  flat.Finish();
  CHECK(ViewBelowScratchpad(flat.hardware, &view, &diagnostic) == Status::kUnsupported);
  CHECK(std::string(diagnostic.message) ==
        "the hardware has 0 levels below its scratchpad; tiles are mapped on 1 to 5");
  for (const uint32_t below : {5u, 6u}) {
    Machine deep;
    for (uint32_t l = 0; l < below + 2; ++l) deep.AddLevel(64, 1, 1);
    deep.Finish();
    CHECK((ViewBelowScratchpad(deep.hardware, &view, &diagnostic) == Status::kOk) ==
          (below == 5));
  }
  for (const uint32_t fanouts : {kMaxFanouts, kMaxFanouts + 1}) {
    Machine wide;
    for (int l = 0; l < 3; ++l) wide.AddLevel(64, 1, 1);
    for (uint32_t f = 0; f < fanouts; ++f) wide.AddFanout(0, 2, 127);
    wide.Finish();
    CHECK((ViewBelowScratchpad(wide.hardware, &view, &diagnostic) == Status::kOk) ==
          (fanouts == kMaxFanouts));
  }
}

}  // namespace
}  // namespace sluice
