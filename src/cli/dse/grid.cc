// SPDX-License-Identifier: Apache-2.0
#include "cli/dse/grid.h"

#include <algorithm>

#include "cli/failure.h"
#include "cli/hardware_files.h"
#include "cli/models.h"
#include "cli/quantities.h"
#include "cli/report.h"
#include "cli/solvers.h"

namespace sluice::cli {

const char kGridHelp[] =
    R"(GRID.json is one object; only "networks" and "hardware" must be there:
  { "networks": ["resnet50", "model.slg"],      zoo names or graph files
    "batch": [1, 4],                            of zoo networks
    "hardware": ["soma-edge"],                  presets or files
    "dram_bytes_per_cycle": [4, 8, "25/2"],
    "buffer_bytes": ["4M", {"bytes": "8M", "read_pj_per_bit": 0.19,
                            "write_pj_per_bit": 0.21}],
    "set": {"macs_per_cycle": [4096, 8192], "DRAM.read_pj_per_bit": [4, 10.5]},
    "solver": "default", "objective": "edp", "iterations": 0, "deadline": "0ms",
    "seed": 0, "seq": 0, "context": 0, "blocks": 0 }
Every combination is one row of the CSV file, appended as soon as it is there. Started
again, what the file holds is not computed again; a half-written last line is dropped.)";

