// SPDX-License-Identifier: Apache-2.0
// Layers of a graph as loop nests: the tool, the C functions, and the plans whose tiles
// declare them.
#include <doctest/doctest.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/files.h"
#include "cli/hardware_files.h"
#include "cli/run_tool.h"
#include "sluice/experimental.h"
#include "support/library.h"

namespace sluice::cli {
namespace {

using Json = nlohmann::ordered_json;

int Tool(const std::string& arguments, std::string* text) {
  return RunTool(arguments, kWithComplaints, text);
}

// A network from the zoo, in a temporary file.
struct Network {
  std::string path = (std::filesystem::temp_directory_path() /
                      ("sluice-map-" + std::to_string(getpid()) + ".slg"))
                         .string();
  explicit Network(const std::string& name) {
    std::string text;
    REQUIRE(Tool("zoo " + name + " -o " + path, &text) == 0);
  }
  ~Network() { unlink(path.c_str()); }
};

TEST_CASE("map: every layer of a network, equal ones once, on every kind of machine") {
  const Network network("mobilenet_v1");
  std::string text;
  for (const char* hardware : {"kapla-edge", "simba", "soma-edge", "mcu-256k"}) {
    INFO(std::string(hardware));
    // Its RESHAPE and SOFTMAX have no loop nests: that is said beside the other layers.
    REQUIRE(RunTool("map " + network.path + " --layer all --json --hw " + hardware,
                    kWithoutComplaints, &text) == 0);
    const Json json = Json::parse(text);
    CHECK(json["distinct"].get<size_t>() < json["layers"].size());
    double energy = 0;
    size_t mapped = 0;
    for (const Json& layer : json["layers"]) {
      CHECK((layer["status"] == "ok") != layer.contains("error"));
      if (layer["status"] != "ok") {
        CHECK(layer["error"]["message"].get<std::string>().find(
                  "no loop nest for op") != std::string::npos);
        continue;
      }
      ++mapped;
      energy += layer["energy_pj"].get<double>();
      double sum = layer["operations_pj"].get<double>() +
                   layer["transfer_pj"].get<double>() +
                   layer["leakage_pj"].get<double>();
      for (const Json& level : layer["levels"]) sum += level["energy_pj"].get<double>();
      CHECK(std::fabs(sum / layer["energy_pj"].get<double>() - 1) < 1e-9);
      CHECK(layer["bound"].get<double>() <= layer["objective"].get<double>());
      CHECK(layer["directives"].get<std::string>().find("tensor{out}") !=
            std::string::npos);
    }
    CHECK(mapped + json["unmapped"].get<size_t>() == json["layers"].size());
    CHECK(mapped >= 28);
    CHECK(std::fabs(energy / json["energy_pj"].get<double>() - 1) < 1e-9);
  }
}

TEST_CASE("map: solvers of a layer, constraints from outside, what is refused") {
  const Network network("mobilenet_v1");
  std::string text;
  const std::string start =
      "map " + network.path + " --hw kapla-edge --layer 16 --json ";
  const auto energy = [&](const std::string& options) {
    REQUIRE(Tool(start + options, &text) == 0);
    return Json::parse(text)["energy_pj"].get<double>();
  };
  const double best = energy("--solver exact --wide");
  CHECK(energy("") >= best * (1 - 1e-12));
  for (const char* solver : {"greedy", "search", "cosa"}) {
    CHECK(energy(std::string("--solver ") + solver) >= best * (1 - 1e-12));
  }
  CHECK(energy("--bypass --solver exact --wide") <= best * (1 + 1e-12));
  CHECK(energy("--resident input") < best);
  CHECK(energy("--top P=7") >= best * (1 - 1e-12));
  CHECK(Tool("map " + network.path + " --hw kapla-edge", &text) == 3);
  CHECK(text.find("--layer") != std::string::npos);
  // Mapping only a layer that has no loop nest is an error.
  CHECK(Tool("map " + network.path + " --hw kapla-edge --json --layer 28", &text) == 2);
  CHECK(text.find("no loop nest for op") != std::string::npos);
  CHECK(Tool("map " + network.path + " --hw kapla-edge --layer none", &text) == 2);
  CHECK(Tool("map 5 --hw kapla-edge --layer 0", &text) == 6);
  CHECK(Tool("map 5 6 --hw kapla-edge", &text) == 3);
  CHECK(Tool(start + "--top Z=1", &text) == 3);
  CHECK(Tool(start + "--solver cosa --resident input", &text) == 2);
  CHECK(text.find("no fixed tiles or resident operands") != std::string::npos);
  // One byte of registers cannot hold a word of each operand; operands may bypass it.
  CHECK(Tool("map " + network.path + " --hw gemmini-like --layer 1", &text) == 0);
  CHECK(Tool("map " + network.path + " --hw gemmini-like --layer 1 --solver kapla",
             &text) == 1);
  CHECK(text.find("needs 6 bytes of level 0, which has 1") != std::string::npos);
}

struct Tiles {
  std::vector<sluice_tile_row_t> rows;
  static int32_t Record(void* user, uint32_t layer, const int32_t extent[4],
                        int32_t channels, sluice_tile_cost_t*) {
    sluice_tile_row_t row = {};
    row.layer = layer;
    std::memcpy(row.extent, extent, sizeof row.extent);
    row.channels = channels;
    static_cast<Tiles*>(user)->rows.push_back(row);
    return 0;
  }
};

sluice_report_t Report(sluice_test::Library* library, const sluice_graph_t* graph,
                       const sluice_hardware_t* hardware,
                       const sluice_schedule_options_t& options) {
  sluice_plan_t* made = nullptr;
  REQUIRE(sluice_schedule(library->context.get(), graph, hardware, &options, &made,
                          &library->diagnostic) == SLUICE_OK);
  const sluice_test::PlanPtr plan(made);
  sluice_report_t report = {};
  report.struct_size = sizeof report;
  REQUIRE(sluice_plan_report(made, &report) == SLUICE_OK);
  return report;
}

TEST_CASE("map: a plan's tiles declare what mapping them says") {
  const Network network("mobilenet_v1");
  const Bytes graph_bytes = ReadFile(network.path);
  for (const char* name : {"kapla-edge", "soma-edge", "gemmini-like"}) {
    INFO(std::string(name));
    sluice_test::Library library;
    const auto graph = library.Graph(graph_bytes);
    const auto hardware = library.Hardware(LoadHardware(name));
    REQUIRE(hardware != nullptr);
    Tiles tiles;
    sluice_schedule_options_t options = {};
    options.struct_size = sizeof options;
    options.solver = SLUICE_SOLVER_BASELINE;
    options.tile_cost = Tiles::Record;
    options.tile_cost_user = &tiles;
    const sluice_report_t own = Report(&library, graph.get(), hardware.get(), options);
    std::vector<sluice_tile_row_t> rows;
    for (sluice_tile_row_t row : tiles.rows) {
      sluice_map_options_t map = {};
      map.struct_size = sizeof map;
      map.tile_only = 1;
      std::memcpy(map.tile, row.extent, sizeof map.tile);
      map.tile_channels = row.channels;
      sluice_layer_mapping_t m = {};
      m.struct_size = sizeof m;
      sluice_mapping_list_t list = {};
      list.struct_size = sizeof list;
      list.count = 1;
      list.layers = &row.layer;
      list.mappings = &m;
      if (sluice_map_layers(library.context.get(), graph.get(), hardware.get(), &map,
                            &list, &library.diagnostic) != SLUICE_OK) {
        CHECK(library.status == SLUICE_OK);
        continue;  // an op without a loop nest
      }
      row.cost.cycles = m.cycles;
      row.cost.energy_pj = m.energy_pj - m.leakage_pj;
      row.cost.scratchpad_pj =
          m.levels == 0 ? m.level_pj[3] : m.level_pj[m.levels - 1] + m.transfer_pj;
      rows.push_back(row);
    }
    REQUIRE(rows.size() >= 10);
    options.tile_cost = nullptr;
    options.tile_rows = rows.data();
    options.tile_row_count = rows.size();
    const sluice_report_t told = Report(&library, graph.get(), hardware.get(), options);
    CHECK(told.latency_cycles == own.latency_cycles);
    CHECK(std::fabs(told.energy_pj / own.energy_pj - 1) < 1e-9);
  }
}

TEST_CASE("map: machines for mapping only are not scheduled, and say why") {
  const Network network("mobilenet_v1");
  std::string text;
  CHECK(Tool("schedule " + network.path + " --hw simba", &text) == 2);
  CHECK(text.find("the scratchpad may not hold weights") != std::string::npos);
}

}  // namespace
}  // namespace sluice::cli
