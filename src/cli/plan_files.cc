// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_files.h"

#include <cstring>

#include "cli/failure.h"
#include "cli/hardware_files.h"

namespace sluice::cli {
namespace {

struct Footer {
  uint64_t plan, graph, hardware;
  char mark[8];
};
static_assert(sizeof(Footer) == 32);
constexpr char kMark[] = "SLPFILE1";

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
  Footer footer;
  if (files.plan.size() < sizeof footer) return files;
  const uint64_t parts = files.plan.size() - sizeof footer;
  std::memcpy(&footer, files.plan.data() + parts, sizeof footer);
  if (std::memcmp(footer.mark, kMark, sizeof footer.mark) != 0) return files;
  if (footer.plan > parts || footer.graph > parts || footer.hardware > parts ||
      Padded(footer.plan) + Padded(footer.graph) + Padded(footer.hardware) != parts) {
    throw Failure(kBadInput,
                  path + ": the sizes at its end do not add up to the file's");
  }
  const Bytes file = std::move(files.plan);
  const uint64_t graph = Padded(footer.plan);
  files.plan = Part(file, 0, footer.plan);
  files.graph = Part(file, graph, footer.graph);
  files.hardware = Part(file, graph + Padded(footer.graph), footer.hardware);
  return files;
}

// Throws unless the parts of `files` that are needed are there.
void Demand(const std::string& path, const PlanFiles& files, bool needs_hardware) {
  const bool graph = !files.graph.empty();
  const bool hardware = !needs_hardware || !files.hardware.empty();
  if (graph && hardware) return;
  if (files.plan.size() < 8 || std::memcmp(files.plan.data() + 4, "SLP1", 4) != 0) {
    throw Failure(kBadInput, path +
                                 " is no plan file, which `sluice schedule GRAPH.slg "
                                 "--hw MACHINE -o PLAN.slp` writes");
  }
  throw Failure(kUsage, path + " holds a plan alone; say what it was made for:" +
                            (graph ? "" : " --graph GRAPH.slg") +
                            (hardware ? "" : " --hw MACHINE"));
}

}  // namespace

PlanFiles ReadPlanFiles(const std::string& plan, const std::string& graph,
                        const std::string& hardware, const PlanFiles* otherwise) {
  PlanFiles files = Split(plan);
  if (!graph.empty()) files.graph = ReadGraph(graph, "--graph");
  files.graph_file = graph.empty() ? plan : graph;
  if (!hardware.empty()) files.hardware = LoadHardware(hardware);
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
  }
  Demand(plan, files, true);
  if (files.hardware_name.empty()) files.hardware_name = FactsOf(files.hardware).name;
  return files;
}

Bytes ReadPlanGraph(const std::string& plan, const std::string& graph) {
  if (!graph.empty()) return ReadGraph(graph, "--graph");
  const PlanFiles files = Split(plan);
  Demand(plan, files, false);
  return files.graph;
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
