// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <iostream>

#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/plan_files.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/targets.h"
#include "sluice/sluice.h"

namespace sluice::cli {
namespace {

void Append(const TargetCommand& command, bool binary, Bytes* out) {
  if (!binary) {
    out->insert(out->end(), command.text.begin(), command.text.end());
    out->push_back('\n');
    return;
  }
  for (const uint64_t word : command.words) {
    for (int byte = 0; byte < 8; ++byte) {
      out->push_back(static_cast<uint8_t>(word >> (8 * byte)));
    }
  }
}

void Print(const Json& counts, const std::string& prefix, Report* report) {
  for (const auto& [name, value] : counts.items()) {
    if (value.is_object()) {
      Print(value, "", report);
    } else if (value.is_number_float()) {
      report->Line(prefix + name, JsonText(value));
    } else {
      report->Line(prefix + name, Grouped(value.get<uint64_t>()));
    }
  }
}

}  // namespace

void Run(const LowerCommand& command) {
  const Target& target = TargetNamed(command.target);
  if (command.to_rows && !target.keeps_rows) {
    throw Failure(kUsage, command.target + " keeps no bytes: --to-rows is not for it");
  }
  Session session(0);
  const PlanFiles files = ReadPlanAndGraph(command.plan, command.graph);
  DemandMadeFor(files);
  session.LoadGraph(files.graph);
  session.LoadPlan(files.plan);
  const void* stream = nullptr;
  size_t size = 0;
  if (sluice_plan_stream(session.plan(), &stream, &size) != SLUICE_OK) {
    throw Failure(kBadInput, command.plan + ": no stream");
  }
  sluice_walker_t walker;
  if (sluice_walk_open(&walker, stream, size, nullptr) != SLUICE_WALK_OK) {
    throw Failure(kBadInput, command.plan + ": the walker refuses its stream");
  }
  Bytes out;
  const bool binary = FileExtension(command.output) == ".bin";
  const bool keep = !command.output.empty();
  const std::string& beside = command.graph.empty() ? command.plan : command.graph;
  const std::string folder = std::filesystem::path(beside).parent_path().string();
  const LoweredPlan plan = {
      walker,        session.graph(), files.graph, folder.empty() ? "." : folder,
      command.scale, command.to_rows, command.seed};
  const Json counts = target.lower(plan, [&](const TargetCommand& c) {
    if (keep) Append(c, binary, &out);
  });
  if (keep) WriteFile(command.output, out.data(), out.size());
  if (command.json) {
    std::cout << JsonText(counts, 1) << "\n";
    return;
  }
  Report report(command.plan + " on " + target.name);
  Print(counts, "", &report);
  std::cout << report.Text();
}

}  // namespace sluice::cli
