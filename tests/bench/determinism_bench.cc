// SPDX-License-Identifier: Apache-2.0
// The same bytes everywhere: plans of the whole zoo, by every variant of the library that
// has been built (cmake --build build/release --target hash_variants).
//
// Input    programs variants/VARIANT/plan_hashes beside the tests of this build, with
//          their emulators; SLUICE_DETERMINISM_FOLDER: another place of plan_hashes and
//          variants; SLUICE_DETERMINISM_ONLY: networks to look at, comma-separated
// Output   a table or one JSON object: per network the hash of this build's plan on
//          soma-edge, and per variant whether it has the same
// Errors   5 when a hash differs or a program fails
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/files.h"
#include "cli/hardware_files.h"
#include "cli/zoo/zoo.h"

namespace {

namespace fs = std::filesystem;

struct Variant {
  std::string name, command;
};

// This build's program first.
std::vector<Variant> FindVariants() {
  const char* other = std::getenv("SLUICE_DETERMINISM_FOLDER");
  const fs::path folder = other != nullptr ? other : SLUICE_DETERMINISM_FOLDER;
  std::vector<Variant> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder / "variants", error)) {
    const fs::path program = entry.path() / "plan_hashes";
    if (!fs::exists(program)) continue;
    std::string emulator;
    std::ifstream(entry.path() / "emulator") >> emulator;
    found.push_back({entry.path().filename().string(),
                     (emulator.empty() ? "" : emulator + " ") + program.string()});
  }
  std::sort(found.begin(), found.end(),
            [](const Variant& a, const Variant& b) { return a.name < b.name; });
  found.insert(found.begin(), Variant{"this build", (folder / "plan_hashes").string()});
  return found;
}

// "resnet50 default ok 0123456789abcdef", or what went wrong.
std::string Ask(const Variant& variant, const std::string& arguments) {
  std::FILE* pipe =
      popen((variant.command + " --plain " + arguments + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return "cannot be run";
  char line[256] = "";
  const bool read = std::fgets(line, sizeof line, pipe) != nullptr;
  const int code = pclose(pipe);
  std::string text = read ? line : "";
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return code == 0 ? text : "failed: " + text;
}

bool Wanted(const std::string& name) {
  const char* only = std::getenv("SLUICE_DETERMINISM_ONLY");
  if (only == nullptr) return true;
  return ("," + std::string(only) + ",").find("," + name + ",") != std::string::npos;
}

}  // namespace

int RunDeterminismBench(bool json) {
  const std::vector<Variant> variants = FindVariants();
  const fs::path folder =
      fs::temp_directory_path() / ("sluice-determinism-" + std::to_string(std::rand()));
  fs::create_directories(folder);
  const std::string machine = (folder / "machine.slh").string();
  const auto bytes = sluice::cli::LoadHardware("soma-edge");
  sluice::cli::WriteFile(machine, bytes.data(), bytes.size());
  if (!json && variants.size() == 1) {
    std::printf(
        "no variants are built: cmake --build build/release --target "
        "hash_variants\n");
  }
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  bool good = true;
  for (const sluice::cli::ZooEntry& entry : sluice::cli::ZooEntries()) {
    if (!Wanted(entry.name)) continue;
    const auto graph = sluice::cli::MakeZooGraph(entry.name, {});
    const std::string path = (folder / (std::string(entry.name) + ".slg")).string();
    sluice::cli::WriteFile(path, graph.data(), graph.size());
    const std::string expected = Ask(variants[0], machine + " " + path);
    if (!json) std::printf("%s\n", expected.c_str());
    nlohmann::ordered_json same = nlohmann::ordered_json::object();
    good = good && expected.find(" ok ") != std::string::npos;
    for (size_t v = 1; v < variants.size(); ++v) {
      const std::string answer = Ask(variants[v], machine + " " + path);
      same[variants[v].name] = answer == expected;
      good = good && answer == expected;
      if (json) continue;
      std::printf("  %-12s %s\n", variants[v].name.c_str(),
                  answer == expected ? "equal" : answer.c_str());
      std::fflush(stdout);
    }
    rows.push_back({{"network", entry.name},
                    {"hash", expected.substr(expected.rfind(' ') + 1)},
                    {"equal", same}});
    fs::remove(path);
  }
  fs::remove_all(folder);
  if (json) {
    std::printf(
        "%s\n",
        nlohmann::ordered_json({{"determinism", rows}, {"ok", good}}).dump(1).c_str());
  }
  return good ? 0 : 5;
}
