// SPDX-License-Identifier: Apache-2.0
// The tool on machines that cannot do everything: the host's share, as text and as JSON; the
// layer that a machine without a host cannot have; real models whose outputs must still be
// those of the interpreter.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/run_tool.h"
#include "sluice/ops.h"
#include "support/shared_data.h"

namespace {

using Json = nlohmann::json;
using sluice::cli::RunTool;

std::string Temporary(const std::string& name) {
  return (std::filesystem::temp_directory_path() /
          ("sluice_host_" + std::to_string(getpid()) + name))
      .string();
}

Json Tool(const std::string& arguments) {
  std::string text;
  (void)RunTool(arguments + " --json", sluice::cli::kWithoutComplaints, &text);
  return Json::parse(text, nullptr, false);
}

TEST_CASE("tool: what the host has of a plan is printed") {
  const std::string graph = Temporary(".slg"), machine = Temporary(".json"),
                    plan = Temporary(".slp");
  std::string text;
  REQUIRE(RunTool("import " SLUICE_TESTS "/models/residual_cnn_int8.tflite -o " + graph,
                  sluice::cli::kWithComplaints, &text) == 0);
  REQUIRE(RunTool("hw mcu-256k", sluice::cli::kWithoutComplaints, &text) == 0);
  Json hardware = Json::parse(text, nullptr, true, true);
  hardware["ops"] = Json::array({{{"op", SLUICE_OP_CONV}},
                                 {{"op", SLUICE_OP_DEPTHWISE_CONV}},
                                 {{"op", SLUICE_OP_FULLY_CONNECTED}}});
  const auto save = [&] { std::ofstream(machine) << hardware.dump(); };
  const std::string schedule = "schedule " + graph + " --hw " + machine;
  save();
  CHECK(RunTool(schedule, sluice::cli::kWithComplaints, &text) == 2);
  CHECK(text.find("the machine's ops lack its operator, and it has no host") !=
        std::string::npos);
  hardware["host"] = {{"call_cycles", 100}, {"pj_per_cycle", 5}};
  save();
  const Json done = Tool(schedule + " -o " + plan);
  REQUIRE(done.contains("host"));
  const Json& host = done["host"];
  CHECK(host["layers"].get<int>() > 0);
  CHECK(host["layers"].get<int>() < done["layers"].get<int>());
  CHECK(host["macs"] == 0);
  CHECK(host["bytes"].get<int>() > 0);
  CHECK(host["energy_pj"].get<double>() == 500.0 * host["layers"].get<int>());
  CHECK(host["share"]["layers"].get<double>() ==
        doctest::Approx(host["layers"].get<double>() / done["layers"].get<double>()));
  CHECK(host["share"]["macs"] == 0);
  CHECK(RunTool(schedule, sluice::cli::kWithComplaints, &text) == 0);
  CHECK(text.find("% of layers, 0.0% of MACs, ") != std::string::npos);
  const Json run = Tool("simulate " + plan + " --graph " + graph + " --hw " + machine +
                        " --functional");
  CHECK(run["ok"] == true);
  CHECK(run["functional"]["mismatches"] == 0);
  for (const std::string& path : {graph, machine, plan}) std::filesystem::remove(path);
}

// A row for every operator that tiles compute, except those in `lacking`.
Json AllBut(const std::vector<int>& lacking) {
  Json rows = Json::array();
  for (int op = 1; op < SLUICE_OP_COUNT; ++op) {
    const bool moves = op == SLUICE_OP_CONCAT || op == SLUICE_OP_SLICE ||
                       op == SLUICE_OP_RESHAPE || op == SLUICE_OP_STATE_APPEND ||
                       op == SLUICE_OP_OPAQUE;
    const bool lacks = std::find(lacking.begin(), lacking.end(), op) != lacking.end();
    if (!moves && !lacks) rows.push_back({{"op", op}});
  }
  return rows;
}

// A machine, named by what it lacks, with its rows of operators.
struct Lack {
  std::string what;
  Json ops;
};

std::vector<Lack> Machines() {
  Json narrow = AllBut({SLUICE_OP_CONV});
  narrow.push_back({{"op", SLUICE_OP_CONV}, {"max_kernel_h", 1}, {"max_kernel_w", 1}});
  Json even = AllBut({SLUICE_OP_CONV, SLUICE_OP_FULLY_CONNECTED});
  even.push_back({{"op", SLUICE_OP_CONV}, {"requantise", 3}});
  even.push_back({{"op", SLUICE_OP_FULLY_CONNECTED}, {"zero_points", 0}});
  return {{"softmax", AllBut({SLUICE_OP_SOFTMAX})},
          {"depthwise convolutions, fully connected layers and pools",
           AllBut({SLUICE_OP_DEPTHWISE_CONV, SLUICE_OP_FULLY_CONNECTED,
                   SLUICE_OP_AVERAGE_POOL, SLUICE_OP_MAX_POOL})},
          {"windows larger than 1x1", narrow},
          {"multipliers per channel, zero points", even},
          {"everything but addition", {{{"op", SLUICE_OP_ADD}}}}};
}

std::string FileOf(const std::string& model) {
  const std::string ours = SLUICE_TESTS "/models/" + model + ".tflite";
  if (std::filesystem::exists(ours)) return ours;
  return sluice_test::SharedPath("models/tflite/" + model + ".tflite");
}

TEST_CASE("tool: with layers on the host, models have the interpreter's outputs") {
  std::ifstream file(SLUICE_TESTS "/goldens/tflite.json");
  const Json goldens = Json::parse(file)["models"];
  std::string text;
  REQUIRE(RunTool("hw mcu-256k", sluice::cli::kWithoutComplaints, &text) == 0);
  Json hardware = Json::parse(text, nullptr, true, true);
  hardware["host"] = {{"call_cycles", 100},
                      {"bytes_per_cycle_numerator", 4},
                      {"ops_per_cycle_numerator", 1}};
  const std::string graph = Temporary(".slg"), machine = Temporary(".json"),
                    plan = Temporary(".slp");
  for (const std::string model :
       {"residual_cnn_int8", "kws_ref_model_int8", "person_detect_int8",
        "mobilenet_v1_0.25_128_uint8"}) {
    if (!std::filesystem::exists(FileOf(model))) {
      MESSAGE("skipped: " << FileOf(model) << " is not there");
      continue;
    }
    REQUIRE(RunTool("import " + FileOf(model) + " -o " + graph,
                    sluice::cli::kWithComplaints, &text) == 0);
    for (const Lack& lack : Machines()) {
      CAPTURE(model);
      CAPTURE(lack.what);
      hardware["ops"] = lack.ops;
      std::ofstream(machine) << hardware.dump();
      const std::string with = " --graph " + graph + " --hw " + machine;
      const Json done = Tool("schedule " + graph + " --hw " + machine + " -o " + plan);
      REQUIRE(done.contains("host"));
      // Each of these machines lacks an operator of this model.
      if (model == "residual_cnn_int8") CHECK(done["host"]["layers"].get<int>() > 0);
      CHECK(RunTool("verify " + plan + with, sluice::cli::kWithComplaints, &text) == 0);
      for (const size_t seed : {1, 2, 3}) {
        const Json run = Tool("simulate " + plan + with + " --functional --seed " +
                              std::to_string(seed));
        const Json& want = goldens[model][seed - 1];
        REQUIRE(run["ok"] == true);
        CHECK(run["functional"]["mismatches"] == 0);
        CHECK(run["functional"]["output_fnv1a"] == want["output_fnv1a"]);
        CHECK(run["functional"]["compared_bytes"] == want["bytes"]);
        CHECK(run["cycles"] == done["latency_cycles"]);
      }
    }
  }
  for (const std::string& path : {graph, machine, plan}) std::filesystem::remove(path);
}

}  // namespace
