// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/hardware_files.h"
#include "cli/machine_facts.h"
#include "cli/report.h"
#include "cli/session.h"
#include "sluice/hardware_generated.h"
#include "sluice/presets.h"

namespace sluice::cli {
namespace {

void List(bool json) {
  Json list = Json::array();
  Report report("hardware presets");
  for (uint32_t i = 0; i < sluice_preset_count(); ++i) {
    const char* name = sluice_preset_name(i);
    const HardwareFacts facts = FactsOf(LoadHardware(name));
    list.push_back({{"name", name},
                    {"macs_per_cycle", facts.macs_per_cycle},
                    {"scratchpad_bytes", facts.scratchpad_bytes},
                    {"dram_bytes_per_cycle", facts.dram_bytes_per_cycle},
                    {"clock_hz", facts.clock_hz}});
    report.Line(name, Grouped(facts.macs_per_cycle) + " MAC/cycle",
                BytesText(facts.scratchpad_bytes) + " scratchpad, DRAM " +
                    Fixed(facts.dram_bytes_per_cycle, 0) + " B/cycle, " +
                    Fixed(static_cast<double>(facts.clock_hz) / 1e6, 0) + " MHz");
  }
  if (json) {
    std::cout << JsonText(Json({{"hardware", list}}), 1) << "\n";
  } else {
    std::cout << report.Text();
  }
}

// Names of the bits that are set.
std::string BitsText(uint32_t bits, std::initializer_list<const char*> names,
                     uint32_t all) {
  if (bits == all) return "all";
  std::string text;
  uint32_t bit = 1;
  for (const char* name : names) {
    if ((bits & bit) != 0) text += (text.empty() ? "" : " ") + std::string(name);
    bit <<= 1;
  }
  return text;
}

std::string OperationsText(uint32_t bits) {
  return BitsText(bits, {"load", "store", "forward", "compute", "host"}, 0);
}

std::string RolesText(uint32_t bits) {
  return BitsText(bits, {"input", "weight", "output", "partial sum", "parameters"},
                  SLUICE_ROLES);
}

const char* CostsText(uint32_t from) {
  switch (from) {
    case SLUICE_COSTS_FROM_CORES:
      return "core_array";
    case SLUICE_COSTS_FROM_NESTS:
      return "loop nests below the scratchpad";
    case SLUICE_COSTS_FROM_ARRAY:
      return "passes of the array";
    default:
      return "macs_per_cycle alone";
  }
}

double Rate(uint64_t numerator, uint64_t denominator) {
  return static_cast<double>(numerator) / static_cast<double>(denominator);
}

Json LevelsAsJson(const wire::Hardware& machine) {
  Json levels = Json::array();
  for (uint32_t i = 0; i < machine.levels()->size(); ++i) {
    const wire::Level& l = *machine.levels()->Get(i);
    levels.push_back({{"name", l.name() == nullptr ? "" : l.name()->str()},
                      {"capacity_bytes", l.capacity_bytes()},
                      {"instances", l.instances()},
                      {"alignment_bytes", l.alignment_bytes()},
                      {"bytes_per_cycle", Rate(l.bytes_per_cycle_numerator(),
                                               l.bytes_per_cycle_denominator())},
                      {"scratchpad", i == machine.scratchpad_level()}});
  }
  return levels;
}

// What the regions of a memory hold.
std::string RegionsText(uint32_t regions) {
  static const char* const kNames[] = {"",        "constants", "inputs",
                                       "outputs", "states",    "workspace"};
  std::string text;
  for (uint32_t r = SLUICE_REGION_CONST; r < SLUICE_REGION_COUNT; ++r) {
    if ((regions >> r & 1) == 0) continue;
    text += (text.empty() ? "" : ", ") + std::string(kNames[r]);
  }
  return text;
}

// Memories off chip beside the last level.
Json OffChipAsJson(const wire::Hardware& machine) {
  Json memories = Json::array();
  if (machine.memories() == nullptr) return memories;
  for (const wire::Memory* m : *machine.memories()) {
    memories.push_back({{"name", m->name() == nullptr ? "" : m->name()->str()},
                        {"holds", RegionsText(m->regions())},
                        {"read_only", m->read_only()},
                        {"capacity_bytes", m->capacity_bytes()},
                        {"latency_cycles", m->latency_cycles()},
                        {"bytes_per_cycle", Rate(m->bytes_per_cycle_numerator(),
                                                 m->bytes_per_cycle_denominator())}});
  }
  return memories;
}

Json QueueAsJson(const wire::Queue& q) {
  return {{"name", q.name() == nullptr ? "" : q.name()->str()},
          {"operations", OperationsText(q.operations())},
          {"roles", RolesText(q.roles())},
          {"per_node", q.per_node()},
          {"latency_cycles", q.latency_cycles()},
          {"burst_bytes", q.burst_bytes()},
          {"max_row_bytes", q.max_row_bytes()},
          {"max_rows", q.max_rows()},
          {"max_axes", q.max_axes()},
          {"descriptor_cycles", q.descriptor_cycles()}};
}

// The descriptor's queues; without any, the default queue.
Json QueuesAsJson(const wire::Hardware& machine) {
  Json queues = Json::array();
  if (machine.queues() == nullptr) {
    flatbuffers::FlatBufferBuilder flat;
    wire::QueueBuilder queue(flat);
    queue.add_latency_cycles(machine.dma_latency_cycles());
    flat.Finish(queue.Finish());
    queues.push_back(
        QueueAsJson(*flatbuffers::GetRoot<wire::Queue>(flat.GetBufferPointer())));
    return queues;
  }
  for (const wire::Queue* queue : *machine.queues()) {
    queues.push_back(QueueAsJson(*queue));
  }
  return queues;
}

Json EnginesAsJson(const std::vector<sluice_engine_t>& engines) {
  Json list = Json::array();
  for (const sluice_engine_t& e : engines) {
    Json engine = {{"operations", OperationsText(e.does)},
                   {"roles", RolesText(e.roles)}};
    engine["node"] = e.node == SLUICE_ALL_NODES ? Json(nullptr) : Json(e.node);
    engine["queue"] = e.queue == SLUICE_NO_QUEUE ? Json(nullptr) : Json(e.queue);
    list.push_back(engine);
  }
  return list;
}

Json ArrayAsJson(const wire::Hardware& machine) {
  const wire::Array* a = machine.array();
  if (a == nullptr) return nullptr;
  return {{"k", a->k()},
          {"c", a->c()},
          {"p", a->p()},
          {"crosses_rows", a->crosses_rows()},
          {"packs_filter", a->packs_filter()},
          {"demands", BitsText(a->demands(), {"k", "c", "p"}, 8)},
          {"fill_cycles", a->fill_cycles()},
          {"drain_cycles", a->drain_cycles()}};
}

std::string Word(const Json& object, const char* key) {
  return object.at(key).get<std::string>();
}

Json CoresAsJson(const wire::Hardware& machine) {
  const wire::CoreArray* c = machine.core_array();
  if (c == nullptr) return nullptr;
  return {{"rows", c->rows()},
          {"columns", c->columns()},
          {"lane", c->lane()},
          {"vector", c->vector()}};
}

std::string LevelText(const Json& level) {
  const uint64_t bytes = level["capacity_bytes"];
  const double rate = level["bytes_per_cycle"];
  return (bytes == 0 ? std::string("unbounded") : BytesText(bytes)) + ", " +
         (rate == 0 ? std::string("any") : Fixed(rate, 1)) + " B/cycle";
}

// "128-byte rows, 16 rows, 3 axes".
std::string LimitsText(const Json& q) {
  std::string text;
  const auto add = [&](const char* key, const char* before, const char* behind) {
    const uint64_t value = q[key];
    if (value == 0) return;
    text += (text.empty() ? "" : ", ") + std::string(before) + Grouped(value) + behind;
  };
  add("max_row_bytes", "rows of at most ", " B");
  add("max_rows", "at most ", " rows");
  add("max_axes", "at most ", " axes");
  add("descriptor_cycles", "", " cycles per further descriptor");
  if (q["burst_bytes"] != 1) add("burst_bytes", "bursts of ", " B");
  return text;
}

void PrintCheck(const Json& check) {
  Report report(Word(check, "name") + " as it is understood");
  report.Line("nodes", Grouped(check["nodes"]));
  for (const Json& level : check["memories"]) {
    const uint64_t instances = level["instances"];
    report.Line(
        level["name"], LevelText(level),
        std::string(level["scratchpad"] ? "the scratchpad, " : "") +
            (instances == 1 ? std::string() : Grouped(instances) + " of them, ") +
            "aligned to " + Grouped(level["alignment_bytes"]));
  }
  for (const Json& m : check["off_chip"]) {
    const std::string name = Word(m, "name");
    const uint64_t capacity = m["capacity_bytes"], latency = m["latency_cycles"];
    report.Line(name.empty() ? "memory" : name,
                (capacity == 0 ? "unbounded" : BytesText(capacity)) + ", " +
                    Fixed(m["bytes_per_cycle"], 2) + " B/cycle",
                (m["read_only"] ? "off chip, read only: " : "off chip: ") +
                    Word(m, "holds") +
                    (latency == 0 ? "" : "; latency " + Grouped(latency)));
  }
  for (const Json& q : check["queues"]) {
    const std::string name = Word(q, "name");
    report.Line(name.empty() ? "queue" : "queue " + name,
                Word(q, "operations") + (q["per_node"] ? ", per node" : "") +
                    ", latency " + Grouped(q["latency_cycles"]),
                "roles: " + Word(q, "roles") +
                    (LimitsText(q).empty() ? "" : "; " + LimitsText(q)));
  }
  report.Line("engines", Grouped(check["engines"].size()),
              "queues, host, and what each node has of its own");
  report.Line("peak", Grouped(check["macs_per_cycle"]) + " MAC/cycle",
              Grouped(check["vector_ops_per_cycle"]) + " vector operations");
  const uint64_t units = check["fanout_units"];
  if (units != 0) report.Line("fanouts", Grouped(units) + " units", "of a node");
  if (!check["array"].is_null()) {
    const Json& a = check["array"];
    const std::string demands = Word(a, "demands");
    report.Line(
        "array",
        Grouped(a["k"]) + " k x " + Grouped(a["c"]) + " c x " + Grouped(a["p"]) + " p",
        demands.empty() ? std::string() : "demands " + demands);
  }
  if (!check["core_array"].is_null()) {
    const Json& c = check["core_array"];
    report.Line("core array", Grouped(c["rows"]) + " x " + Grouped(c["columns"]) +
                                  " cores of " + Grouped(c["lane"]) + " lanes x " +
                                  Grouped(c["vector"]));
  }
  report.Line("cycles of a tile", "from " + Word(check, "costs_from"));
  report.Line(
      "DRAM", Fixed(check["dram_bytes_per_cycle"], 2) + " B/cycle",
      Fixed(check["scratchpad_fill_cycles"], 0) + " cycles to fill the scratchpad");
  report.Line("balance", Fixed(check["macs_per_dram_byte"], 1) + " MAC/byte",
              "with fewer of them, DRAM is the limit");
  std::cout << report.Text();
  for (const Json& doubt : check["warnings"]) {
    std::cout << "warning: " << doubt.get<std::string>() << "\n";
  }
}

void Check(const HardwareCommand& command) {
  const Bytes bytes = LoadHardware(command.name);
  Session session(0);
  session.LoadHardware(bytes);
  const wire::Hardware& machine = *wire::GetHardware(bytes.data());
  const sluice_machine_facts_t facts = MachineOf(session);
  const Json check = {{"name", machine.name() == nullptr ? "" : machine.name()->str()},
                      {"nodes", facts.nodes},
                      {"memories", LevelsAsJson(machine)},
                      {"off_chip", OffChipAsJson(machine)},
                      {"queues", QueuesAsJson(machine)},
                      {"engines", EnginesAsJson(EnginesOf(session))},
                      {"macs_per_cycle", facts.macs_per_cycle},
                      {"vector_ops_per_cycle", facts.vector_ops_per_cycle},
                      {"fanout_units", facts.fanout_units},
                      {"array", ArrayAsJson(machine)},
                      {"core_array", CoresAsJson(machine)},
                      {"array_places", facts.array_places},
                      {"costs_from", CostsText(facts.costs_from)},
                      {"dram_bytes_per_cycle", facts.dram_bytes_per_cycle},
                      {"scratchpad_fill_cycles", facts.scratchpad_fill_cycles},
                      {"macs_per_dram_byte", facts.macs_per_dram_byte},
                      {"warnings", MachineDoubts(session)}};
  if (command.json) {
    std::cout << JsonText(check, 1) << "\n";
  } else {
    PrintCheck(check);
  }
}

}  // namespace

void Run(const HardwareCommand& command) {
  if (command.check) return Check(command);
  if (command.list) return List(command.json);
  if (command.name.empty()) {
    throw Failure(kUsage, "name a preset or a descriptor file, or use --list");
  }
  const Bytes bytes = LoadHardware(command.name);
  Session session(0);
  session.LoadHardware(bytes);  // throws if the descriptor is wrong
  if (!command.output.empty()) {
    WriteFile(command.output, bytes.data(), bytes.size());
    return;
  }
  std::cout << HardwareAsJson(bytes);
}

}  // namespace sluice::cli
