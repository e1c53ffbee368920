// SPDX-License-Identifier: Apache-2.0
// Machines between JSON and bytes.
#include "presets/hardware_json.h"

#include <doctest/doctest.h>

#include <string>

namespace sluice::presets {
namespace {

std::string ErrorOf(const std::string& text) {
  std::string error;
  CHECK(HardwareFromJson(text, &error).empty());
  return error;
}

TEST_CASE("hardware JSON: names need no quotes, comments are for people") {
  std::string error;
  const std::vector<uint8_t> plain =
      HardwareFromJson("{ \"name\": \"m\", \"macs_per_cycle\": 64 }", &error);
  REQUIRE(!plain.empty());
  CHECK(error.empty());
  CHECK(HardwareFromJson("// a machine\n{ name: \"m\", // its name\n"
                         "  macs_per_cycle: 64 }",
                         &error) == plain);
}

TEST_CASE("hardware JSON: what is missing is written with its default") {
  std::string error;
  const std::vector<uint8_t> bytes =
      HardwareFromJson("{ levels: [ { capacity_bytes: 4096 } ] }", &error);
  REQUIRE(!bytes.empty());
  const std::string text = HardwareToJson(bytes.data());
  for (const char* line :
       {"\"clock_hz\": 1000000000", "\"capacity_bytes\": 4096", "\"instances\": 1",
        "\"may_hold\": 7", "\"accumulator_bytes\": 4"}) {
    CAPTURE(std::string(line));
    CHECK(text.find(line) != std::string::npos);
  }
  CHECK(HardwareFromJson(text, &error) != std::vector<uint8_t>());
  CHECK(HardwareToJson(HardwareFromJson(text, &error).data()) == text);
}

TEST_CASE("hardware JSON: mistakes are told with their line") {
  CHECK(ErrorOf("{ name: \"m\",\n  macs_per_cycles: 64 }")
            .find("unknown field: macs_per_cycles") != std::string::npos);
  CHECK(ErrorOf("{ name: \"m\",\n  macs_per_cycles: 64 }").find("2:") !=
        std::string::npos);
  CHECK(ErrorOf("{ node_cols: \"two\" }").find("1:") != std::string::npos);
  CHECK(ErrorOf("") != "");
  CHECK(ErrorOf("{ name: \"m\" } and more") != "");
}

}  // namespace
}  // namespace sluice::presets
