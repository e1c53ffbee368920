// SPDX-License-Identifier: Apache-2.0
#include "cli/answers.h"

namespace sluice::cli {

ExitCode ExitCodeOf(sluice_status_t status) {
  switch (status) {
    case SLUICE_INFEASIBLE:
      return kInfeasible;
    case SLUICE_STOPPED:
      return kStopped;
    case SLUICE_REJECTED:
    case SLUICE_INTERNAL:
      return kRejected;
    case SLUICE_BAD_ARGUMENT:
      return kUsage;
    case SLUICE_OUT_OF_MEMORY:
      return kIo;
    default:
      return kBadInput;
  }
}

sluice_diagnostic_t EmptyDiagnostic() {
  sluice_diagnostic_t diagnostic = {};
  diagnostic.struct_size = sizeof diagnostic;
  diagnostic.layer = diagnostic.tensor = diagnostic.instruction = SLUICE_NO_INDEX;
  return diagnostic;
}

void MustBeDone(sluice_status_t status, const sluice_diagnostic_t& diagnostic) {
  if (status != SLUICE_OK) throw Failure(ExitCodeOf(status), diagnostic.message);
}

}  // namespace sluice::cli
