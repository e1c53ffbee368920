// SPDX-License-Identifier: Apache-2.0
// sluice schedule --explain: what it says of each segment, and that the costs of other
// choices are those of plans.
#include "cli/explain.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "cli/run_tool.h"

namespace sluice::cli {
namespace {

Json ToolJson(const std::string& arguments) {
  std::string text;
  const int code = RunTool(arguments + " --json", kWithoutComplaints, &text);
  CAPTURE(arguments);
  REQUIRE(code == 0);
  return Json::parse(text);
}

struct Network {
  Network() {
    std::filesystem::create_directories(folder);
    std::string text;
    REQUIRE(RunTool("zoo squeezenet -o " + graph, kWithComplaints, &text) == 0);
  }
  ~Network() { std::filesystem::remove_all(folder); }
  std::string folder = (std::filesystem::temp_directory_path() /
                        ("sluice-explain-" + std::to_string(getpid())))
                           .string();
  std::string graph = folder + "/g.slg", notation = folder + "/n.json";
  std::string on = graph + " --hw soma-edge";
};

TEST_CASE("explain: times add up, and other choices cost what their plans cost") {
  const Network net;
  const Json plan = ToolJson("schedule " + net.on + " --explain --notation " +
                             net.notation + " --layers " + net.folder + "/layers.csv");
  const Json& rows = plan["by_segment"];
  std::ifstream file(net.notation);
  const Json noted = Json::parse(file);
  REQUIRE(rows.size() == noted["segments"].size());
  REQUIRE(rows.size() > 2);
  uint64_t cycles = 0;
  int checked = 0;
  for (size_t s = 0; s < rows.size(); ++s) {
    cycles += rows[s]["cycles"].get<uint64_t>();
    const std::string limit = rows[s]["limit"];
    CAPTURE(limit);
    CHECK(std::string(" compute DMA capacity latency host nothing ")
              .find(" " + limit + " ") != std::string::npos);
    CHECK(rows[s]["changes_tried"].get<int>() > 0);
    CHECK(rows[s]["layers"] == noted["segments"][s]["layers"]);
    if (rows[s]["next_best"].is_null()) continue;
    // The same plan made by hand.
    const std::string change = rows[s]["next_best"]["change"];
    if (change.find('/') == std::string::npos || change.find("next") != change.npos) {
      continue;
    }
    Json changed = noted;
    changed["segments"][s]["loops"] = change;
    const std::string path = net.folder + "/changed.json";
    std::ofstream(path) << changed.dump();
    const Json made = ToolJson("evaluate " + net.on + " --schedule " + path);
    const double ratio = made["edp"].get<double>() / plan["edp"].get<double>();
    CHECK(ratio == doctest::Approx(rows[s]["next_best"]["cost_ratio"].get<double>()));
    ++checked;
  }
  CHECK(cycles == plan["latency_cycles"].get<uint64_t>());
  CHECK(checked > 0);
  // A segment is the same everywhere: the table of layers numbers them alike.
  size_t named = 0;
  for (const Json& layer : plan["by_layer"]) {
    const Json& segment = rows[layer["segment"].get<size_t>()];
    const std::string name = layer["name"];
    for (const Json& of : segment["layers"]) {
      named += name.find(of.get<std::string>() + " (") == 0;
    }
  }
  CHECK(named == plan["by_layer"].size());
}

TEST_CASE("explain: as text a line for each segment, and none for plans without") {
  const Network net;
  std::string text;
  REQUIRE(RunTool("schedule " + net.on + " --explain", kWithComplaints, &text) == 0);
  CHECK(text.find("next best") != std::string::npos);
  CHECK(text.find(" segments, ") != std::string::npos);  // not "groups"
  CHECK(text.find("conv1") != std::string::npos);
  const std::string plain = "schedule " + net.on + " --explain --solver baseline";
  CHECK(RunTool(plain, kWithComplaints, &text) == 0);
  CHECK(text.find("no segments") != std::string::npos);
  CHECK(text.find("latency") != std::string::npos);  // the rest is said all the same
  CHECK(ToolJson(plain)["by_segment"].empty());
}

}  // namespace
}  // namespace sluice::cli
