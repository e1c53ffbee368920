// SPDX-License-Identifier: Apache-2.0
// Maps the libraries' statuses to exit codes, and makes an empty diagnostic for a call.
#ifndef SLUICE_CLI_ANSWERS_H_
#define SLUICE_CLI_ANSWERS_H_

#include "cli/failure.h"
#include "sluice/sluice.h"

namespace sluice::cli {

ExitCode ExitCodeOf(sluice_status_t status);

sluice_diagnostic_t EmptyDiagnostic();

// Throws a Failure with the diagnostic's sentence unless status is SLUICE_OK.
void MustBeDone(sluice_status_t status, const sluice_diagnostic_t& diagnostic);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_ANSWERS_H_
