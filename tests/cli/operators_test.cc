// SPDX-License-Identifier: Apache-2.0
// `sluice schedule --granularity operator`: whole tensors, spilled and retrieved, at
// the smallest budget, executed bit by bit.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/run_tool.h"
#include "solve/placement/judge.h"
#include "support/shared_data.h"

namespace {

using Json = nlohmann::json;

Json Tool(const std::string& arguments) {
  std::string text;
  (void)sluice::cli::RunTool(arguments + " --json", sluice::cli::kWithoutComplaints,
                             &text);
  return Json::parse(text, nullptr, false);
}

std::string Temporary(const std::string& name) {
  return (std::filesystem::temp_directory_path() /
          ("sluice_operators_" + std::to_string(getpid()) + name))
      .string();
}

// Smallest budget, then that budget: verified by the library, executed by the
// simulator.
void RunAtSmallest(const std::string& graph) {
  const std::string plan = Temporary(".slp");
  const std::string schedule =
      "schedule " + graph + " --hw soma-edge --granularity operator -o " + plan;
  const Json refused = Tool(schedule + " --budget 16");
  REQUIRE(refused["ok"] == false);
  const uint64_t smallest = refused["error"]["smallest_scratchpad_bytes"];
  CHECK(Tool(schedule + " --budget " + std::to_string(smallest - 1))["ok"] == false);
  const Json done = Tool(schedule + " --budget " + std::to_string(smallest));
  REQUIRE(done.contains("peak_buffer_bytes"));
  CHECK(done["peak_buffer_bytes"].get<uint64_t>() <= smallest);
  CHECK(Tool("verify " + plan + " --graph " + graph + " --hw soma-edge")["ok"] == true);
  const Json run =
      Tool("simulate " + plan + " --graph " + graph + " --hw soma-edge --functional");
  CHECK(run["ok"] == true);
  CHECK(run["functional"]["mismatches"] == 0);
  CHECK(run["functional"]["compared_bytes"].get<uint64_t>() > 0);
  CHECK(run["cycles"] == run["predicted_cycles"]);
  std::filesystem::remove(plan);
}

}  // namespace

TEST_CASE("operator granularity: every model bit by bit at its smallest budget") {
  const std::string folder = sluice_test::SharedPath("models/tflite/");
  for (const char* model :
       {"hello_world_int8", "kws_ref_model_int8", "person_detect_int8", "ad01_int8",
        "micro_speech_int8", "str_ww_ref_model", "resnet8_cifar10_int8", "vww_96_int8",
        "mobilenet_v1_0.25_128_uint8", "mobilenet_v2_int8_1x3x224x224",
        "deeplabv3_mnv2_dm05_uint8"}) {
    const std::string file = folder + model + ".tflite";
    if (!std::filesystem::exists(file)) {
      MESSAGE("skipped: ", file, " is not there");
      continue;
    }
    CAPTURE(model);
    const std::string graph = Temporary(".slg");
    Tool("import " + file + " -o " + graph);
    RunAtSmallest(graph);
    std::filesystem::remove(graph);
  }
}

TEST_CASE("operator granularity: networks with residuals, cells and concats likewise") {
  for (const char* network : {"mobilenet_v1", "resnet50", "nasnet_a", "densenet121"}) {
    CAPTURE(network);
    const std::string graph = Temporary(".slg");
    Tool(std::string("zoo ") + network + " -o " + graph);
    RunAtSmallest(graph);
    std::filesystem::remove(graph);
  }
}
