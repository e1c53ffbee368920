// SPDX-License-Identifier: Apache-2.0
// Checks whether an installation works on this machine. Prints one line per check; the
// exit code tells whether one failed.
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>
#include <thread>

#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/hardware_files.h"
#include "cli/models.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/terminal.h"
#include "firmware-sim/sim.h"
#include "sluice/presets.h"

namespace sluice::cli {
namespace {

enum class State { kOk, kNote, kWrong };

struct Finding {
  std::string check;
  State state;
  std::string text;
};

Finding Version() {
  return {"library", State::kOk,
          std::string("sluice ") + sluice_version() + ", ABI " +
              std::to_string(SLUICE_ABI_VERSION)};
}

Finding Parts() {
  static constexpr const char* kNames[] = {
      "mesh", "mappers", "operators", "coschedule", "tokens", "fusion", "repeats"};
  const uint32_t parts = sluice_components();
  std::string missing;
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if ((parts >> i & 1) == 0)
      missing += (missing.empty() ? "" : ", ") + std::string(kNames[i]);
  }
  if (missing.empty()) return {"parts", State::kOk, "all"};
  return {"parts", State::kNote, "this build leaves out " + missing};
}

Finding Models() {
  if (sluice_import_reads(SLUICE_MODEL_TFLITE) == 0) {
    return {"models", State::kWrong, "TensorFlow Lite's cannot be read"};
  }
  if (sluice_import_reads(SLUICE_MODEL_ONNX) == 0) {
    return {
        "models", State::kNote,
        "TensorFlow Lite's; not ONNX's: libonnx and protobuf were missing when this "
        "was built"};
  }
  return {"models", State::kOk, "TensorFlow Lite's and ONNX's"};
}

Finding Presets() {
  for (uint32_t i = 0; i < sluice_preset_count(); ++i) {
    Session session(0);
    session.LoadHardware(LoadHardware(sluice_preset_name(i)));
  }
  return {"presets", State::kOk, std::to_string(sluice_preset_count()) + " machines"};
}

// Plans a network, verifies the plan and executes it on data; compares the run with the
// untiled network and with the plan's report.
Finding Plan() {
  sluice_zoo_options_t zoo = {};
  zoo.struct_size = sizeof zoo;
  zoo.batch = 1;
  const Bytes graph = ZooGraph("mobilenet_v1", zoo).graph.Copy(),
              machine = LoadHardware("soma-edge");
  Session session(0);
  session.LoadHardware(machine);
  session.LoadGraph(graph);
  sluice_schedule_options_t options = {};
  options.struct_size = sizeof options;
  options.energy_exponent = options.delay_exponent = 1;
  session.Schedule(options);
  session.Verify();
  const Bytes plan = session.PlanBytes();
  sluice_sim::SimulateOptions run;
  run.graph = graph.data();
  run.graph_size = graph.size();
  run.hardware = machine.data();
  run.hardware_size = machine.size();
  run.plan = plan.data();
  run.plan_size = plan.size();
  run.functional = true;
  const sluice_sim::SimulateResult result = sluice_sim::Simulate(run);
  if (!result.ok)
    return {"a plan", State::kWrong, "the simulator says no: " + result.error};
  if (result.mismatches != 0 || result.cycles != result.predicted_cycles) {
    return {"a plan", State::kWrong,
            std::to_string(result.mismatches) + " bytes differ, " +
                std::to_string(result.cycles) + " cycles instead of " +
                std::to_string(result.predicted_cycles)};
  }
  return {"a plan", State::kOk,
          "made, judged, executed: " + Grouped(result.cycles) +
              " cycles as predicted, " + Grouped(result.compared_bytes) +
              " bytes as computed untiled"};
}

Finding Memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  const uint64_t there = static_cast<uint64_t>(pages) * static_cast<uint64_t>(page);
  struct rlimit limit = {};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    return {"memory", State::kNote,
            BytesText(there) + ", of which `ulimit -v` allows " +
                BytesText(limit.rlim_cur)};
  }
  return {"memory", State::kOk, BytesText(there)};
}

Finding Folder() {
  struct statvfs disk = {};
  if (access(".", W_OK) != 0) {
    return {"folder", State::kNote,
            std::string("this one cannot be written: ") + std::strerror(errno)};
  }
  if (statvfs(".", &disk) != 0) return {"folder", State::kOk, "can be written"};
  const uint64_t free = uint64_t{disk.f_bavail} * disk.f_frsize;
  return {"folder", free < (uint64_t{64} << 20) ? State::kNote : State::kOk,
          "can be written, " + BytesText(free) + " free"};
}

Finding Cores() {
  return {"cores", State::kOk,
          std::to_string(std::max(1u, std::thread::hardware_concurrency())) +
              " (dse uses them all, other commands one)"};
}

Finding Python() {
  FILE* pipe =
      popen("python3 -c 'import sluice; print(sluice.__version__)' 2>/dev/null", "r");
  char line[64] = {};
  const bool said = pipe != nullptr && std::fgets(line, sizeof line, pipe) != nullptr;
  const bool there = pipe != nullptr && pclose(pipe) == 0 && said;
  if (!there) {
    return {"Python", State::kNote,
            "python3 has no package sluice (pip install brings it)"};
  }
  line[std::strcspn(line, "\n")] = '\0';
  if (std::strcmp(line, sluice_version()) != 0) {
    return {"Python", State::kNote,
            std::string("its package is sluice ") + line + ", another version"};
  }
  return {"Python", State::kOk, std::string("its package is sluice ") + line};
}

Finding Made(const char* name, const std::function<Finding()>& check) {
  try {
    return check();
  } catch (const Failure& failure) {
    return {name, State::kWrong, failure.what()};
  }
}

std::string Word(State state) {
  switch (state) {
    case State::kOk:
      return "ok";
    case State::kNote:
      return "note";
    case State::kWrong:
      return "wrong";
  }
  return "";
}

}  // namespace

void Run(const DoctorCommand& command) {
  const std::vector<Finding> findings = {
      Made("library", Version), Made("parts", Parts), Made("models", Models),
      Made("presets", Presets), Made("a plan", Plan), Made("memory", Memory),
      Made("folder", Folder),   Made("cores", Cores), Made("Python", Python)};
  Json checks = Json::array();
  std::string wrong;
  for (const Finding& finding : findings) {
    checks.push_back({{"check", finding.check},
                      {"state", Word(finding.state)},
                      {"text", finding.text}});
    if (finding.state == State::kWrong) wrong = finding.check + ": " + finding.text;
    if (command.json) continue;
    const Colour colour = finding.state == State::kOk     ? kGreen
                          : finding.state == State::kNote ? kYellow
                                                          : kRed;
    std::string word = Word(finding.state), check = finding.check;
    word.resize(6, ' ');
    check.resize(9, ' ');
    std::cout << "  " << Coloured(word, colour, STDOUT_FILENO) << check << finding.text
              << "\n";
  }
  const Json json = {{"ok", wrong.empty()}, {"checks", checks}};
  if (!wrong.empty()) {
    Json details = json;
    details["error"] = {{"message", wrong}};
    throw Failure(kRejected, "this installation does not work: " + wrong, details);
  }
  if (command.json) std::cout << JsonText(json, 1) << "\n";
}

}  // namespace sluice::cli
