// SPDX-License-Identifier: Apache-2.0
// Facts and doubts about a machine, derived from its descriptor.
#include "api/arguments.h"
#include "api/objects.h"
#include "model/engines.h"
#include "plan/machine_doubts.h"
#include "sluice/experimental.h"

sluice_status_t sluice_hardware_machine(const sluice_hardware_t* hardware,
                                        sluice_machine_facts_t* out_facts) {
  if (hardware == nullptr) return SLUICE_BAD_ARGUMENT;
  return sluice::WriteStruct(sluice::FactsOf(hardware->hardware), out_facts);
}

sluice_status_t sluice_hardware_engine(const sluice_hardware_t* hardware,
                                       uint32_t index, sluice_engine_t* out_engine) {
  if (hardware == nullptr || out_engine == nullptr) return SLUICE_BAD_ARGUMENT;
  const sluice::Engines engines(hardware->hardware);
  if (index >= engines.count()) return SLUICE_BAD_ARGUMENT;
  *out_engine = engines.Describe(index);
  return SLUICE_OK;
}

sluice_status_t sluice_hardware_doubt(const sluice_hardware_t* hardware, uint32_t index,
                                      sluice_diagnostic_t* out_doubt) {
  if (hardware == nullptr || out_doubt == nullptr) return SLUICE_BAD_ARGUMENT;
  sluice::CallReport report(out_doubt);
  if (!sluice::MachineDoubt(hardware->hardware, index, report.get())) {
    return report.BadArgument("there is no doubt of that number");
  }
  return report.Done(sluice::Status::kOk);
}