namespace {

[[noreturn]] void Fail(const std::string& text) {
  throw Failure(kBadInput, "grid: " + text);
}

std::string TextOf(const Json& value) {
  return value.is_string() ? value.get<std::string>() : JsonText(value);
}

// One value, or a list of them.
std::vector<Json> ListOf(const Json& grid, const char* key) {
  std::vector<Json> list;
  if (!grid.contains(key)) return list;
  const Json& value = grid[key];
  if (value.is_array()) {
    for (const Json& item : value) list.push_back(item);
  } else {
    list.push_back(value);
  }
  if (list.empty()) {
    Fail(std::string("\"") + key +
         "\" is an empty list; a value or several would be right");
  }
  return list;
}

// "a, b, c".
std::string Listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

uint64_t CountOf(const Json& value, const std::string& key, uint64_t least,
                 uint64_t most) {
  if (!value.is_number_unsigned() || value.get<uint64_t>() < least ||
      value.get<uint64_t>() > most) {
    Fail(key + " " + JsonText(value) + " is no whole number from " +
         std::to_string(least) + " to " + std::to_string(most));
  }
  return value.get<uint64_t>();
}

uint64_t BytesOf(const Json& value) {
  uint64_t bytes = 0;
  if (!ParseBytes(TextOf(value), &bytes) || bytes == 0) {
    Fail("buffer_bytes " + JsonText(value) +
         " is no size; a whole number above 0, or a text like \"64K\" (K, M, G), would "
         "be "
         "right");
  }
  return bytes;
}

// One change of a descriptor: a field of the machine ("macs_per_cycle") or of a level
// ("DRAM.read_pj_per_bit").
struct Change {
  std::string field;
  Json value;
};

struct Choice {  // one value of one axis
  std::string text;
  std::vector<Change> changes;
};

Json* LevelOf(Json* hardware, const std::string& name) {
  for (Json& level : (*hardware)["levels"]) {
    if (level["name"] == name) return &level;
  }
  return nullptr;
}

std::vector<std::string> LevelNames(const Json& hardware) {
  std::vector<std::string> names;
  for (const Json& level : hardware["levels"]) names.push_back(level["name"]);
  return names;
}

std::vector<std::string> NumbersOf(const Json& table) {
  std::vector<std::string> names;
  for (const auto& [field, value] : table.items()) {
    if (value.is_number()) names.push_back(field);
  }
  return names;
}

void Apply(const Change& change, Json* hardware) {
  const size_t dot = change.field.find('.');
  Json* table = hardware;
  std::string field = change.field;
  if (dot != std::string::npos) {
    const std::string level = change.field.substr(0, dot);
    table = LevelOf(hardware, level);
    if (table == nullptr) {
      Fail(field + ": the machine has no level " + level + "; it has " +
           Listed(LevelNames(*hardware)));
    }
    field = change.field.substr(dot + 1);
  }
  if (!table->contains(field) || !(*table)[field].is_number()) {
    Fail("the machine has no number " + change.field + "; there are " +
         Listed(NumbersOf(*table)) +
         (dot == std::string::npos
              ? ", and those of levels, as " + LevelNames(*hardware).back() +
                    ".read_pj_per_bit"
              : ""));
  }
  if (!change.value.is_number()) {
    Fail(change.field + " " + JsonText(change.value) + " is no number");
  }
  (*table)[field] = change.value;
}

std::string ScratchpadOf(const Json& hardware) {
  return hardware["levels"][hardware["scratchpad_level"].get<size_t>()]["name"];
}

std::vector<Choice> Bandwidths(const Json& grid, const Json& hardware) {
  const std::string dram = hardware["levels"].back()["name"];
  std::vector<Choice> choices;
  for (const Json& value : ListOf(grid, "dram_bytes_per_cycle")) {
    const std::string text = TextOf(value);
    uint64_t numerator = 0, denominator = 1;
    const size_t slash = text.find('/');
    if (!ParseBytes(text.substr(0, slash), &numerator) || numerator == 0 ||
        (slash != std::string::npos &&
         (!ParseBytes(text.substr(slash + 1), &denominator) || denominator == 0))) {
      Fail("dram_bytes_per_cycle " + JsonText(value) +
           " is neither a whole number above 0 nor a fraction like \"25/2\"");
    }
    choices.push_back({text,
                       {{dram + ".bytes_per_cycle_numerator", numerator},
                        {dram + ".bytes_per_cycle_denominator", denominator}}});
  }
  return choices;
}

std::vector<Choice> Buffers(const Json& grid, const Json& hardware) {
  const std::string level = ScratchpadOf(hardware);
  std::vector<Choice> choices;
  for (const Json& value : ListOf(grid, "buffer_bytes")) {
    if (!value.is_object()) {
      const uint64_t bytes = BytesOf(value);
      choices.push_back({std::to_string(bytes), {{level + ".capacity_bytes", bytes}}});
      continue;
    }
    if (!value.contains("bytes")) {
      Fail("buffer_bytes " + JsonText(value) +
           " has no \"bytes\"; {\"bytes\": 65536, \"read_pj_per_bit\": 0.1} would be "
           "right");
    }
    const uint64_t bytes = BytesOf(value["bytes"]);
    Choice choice = {std::to_string(bytes), {{level + ".capacity_bytes", bytes}}};
    for (const auto& [field, number] : value.items()) {
      if (field != "bytes") choice.changes.push_back({level + "." + field, number});
    }
    choices.push_back(choice);
  }
  return choices;
}

// All combinations of "set".
std::vector<Choice> Sets(const Json& grid) {
  std::vector<Choice> choices = {{"", {}}};
  if (!grid.contains("set")) return choices;
  if (!grid["set"].is_object()) {
    Fail("\"set\" " + JsonText(grid["set"]) +
         " is no object of fields; {\"macs_per_cycle\": [256, 512]} would be right");
  }
  for (const auto& [field, unused] : grid["set"].items()) {
    std::vector<Choice> more;
    for (const Choice& choice : choices) {
      for (const Json& value : ListOf(grid["set"], field.c_str())) {
        Choice next = choice;
        next.text += (next.text.empty() ? "" : ";") + field + "=" + JsonText(value);
        next.changes.push_back({field, value});
        more.push_back(next);
      }
    }
    choices = more;
  }
  return choices;
}

// Names a machine or network in the table: built-in ones by name alone, files also by a
// hash of their content, so that a changed file counts as another one.
std::string Identity(const std::string& name, bool builtin, const Bytes& bytes) {
  if (builtin) return name;
  uint64_t hash = 0xcbf29ce484222325u;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
  return name + "#" + Hex64(hash);
}

struct Network {
  std::string name, identity;
  std::vector<int32_t> batches;
};

std::vector<Network> Networks(const Json& grid) {
  std::vector<int32_t> batches;
  for (const Json& batch : ListOf(grid, "batch")) {
    batches.push_back(static_cast<int32_t>(CountOf(batch, "batch", 1, 4096)));
  }
  if (batches.empty()) batches.push_back(1);
  std::vector<Network> networks;
  for (const Json& value : ListOf(grid, "networks")) {
    const std::string name = TextOf(value);
    if (IsZooName(name)) {
      networks.push_back({name, name, batches});
      continue;
    }
    if (FileExtension(name).empty()) {
      Fail("no network is called " + name +
           "; sluice zoo --list names them, and a file's name has an ending");
    }
    networks.push_back({name, Identity(name, false, ReadGraph(name, "dse")), {1}});
  }
  return networks;
}

void CheckKeys(const Json& grid) {
  static const char* const known[] = {
      "networks",     "batch",    "hardware", "dram_bytes_per_cycle",
      "buffer_bytes", "set",      "solver",   "objective",
      "iterations",   "deadline", "seed",     "seq",
      "context",      "blocks"};
  for (const auto& [key, unused] : grid.items()) {
    if (std::none_of(std::begin(known), std::end(known),
                     [&key = key](const char* k) { return key == k; })) {
      Fail("there is no key \"" + key + "\"; there are " +
           Listed({std::begin(known), std::end(known)}));
    }
  }
  for (const char* key : {"networks", "hardware"}) {
    if (!grid.contains(key)) {
      Fail(std::string("\"") + key + "\" is missing; " +
           (key == std::string("networks")
                ? "names of the zoo (sluice zoo --list) or files would be right"
                : "presets (sluice hw --list) or files would be right"));
    }
  }
}

std::string Scalar(const Json& grid, const char* key, const std::string& other) {
  return grid.contains(key) ? TextOf(grid[key]) : other;
}

void ReadOptions(const Json& grid, Grid* out) {
  const auto shown = [&](const char* key) { return JsonText(grid[key]); };
  const std::string solver = Scalar(grid, "solver", "default");
  if (!FindSolver(solver, &out->solver)) {
    Fail("solver " + shown("solver") + " is none of " + Listed(SolverNames()));
  }
  const std::string objective = Scalar(grid, "objective", "edp");
  if (objective != "edp" && objective != "latency" && objective != "energy") {
    Fail("objective " + shown("objective") + " is none of edp, latency, energy");
  }
  out->energy_exponent = objective == "latency" ? 0 : 1;
  out->delay_exponent = objective == "energy" ? 0 : 1;
  const std::string deadline = Scalar(grid, "deadline", "0ms");
  if (!ParseDuration(deadline, &out->deadline_ns)) {
    Fail("deadline " + shown("deadline") +
         " is no time; a number with its unit, as \"50ms\" or "
         "\"2s\", would be right");
  }
  const auto count = [&](const char* key, uint64_t most) {
    return grid.contains(key) ? CountOf(grid[key], key, 0, most) : 0;
  };
  out->iterations = count("iterations", uint64_t{1} << 60);
  out->seed = count("seed", ~uint64_t{0});
  out->seq = static_cast<int32_t>(count("seq", 1 << 20));
  out->context = static_cast<int32_t>(count("context", 1 << 20));
  out->blocks = static_cast<int32_t>(count("blocks", 1 << 20));
}

// One descriptor with its changes made; its index in Grid::hardware.
size_t AddHardware(Json hardware, const std::vector<const Choice*>& choices,
                   Grid* grid) {
  for (const Choice* choice : choices) {
    if (choice == nullptr) continue;
    for (const Change& change : choice->changes) Apply(change, &hardware);
  }
  try {
    grid->hardware.push_back(HardwareFromJson(JsonText(hardware)));
  } catch (const Failure& failure) {  // its line is not one of the user's file
    const std::string why = failure.what();
    Fail(why.substr(0, why.rfind(" (line")));
  }
  return grid->hardware.size() - 1;
}

struct Machine {
  std::string identity, set, buffer, bandwidth;
  std::string panel;  // `set` values that do not belong to the buffer
  size_t hardware;
};

// The choices of an axis, or a single entry that leaves the machine unchanged.
std::vector<const Choice*> AxisOf(const std::vector<Choice>& choices) {
  std::vector<const Choice*> axis;
  for (const Choice& choice : choices) axis.push_back(&choice);
  if (axis.empty()) axis.push_back(nullptr);
  return axis;
}

std::vector<Machine> Machines(const Json& json, Grid* grid) {
  std::vector<Machine> machines;
  for (const Json& value : ListOf(json, "hardware")) {
    const std::string name = TextOf(value);
    const Bytes bytes = LoadHardware(name);
    const bool builtin =
        FileExtension(name).empty() && name.find('/') == std::string::npos;
    const Json base = Json::parse(HardwareAsJson(bytes));
    const std::vector<Choice> sets = Sets(json), buffers = Buffers(json, base),
                              bandwidths = Bandwidths(json, base);
    const HardwareFacts facts = FactsOf(bytes);
    for (const Choice& set : sets) {
      for (const Choice* buffer : AxisOf(buffers)) {
        for (const Choice* bandwidth : AxisOf(bandwidths)) {
          Machine m;
          m.identity = Identity(name, builtin, bytes);
          m.set = m.panel = set.text;
          m.buffer =
              buffer != nullptr ? buffer->text : std::to_string(facts.scratchpad_bytes);
          m.bandwidth = bandwidth != nullptr
                            ? bandwidth->text
                            : JsonText(Json(facts.dram_bytes_per_cycle));
          // Further fields that a buffer's entry changes belong to the machine's name,
          // too.
          for (size_t i = 1; buffer != nullptr && i < buffer->changes.size(); ++i) {
            const Change& change = buffer->changes[i];
            m.set += (m.set.empty() ? "" : ";") + change.field + "=" +
                     JsonText(change.value);
          }
          m.hardware = AddHardware(base, {&set, buffer, bandwidth}, grid);
          machines.push_back(m);
        }
      }
    }
  }
  return machines;
}

void AddOnce(const std::string& text, std::vector<std::string>* list) {
  if (std::find(list->begin(), list->end(), text) == list->end()) list->push_back(text);
}

}  // namespace

