// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "cli/commands.h"
#include "cli/json_text.h"
#include "cli/plan_page.h"

namespace sluice::cli {

void Run(const ReportCommand& command) {
  std::vector<PlanFiles> plans = {
      ReadPlanFiles(command.plan, command.graph, command.hardware)};
  if (!command.against.empty()) {
    plans.push_back(ReadPlanFiles(command.against, command.against_graph,
                                  command.against_hardware, &plans[0]));
  }
  for (const PlanFiles& files : plans) DemandMadeFor(files);
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
