// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "presets/preset_files.h"
#include "sluice/presets.h"

namespace {

sluice_diagnostic_t Diagnostic() {
  sluice_diagnostic_t diagnostic = {};
  diagnostic.struct_size = sizeof diagnostic;
  return diagnostic;
}

std::vector<uint8_t> Taken(sluice_bytes_t bytes) {
  const auto* first = static_cast<const uint8_t*>(bytes.data);
  std::vector<uint8_t> copy(first, first + bytes.size);
  sluice_bytes_release(nullptr, &bytes);
  CHECK(bytes.data == nullptr);
  return copy;
}

TEST_CASE("presets: each survives the way to JSON and back, and says its name") {
  const std::vector<std::string> files = sluice_test::PresetFiles();
  REQUIRE(files.size() > 0);
  REQUIRE(sluice_preset_count() == files.size());
  for (uint32_t i = 0; i < sluice_preset_count(); ++i) {
    const std::string name = sluice_preset_name(i);
    CAPTURE(name);
    CHECK(name == files[i]);
    const void* bytes = nullptr;
    size_t size = 0;
    REQUIRE(sluice_preset_find(name.c_str(), &bytes, &size, nullptr) == SLUICE_OK);
    sluice_bytes_t text = {}, back = {};
    REQUIRE(sluice_hardware_to_json(bytes, size, nullptr, &text, nullptr) == SLUICE_OK);
    REQUIRE(sluice_hardware_from_json(static_cast<const char*>(text.data), text.size,
                                      nullptr, &back, nullptr) == SLUICE_OK);
    const auto* first = static_cast<const uint8_t*>(bytes);
    CHECK(Taken(back) == std::vector<uint8_t>(first, first + size));
    Taken(text);
    sluice_hardware_facts_t facts = {};
    facts.struct_size = sizeof facts;
    REQUIRE(sluice_hardware_describe(bytes, size, &facts, nullptr) == SLUICE_OK);
    CHECK(name == std::string(facts.name));
    CHECK(facts.macs_per_cycle > 0);
    CHECK(facts.scratchpad_bytes > 0);
  }
  CHECK(sluice_preset_name(sluice_preset_count()) == nullptr);
}

TEST_CASE("presets: what does not exist or is damaged is refused with a sentence") {
  sluice_diagnostic_t why = Diagnostic();
  const void* bytes = nullptr;
  size_t size = 0;
  CHECK(sluice_preset_find("nonesuch", &bytes, &size, &why) == SLUICE_BAD_ARGUMENT);
  CHECK(why.status == SLUICE_BAD_ARGUMENT);
  CHECK(std::string(why.message).find("soma-edge") != std::string::npos);
  CHECK(bytes == nullptr);
  const std::string text = "{ \"macs_per_cycles\": 1 }";
  sluice_bytes_t out = {};
  CHECK(sluice_hardware_from_json(text.data(), text.size(), nullptr, &out, &why) ==
        SLUICE_BAD_INPUT);
  CHECK(std::string(why.message).find("macs_per_cycles") != std::string::npos);
  CHECK(out.data == nullptr);
  CHECK(sluice_hardware_from_json(nullptr, 0, nullptr, &out, &why) ==
        SLUICE_BAD_ARGUMENT);
  CHECK(sluice_hardware_to_json("damaged", 7, nullptr, &out, &why) == SLUICE_BAD_INPUT);
  sluice_hardware_facts_t facts = {};
  CHECK(sluice_hardware_describe("damaged", 7, &facts, &why) == SLUICE_BAD_INPUT);
}

}  // namespace
