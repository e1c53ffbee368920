// SPDX-License-Identifier: Apache-2.0
// Layers on meshes of nodes: the tool and the C function.
#include <doctest/doctest.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
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

// A temporary file of this test.
struct Scrap {
  std::string path;
  explicit Scrap(const std::string& name)
      : path((std::filesystem::temp_directory_path() /
              ("sluice-segments-" + std::to_string(getpid()) + name))
                 .string()) {}
  ~Scrap() { unlink(path.c_str()); }
};

void MakeNetwork(const std::string& arguments, const Scrap& file) {
  std::string text;
  REQUIRE(Tool("zoo " + arguments + " -o " + file.path, &text) == 0);
}

// kapla-4x4 with some fields changed.
void MakeMesh(const Scrap& file, const Json& changes) {
  std::string text;
  REQUIRE(Tool("hw kapla-4x4", &text) == 0);
  Json hardware = Json::parse(text);
  hardware.merge_patch(changes);
  std::ofstream(file.path) << hardware.dump();
}

Json Solve(const std::string& arguments) {
  std::string text;
  const int code = Tool("segments " + arguments + " --json", &text);
  CAPTURE(text);
  REQUIRE(code == 0);
  return Json::parse(text);
}

double SumOf(const Json& energy) {
  double sum = 0;
  for (const auto& part : energy) sum += part.get<double>();
  return sum;
}

TEST_CASE("segments: parts add up, nothing costs more than layer by layer") {
  const Scrap network(".slg");
  for (const char* name : {"mlp_l --batch 64", "alexnet --batch 4", "lstm_gnmt",
                           "mlp_l --batch 64 --training"}) {
    CAPTURE(name);
    MakeNetwork(name, network);
    for (const char* objective : {"energy", "latency", "edp"}) {
      const Json json =
          Solve(network.path + " --hw kapla-4x4 --words 2 --objective " + objective);
      double energy = 0, cycles = 0, layers = 0;
      for (const Json& segment : json["segments"]) {
        energy += segment["energy_pj"].get<double>();
        cycles += segment["latency_cycles"].get<double>();
        layers += static_cast<double>(segment["layers"].size());
        CHECK(segment["latency_cycles"] ==
              std::max(segment["node_cycles"].get<int64_t>(),
                       segment["dram_cycles"].get<int64_t>()));
      }
      CHECK(json["energy_pj"].get<double>() == doctest::Approx(energy));
      CHECK(json["energy_pj"].get<double>() == doctest::Approx(SumOf(json["energy"])));
      CHECK(json["latency_cycles"].get<double>() == cycles);
      CHECK(json["counts"]["layers"] == layers);
      CHECK(json["objective"] <= json["layers_objective"]);
      CHECK(json["lower_bound"] <= json["objective"]);
    }
  }
}

TEST_CASE("segments: on 16 x 16 nodes they save what pipelining saves") {
  const Scrap network(".slg");
  MakeNetwork("mlp_l --batch 64", network);
  const std::string where = network.path + " --hw kapla-16x16 --words 2";
  const Json chain = Solve(where);
  const Json again = Solve(where);
  const Json layers = Solve(where + " --solver layers");
  const Json published = Solve(where + " --solver topk");
  CHECK(chain["energy_pj"] < layers["energy_pj"].get<double>() * 0.96);
  CHECK(chain["energy_pj"] <= published["energy_pj"].get<double>() * 1.005);
  CHECK(chain["layer_by_layer"]["energy_pj"] == layers["energy_pj"]);
  CHECK(layers["counts"]["segments"] == 4);
  // As many as KAPLA lists: 4 vertices, 16 segments, 6 of them spatial.
  CHECK(chain["counts"]["vertices"] == 4);
  CHECK(chain["counts"]["segments"] == 16);
  CHECK(chain["counts"]["spatial"] == 6);
  CHECK(chain["counts"]["valid"] < chain["counts"]["schemes"]);
  CHECK(chain["segments"] == again["segments"]);
  CHECK(chain["directives"] == again["directives"]);
  CHECK(chain["directives"].get<std::string>().find(" STEP:") != std::string::npos);
  CHECK(chain["peak_memory_bytes"] < 64 << 20);
}

