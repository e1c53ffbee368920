// SPDX-License-Identifier: Apache-2.0
// `sluice lower`: what a listing and a binary hold is what the counts say.
#include "cli/targets.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "cli/run_tool.h"

namespace sluice::cli {
namespace {

std::string Temporary(const std::string& name) {
  return (std::filesystem::temp_directory_path() /
          ("sluice_targets_" + std::to_string(getpid()) + name))
      .string();
}

// How often each first word begins a line.
std::map<std::string, uint64_t> FirstWords(const std::string& path) {
  std::ifstream in(path);
  std::map<std::string, uint64_t> words;
  for (std::string line; std::getline(in, line);) {
    std::string word;
    std::istringstream(line) >> word;
    ++words[word];
    ++words[""];
  }
  return words;
}

// A plan of a network on a machine, and its files until the end of the test.
class Planned {
 public:
  Planned(const std::string& make_graph, const std::string& hardware,
          const std::string& solver = "baseline")
      : solver_(solver) {
    std::string text;
    REQUIRE(RunTool(make_graph + " -o " + graph_, kWithComplaints, &text) == 0);
    REQUIRE(Schedule(hardware, &text) == 0);
  }
  Planned(const Planned&) = delete;
  Planned& operator=(const Planned&) = delete;
  ~Planned() {
    for (const std::string& path : {graph_, plan_, listing_, binary_}) {
      std::filesystem::remove(path);
    }
  }
  int Lower(const std::string& target, const std::string& output, std::string* text) {
    return RunTool(
        "lower " + plan_ + " --graph " + graph_ + " --target " + target + output,
        kWithComplaints, text);
  }
  // Lowered to both kinds of file; the counts.
  Json Files(const std::string& target) {
    std::string text, again;
    REQUIRE(Lower(target, " --json -o " + listing_, &text) == 0);
    REQUIRE(Lower(target, " --json -o " + binary_, &again) == 0);
    CHECK(text == again);
    const uint64_t lines = FirstWords(listing_)[""];
    CHECK(lines > 0);
    CHECK(std::filesystem::file_size(binary_) == lines * 24);
    return Json::parse(text);
  }
  const std::string& listing() const { return listing_; }
  int Schedule(const std::string& hardware, std::string* text) {
    return RunTool("schedule " + graph_ + " --hw " + hardware + " --solver " + solver_ +
                       " -o " + plan_,
                   kWithComplaints, text);
  }
  // That the plan takes, executed.
  uint64_t Cycles() {
    std::string text;
    REQUIRE(RunTool("simulate " + plan_ + " --json", kWithComplaints, &text) == 0);
    const Json run = Json::parse(text);
    CHECK(run["cycles"] == run["predicted_cycles"]);
    return run["cycles"].get<uint64_t>();
  }

