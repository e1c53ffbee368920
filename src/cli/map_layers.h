// SPDX-License-Identifier: Apache-2.0
// `sluice map GRAPH`: loop nests of a graph's layers, for people and as JSON; and of a
// product M N K as the one layer of a graph, on machines that have more to them than
// sluice_map_gemm takes.
#ifndef SLUICE_CLI_MAP_LAYERS_H_
#define SLUICE_CLI_MAP_LAYERS_H_

#include <array>

#include "cli/commands.h"
#include "sluice/experimental.h"

namespace sluice::cli {

void RunMapLayers(const MapCommand& command);

// The product's layer: the C function's answer, without printing.
sluice_layer_mapping_t MapProduct(const MapCommand& command,
                                  const std::array<int64_t, 3>& extent);
void RunMapProduct(const MapCommand& command, const std::array<int64_t, 3>& extent);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_MAP_LAYERS_H_
