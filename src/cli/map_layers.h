// SPDX-License-Identifier: Apache-2.0
// `sluice map GRAPH`: loop nests of a graph's layers, for people and as JSON.
#ifndef SLUICE_CLI_MAP_LAYERS_H_
#define SLUICE_CLI_MAP_LAYERS_H_

#include "cli/commands.h"

namespace sluice::cli {

void RunMapLayers(const MapCommand& command);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_MAP_LAYERS_H_
