// SPDX-License-Identifier: Apache-2.0
// A mapped layer as a problem, an architecture and a mapping for timeloop-model 3.
//
// Input    the descriptor's memories; the library's mapping of a layer that has loops
// Output   problem.yaml, arch.yaml, mapping.yaml in a folder, which is made
// Errors   Failure(kIo); Failure(kUsage) for a layer without loops
// Source   as timeloop.h. Where loops do not divide an extent, the instance's extent is
//          the loops' product (a comment in the file says so). All spatial loops below
//          a memory form one spatial nest.
#ifndef SLUICE_CLI_TIMELOOP_LAYER_H_
#define SLUICE_CLI_TIMELOOP_LAYER_H_

#include <string>

#include "cli/files.h"
#include "sluice/experimental.h"

namespace sluice::cli {

void WriteTimeloopLayer(const std::string& folder, const Bytes& hardware,
                        const sluice_layer_mapping_t& mapping);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_TIMELOOP_LAYER_H_