Grid ParseGrid(const std::string& text, const std::string& version) {
  const Json json = ParseJson(text);
  if (json.is_discarded() || !json.is_object())
    Fail(
        "this is no JSON object, or it nests too deeply; `sluice dse --help` shows "
        "one");
  CheckKeys(json);
  Grid grid;
  ReadOptions(json, &grid);
  grid.x_title = "DRAM bytes per cycle";
  grid.y_title = "buffer";
  const std::vector<Machine> machines = Machines(json, &grid);
  const auto number = [](uint64_t n) { return std::to_string(n); };
  for (const Network& network : Networks(json)) {
    for (const int32_t batch : network.batches) {
      for (const Machine& m : machines) {
        GridPoint point;
        point.network = network.name;
        point.batch = batch;
        point.hardware = m.hardware;
        point.key = {{"network", network.identity},
                     {"batch", number(static_cast<uint64_t>(batch))},
                     {"hardware", m.identity},
                     {"set", m.set},
                     {"buffer_bytes", m.buffer},
                     {"dram_bytes_per_cycle", m.bandwidth},
                     {"solver", Scalar(json, "solver", "default")},
                     {"objective", Scalar(json, "objective", "edp")},
                     {"iterations", number(grid.iterations)},
                     {"deadline_ns", number(grid.deadline_ns)},
                     {"seed", number(grid.seed)},
                     {"seq", number(static_cast<uint64_t>(grid.seq))},
                     {"context", number(static_cast<uint64_t>(grid.context))},
                     {"blocks", number(static_cast<uint64_t>(grid.blocks))},
                     {"version", version}};
        point.panel = network.name + ", batch " + std::to_string(batch) + ", " +
                      m.identity.substr(0, m.identity.find('#')) +
                      (m.panel.empty() ? "" : ", " + m.panel);
        point.x = m.bandwidth;
        point.y = BytesText(std::stoull(m.buffer));
        AddOnce(point.x, &grid.x);
        AddOnce(point.y, &grid.y);
        grid.points.push_back(point);
      }
    }
  }
  return grid;
}

}  // namespace sluice::cli
