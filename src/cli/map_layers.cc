// SPDX-License-Identifier: Apache-2.0
#include "cli/map_layers.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>

#include "cli/failure.h"
#include "cli/graph_names.h"
#include "cli/hardware_files.h"
#include "cli/interruption.h"
#include "cli/mappings.h"
#include "cli/progress_line.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/timeloop_layer.h"
#include "cli/timeloop_mapping.h"
#include "sluice/build.h"
#include "sluice/hardware_generated.h"

namespace sluice::cli {
namespace {

constexpr char kDims[] = "NKCPQRSG";
constexpr const char* kOperands[3] = {"input", "weight", "output"};

uint32_t SolverOf(const std::string& name) {
  const char* const names[] = {"best", "exact", "greedy", "cosa", "search", "kapla"};
  for (uint32_t i = 0; i < 6; ++i) {
    if (name == names[i]) return i;
  }
  return SLUICE_MAP_BEST;
}

void ReadTop(const std::string& text, sluice_map_options_t* options) {
  const size_t dim = text.empty() ? 8 : std::string(kDims).find(text[0]);
  char* end = nullptr;
  const long long value =
      text.size() > 2 && text[1] == '=' ? std::strtoll(text.c_str() + 2, &end, 10) : 0;
  if (dim >= 8 || end == nullptr || *end != '\0' || value < 1) {
    throw Failure(kUsage, "--top takes DIM=EXTENT with DIM of NKCPQRSG, not " + text);
  }
  options->top_tile[dim] = value;
}

sluice_map_options_t OptionsOf(const MapCommand& command) {
  sluice_map_options_t options = {};
  options.struct_size = sizeof options;
  options.solver = SolverOf(command.solver);
  const bool edp = command.objective == "edp";
  if (command.tile.empty() || command.objective != "energy") {
    options.energy_exponent = command.objective == "latency" ? 0 : 1;
    options.delay_exponent = edp || command.objective == "latency" ? 1 : 0;
  }
  options.bypass = command.bypass;
  options.wide = command.wide;
  options.row_stationary = command.row_stationary;
  options.tile_only = !command.tile.empty();
  for (size_t i = 0; i < command.tile.size(); ++i) {
    (i < 4 ? options.tile[i] : options.tile_channels) = command.tile[i];
  }
  for (const std::string& operand : command.resident) {
    for (uint32_t v = 0; v < 3; ++v) {
      if (operand == kOperands[v]) options.resident |= 1u << v;
    }
  }
  for (const std::string& top : command.top) ReadTop(top, &options);
  if (command.weights.size() == 3) {
    options.cosa_utilisation = command.weights[0];
    options.cosa_compute = command.weights[1];
    options.cosa_traffic = command.weights[2];
  }
  options.cosa_balance = command.balance;
  // A check may take longer than the solve, which all layers of a network add up.
  options.certify = command.layer == "all" ? 0 : 1;
  options.cancel = Interruption::word();
  return options;
}

std::vector<uint32_t> LayersOf(const MapCommand& command,
                               const std::vector<std::string>& names) {
  std::vector<uint32_t> layers;
  for (uint32_t l = 0; l < names.size(); ++l) {
    if (command.layer == "all" || command.layer == names[l]) layers.push_back(l);
  }
  const bool number = layers.empty() && !command.layer.empty() &&
                      command.layer.size() < 9 &&
                      std::all_of(command.layer.begin(), command.layer.end(),
                                  [](char c) { return c >= '0' && c <= '9'; });
  if (number) {
    const uint32_t l = static_cast<uint32_t>(std::stoul(command.layer));
    if (l < names.size()) layers.push_back(l);
  }
  if (command.layer.empty()) {
    throw Failure(kUsage, "map GRAPH needs --layer NAME, a number, or all");
  }
  if (layers.empty()) {
    throw Failure(kBadInput, "the graph has no layer " + command.layer + " among its " +
                                 std::to_string(names.size()));
  }
  return layers;
}

// Names of the memory levels of the mapping.
std::vector<std::string> LevelNames(const Bytes& hardware) {
  std::vector<std::string> names;
  const wire::Hardware* h = wire::GetHardware(hardware.data());  // the library checked
  for (uint32_t l = 0; l < h->levels()->size(); ++l) {
    const auto* name = h->levels()->Get(l)->name();
    names.push_back(name != nullptr ? name->str() : "level " + std::to_string(l));
  }
  return names;
}

Json DimsJson(const int64_t value[8], bool all) {
  Json json = Json::object();
  for (int d = 0; d < 8; ++d) {
    if (all || value[d] > 1) json[std::string(1, kDims[d])] = value[d];
  }
  return json;
}

Json OperandsJson(const int64_t value[3]) {
  return {{"input", value[0]}, {"weight", value[1]}, {"output", value[2]}};
}

Json LevelsJson(const sluice_layer_mapping_t& m,
                const std::vector<std::string>& names) {
  Json levels = Json::array();
  for (uint32_t l = 0; l < m.levels; ++l) {
    Json spatial = Json::array();
    for (const auto& axis : m.spatial[l]) {
      const Json dims = DimsJson(axis, false);
      if (!dims.empty()) spatial.push_back(dims);
    }
    std::string order;
    for (int i = 7; i >= 0; --i) {  // outermost first
      if (m.temporal[l][m.order[l][i]] > 1) order += kDims[m.order[l][i]];
    }
    Json holds = Json::array();
    for (uint32_t v = 0; v < 3; ++v) {
      if ((m.hold[l] >> v & 1) != 0) holds.push_back(kOperands[v]);
    }
    levels.push_back({{"name", names[l]},
                      {"temporal", DimsJson(m.temporal[l], false)},
                      {"order", order},
                      {"spatial", spatial},
                      {"holds", holds},
                      {"reads", OperandsJson(m.reads[l])},
                      {"writes", OperandsJson(m.writes[l])},
                      {"energy_pj", m.level_pj[l]},
                      {"cycles", m.level_cycles[l]}});
  }
  return levels;
}

Json AsJson(const sluice_layer_mapping_t& m, const std::string& name,
            const std::vector<std::string>& names, const std::string& directives) {
  Json json = {{"layer", name}, {"status", sluice_status_name(m.status)}};
  json["extents"] = DimsJson(m.extent, true);
  json["energy_pj"] = m.energy_pj;
  json["energy_pj_per_mac"] = m.energy_pj / static_cast<double>(m.operations);
  json["cycles"] = m.cycles;
  json["compute_cycles"] = m.compute_cycles;
  json["edp_pj_cycles"] = m.energy_pj * static_cast<double>(m.cycles);
  json["macs"] = m.operations;
  json["utilisation"] = m.utilisation;
  json["operations_pj"] = m.operations_pj;
  json["transfer_pj"] = m.transfer_pj;
  json["leakage_pj"] = m.leakage_pj;
  json["levels"] = LevelsJson(m, names);
  json["directives"] = directives;
  json["objective"] = m.objective;
  json["bound"] = m.bound;
  json["gap"] = m.proved != 0 || m.objective <= 0 ? 0 : 1 - m.bound / m.objective;
  json["proved"] = m.proved != 0;
  json["evaluated"] = m.evaluated;
  if (m.certificate == SLUICE_CERTIFICATE_NONE) {
    json["certificate_ok"] = nullptr;
  } else {
    json["certificate_ok"] = m.certificate == SLUICE_CERTIFICATE_ACCEPTED;
    json["certified_bound"] = m.certified_bound;
    json["certified_uneven"] = m.certified_uneven != 0;
  }
  return json;
}

// What separate code has checked.
std::string CertificateText(const sluice_layer_mapping_t& m) {
  if (m.certificate == SLUICE_CERTIFICATE_REJECTED) return "REJECTED";
  const double least =
      m.objective > 0 ? 100 * (1 - m.certified_bound / m.objective) : 0;
  const std::string which =
      m.certified_uneven != 0 ? "no nest" : "no nest whose factors divide";
  return "accepted: " + which + " is better" +
         (least > 1e-9 ? " by more than " + Fixed(least, 2) + " %" : "");
}

void Print(const sluice_layer_mapping_t& m, const std::string& name,
           const std::string& hardware, const std::vector<std::string>& names,
           const std::string& directives) {
  std::string dims;
  for (int d = 0; d < 8; ++d) {
    if (m.extent[d] > 1) {
      dims += std::string(dims.empty() ? "" : " ") + kDims[d] + " " +
              std::to_string(m.extent[d]);
    }
  }
  Report report(name + " on " + hardware + ": " + dims);
  const double share = 100 / m.energy_pj;
  report.Line("energy", EnergyText(m.energy_pj),
              Fixed(m.energy_pj / static_cast<double>(m.operations), 6) + " pJ per " +
                  (m.vector != 0 ? "operation" : "MAC"));
  report.Line("", EnergyText(m.operations_pj),
              "operations, " + Fixed(share * m.operations_pj, 1) + " %");
  for (uint32_t l = 0; l < (m.levels == 0 ? names.size() : m.levels); ++l) {
    if (m.level_pj[l] == 0) continue;
    report.Line("", EnergyText(m.level_pj[l]),
                names[l] + ", " + Fixed(share * m.level_pj[l], 1) + " %");
  }
  if (m.transfer_pj > 0) {
    report.Line("", EnergyText(m.transfer_pj),
                m.levels == 0 ? "core buffers" : "array wires");
  }
  if (m.leakage_pj > 0) report.Line("", EnergyText(m.leakage_pj), "leakage");
  report.Line("cycles", Grouped(static_cast<uint64_t>(m.cycles)),
              Fixed(100 * m.utilisation, 1) + " % of the peak");
  for (uint32_t l = 0; l < m.levels; ++l) {
    if (m.level_cycles[l] == 0) continue;
    report.Line("", Grouped(static_cast<uint64_t>(m.level_cycles[l])),
                names[l] + " bandwidth");
  }
  const double gap = m.objective > 0 ? 100 * (1 - m.bound / m.objective) : 0;
  report.Line("bound", m.levels == 0   ? "best of the core array's partitionings"
                       : m.proved != 0 ? "nothing the solver could choose is better"
                                       : "within " + Fixed(gap, 2) + " %");
  if (m.certificate != SLUICE_CERTIFICATE_NONE) {
    report.Line("certificate", CertificateText(m));
  }
  std::cout << report.Text() << directives;
}

// Sums over the requested layers.
struct Totals {
  double energy = 0, cycles = 0;
  size_t distinct = 0, unsupported = 0;
  double solve_us = 0;
};

Totals TotalsOf(const std::vector<sluice_layer_mapping_t>& mappings) {
  Totals totals;
  for (size_t i = 0; i < mappings.size(); ++i) {
    const sluice_layer_mapping_t& m = mappings[i];
    totals.energy += m.energy_pj;
    totals.cycles += static_cast<double>(m.cycles);
    totals.distinct += m.status == SLUICE_OK && m.same_as == i ? 1 : 0;
    totals.unsupported += m.status != SLUICE_OK ? 1 : 0;
  }
  return totals;
}

Json TotalsJson(const Json& list, const Totals& totals) {
  return {{"layers", list},
          {"energy_pj", totals.energy},
          {"cycles", totals.cycles},
          {"distinct", totals.distinct},
          {"unmapped", totals.unsupported},
          {"solve_us", totals.solve_us},
          {"interrupted", Interruption::came()}};
}

void PrintTotals(const Totals& totals, size_t layers) {
  Report report(std::to_string(layers) + " layers");
  report.Line("energy", EnergyText(totals.energy));
  report.Line("cycles", Grouped(static_cast<uint64_t>(totals.cycles)));
  report.Line("distinct", std::to_string(totals.distinct));
  report.Line("not mapped", std::to_string(totals.unsupported));
  report.Line("solved in", TimeText(totals.solve_us * 1e-6));
  std::cout << report.Text();
}

// The reason why one of several layers has no nest: a call for that layer alone fails
// with it.
Failure RefusalOf(Session* session, uint32_t layer,
                  const sluice_map_options_t& options) {
  try {
    MapLayers(*session, {layer}, options);
  } catch (const Failure& failure) {
    return failure;
  }
  return Failure(kStopped, "the layer was refused, and has a nest when asked alone");
}

Json RefusalJson(const std::string& name, const sluice_layer_mapping_t& m,
                 const Failure& why) {
  Json error = why.details();
  error["message"] = why.what();
  return {{"layer", name}, {"status", sluice_status_name(m.status)}, {"error", error}};
}

[[noreturn]] void ThrowRefused(const Failure& first, const Totals& totals,
                               size_t layers, Json result) {
  const std::string message = std::to_string(totals.unsupported) + " of " +
                              std::to_string(layers) +
                              " layers have no loop nest; the first: " + first.what();
  result["error"] = {{"message", message}};
  throw Failure(first.code(), message, result);
}

bool IsRejected(const sluice_layer_mapping_t& m) {
  return m.certificate == SLUICE_CERTIFICATE_REJECTED;
}

[[noreturn]] void ThrowRejected(const std::string& layer, Json result) {
  throw Failure(kRejected, layer + ": the certificate of the nest was rejected",
                result);
}

// Each of several layers has a folder of its own, named by its number.
std::string TimeloopFolder(const MapCommand& command, size_t layers, uint32_t layer) {
  if (layers == 1) return command.timeloop;
  return (std::filesystem::path(command.timeloop) / std::to_string(layer)).string();
}

}  // namespace

namespace {

// given: where a mapping goes that the command reads.
sluice_map_options_t OptionsWith(const MapCommand& command, const Bytes& hardware,
                                 sluice_layer_mapping_t* given) {
  sluice_map_options_t options = OptionsOf(command);
  if (command.import.empty()) return options;
  *given = ReadTimeloopMapping(command.import, hardware);
  options.solver = SLUICE_MAP_GIVEN;
  options.given = given;
  return options;
}

// path: the graph's file, or "".
void MapGraph(const MapCommand& command, const Bytes& graph, const std::string& path) {
  const Bytes hardware = LoadHardware(command.hardware);
  sluice_layer_mapping_t given;
  const sluice_map_options_t options = OptionsWith(command, hardware, &given);
  Session session(0);
  session.LoadGraph(graph, path);
  session.LoadHardware(hardware);
  const std::vector<std::string> plain = PlainLayerNames(graph);
  const std::vector<uint32_t> layers = LayersOf(command, plain);
  const auto start = std::chrono::steady_clock::now();
  std::vector<sluice_layer_mapping_t> mappings;
  {
    const Working working(std::to_string(layers.size()) + " layers mapped");
    mappings = MapLayers(session, layers, options);
  }
  Totals totals = TotalsOf(mappings);
  totals.solve_us = std::chrono::duration<double, std::micro>(
                        std::chrono::steady_clock::now() - start)
                        .count();
  const std::vector<std::string> names = LevelNames(hardware);
  Json list = Json::array();
  std::unique_ptr<Failure> refused;  // the first
  for (size_t i = 0; i < layers.size(); ++i) {
    const sluice_layer_mapping_t& m = mappings[i];
    const std::string name = LayerName(graph, layers[i]);
    std::string directives;
    if (m.levels != 0) {
      directives = DirectivesOf(session, m, options.tile_only != 0, plain[layers[i]]);
    }
    if (!command.timeloop.empty() && m.status == SLUICE_OK && m.same_as == i) {
      WriteTimeloopLayer(TimeloopFolder(command, layers.size(), layers[i]), hardware,
                         m);
    }
    if (IsRejected(m)) ThrowRejected(name, AsJson(m, name, names, directives));
    if (m.status != SLUICE_OK) {
      const Failure why = RefusalOf(&session, layers[i], options);
      // With --layer all, layers that only move data are no failures: they need no nest.
      const bool moves = command.layer == "all" && m.status == SLUICE_UNSUPPORTED;
      if (refused == nullptr && !moves) refused = std::make_unique<Failure>(why);
      if (command.json) {
        list.push_back(RefusalJson(name, m, why));
      } else {
        std::cout << name << ": " << why.what() << "\n";
      }
    } else if (command.json) {
      list.push_back(AsJson(m, name, names, directives));
    } else if (m.same_as != i) {
      std::cout << name << ": as " << LayerName(graph, layers[m.same_as]) << "\n";
    } else {
      Print(m, name, FileStem(command.hardware), names, directives);
    }
  }
  const Json json = TotalsJson(list, totals);
  TellOfInterruption();
  if (!command.json && layers.size() > 1) PrintTotals(totals, layers.size());
  if (refused != nullptr) ThrowRefused(*refused, totals, layers.size(), json);
  if (command.json) std::cout << JsonText(json, 1) << "\n";
}

// One product of two activations of int8, with B transposed.
Bytes ProductGraph(const std::array<int64_t, 3>& extent) {
  int32_t e[3];
  for (int i = 0; i < 3; ++i) {
    if (extent[i] < 1 || extent[i] > INT32_MAX) {
      throw Failure(kBadInput, "an extent of a product must be 1 to 2147483647, not " +
                                   std::to_string(extent[i]));
    }
    e[i] = static_cast<int32_t>(extent[i]);
  }
  const std::unique_ptr<sluice_graph_builder_t, void (*)(sluice_graph_builder_t*)>
      builder(sluice_graph_builder_create("product"), sluice_graph_builder_destroy);
  const auto tensor = [&](const char* name, uint32_t kind, int32_t rows,
                          int32_t columns) {
    sluice_tensor_t t = {};
    t.struct_size = sizeof t;
    t.kind = kind;
    t.dtype = SLUICE_DTYPE_INT8;
    t.rank = 4;
    t.dims[0] = t.dims[1] = 1;
    t.dims[2] = rows;
    t.dims[3] = columns;
    t.name = name;
    return sluice_graph_builder_tensor(builder.get(), &t);
  };
  const uint32_t inputs[] = {tensor("A", SLUICE_TENSOR_INPUT, e[0], e[2]),
                             tensor("B", SLUICE_TENSOR_INPUT, e[1], e[2])};
  const uint32_t output = tensor("P", SLUICE_TENSOR_OUTPUT, e[0], e[1]);
  const int32_t attributes[] = {1, 0, 0, 0, 1 << 30, 0, -128, 127};
  sluice_layer_t layer = {};
  layer.struct_size = sizeof layer;
  layer.op = SLUICE_OP_BATCH_MATMUL;
  layer.name = "product";
  layer.inputs = inputs;
  layer.outputs = &output;
  layer.attributes = attributes;
  layer.input_count = 2;
  layer.output_count = 1;
  layer.attribute_count = static_cast<uint32_t>(std::size(attributes));
  sluice_graph_builder_layer(builder.get(), &layer);
  sluice_bytes_t bytes = {};
  sluice_diagnostic_t diagnostic = {};
  const sluice_status_t status =
      sluice_graph_builder_finish(builder.get(), nullptr, &bytes, &diagnostic);
  if (status != SLUICE_OK) throw Failure(kBadInput, diagnostic.message);
  const uint8_t* first = static_cast<const uint8_t*>(bytes.data);
  Bytes graph(first, first + bytes.size);
  sluice_bytes_release(nullptr, &bytes);
  return graph;
}

// Lets operands bypass memories, as sluice_map_gemm does.
MapCommand ProductCommand(const MapCommand& command) {
  MapCommand product = command;
  product.layer = "0";
  product.bypass = true;
  return product;
}

}  // namespace

void RunMapLayers(const MapCommand& command) {
  MapGraph(command, ReadGraph(command.what[0], "map"), command.what[0]);
}

sluice_layer_mapping_t MapProduct(const MapCommand& command,
                                  const std::array<int64_t, 3>& extent) {
  Session session(0);
  session.LoadGraph(ProductGraph(extent));
  session.LoadHardware(LoadHardware(command.hardware));
  sluice_map_options_t options = OptionsOf(ProductCommand(command));
  options.certify = 0;
  return MapLayers(session, {0}, options)[0];
}

void RunMapProduct(const MapCommand& command, const std::array<int64_t, 3>& extent) {
  MapGraph(ProductCommand(command), ProductGraph(extent), "");
}

}  // namespace sluice::cli