 private:
  std::string solver_;
  std::string graph_ = Temporary(".slg"), plan_ = Temporary(".slp"),
              listing_ = Temporary(".txt"), binary_ = Temporary(".bin");
};

const std::string kOwn = "import \"" SLUICE_TESTS "/models/residual_cnn_int8.tflite\"";

}  // namespace

TEST_CASE("lower: VTA's listing has the instructions and micro-ops that are counted") {
  for (const std::string& network : {kOwn, std::string("zoo mobilenet_v1")}) {
    INFO(network);
    Planned planned(network, "vta-1x16x16");
    const Json counts = planned.Files("vta");
    std::map<std::string, uint64_t> words = FirstWords(planned.listing());
    CHECK(words["load"] == counts["instructions"]["load"]);
    CHECK(words["store"] == counts["instructions"]["store"]);
    CHECK(words["gemm"] + words["reset"] == counts["instructions"]["gemm"]);
    CHECK(words["add"] + words["shr"] == counts["instructions"]["alu"]);
    CHECK(words["finish"] == counts["instructions"]["finish"]);
    CHECK(words["run"] == words["finish"]);
    CHECK(words["uop"] == counts["micro_ops"]);
    CHECK(words["host"] == counts["host_calls"]);
    // MACs are the array's; ADD, pool, softmax and their like the host's.
    CHECK(counts["host_macs"] == 0);
    CHECK(counts["array_macs"] > 0);
    CHECK(counts["host_macs_percent"] == 0.0);
    CHECK(counts["host_layers_percent"] == (network == kOwn ? 30.8 : 3.3));
    CHECK(counts["host_bytes_percent"] > 0.0);
    CHECK(counts["host_bytes_percent"] < 100.0);
    CHECK(counts["dram"]["uop_bytes"] == 4 * counts["micro_ops"].get<uint64_t>());
  }
}

TEST_CASE("lower: Gemmini's listing has the commands that are counted") {
  Planned planned(kOwn, "gemmini-16x16");
  const Json counts = planned.Files("gemmini");
  std::map<std::string, uint64_t> words = FirstWords(planned.listing());
  for (const char* word : {"config", "mvin", "mvin2", "preload", "mvout", "fence"}) {
    INFO(std::string(word));
    CHECK(words[word] > 0);
    CHECK(words[word] == counts["commands"][word]);
  }
  CHECK(words["compute_preloaded"] == counts["commands"]["compute_preloaded"]);
  // ADD, pool, softmax and their like are the host's: 4 of 13 layers, no MACs.
  CHECK(counts["host_macs_percent"] == 0.0);
  CHECK(counts["host_layers_percent"] == 30.8);
  CHECK(counts["host_bytes_percent"] > 0.0);
  CHECK(counts["host_bytes_percent"] < 100.0);
}

// Bytes of mvins and mvouts, biases apart.
uint64_t Moved(const Json& counts) {
  uint64_t moved = 0;
  for (const char* kind : {"input_bytes", "weight_bytes", "output_bytes", "sum_bytes",
                           "scaled_bytes", "fetched_bytes", "spilled_bytes"}) {
    moved += counts[kind].get<uint64_t>();
  }
  return moved;
}

// What the machine itself makes bytes of rounds otherwise, and the tool says what of it.
TEST_CASE("lower: ResNet-50 on Gemmini moves at most 45 MB in at most 20 M cycles") {
  Planned planned("zoo resnet50", "gemmini-16x16", "default");
  std::string text, chip;
  REQUIRE(planned.Lower("gemmini", " --json --scale --seed 1", &text) == 0);
  REQUIRE(planned.Lower("gemmini", " --json --scale --seed 1 --to-rows", &chip) == 0);
  const Json dram = Json::parse(text), rows = Json::parse(chip);
  CHECK(Moved(rows) <= 45000000);
  CHECK(rows["array_cycles"] <= 20000000);
  CHECK(rows["host_macs"] == 0);
  const Json& difference = rows["scaled_by_the_machine"];
  CHECK(difference["compared_bytes"] == 1000);
  CHECK(difference["differing_bytes"] > 0);
  CHECK(difference["differing_by_at_most"] > 0);
  // Where the bytes go changes none of them.
  CHECK(difference == dram["scaled_by_the_machine"]);
  CHECK(dram["scaled_bytes"] ==
        rows["scaled_bytes"].get<uint64_t>() + rows["kept_bytes"].get<uint64_t>());
}

// For energy, by what the target's tiles cost. Of a bias the hardware reads one row of 16
// channels for each mvin3, whose stride is 0.
TEST_CASE("lower: ResNet-50 on Gemmini with biases, by a plan for energy") {
  Planned planned("zoo resnet50", "gemmini-16x16 --costs gemmini --objective energy",
                  "default");
  std::string text;
  REQUIRE(planned.Lower("gemmini", " --json --scale --seed 1 --to-rows", &text) == 0);
  const Json counts = Json::parse(text);
  CHECK(Moved(counts) <= 43000000);
  CHECK(Moved(counts) + 64 * counts["commands"]["mvin3"].get<uint64_t>() <= 46000000);
  CHECK(counts["array_cycles"] <= 20000000);
}

TEST_CASE("lower: VTA makes bytes of sums by its ALU, near those of the host") {
  Planned planned("zoo mobilenet_v1", "vta-1x16x16", "default");
  std::string exact, text;
  REQUIRE(planned.Lower("vta", " --json", &exact) == 0);
  REQUIRE(planned.Lower("vta", " --json --scale --seed 1", &text) == 0);
  const Json host = Json::parse(exact), vta = Json::parse(text);
  CHECK(host["scaled"] == 0);
  const auto of = [](const Json& counts, const char* name) {
    return counts[name].get<uint64_t>();
  };
  CHECK(of(vta, "scaled") > 50 * of(vta, "requantised"));
  CHECK(of(vta, "scaled") + of(vta, "requantised") == of(host, "requantised"));
  CHECK(of(vta["dram"], "sum_bytes") * 3 < of(host["dram"], "sum_bytes"));
  const Json& difference = vta["scaled_by_the_machine"];
  CHECK(difference["compared_bytes"] == 1000);
  CHECK(difference["differing_bytes"] > 0);
  CHECK(difference["differing_by_at_most"] > 0);
  CHECK(difference["differing_by_at_most"] <= 3);
}

// Neither has ADD, pools and the like: the same layers are the host's, whatever the plan.
TEST_CASE("lower: layers of the host read and write the same bytes on both targets") {
  std::vector<Json> counts;
  for (const std::string& target : TargetNames()) {
    Planned planned(kOwn, target == "vta" ? "vta-1x16x16" : "gemmini-16x16");
    counts.push_back(planned.Files(target));
  }
  CHECK(counts[0]["called_bytes"] > 0);
  CHECK(counts[0]["called_bytes"] == counts[1]["called_bytes"]);
  CHECK(counts[0]["array_macs"] == counts[1]["array_macs"]);
}

TEST_CASE("lower: --to-rows is for --scale") {
  Planned planned(kOwn, "gemmini-16x16");
  std::string text;
  CHECK(planned.Lower("gemmini", " --to-rows", &text) == kUsage);
}

TEST_CASE("lower: --to-rows is for a target that keeps bytes in its scratchpad") {
  Planned planned(kOwn, "vta-1x16x16");
  std::string text;
  CHECK(planned.Lower("vta", " --scale --to-rows", &text) == kUsage);
  CHECK(planned.Lower("vta", " --scale", &text) == 0);
}

// A state that is appended to at a position: the graph has a parameter.
TEST_CASE("lower: --scale runs graphs with parameters, at their least values") {
  Planned planned("zoo gpt2_small_decode --blocks 1", "gemmini-16x16");
  std::string text;
  CHECK(planned.Lower("gemmini", " --json --scale", &text) == 0);
  CHECK(Json::parse(text)["scaled_by_the_machine"]["compared_bytes"] > 0);
}

TEST_CASE("schedule: tiles cost what a target takes where --costs names it") {
  for (const std::string target : {"gemmini", "vta"}) {
    const std::string preset = target == "vta" ? "vta-1x16x16" : "gemmini-16x16";
    std::string text;
    Planned planned(kOwn, preset);
    const uint64_t plain = planned.Cycles();
    CHECK(planned.Schedule(preset + " --costs " + target, &text) == 0);
    CHECK(planned.Cycles() > plain);  // sums have a way out
    CHECK(planned.Lower(target, "", &text) == 0);
  }
  Planned planned(kOwn, "gemmini-16x16");
  std::string text;
  CHECK(planned.Schedule("gemmini-16x16 --costs abacus", &text) == kUsage);
  CHECK(text.find("gemmini vta") != std::string::npos);
}

TEST_CASE(
    "lower: what a target cannot do names the layer, what is no target the targets") {
  Planned planned(kOwn, "mcu-256k");  // its plans compute ADD in tiles
  std::string text;
  CHECK(planned.Lower("vta", "", &text) == kRejected);
  CHECK(text.find("operator") != std::string::npos);
  CHECK(text.find("layer") != std::string::npos);
  CHECK(planned.Lower("abacus", "", &text) == kUsage);
  for (const std::string& name : TargetNames()) {
    CHECK(FindTarget(name) != nullptr);
    CHECK(text.find(name) != std::string::npos);
  }
  CHECK(TargetNames().size() == 2);
}

}  // namespace sluice::cli
