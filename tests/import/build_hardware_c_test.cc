// SPDX-License-Identifier: Apache-2.0
// The C builder of machines: defaults, the first fault is kept, the reader's errors.
#include <nlohmann/json.hpp>

#include "sluice/presets.h"
#include "tests/import/builders.h"

namespace sluice_test {
namespace {

using Json = nlohmann::json;

// The finished machine, every field written out.
Json Finished(sluice_hardware_builder_t* b) {
  sluice_bytes_t bytes = {}, text = {};
  REQUIRE(sluice_hardware_builder_finish(b, nullptr, &bytes, nullptr) == SLUICE_OK);
  REQUIRE(sluice_hardware_to_json(bytes.data, bytes.size, nullptr, &text, nullptr) ==
          SLUICE_OK);
  const Json json =
      Json::parse(std::string(static_cast<const char*>(text.data), text.size));
  sluice_bytes_release(nullptr, &bytes);
  sluice_bytes_release(nullptr, &text);
  sluice_hardware_builder_destroy(b);
  return json;
}

TEST_CASE("hardware builder: what is left at zero has its default") {
  Json json = Finished(SmallMachine());  // not const: a missing field is null
  CHECK(json["name"] == "small");
  CHECK(json["clock_hz"] == 1000000000);
  CHECK(json["accumulator_bytes"] == 4);
  CHECK(json["dram_granule_bytes"] == 1);
  CHECK(json["node_cols"] == 1);
  CHECK(json["link_bytes_per_cycle_denominator"] == 1);
  const Json& sram = json["levels"][0];
  CHECK(sram["capacity_bytes"] == 4096);
  CHECK(sram["alignment_bytes"] == 16);
  CHECK(sram["instances"] == 1);
  CHECK(sram["may_hold"] == 7);
  const Json& array = json["fanouts"][0];
  CHECK(array["extent"] == 64);
  CHECK(array["may_unroll"] == 127);
  CHECK(array["multicast"] == true);
  CHECK(array["reduction"] == true);
  CHECK(array["forwarding"] == false);
  CHECK(json.contains("core_array") == false);
  CHECK(json.contains("ops") == false);
  CHECK(json.contains("host") == false);
}

TEST_CASE("hardware builder: a core array, and wires that neither copy nor add") {
  sluice_machine_t machine = Sized<sluice_machine_t>();
  machine.macs_per_cycle = machine.vector_ops_per_cycle = 64;
  machine.scratchpad_level = 1;
  sluice_hardware_builder_t* b = sluice_hardware_builder_create(&machine);
  for (const uint64_t bytes : {64, 4096, 0}) {  // cores, scratchpad, DRAM
    sluice_level_t level = Sized<sluice_level_t>();
    level.capacity_bytes = bytes;
    level.bytes_per_cycle_numerator = 8;
    sluice_hardware_builder_level(b, &level);
  }
  sluice_core_array_t cores = Sized<sluice_core_array_t>();
  cores.rows = 2;
  cores.columns = 4;
  cores.vector = 8;
  sluice_hardware_builder_cores(b, &cores);
  sluice_fanout_t wires = Sized<sluice_fanout_t>();
  wires.extent = 64;
  wires.no_multicast = wires.no_reduction = wires.forwarding = 1;
  CHECK(sluice_hardware_builder_fanout(b, &wires) == 0);
  const Json json = Finished(b);
  CHECK(json["core_array"]["rows"] == 2);
  CHECK(json["core_array"]["columns"] == 4);
  CHECK(json["core_array"]["vector"] == 8);
  CHECK(json["core_array"]["lane"] == 1);
  CHECK(json["fanouts"][0]["multicast"] == false);
  CHECK(json["fanouts"][0]["reduction"] == false);
  CHECK(json["fanouts"][0]["forwarding"] == true);
}

TEST_CASE("hardware builder: rows of operators, a host, and their defaults") {
  sluice_hardware_builder_t* b = SmallMachine();
  sluice_op_support_t add = Sized<sluice_op_support_t>(), conv = add;
  add.op = SLUICE_OP_ADD;
  CHECK(sluice_hardware_builder_op(b, &add) == 0);
  conv.op = SLUICE_OP_CONV;
  conv.dtypes = 1u << SLUICE_DTYPE_INT8;
  conv.requantise = SLUICE_REQUANTISE_NONE | SLUICE_REQUANTISE_PER_TENSOR;
  conv.arithmetic = 3;
  conv.symmetric = 2;
  conv.max_kernel_h = 4;
  conv.max_kernel_w = 5;
  conv.max_stride = 2;
  conv.max_dilation = 1;
  CHECK(sluice_hardware_builder_op(b, &conv) == 1);
  sluice_host_t host = Sized<sluice_host_t>();
  host.call_cycles = 9;
  host.ops_per_cycle_numerator = 3;
  host.ops_per_cycle_denominator = 2;
  host.pj_per_cycle = 1.5;
  host.uses_port = 1;
  sluice_hardware_builder_host(b, &host);
  const Json json = Finished(b);
  const Json& rows = json["ops"];
  REQUIRE(rows.size() == 2);
  CHECK(rows[0]["op"] == SLUICE_OP_ADD);
  CHECK(rows[0]["arithmetic"] == 1);
  CHECK(rows[0]["dtypes"] == 62);
  CHECK(rows[0]["requantise"] == 7);
  CHECK(rows[0]["zero_points"] == 7);
  CHECK(rows[0]["max_kernel_h"] == 0);
  CHECK(rows[1]["op"] == SLUICE_OP_CONV);
  CHECK(rows[1]["arithmetic"] == 3);
  CHECK(rows[1]["dtypes"] == 2);
  CHECK(rows[1]["requantise"] == 3);
  CHECK(rows[1]["zero_points"] == 5);
  CHECK(rows[1]["max_kernel_h"] == 4);
  CHECK(rows[1]["max_kernel_w"] == 5);
  CHECK(rows[1]["max_stride"] == 2);
  CHECK(rows[1]["max_dilation"] == 1);
  CHECK(json["host"]["call_cycles"] == 9);
  CHECK(json["host"]["bytes_per_cycle_numerator"] == 0);
  CHECK(json["host"]["bytes_per_cycle_denominator"] == 1);
  CHECK(json["host"]["ops_per_cycle_numerator"] == 3);
  CHECK(json["host"]["ops_per_cycle_denominator"] == 2);
  CHECK(json["host"]["pj_per_cycle"] == 1.5);
  CHECK(json["host"]["uses_port"] == true);
  CHECK(sluice_hardware_builder_op(nullptr, &add) == SLUICE_NO_INDEX);
  sluice_hardware_builder_host(nullptr, &host);
}

TEST_CASE("hardware builder: memories off chip, and their defaults") {
  sluice_hardware_builder_t* b = SmallMachine();
  sluice_memory_t flash = Sized<sluice_memory_t>(), sram = flash;
  flash.name = "flash";
  flash.regions = SLUICE_MEMORY_HOLDS_CONSTANTS;
  flash.read_only = 1;
  flash.capacity_bytes = 9000;
  flash.latency_cycles = 30;
  flash.bytes_per_cycle_numerator = 2;
  flash.bytes_per_cycle_denominator = 3;
  flash.read_pj_per_bit = 4.5;
  sram.regions = SLUICE_MEMORY_HOLDS_INPUTS | SLUICE_MEMORY_HOLDS_OUTPUTS;
  sram.bytes_per_cycle_numerator = 8;
  sram.write_pj_per_bit = 0.5;
  CHECK(sluice_hardware_builder_memory(b, &flash) == 0);
  CHECK(sluice_hardware_builder_memory(b, &sram) == 1);
  CHECK(sluice_hardware_builder_memory(nullptr, &sram) == SLUICE_NO_INDEX);
  const Json json = Finished(b);
  const Json& memories = json["memories"];
  REQUIRE(memories.size() == 2);
  CHECK(memories[0]["name"] == "flash");
  CHECK(memories[0]["regions"] == 2);
  CHECK(memories[0]["read_only"] == true);
  CHECK(memories[0]["capacity_bytes"] == 9000);
  CHECK(memories[0]["latency_cycles"] == 30);
  CHECK(memories[0]["bytes_per_cycle_numerator"] == 2);
  CHECK(memories[0]["bytes_per_cycle_denominator"] == 3);
  CHECK(memories[0]["read_pj_per_bit"] == 4.5);
  CHECK(memories[1]["regions"] == 12);
  CHECK(memories[1]["read_only"] == false);
  CHECK(memories[1]["bytes_per_cycle_denominator"] == 1);
  CHECK(memories[1]["write_pj_per_bit"] == 0.5);
}

TEST_CASE("hardware builder: the first fault is kept until the end") {
  const auto end = [](sluice_hardware_builder_t* b, sluice_status_t want) {
    sluice_bytes_t bytes = {};
    sluice_diagnostic_t why = Sized<sluice_diagnostic_t>();
    CHECK(sluice_hardware_builder_finish(b, nullptr, &bytes, &why) == want);
    CHECK(bytes.data == nullptr);
    sluice_hardware_builder_destroy(b);
    return std::string(why.message);
  };
  CHECK(end(sluice_hardware_builder_create(nullptr), SLUICE_BAD_ARGUMENT) ==
        "machine is NULL");
  sluice_hardware_builder_t* b = SmallMachine();
  CHECK(sluice_hardware_builder_level(b, nullptr) == SLUICE_NO_INDEX);
  CHECK(sluice_hardware_builder_fanout(b, nullptr) == SLUICE_NO_INDEX);
  sluice_hardware_builder_cores(b, nullptr);
  CHECK(end(b, SLUICE_BAD_ARGUMENT) == "level is NULL");
  sluice_level_t level = Sized<sluice_level_t>();
  level.struct_size = 3;
  b = SmallMachine();
  CHECK(sluice_hardware_builder_level(b, &level) == SLUICE_NO_INDEX);
  CHECK(end(b, SLUICE_BAD_ARGUMENT) ==
        "level.struct_size is not that of a known version");
  b = SmallMachine();  // of 64 MACs
  sluice_core_array_t cores = Sized<sluice_core_array_t>();
  cores.rows = 16;
  sluice_hardware_builder_cores(b, &cores);
  CHECK(end(b, SLUICE_BAD_INPUT) == "core_array has 16 MACs, macs_per_cycle says 64");
  const sluice_machine_t nothing = Sized<sluice_machine_t>();  // no memory at all
  CHECK(end(sluice_hardware_builder_create(&nothing), SLUICE_BAD_INPUT) != "");
  CHECK(sluice_hardware_builder_level(nullptr, &level) == SLUICE_NO_INDEX);
}

}  // namespace
}  // namespace sluice_test
