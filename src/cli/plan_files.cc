// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_files.h"

#include <cstring>

#include "cli/failure.h"
#include "cli/hardware_files.h"
#include "cli/session.h"

namespace sluice::cli {
namespace {

struct Footer {
  uint64_t plan, graph, hardware;
  char mark[8];
};
static_assert(sizeof(Footer) == 32);
constexpr char kMark[] = "SLPFILE1";
constexpr char kWriteAnew[] = "; `sluice schedule` writes a new plan file";

uint64_t Padded(uint64_t size) { return (size + 7) / 8 * 8; }

void Append(const Bytes& part, Bytes* out) {
  out->insert(out->end(), part.begin(), part.end());
  out->resize(Padded(out->size()));
}

Bytes Part(const Bytes& file, uint64_t from, uint64_t size) {
  const uint8_t* first = file.data() + from;
  return Bytes(first, first + size);
}

// The parts of a plan file; those that it lacks are empty.
PlanFiles Split(const std::string& path) {
  PlanFiles files;
  files.plan = ReadFile(path);
  files.plan_file = files.graph_file = files.hardware_file = path;
  Footer footer;
  if (files.plan.size() < sizeof footer) return files;
  const uint64_t parts = files.plan.size() - sizeof footer;
  std::memcpy(&footer, files.plan.data() + parts, sizeof footer);
  if (std::memcmp(footer.mark, kMark, sizeof footer.mark) != 0) return files;
  if (footer.plan > parts || footer.graph > parts || footer.hardware > parts ||
      Padded(footer.plan) + Padded(footer.graph) + Padded(footer.hardware) != parts) {
    throw Failure(
        kBadInput,
        path + ": the sizes at its end do not add up to the file's" + kWriteAnew);
  }
  const Bytes file = std::move(files.plan);
  const uint64_t graph = Padded(footer.plan);
  files.plan = Part(file, 0, footer.plan);
  files.graph = Part(file, graph, footer.graph);
  files.hardware = Part(file, graph + Padded(footer.graph), footer.hardware);
  return files;
}

// Calls `read`, which reads what `file` has as `part`. A refusal names both.
template <typename Read>
void Named(const std::string& file, const std::string& plan, const char* part,
           Read read) {
  try {
    read();
  } catch (const Failure& failure) {
    if (failure.code() != kBadInput) throw;
    const std::string where =
        file == plan ? file + ": its " + part + " is damaged: " : file + ": ";
    const std::string right = file == plan ? kWriteAnew : "";
    throw Failure(kBadInput, where + failure.what() + right, failure.details());
  }
}

// Throws unless the parts of `files` that are needed are there, and whole.
void Demand(const PlanFiles& files, bool needs_hardware) {
  const std::string& path = files.plan_file;
  const bool graph = !files.graph.empty();
  const bool hardware = !needs_hardware || !files.hardware.empty();
  if (KindOf(files.plan) != "plan file") {
    throw Failure(kBadInput, path +
                                 " is no plan file, which `sluice schedule GRAPH.slg "
                                 "--hw MACHINE -o PLAN.slp` writes");
  }
  Session session(0);
  Named(path, path, "plan", [&] { session.LoadPlan(files.plan); });
  if (!graph || !hardware) {
    throw Failure(kUsage,
                  path +
                      " holds a plan alone, or ends too early; say what the plan was "
                      "made for:" +
                      (graph ? "" : " --graph GRAPH.slg") +
                      (hardware ? "" : " --hw MACHINE"));
  }
  Named(files.graph_file, path, "graph", [&] { session.LoadGraph(files.graph); });
  if (files.hardware.empty()) return;
  Named(files.hardware_file, path, "machine",
        [&] { session.LoadHardware(files.hardware); });
}

// What to say where a plan has another `kind` than the one that is there.
[[noreturn]] void MadeForAnother(const PlanFiles& files, const std::string& kind,
                                 const std::string& file, const char* option) {
  const bool own = file == files.plan_file;
  throw Failure(kBadInput,
                files.plan_file + ": the plan was made for another " + kind + " than " +
                    (own ? "the one in this file" : file) + "; " + option +
                    " names the right one, `sluice reschedule` makes a plan for this");
}

}  // namespace

PlanFiles ReadPlanFiles(const std::string& plan, const std::string& graph,
                        const std::string& hardware, const PlanFiles* otherwise) {
  PlanFiles files = Split(plan);
  if (!graph.empty()) files.graph = ReadGraph(graph, "--graph");
  if (!graph.empty()) files.graph_file = graph;
  if (!hardware.empty()) {
    files.hardware = LoadHardware(hardware);
    files.hardware_file = hardware;
  }
  files.graph_name = FileStem(graph.empty() ? plan : graph);
  files.hardware_name = FileStem(hardware);
  if (files.graph.empty() && otherwise != nullptr) {
    files.graph = otherwise->graph;
    files.graph_file = otherwise->graph_file;
    files.graph_name = otherwise->graph_name;
  }
  if (files.hardware.empty() && otherwise != nullptr) {
    files.hardware = otherwise->hardware;
    files.hardware_name = otherwise->hardware_name;
    files.hardware_file = otherwise->hardware_file;
  }
  Demand(files, true);
  if (files.hardware_name.empty()) files.hardware_name = FactsOf(files.hardware).name;
  return files;
}

PlanFiles ReadPlanAndGraph(const std::string& plan, const std::string& graph) {
  PlanFiles files = Split(plan);
  if (!graph.empty()) {
    files.graph = ReadGraph(graph, "--graph");
    files.graph_file = graph;
  }
  Demand(files, false);
  return files;
}

void DemandMadeFor(const PlanFiles& files) {
  Session session(0);
  session.LoadPlan(files.plan);
  session.LoadGraph(files.graph);
  sluice_plan_hashes_t made = {};
  made.struct_size = sizeof made;
  sluice_plan_hash(session.plan(), &made);
  if (made.made_for_graph != sluice_graph_hash(session.graph())) {
    MadeForAnother(files, "graph", files.graph_file, "--graph");
  }
  if (files.hardware.empty()) return;
  session.LoadHardware(files.hardware);
  if (made.made_for_hardware != sluice_hardware_hash(session.hardware())) {
    MadeForAnother(files, "machine", files.hardware_file, "--hw");
  }
}

void WritePlanFile(const std::string& path, const Bytes& plan, const Bytes& graph,
                   const Bytes& hardware, bool plan_only) {
  Bytes file = plan;
  if (!plan_only) {
    file.resize(Padded(file.size()));
    Append(graph, &file);
    Append(hardware, &file);
    Footer footer = {plan.size(), graph.size(), hardware.size(), {}};
    std::memcpy(footer.mark, kMark, sizeof footer.mark);
    const auto* words = reinterpret_cast<const uint8_t*>(&footer);
    file.insert(file.end(), words, words + sizeof footer);
  }
  WriteFile(path, file.data(), file.size());
}

}  // namespace sluice::cli
