// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/plan_files.h"
#include "cli/session.h"

namespace sluice::cli {

void Run(const VerifyCommand& command) {
  const PlanFiles files = ReadPlanFiles(command.plan, command.graph, command.hardware);
  Session session(0);
  session.LoadHardware(files.hardware);
  session.LoadGraph(files.graph);
  session.LoadPlan(files.plan);
  try {
    session.Verify();
  } catch (const Failure& failure) {
    throw Failure(failure.code(), command.plan + ": " + failure.what(),
                  failure.details());
  }
  if (command.json) {
    std::cout << JsonText(Json({{"ok", true}}), 1) << "\n";
  } else {
    std::cout << command.plan << ": every wait, address and byte is in order\n";
  }
}

}  // namespace sluice::cli
