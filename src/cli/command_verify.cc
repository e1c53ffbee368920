// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/hardware_files.h"
#include "cli/session.h"

namespace sluice::cli {

void Run(const VerifyCommand& command) {
  const Bytes plan = ReadFile(command.plan);
  Session session(0);
  session.LoadHardware(LoadHardware(command.hardware));
  session.LoadGraph(ReadFile(command.graph));
  session.LoadPlan(plan);
  session.Verify();
  if (command.json) {
    std::cout << JsonText(Json({{"ok", true}}), 1) << "\n";
  } else {
    std::cout << command.plan << ": every wait, address and byte is in order\n";
  }
}

}  // namespace sluice::cli
