// SPDX-License-Identifier: Apache-2.0
// The same bytes everywhere: compares plans of the whole zoo between all variants of the
// library that have been built (cmake --build build/release --target hash_variants). Each
// network has four plans on soma-edge, of 150 to 400 iterations (plan_hashes --zoo); four
// networks have one more on the mesh kapla-4x4.
//
// Input    programs variants/VARIANT/plan_hashes beside the tests of this build, with
//          their emulators; SLUICE_DETERMINISM_FOLDER: another place of plan_hashes and
//          variants; SLUICE_DETERMINISM_ONLY: networks to look at, comma-separated
// Output   a table or one JSON object: per network the hashes of this build's plans, and
//          per variant whether it has the same and its CPU time
// Errors   5 when a hash differs or a program fails
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "presets/presets.h"
#include "support/files.h"
#include "zoo/zoo.h"

namespace {

namespace fs = std::filesystem;

struct Variant {
  std::string name, command;
  double cpu_seconds = 0;
  int equal = 0;  // networks
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

double ChildrenCpu() {
  rusage usage;
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Lines as "resnet50 default ok 0123456789abcdef", or what went wrong.
std::string Ask(Variant* variant, const std::string& arguments) {
  const double before = ChildrenCpu();
  std::FILE* pipe = popen((variant->command + arguments + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return "cannot be run";
  std::string text;
  char part[256];
  while (std::fgets(part, sizeof part, pipe) != nullptr) text += part;
  const int code = pclose(pipe);
  variant->cpu_seconds += ChildrenCpu() - before;
  return code == 0 ? text : "failed: " + text;
}

// Every line of `text`, without its end.
std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Whether the answer has plans, or says that a budget is too small for one.
bool Good(const std::string& answer) {
  if (answer.find(" default ok ") == std::string::npos) return false;
  for (const std::string& line : LinesOf(answer)) {
    if (line.find(" ok ") == std::string::npos &&
        line.find(" infeasible ") == std::string::npos) {
      return false;
    }
  }
  return true;
}

bool Wanted(const std::string& name) {
  const char* only = std::getenv("SLUICE_DETERMINISM_ONLY");
  if (only == nullptr) return true;
  return ("," + std::string(only) + ",").find("," + name + ",") != std::string::npos;
}

// Machines and the networks on them.
struct Work {
  const char* machine;
  const char* way;
  std::vector<std::string> networks;
};

std::vector<Work> AllWork() {
  std::vector<std::string> zoo;
  for (const sluice::zoo::ZooEntry& entry : sluice::zoo::ZooEntries()) {
    zoo.push_back(entry.name);
  }
  return {{"soma-edge", " --zoo ", zoo},
          {"kapla-4x4", " --plain ", {"alexnet", "lstm_gnmt", "mlp_l", "transformer"}}};
}

nlohmann::ordered_json Compare(std::vector<Variant>* variants, const std::string& name,
                               const std::string& machine, const std::string& arguments,
                               bool json, bool* good) {
  const std::string expected = Ask(&variants->front(), arguments);
  *good = *good && Good(expected);
  if (!json) std::printf("%s: %s", machine.c_str(), expected.c_str());
  nlohmann::ordered_json same = nlohmann::ordered_json::object();
  for (size_t v = 1; v < variants->size(); ++v) {
    Variant* variant = &(*variants)[v];
    const std::string answer = Ask(variant, arguments);
    same[variant->name] = answer == expected;
    *good = *good && answer == expected;
    variant->equal += answer == expected;
    if (json) continue;
    std::printf("  %-12s %s\n", variant->name.c_str(),
                answer == expected ? "equal" : answer.c_str());
    std::fflush(stdout);
  }
  return {{"network", name},
          {"machine", machine},
          {"hashes", LinesOf(expected)},
          {"equal", same}};
}

}  // namespace

int RunDeterminismBench(bool json) {
  std::vector<Variant> variants = FindVariants();
  const fs::path folder =
      fs::temp_directory_path() / ("sluice-determinism-" + std::to_string(getpid()));
  fs::create_directories(folder);
  if (!json && variants.size() == 1) {
    std::printf(
        "no variants are built: cmake --build build/release --target "
        "hash_variants\n");
  }
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  bool good = true;
  for (const Work& work : AllWork()) {
    const std::string machine = (folder / "machine.slh").string();
    const auto bytes = sluice::presets::LoadPreset(work.machine);
    sluice_test::WriteFile(machine, bytes.data(), bytes.size());
    for (const std::string& name : work.networks) {
      if (!Wanted(name)) continue;
      const auto graph = sluice::zoo::MakeZooGraph(name, {});
      const std::string path = (folder / (name + ".slg")).string();
      sluice_test::WriteFile(path, graph.data(), graph.size());
      rows.push_back(Compare(&variants, name, work.machine,
                             work.way + machine + " " + path, json, &good));
      fs::remove(path);
    }
  }
  fs::remove_all(folder);
  nlohmann::ordered_json sums = nlohmann::ordered_json::object();
  for (size_t v = 1; v < variants.size(); ++v) {
    const Variant& variant = variants[v];
    sums[variant.name] = {{"equal", variant.equal},
                          {"of", rows.size()},
                          {"cpu_seconds", variant.cpu_seconds}};
    if (json) continue;
    std::printf("%-12s %d of %zu networks equal, %.0f s of CPU\n", variant.name.c_str(),
                variant.equal, rows.size(), variant.cpu_seconds);
  }
  if (json) {
    const nlohmann::ordered_json result = {
        {"determinism", rows}, {"variants", sums}, {"ok", good}};
    std::printf("%s\n", result.dump(1).c_str());
  }
  return good ? 0 : 5;
}
