// SPDX-License-Identifier: Apache-2.0
#include "cli/machine_facts.h"

#include "cli/answers.h"

namespace sluice::cli {

sluice_machine_facts_t MachineOf(const Session& session) {
  sluice_machine_facts_t facts = {};
  facts.struct_size = sizeof facts;
  session.Check(sluice_hardware_machine(session.hardware(), &facts), EmptyDiagnostic());
  return facts;
}

std::vector<sluice_engine_t> EnginesOf(const Session& session) {
  std::vector<sluice_engine_t> engines(MachineOf(session).engines);
  for (uint32_t i = 0; i < engines.size(); ++i) {
    session.Check(sluice_hardware_engine(session.hardware(), i, &engines[i]),
                  EmptyDiagnostic());
  }
  return engines;
}

std::vector<std::string> MachineDoubts(const Session& session) {
  std::vector<std::string> doubts(MachineOf(session).doubts);
  for (uint32_t i = 0; i < doubts.size(); ++i) {
    sluice_diagnostic_t doubt = EmptyDiagnostic();
    session.Check(sluice_hardware_doubt(session.hardware(), i, &doubt), doubt);
    doubts[i] = doubt.message;
  }
  return doubts;
}

}  // namespace sluice::cli
