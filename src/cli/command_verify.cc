// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/plan_files.h"
#include "cli/report.h"
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
  // Only who made the plan knows what its own tiles take.
  const sluice_certificate_t c = session.Certificate();
  if (command.json) {
    const Json assumed = {{"cycles", c.caller_cycles}, {"energy_pj", c.caller_pj}};
    std::cout << JsonText(Json({{"ok", true}, {"bounds_assume", assumed}}), 1) << "\n";
    return;
  }
  std::cout << command.plan << ": every wait, address and byte is in order\n";
  if (c.caller_cycles == 0 && c.caller_pj <= 0) return;
  std::cout << "  the bounds rest on what the plan's maker says of tiles: "
            << Grouped(c.caller_cycles) << " cycles, " << EnergyText(c.caller_pj)
            << ": assumed, not checked\n";
}

}  // namespace sluice::cli
