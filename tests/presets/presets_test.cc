// SPDX-License-Identifier: Apache-2.0
// The machines that come with sluice, and the short facts about a descriptor.
#include "presets/presets.h"

#include <doctest/doctest.h>

#include <cstring>
#include <string>

#include "import/error.h"
#include "presets/preset_files.h"

namespace sluice::presets {
namespace {

TEST_CASE("presets: facts of a machine are those of its file") {
  const Bytes bytes = LoadPreset("mcu-256k");
  const HardwareFacts facts = FactsOf(bytes);
  CHECK(facts.name == "mcu-256k");
  CHECK(std::strcmp(reinterpret_cast<const char*>(bytes.data()) + facts.name_at,
                    "mcu-256k") == 0);
  CHECK(facts.nodes == 1);
  CHECK(facts.clock_hz == 400000000);
  CHECK(facts.macs_per_cycle == 128);
  CHECK(facts.vector_ops_per_cycle == 16);
  CHECK(facts.scratchpad_bytes == 256 * 1024);
  CHECK(facts.dram_bytes_per_cycle == 1);
  const HardwareFacts mesh = FactsOf(LoadPreset("kapla-4x4"));
  CHECK(mesh.nodes == 16);
  CHECK(mesh.scratchpad_bytes == 65536);
  CHECK(mesh.dram_bytes_per_cycle == doctest::Approx(256.0 / 5));
}

TEST_CASE("presets: bytes are aligned for a reader, and found by name alone") {
  for (const EmbeddedFile& preset : HardwarePresets()) {
    CAPTURE(std::string(preset.name));
    CHECK(FindPreset(preset.name).data == preset.data);
    CHECK(reinterpret_cast<uintptr_t>(preset.data) % 16 == 0);
  }
}

TEST_CASE("presets: an unknown name is answered with those there are") {
  std::string expected = "no hardware preset is called soma; presets:";
  for (const std::string& name : sluice_test::PresetFiles()) expected += " " + name;
  try {
    FindPreset("soma");
    FAIL("it was found");
  } catch (const import::Error& error) {
    CHECK(error.fault() == import::Fault::kBadArgument);
    CHECK(std::string(error.what()) == expected);
  }
}

TEST_CASE("presets: damaged bytes are no machine") {
  Bytes bytes = LoadPreset("simba");
  bytes.resize(bytes.size() / 2);
  CHECK_THROWS_WITH(FactsOf(bytes), "not a hardware descriptor, or a damaged one");
  CHECK_THROWS_WITH(HardwareAsJson({}), "not a hardware descriptor, or a damaged one");
}

}  // namespace
}  // namespace sluice::presets