TEST_CASE("segments: meshes of any form, and what cannot be says so with numbers") {
  const Scrap network(".slg"), mesh(".json");
  MakeNetwork("mlp_l --batch 8", network);
  const std::string where = network.path + " --hw " + mesh.path;
  for (const Json& form : {Json{{"node_cols", 1}, {"node_rows", 7}},
                           Json{{"node_cols", 13}, {"node_rows", 1}},
                           Json{{"node_cols", 1}, {"node_rows", 1}}}) {
    MakeMesh(mesh, form);
    CAPTURE(form.dump());
    const Json json = Solve(where);
    CHECK(json["objective"] <= json["layers_objective"]);
    if (form["node_cols"] == 1 && form["node_rows"] == 1) {
      CHECK(json["counts"]["spatial"] == 0);
    }
  }
  std::string text;
  Json small = {{"levels", Json::parse(R"([
      {"name": "REGF", "capacity_bytes": 64, "instances": 64},
      {"name": "GBUF", "capacity_bytes": 4, "alignment_bytes": 1},
      {"name": "DRAM", "bytes_per_cycle_numerator": 16}])")}};
  MakeMesh(mesh, small);
  CHECK(Tool("segments " + where, &text) == 1);
  CHECK(text.find("available") != std::string::npos);
  CHECK(Tool("segments " + network.path + " --hw kapla-4x4 --solver best", &text) == 3);
  CHECK(Tool("segments " + network.path + ".none --hw kapla-4x4", &text) == 6);
}

TEST_CASE("segments: a deadline leaves a schedule, or says that there is none yet") {
  const Scrap network(".slg");
  MakeNetwork("googlenet --batch 16", network);
  std::string text;
  const int code = Tool(
      "segments " + network.path + " --hw kapla-16x16 --deadline 100ms --json", &text);
  CAPTURE(text);
  REQUIRE((code == 0 || code == 4));
  if (code == 0) {
    const Json json = Json::parse(text);
    CHECK(json["objective"] <= json["layers_objective"]);
  }
}

TEST_CASE("sluice_segments: arguments are checked, arrays are as long as they are") {
  const Scrap network(".slg");
  MakeNetwork("mlp_l --batch 8", network);
  const Bytes graph_bytes = ReadFile(network.path);
  const Bytes hardware_bytes = LoadHardware("kapla-4x4");
  sluice_context_t* context = nullptr;
  sluice_graph_t* graph = nullptr;
  sluice_hardware_t* hardware = nullptr;
  sluice_diagnostic_t why = {};
  why.struct_size = sizeof why;
  REQUIRE(sluice_context_create(nullptr, &context, &why) == SLUICE_OK);
  REQUIRE(sluice_graph_create(context, graph_bytes.data(), graph_bytes.size(), &graph,
                              &why) == SLUICE_OK);
  REQUIRE(sluice_hardware_create(context, hardware_bytes.data(), hardware_bytes.size(),
                                 &hardware, &why) == SLUICE_OK);
  sluice_segment_options_t options = {};
  options.struct_size = sizeof options;
  sluice_segment_schedule_t schedule = {};
  schedule.struct_size = sizeof schedule;
  CHECK(sluice_segments(context, graph, hardware, nullptr, nullptr, &why) ==
        SLUICE_BAD_ARGUMENT);
  options.max_stages = 9;
  CHECK(sluice_segments(context, graph, hardware, &options, &schedule, &why) ==
        SLUICE_BAD_ARGUMENT);
  CHECK(std::string(why.message).find("max_stages is 9, must be at most 8") !=
        std::string::npos);
  options.max_stages = 0;
  REQUIRE(sluice_segments(context, graph, hardware, &options, &schedule, &why) ==
          SLUICE_OK);
  CHECK(schedule.layer_count == 4);
  CHECK(schedule.text_bytes > 100);
  const double objective = schedule.objective;
  // Room for two layers and one segment only; the third is not touched.
  std::vector<sluice_segment_layer_t> layers(3);
  std::vector<sluice_segment_t> segments(3);
  std::memset(static_cast<void*>(&layers[2]), 0x5a, sizeof layers[2]);
  std::vector<char> text(static_cast<size_t>(schedule.text_bytes), 'x');
  schedule.capacity = 2;
  schedule.layers = layers.data();
  schedule.segments = segments.data();
  schedule.text = text.data();
  schedule.text_bytes = text.size();
  REQUIRE(sluice_segments(context, graph, hardware, &options, &schedule, &why) ==
          SLUICE_OK);
  CHECK(schedule.objective == objective);
  CHECK(layers[2].layer == 0x5a5a5a5a);
  CHECK(layers[0].columns * layers[0].rows >= 1);
  CHECK(text.back() == '\0');
  CHECK(std::strlen(text.data()) + 1 == text.size());
  const uint64_t needed = schedule.text_bytes;
  schedule.text_bytes = 10;
  text[11] = '!';
  REQUIRE(sluice_segments(context, graph, hardware, nullptr, &schedule, &why) ==
          SLUICE_OK);
  CHECK(schedule.text_bytes == needed);
  CHECK(text[11] == '!');
  const uint32_t cancel = 1;
  options.cancel = &cancel;
  CHECK(sluice_segments(context, graph, hardware, &options, &schedule, &why) ==
        SLUICE_STOPPED);
  sluice_hardware_destroy(hardware);
  sluice_graph_destroy(graph);
  sluice_context_destroy(context);
}

}  // namespace
}  // namespace sluice::cli
