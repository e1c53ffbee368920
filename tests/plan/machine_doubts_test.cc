// SPDX-License-Identifier: Apache-2.0
// Checks of a descriptor as a whole: peaks that its units cannot reach, fields that
// contradict each other, and the list of engines.
#include "plan/machine_doubts.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "presets/hardware_json.h"
#include "presets/presets.h"
#include "sluice/experimental.h"
#include "sluice/presets.h"
#include "support/library.h"

namespace sluice_test {
namespace {

using Json = nlohmann::json;

// A buffer with registers below it, 4 x 8 units, and a peak of one MAC per unit.
Json Machine() {
  return {{"levels",
           {{{"name", "registers"}, {"capacity_bytes", 64}, {"instances", 32}},
            {{"name", "buffer"}, {"capacity_bytes", 65536}},
            {{"name", "DRAM"}, {"bytes_per_cycle_numerator", 4}}}},
          {"scratchpad_level", 1},
          {"fanouts", {{{"level", 1}, {"extent", 4}}, {{"level", 1}, {"extent", 8}}}},
          {"macs_per_cycle", 32},
          {"vector_ops_per_cycle", 8}};
}

struct Checked {
  Library library;
  HardwarePtr hardware;
  std::string refusal;
  std::vector<std::string> doubts;
  sluice_machine_facts_t facts = {};

  explicit Checked(const Json& machine) {
    std::string error;
    const auto bytes = sluice::presets::HardwareFromJson(machine.dump(), &error);
    CHECK(error.empty());
    hardware = library.Hardware(bytes);
    if (hardware == nullptr) {
      refusal = library.diagnostic.message;
      return;
    }
    facts.struct_size = sizeof facts;
    CHECK(sluice_hardware_machine(hardware.get(), &facts) == SLUICE_OK);
    sluice_diagnostic_t doubt = EmptyDiagnostic();
    for (uint32_t i = 0; i < facts.doubts; ++i) {
      CHECK(sluice_hardware_doubt(hardware.get(), i, &doubt) == SLUICE_OK);
      doubts.push_back(doubt.message);
    }
    CHECK(sluice_hardware_doubt(hardware.get(), facts.doubts, &doubt) ==
          SLUICE_BAD_ARGUMENT);
  }
};

TEST_CASE("machine: a peak that the units cannot do is refused") {
  Json machine = Machine();
  CHECK(Checked(machine).doubts.empty());
  machine["macs_per_cycle"] = 33;
  CHECK(Checked(machine).refusal ==
        "macs_per_cycle is 33, but the fanouts at and below the scratchpad feed 32 "
        "units");
  machine["macs_per_cycle"] = 32;
  machine["array"] = {{"k", 4}, {"c", 7}};
  CHECK(Checked(machine).refusal ==
        "macs_per_cycle is 32, but a pass of the array has k * c * p = 28 places");
  machine["array"]["p"] = 2;
  machine["fanouts"] = Json::array();
  machine["levels"][0]["instances"] = 1;
  CHECK(Checked(machine).refusal.empty());
}

TEST_CASE("machine: what is only slower is a doubt") {
  Json machine = Machine();
  machine["macs_per_cycle"] = 16;
  machine["levels"][0]["instances"] = 16;
  machine["array"] = {{"k", 5}, {"c", 5}};
  machine["levels"][1]["bytes_per_cycle_numerator"] = 3;
  const std::vector<std::string> expected = {
      "the fanouts feed 32 units, but macs_per_cycle is 16: no tile is faster than "
      "that",
      "a pass of the array has 25 places and takes 2 cycles at macs_per_cycle 16: in "
      "the "
      "last of them units are idle",
      "level 0 has 16 instances, the fanouts above it feed 32",
      "the scratchpad moves fewer bytes per cycle than DRAM: tiles are limited by "
      "that, "
      "transfers are not"};
  CHECK(Checked(machine).doubts == expected);
}

TEST_CASE("machine: fanouts that cost nothing are a doubt") {
  Json machine = Machine();
  machine["fanouts"][0]["level"] = 0;
  machine["levels"][0]["instances"] = 8;
  const Checked peak(machine);
  CHECK(peak.facts.costs_from == SLUICE_COSTS_FROM_PEAK);
  REQUIRE(peak.doubts.size() == 1);
  CHECK(peak.doubts[0].find("whatever the fanouts are") != std::string::npos);
  machine["array"] = {{"k", 4}, {"c", 8}};
  const Checked array(machine);
  CHECK(array.facts.costs_from == SLUICE_COSTS_FROM_ARRAY);
  CHECK(array.doubts.empty());
}

TEST_CASE("machine: of the presets, only simba's fanouts cost nothing") {
  for (uint32_t i = 0; i < sluice_preset_count(); ++i) {
    const std::string name = sluice_preset_name(i);
    Library library;
    const HardwarePtr hardware = library.Hardware(sluice::presets::LoadPreset(name));
    sluice_machine_facts_t facts = {};
    facts.struct_size = sizeof facts;
    REQUIRE(sluice_hardware_machine(hardware.get(), &facts) == SLUICE_OK);
    CHECK_MESSAGE(facts.doubts == (name == "simba" ? 1 : 0), name);
  }
}

}  // namespace
}  // namespace sluice_test
