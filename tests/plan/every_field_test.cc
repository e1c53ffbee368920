// SPDX-License-Identifier: Apache-2.0
// Every field of hardware.fbs has an effect: for each there is a machine on which changing
// that field alone changes a plan, its report or a mapping, or is refused with a message that
// names it. The test fails if the schema has a field without such a case.
#include <doctest/doctest.h>
#include <flatbuffers/reflection_generated.h>

#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "presets/embedded.h"
#include "presets/hardware_json.h"
#include "presets/presets.h"
#include "sluice/experimental.h"
#include "sluice/presets.h"
#include "support/library.h"
#include "support/wire_builder.h"
#include "zoo/zoo.h"

namespace sluice_test {
namespace {

using Json = nlohmann::json;

// Names are for people; they change nothing else.
const std::set<std::string> kNames = {"Level.name", "Fanout.name", "Queue.name",
                                      "Memory.name", "Hardware.name"};

enum class Effect {
  kPlan,     // another stream (its header aside) or report of the default solver
  kMapping,  // another mapping of the layers
  kRefusal,  // the machine, a GEMM on it, or a plan is refused
  kFacts,    // other facts: clock_hz gives seconds, while plans count cycles
};

struct Case {
  const char* field;
  const char* machine;  // of Machines()
  const char* pointer;  // into its JSON
  Json value;           // null: the field goes
  Effect effect;
  const char* refusal = "";  // part of the sentence
};

Json LevelOf(uint64_t bytes, double pj) {
  return {{"capacity_bytes", bytes}, {"read_pj_per_bit", pj}, {"write_pj_per_bit", pj}};
}

// A machine whose weights and parameters lie in a memory of their own.
Json WithFlash(const Json& plain) {
  Json flash = plain;
  flash["memories"] = {{{"name", "flash"},
                        {"regions", 2},
                        {"capacity_bytes", 100000},
                        {"bytes_per_cycle_numerator", 2},
                        {"read_pj_per_bit", 9}},
                       {{"regions", 8}, {"bytes_per_cycle_numerator", 2}}};
  return flash;
}

std::map<std::string, Json> Machines() {
  Json plain = {{"levels", {LevelOf(6000, 0.2), LevelOf(0, 5)}},
                {"macs_per_cycle", 32},
                {"mac_pj", 0.3},
                {"vector_ops_per_cycle", 4},
                {"vector_op_pj", 0.2}};
  plain["levels"][0]["bytes_per_cycle_numerator"] = 64;
  plain["levels"][1]["bytes_per_cycle_numerator"] = 3;
  Json array = plain;
  array["levels"][1]["bytes_per_cycle_numerator"] = 64;
  array["array"] = {{"k", 8}, {"c", 6}, {"p", 8}, {"crosses_rows", false}};
  Json queues = plain;
  queues["queues"] = {{{"operations", 1}, {"latency_cycles", 9}}, {{"operations", 2}}};
  Json limited = queues;
  limited["queues"][0]["max_rows"] = 2;
  Json mesh = plain;
  mesh["node_cols"] = mesh["node_rows"] = 2;
  mesh["link_bytes_per_cycle_numerator"] = 2;
  mesh["hop_pj_per_bit"] = 0.5;
  Json nodes = mesh;  // each node has its own queue
  nodes["queues"] = {{{"per_node", true}}};
  Json nests = plain;
  nests["levels"] = {LevelOf(32, 0.05), LevelOf(6000, 0.4), LevelOf(0, 5)};
  nests["levels"][0]["instances"] = 32;
  nests["levels"][2]["bytes_per_cycle_numerator"] = 3;
  nests["scratchpad_level"] = 1;
  nests["fanouts"] = {{{"level", 1}, {"extent", 4}, {"transfer_pj_per_bit", 0.1}},
                      {{"level", 1}, {"extent", 8}, {"transfer_pj_per_bit", 0.1}}};
  // Nodes that forward their outputs; this machine plans a network of its own.
  const Json chain = Json::parse(
      sluice::presets::HardwareAsJson(sluice::presets::LoadPreset("kapla-4x4")));
  Json gemm = nests;
  for (Json& fanout : gemm["fanouts"]) fanout["transfer_pj_per_bit"] = 0;
  Json reducing = nests;
  reducing["fanouts"][1]["may_unroll"] = 4;
  Json shares = nests;
  for (Json& level : shares["levels"]) {
    level["share_input"] = level["share_weight"] = 30;
    level["share_output"] = 40;
  }
  Json systolic = nests;
  for (Json& fanout : systolic["fanouts"]) {
    fanout["forwarding"] = true;
    fanout["multicast"] = false;
  }
  Json cores = plain;
  cores["levels"] = {LevelOf(256, 0.05), LevelOf(256, 0.06), LevelOf(512, 0.07),
                     LevelOf(6000, 0.4), LevelOf(0, 5)};
  for (int i = 0; i < 3; ++i) cores["levels"][i]["may_hold"] = i == 0 ? 4 : i;
  cores["levels"][4]["bytes_per_cycle_numerator"] = 3;
  cores["scratchpad_level"] = 3;
  cores["core_array"] = {{"rows", 2},
                         {"columns", 2},
                         {"vector", 4},
                         {"lane", 2},
                         {"input_level", 1},
                         {"weight_level", 2},
                         {"output_level", 0},
                         {"slice_read_pj_per_bit", 0.1},
                         {"slice_write_pj_per_bit", 0.1}};
  Json able = plain;  // has rows for all operators of the network
  able["ops"] = {{{"op", SLUICE_OP_CONV}}, {{"op", SLUICE_OP_REQUANTIZE}}};
  able["host"] = {{"call_cycles", 5},
                  {"bytes_per_cycle_numerator", 4},
                  {"ops_per_cycle_numerator", 4},
                  {"pj_per_cycle", 1}};
  Json helped = able;  // its host computes REQUANTIZE
  helped["ops"] = {{{"op", SLUICE_OP_CONV}}};
  return {{"plain", plain},       {"array", array},     {"queues", queues},
          {"mesh", mesh},         {"nodes", nodes},     {"nests", nests},
          {"shares", shares},     {"chain", chain},     {"gemm", gemm},
          {"reducing", reducing}, {"limited", limited}, {"systolic", systolic},
          {"cores", cores},       {"able", able},       {"helped", helped}};
}

constexpr Effect kPlan = Effect::kPlan, kMapping = Effect::kMapping,
                 kRefusal = Effect::kRefusal;

// Fields of memories and of levels below the scratchpad.
std::vector<Case> UnitCases() {
  return {
      {"Level.capacity_bytes", "plain", "/levels/0/capacity_bytes", 3000, kPlan},
      {"Level.instances", "gemm", "/levels/0/instances", 16, kRefusal,
       "level 0 has 16 instances"},
      {"Level.read_pj_per_bit", "plain", "/levels/0/read_pj_per_bit", 0.3, kPlan},
      {"Level.write_pj_per_bit", "plain", "/levels/1/write_pj_per_bit", 6, kPlan},
      {"Level.bytes_per_cycle_numerator", "plain",
       "/levels/0/bytes_per_cycle_numerator", 1, kPlan},
      {"Level.bytes_per_cycle_denominator", "plain",
       "/levels/1/bytes_per_cycle_denominator", 2, kPlan},
      {"Level.alignment_bytes", "plain", "/levels/0/alignment_bytes", 512, kPlan},
      {"Level.may_hold", "nests", "/levels/0/may_hold", 3, kMapping},
      {"Level.must_hold", "nests", "/levels/0/must_hold", 7, kMapping},
      {"Level.sliding", "nests", "/levels/0/sliding", true, kMapping},
      {"Level.share_input", "shares", "/levels/0/share_input", 10, kMapping},
      {"Level.share_weight", "shares", "/levels/0/share_weight", 1, kMapping},
      {"Level.share_output", "shares", "/levels/0/share_output", 13, kMapping},
      {"Fanout.level", "nests", "/fanouts/1/level", 0, kMapping},
      {"Fanout.extent", "nests", "/fanouts/1/extent", 16, kMapping},
      {"Fanout.may_unroll", "nests", "/fanouts/1/may_unroll", 24, kMapping},
      {"Fanout.multicast", "nests", "/fanouts/1/multicast", false, kMapping},
      {"Fanout.reduction", "reducing", "/fanouts/1/reduction", false, kMapping},
      {"Fanout.forwarding", "systolic", "/fanouts/1/forwarding", false, kMapping},
      {"Fanout.transfer_pj_per_bit", "nests", "/fanouts/0/transfer_pj_per_bit", 0.2,
       kMapping},
      {"Fanout.forward_pj_per_bit", "systolic", "/fanouts/0/forward_pj_per_bit", 0.2,
       kMapping},
      {"CoreArray.rows", "cores", "/core_array/rows", 4, kRefusal, "core_array has"},
      {"CoreArray.columns", "cores", "/core_array/columns", 4, kRefusal,
       "core_array has"},
      {"CoreArray.vector", "cores", "/core_array/vector", 8, kRefusal,
       "core_array has"},
      {"CoreArray.lane", "cores", "/core_array/lane", 4, kRefusal, "core_array has"},
      {"CoreArray.input_level", "cores", "/core_array/input_level", 0, kRefusal,
       "core_array: level 0"},
      {"CoreArray.weight_level", "cores", "/core_array/weight_level", 1, kRefusal,
       "core_array: level 1"},
      {"CoreArray.output_level", "cores", "/core_array/output_level", 2, kRefusal,
       "core_array: level 2"},
      {"CoreArray.slice_read_pj_per_bit", "cores", "/core_array/slice_read_pj_per_bit",
       0.5, kPlan},
      {"CoreArray.slice_write_pj_per_bit", "cores",
       "/core_array/slice_write_pj_per_bit", 0.5, kPlan},
  };
}

std::vector<Case> MachineCases() {
  return {
      {"Array.k", "array", "/array/k", 11, kPlan},
      {"Array.c", "array", "/array/c", 13, kPlan},
      {"Array.p", "array", "/array/p", 5, kPlan},
      {"Array.crosses_rows", "array", "/array/crosses_rows", true, kPlan},
      {"Array.packs_filter", "array", "/array/packs_filter", true, kPlan},
      {"Array.demands", "array", "/array/demands", 4, kPlan},
      {"Array.fill_cycles", "array", "/array/fill_cycles", 3, kPlan},
      {"Array.drain_cycles", "array", "/array/drain_cycles", 3, kPlan},
      {"Queue.operations", "queues", "/queues/1/operations", 3, kPlan},
      {"Queue.roles", "queues", "/queues/1/roles", 4, kPlan},
      {"Queue.per_node", "nodes", "/queues/0/per_node", false, kPlan},
      {"Queue.latency_cycles", "queues", "/queues/0/latency_cycles", 50, kPlan},
      {"Queue.burst_bytes", "queues", "/queues/0/burst_bytes", 64, kPlan},
      {"Queue.max_row_bytes", "queues", "/queues/0/max_row_bytes", 7, kPlan},
      {"Queue.max_rows", "queues", "/queues/0/max_rows", 2, kPlan},
      {"Queue.max_axes", "queues", "/queues/0/max_axes", 1, kPlan},
      {"Queue.descriptor_cycles", "limited", "/queues/0/descriptor_cycles", 5, kPlan},
      {"OpSupport.op", "able", "/ops/1/op", SLUICE_OP_ADD, kPlan},
      {"OpSupport.arithmetic", "able", "/ops/0/arithmetic", 2, kPlan},
      {"OpSupport.dtypes", "able", "/ops/0/dtypes", 4, kPlan},
      {"OpSupport.requantise", "able", "/ops/1/requantise", 4, kPlan},
      {"OpSupport.zero_points", "able", "/ops/0/zero_points", 0, kPlan},
      {"OpSupport.max_kernel_h", "able", "/ops/0/max_kernel_h", 2, kPlan},
      {"OpSupport.max_kernel_w", "able", "/ops/0/max_kernel_w", 2, kPlan},
      {"OpSupport.max_stride", "able", "/ops/1/max_stride", 1, kRefusal,
       "max_stride cannot be 1"},
      {"OpSupport.max_dilation", "able", "/ops/1/max_dilation", 1, kRefusal,
       "max_dilation cannot be 1"},
      {"Host.call_cycles", "helped", "/host/call_cycles", 77, kPlan},
      {"Host.bytes_per_cycle_numerator", "helped", "/host/bytes_per_cycle_numerator", 1,
       kPlan},
      {"Host.bytes_per_cycle_denominator", "helped",
       "/host/bytes_per_cycle_denominator", 3, kPlan},
      {"Host.ops_per_cycle_numerator", "helped", "/host/ops_per_cycle_numerator", 1,
       kPlan},
      {"Host.ops_per_cycle_denominator", "helped", "/host/ops_per_cycle_denominator", 3,
       kPlan},
      {"Host.pj_per_cycle", "helped", "/host/pj_per_cycle", 2, kPlan},
      {"Host.uses_port", "helped", "/host/uses_port", true, kPlan},
      {"Hardware.ops", "helped", "/ops", nullptr, kPlan},
      {"Hardware.host", "helped", "/host", nullptr, kPlan},
      {"Hardware.version", "plain", "/version", 1, kRefusal, "hardware version 1"},
      {"Hardware.clock_hz", "plain", "/clock_hz", 7, Effect::kFacts},
      {"Hardware.levels", "plain", "/levels", nullptr, kRefusal, "memory levels"},
      {"Hardware.scratchpad_level", "nests", "/scratchpad_level", 0, kPlan},
      {"Hardware.fanouts", "nests", "/fanouts", nullptr, kMapping},
      {"Hardware.macs_per_cycle", "plain", "/macs_per_cycle", 16, kPlan},
      {"Hardware.mac_pj", "plain", "/mac_pj", 0.4, kPlan},
      {"Hardware.vector_ops_per_cycle", "plain", "/vector_ops_per_cycle", 1, kPlan},
      {"Hardware.vector_op_pj", "plain", "/vector_op_pj", 0.3, kPlan},
      {"Hardware.leakage_pj_per_cycle", "plain", "/leakage_pj_per_cycle", 1, kPlan},
      {"Hardware.array", "array", "/array", nullptr, kPlan},
      {"Hardware.dma_latency_cycles", "plain", "/dma_latency_cycles", 20, kPlan},
      {"Hardware.dram_granule_bytes", "plain", "/dram_granule_bytes", 64, kPlan},
      {"Hardware.node_cols", "mesh", "/node_cols", 1, kPlan},
      {"Hardware.node_rows", "mesh", "/node_rows", 1, kPlan},
      {"Hardware.hop_pj_per_bit", "mesh", "/hop_pj_per_bit", 0.7, kPlan},
      {"Hardware.hop_latency_cycles", "chain", "/hop_latency_cycles", 900, kPlan},
      {"Hardware.link_bytes_per_cycle_numerator", "chain",
       "/link_bytes_per_cycle_numerator", 1, kPlan},
      {"Hardware.link_bytes_per_cycle_denominator", "chain",
       "/link_bytes_per_cycle_denominator", 40, kPlan},
      {"Hardware.accumulator_bytes", "plain", "/accumulator_bytes", 2, kRefusal,
       "accumulator_bytes must be 4"},
      {"Hardware.core_array", "cores", "/core_array", nullptr, kPlan},
      {"Hardware.queues", "queues", "/queues", nullptr, kPlan},
  };
}

std::vector<Case> MemoryCases() {
  return {
      {"Memory.regions", "flash", "/memories/0/regions", 6, kPlan},
      {"Memory.read_only", "flash", "/memories/1/read_only", true, kRefusal,
       "read_only memories hold constants alone"},
      {"Memory.capacity_bytes", "flash", "/memories/0/capacity_bytes", 10, kPlan},
      {"Memory.latency_cycles", "flash", "/memories/0/latency_cycles", 50, kPlan},
      {"Memory.bytes_per_cycle_numerator", "flash",
       "/memories/0/bytes_per_cycle_numerator", 1, kPlan},
      {"Memory.bytes_per_cycle_denominator", "flash",
       "/memories/0/bytes_per_cycle_denominator", 3, kPlan},
      {"Memory.read_pj_per_bit", "flash", "/memories/0/read_pj_per_bit", 3, kPlan},
      {"Memory.write_pj_per_bit", "flash", "/memories/1/write_pj_per_bit", 3, kPlan},
      {"Hardware.memories", "flash", "/memories", nullptr, kPlan},
  };
}

std::vector<Case> Cases() {
  std::vector<Case> all = UnitCases();
  for (const Case& c : MemoryCases()) all.push_back(c);
  for (const Case& c : MachineCases()) all.push_back(c);
  return all;
}

// A convolution, a requantisation, a slice of channels (which may be a view), and a
// convolution of the slice.
Bytes Network() {
  const std::vector<int32_t> wide = {1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 0, -5, -128, 127};
  const std::vector<int32_t> point = {1, 1, 1, 1, 0, 0, 0, 0, 1, 3, 0, -5, -128, 127};
  GraphSpec g;
  g.tensors.push_back({{1, 12, 12, 20}, kI8, 1});
  g.tensors.push_back({{24, 3, 3, 20}, kI8, 3, 3});
  g.tensors.push_back({{24, 3}, SLUICE_DTYPE_INT32, 3, 3});
  g.tensors.push_back({{1, 12, 12, 24}, kI8, 0});
  g.tensors.push_back({{1, 12, 12, 24}, kI8, 0});
  g.tensors.push_back({{1, 12, 12, 16}, kI8, 0});
  g.tensors.push_back({{40, 1, 1, 16}, kI8, 3, 3});
  g.tensors.push_back({{40, 3}, SLUICE_DTYPE_INT32, 3, 3});
  g.tensors.push_back({{1, 12, 12, 40}, kI8, 2});
  g.layers.push_back({SLUICE_OP_CONV, {0, 1, 2}, {3}, wide});
  g.layers.push_back({SLUICE_OP_REQUANTIZE, {3}, {4}, {0, 1 << 30, 1, 0, -128, 127}});
  g.layers.push_back({SLUICE_OP_SLICE, {4}, {5}, {0, 0, 0, 8}});
  g.layers.push_back({SLUICE_OP_CONV, {5, 6, 7}, {8}, point});
  return GraphBytes(g);
}

// What planning the network on the machine gives, as text that can be compared.
std::string Outcome(const Json& machine, bool is_chain, Effect effect) {
  std::string error;
  const Bytes bytes = sluice::presets::HardwareFromJson(machine.dump(), &error);
  CHECK_MESSAGE(error.empty(), error);
  if (effect == Effect::kFacts) {
    sluice_hardware_facts_t facts = {};
    facts.struct_size = sizeof facts;
    CHECK(sluice_hardware_describe(bytes.data(), bytes.size(), &facts, nullptr) ==
          SLUICE_OK);
    return std::to_string(facts.clock_hz);
  }
  Library library;
  sluice::zoo::ZooOptions batch;
  batch.batch = 64;
  const GraphPtr graph =
      library.Graph(is_chain ? sluice::zoo::MakeZooGraph("mlp_l", batch) : Network());
  const HardwarePtr hardware = library.Hardware(bytes);
  CHECK_MESSAGE(graph != nullptr, library.diagnostic.message);
  if (hardware == nullptr) return library.diagnostic.message;
  if (effect == Effect::kRefusal) {
    sluice_gemm_mapping_t gemm = {};
    gemm.struct_size = sizeof gemm;
    const sluice_gemm_t extents = {16, 16, 16};
    const sluice_status_t status =
        sluice_map_gemm(library.context.get(), hardware.get(), &extents, nullptr, &gemm,
                        &library.diagnostic);
    return status == SLUICE_OK ? "" : library.diagnostic.message;
  }
  if (effect == Effect::kMapping) {
    const uint32_t layer = 0;
    sluice_map_options_t options = {};
    options.struct_size = sizeof options;
    options.solver = SLUICE_MAP_SEARCH;
    options.energy_exponent = 1;
    options.bypass = 1;
    sluice_layer_mapping_t mapping = {};
    mapping.struct_size = sizeof mapping;
    sluice_mapping_list_t list = {};
    list.struct_size = sizeof list;
    list.count = 1;
    list.layers = &layer;
    list.mappings = &mapping;
    if (sluice_map_layers(library.context.get(), graph.get(), hardware.get(), &options,
                          &list, &library.diagnostic) != SLUICE_OK) {
      return library.diagnostic.message;
    }
    mapping.evaluated = 0;
    return std::string(reinterpret_cast<const char*>(&mapping), sizeof mapping);
  }
  sluice_schedule_options_t options = {};
  options.struct_size = sizeof options;
  options.max_iterations = is_chain ? 0 : 50;
  // Limits on rows and axes of descriptors need transfers of many rows. Fusion has these;
  // default plans mostly move whole tensors, which are dense.
  if (!is_chain) options.solver = SLUICE_SOLVER_FUSION;
  options.delay_exponent = 1;
  options.energy_exponent = is_chain ? 0 : 1;
  sluice_plan_t* made = nullptr;
  (void)sluice_schedule(library.context.get(), graph.get(), hardware.get(), &options,
                        &made, &library.diagnostic);
  const PlanPtr plan(made);
  if (plan == nullptr) return library.diagnostic.message;
  CHECK(library.Verify(graph, hardware, plan) == SLUICE_OK);
  sluice_report_t report = {};
  report.struct_size = sizeof report;
  CHECK(sluice_plan_report(plan.get(), &report) == SLUICE_OK);
  std::memset(report.phase_peak_bytes, 0, sizeof report.phase_peak_bytes);
  const void* stream = nullptr;
  size_t size = 0;
  CHECK(sluice_plan_stream(plan.get(), &stream, &size) == SLUICE_OK);
  constexpr size_t kHeader = sizeof(sluice_stream_header_t);  // has the machine's hash
  return std::string(reinterpret_cast<const char*>(&report), sizeof report) +
         std::string(static_cast<const char*>(stream) + kHeader, size - kHeader);
}

// The fields of the schema as "Table.field".
std::set<std::string> FieldsOfSchema() {
  std::set<std::string> fields;
  for (const auto& file : sluice::presets::Schemas()) {
    for (const reflection::Object* type :
         *reflection::GetSchema(file.data)->objects()) {
      if (type->is_struct()) continue;
      const std::string name = type->name()->str();
      const std::string table = name.substr(name.rfind('.') + 1);
      for (const reflection::Field* field : *type->fields()) {
        fields.insert(table + "." + field->name()->str());
      }
    }
  }
  return fields;
}

TEST_CASE("every field of the schema has a case or is a name") {
  std::set<std::string> covered = kNames;
  for (const Case& c : Cases()) covered.insert(c.field);
  const std::set<std::string> fields = FieldsOfSchema();
  CHECK(fields.size() > 60);
  for (const std::string& field : fields) {
    CHECK_MESSAGE(covered.count(field) == 1, field << " has no case");
  }
  for (const std::string& field : covered) {
    CHECK_MESSAGE(fields.count(field) == 1, field << " is no field");
  }
}

TEST_CASE("every field counts") {
  auto machines = Machines();
  machines["flash"] = WithFlash(machines.at("plain"));
  for (const Case& c : Cases()) {
    INFO(std::string(c.field));
    const Json& before = machines.at(c.machine);
    Json after = before;
    const Json::json_pointer at{std::string(c.pointer)};
    if (c.value.is_null()) {
      after.erase(std::string(c.pointer).substr(1));
    } else {
      after[at] = c.value;
    }
    const bool is_chain = std::string(c.machine) == "chain";
    const std::string first = Outcome(before, is_chain, c.effect);
    const std::string second = Outcome(after, is_chain, c.effect);
    CHECK_MESSAGE(first != second, "no effect: " << second.substr(0, 100));
    if (c.effect != Effect::kRefusal) continue;
    CHECK_MESSAGE(second.find(c.refusal) != std::string::npos, second);
  }
}

}  // namespace
}  // namespace sluice_test
