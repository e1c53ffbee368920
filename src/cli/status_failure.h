// SPDX-License-Identifier: Apache-2.0
// A status of the library as the Failure that the tool shows.
//
// Input    a status other than SLUICE_OK, what the library said, the graph for names
// Output   the exit code of the status, the library's sentence, the layer and tensor by
//          name, the bytes that were required and available
#ifndef SLUICE_CLI_STATUS_FAILURE_H_
#define SLUICE_CLI_STATUS_FAILURE_H_

#include "cli/failure.h"
#include "cli/files.h"
#include "sluice/sluice.h"

namespace sluice::cli {

Failure FailureOf(sluice_status_t status, const sluice_diagnostic_t& d,
                  const Bytes& graph);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_STATUS_FAILURE_H_
