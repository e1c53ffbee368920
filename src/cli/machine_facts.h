// SPDX-License-Identifier: Apache-2.0
// What the library says of a session's machine.
#ifndef SLUICE_CLI_MACHINE_FACTS_H_
#define SLUICE_CLI_MACHINE_FACTS_H_

#include <string>
#include <vector>

#include "cli/session.h"

namespace sluice::cli {

sluice_machine_facts_t MachineOf(const Session& session);
std::vector<sluice_engine_t> EnginesOf(const Session& session);
// Sentences on what of the descriptor is doubtful.
std::vector<std::string> MachineDoubts(const Session& session);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_MACHINE_FACTS_H_
