// SPDX-License-Identifier: Apache-2.0
// `sluice map GRAPH`: loop nests of a graph's layers, for people and as JSON; also of a
// product M N K as a graph of one layer, for machines that sluice_map_gemm does not
// support.
#ifndef SLUICE_CLI_MAP_LAYERS_H_
#define SLUICE_CLI_MAP_LAYERS_H_

#include <array>

#include "cli/commands.h"
#include "sluice/experimental.h"

namespace sluice::cli {

void RunMapLayers(const MapCommand& command);

// Maps the product's layer and returns the C function's result, without printing.
sluice_layer_mapping_t MapProduct(const MapCommand& command,
                                  const std::array<int64_t, 3>& extent);
void RunMapProduct(const MapCommand& command, const std::array<int64_t, 3>& extent);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_MAP_LAYERS_H_
