// SPDX-License-Identifier: Apache-2.0
// Machines between JSON and bytes.
#include "presets/hardware_json.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "presets/embedded.h"

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

TEST_CASE("hardware JSON: the bytes are flatc's") {
  std::string error;
  for (const EmbeddedFile& preset : HardwarePresets()) {
    CAPTURE(std::string(preset.name));
    const std::vector<uint8_t> bytes(preset.data, preset.data + preset.size);
    std::ifstream file(std::string(SLUICE_PRESETS_FOLDER "/") + preset.name + ".json");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    REQUIRE(!text.empty());
    CHECK(HardwareFromJson(text, &error) == bytes);
    CHECK(error == "");
  }
}

TEST_CASE("hardware JSON: numbers keep every digit") {
  std::string error;
  const std::string text = "{ levels: [ { read_pj_per_bit: 1.2345678901234e-13 } ] }";
  const std::string again = HardwareToJson(HardwareFromJson(text, &error).data());
  CHECK(again.find("\"read_pj_per_bit\": 1.2345678901234e-13,") != std::string::npos);
}

TEST_CASE("hardware JSON: whole numbers may be written in several ways") {
  std::string error;
  const auto plain = HardwareFromJson("{ macs_per_cycle: 64, levels: [{}] }", &error);
  REQUIRE(!plain.empty());
  for (const char* same : {"0x40", "64.0", "6.4e1", "\"64\""}) {
    CAPTURE(std::string(same));
    CHECK(HardwareFromJson(
              "{ levels: [{}], macs_per_cycle: " + std::string(same) + ", }", &error) ==
          plain);
  }
  // null: the field is not there; a default that is written out makes no byte
  CHECK(HardwareFromJson(
            "{ macs_per_cycle: 64, name: null, levels: [{ sliding: false }] }",
            &error) == plain);
}

TEST_CASE(
    "hardware JSON: mistakes say the field, what it was given and what is right") {
  const auto level = [](const std::string& field) {
    return ErrorOf("{ name: \"m\",\n  levels: [ {}, { " + field + " } ] }");
  };
  CHECK(level("capacity_bytes: -5") ==
        "levels[1].capacity_bytes: -5 is no whole number from 0 to "
        "18446744073709551615 (line 2, column 35)");
  CHECK(level("capacity_bytes: \"1M\"").find("\"1M\" is no whole number") !=
        std::string::npos);
  CHECK(level("instances: 4294967296").find("from 0 to 4294967295") !=
        std::string::npos);
  CHECK(level("instances: 1.5").find("1.5 is no whole number") != std::string::npos);
  CHECK(level("sliding: 2").find("2 is neither true nor false") != std::string::npos);
  CHECK(level("read_pj_per_bit: NaN").find("NaN is no number") != std::string::npos);
  CHECK(level("read_pj_per_bit: 1e999").find("is no number") != std::string::npos);
  CHECK(level("name: 5").find("levels[1].name: 5 is no text") != std::string::npos);
  CHECK(level("name: [5]").find("a list stands where a single value") !=
        std::string::npos);
  CHECK(level("sliding: true, sliding: true").find("twice") != std::string::npos);
  CHECK(level("capacity_byte: 5") ==
        "levels[1].capacity_byte: there is no such field; did you mean capacity_bytes? "
        "(line 2, column 19)");
  CHECK(level("colour: 5").find("did you mean") == std::string::npos);
  CHECK(ErrorOf("{ levels: [5] }").find("levels[0]: a {...} with fields") == 0);
  CHECK(ErrorOf("{ levels: 5 }").find("levels: 5 stands where a list") == 0);
  CHECK(ErrorOf("{ levels: {} }").find("levels: a {...} stands where a list") == 0);
  CHECK(ErrorOf("{ array: 5 }").find("array: 5 stands where a {...}") == 0);
}

TEST_CASE("hardware JSON: what is no machine is told with its line") {
  CHECK(ErrorOf("").find("'{' is missing before the end") == 0);
  CHECK(ErrorOf("[]").find("'{' is missing before \"[\"") == 0);
  CHECK(ErrorOf("{ name: \"m\" }\nand more").find("\"and\" (line 2") !=
        std::string::npos);
  CHECK(ErrorOf("{ name: \"m\"").find("'}' is missing before the end") == 0);
  CHECK(ErrorOf("{ levels: [ {} {} ] }").find("']' is missing before \"{\"") == 0);
}

TEST_CASE(
    "hardware JSON: every beginning of a text and every lost byte has an answer") {
  std::string error;
  const std::string text =
      "{ name: \"m\\u00fc\", // its name\n levels: [ { sliding: true }, ] }";
  REQUIRE(!HardwareFromJson(text, &error).empty());
  for (size_t i = 0; i < text.size(); ++i) {
    error.clear();
    CHECK(HardwareFromJson(text.substr(0, i), &error).empty());
    CHECK(error != "");
    error.clear();
    const std::string less = text.substr(0, i) + text.substr(i + 1);
    const bool refused = HardwareFromJson(less, &error).empty();
    CHECK(refused == !error.empty());
  }
}

}  // namespace
}  // namespace sluice::presets
