// SPDX-License-Identifier: Apache-2.0
// Names of a graph's layers and tensors, for messages.
//
// Input    graph.fbs bytes, untrusted
// Output   "conv1 (conv)", "conv1/weights [16,3,3,3] int8"; "layer 7" when nameless
#ifndef SLUICE_CLI_GRAPH_NAMES_H_
#define SLUICE_CLI_GRAPH_NAMES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "cli/files.h"

namespace sluice::cli {

// Begin and end of a long name, for lines that people read: names of layers that a converter
// joined may have hundreds of characters.
std::string Shortened(const std::string& name);

std::string GraphName(const Bytes& graph);
std::string LayerName(const Bytes& graph, uint32_t layer);
// By layer: its name in the graph, or "" if it has none. Damaged bytes: an empty list.
std::vector<std::string> PlainLayerNames(const Bytes& graph);
std::string TensorName(const Bytes& graph, uint32_t tensor);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_GRAPH_NAMES_H_
