// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/hardware_files.h"
#include "cli/plan_page.h"

namespace sluice::cli {
namespace {

PlanFiles Read(const std::string& plan, const std::string& graph,
               const std::string& hardware) {
  return {ReadFile(plan), ReadFile(graph), LoadHardware(hardware), FileStem(graph),
          FileStem(hardware)};
}

}  // namespace

void Run(const ReportCommand& command) {
  std::vector<PlanFiles> plans = {Read(command.plan, command.graph, command.hardware)};
  if (!command.against.empty()) {
    const auto otherwise = [](const std::string& own, const std::string& first) {
      return own.empty() ? first : own;
    };
    plans.push_back(Read(command.against,
                         otherwise(command.against_graph, command.graph),
                         otherwise(command.against_hardware, command.hardware)));
  }
  const std::string page = PlanPage(plans);
  WriteFile(command.output, page.data(), page.size());
  if (command.json) {
    std::cout << JsonText(Json({{"ok", true},
                                {"output", command.output},
                                {"bytes", page.size()}}),
                          1)
              << "\n";
  } else {
    std::cout << command.output << ": " << page.size() << " bytes\n";
  }
}

}  // namespace sluice::cli
