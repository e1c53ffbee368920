// SPDX-License-Identifier: Apache-2.0
// The graph, executed layer by layer on whole tensors: what a stream must reproduce.
//
// Input    a graph that ReadGraph accepted; bytes of its inputs and states
// Output   dense bytes of every tensor
// Errors   false and a sentence; CancelledRun (cancel.h)
// Cost     the operators' work; memory: all tensors
#ifndef SLUICE_FIRMWARE_SIM_REFERENCE_H_
#define SLUICE_FIRMWARE_SIM_REFERENCE_H_

#include <string>
#include <vector>

#include "kernels.h"
#include "wire.h"

namespace sluice_sim {

using Bytes = std::vector<uint8_t>;
using Values = std::vector<Bytes>;  // by tensor; empty = not known yet

// Bytes of SplitMix64, as ops.h defines them.
Bytes SeededBytes(uint64_t seed, int64_t size, const uint32_t* cancel = nullptr);

// Fills one constant or state from its source: inline, external (below data_dir) or
// seeded; a state without a source is zero. Empty string = no error.
std::string FillFromSource(const Graph& graph, size_t tensor,
                           const std::string& data_dir, Bytes* value);
// Fills constants.
std::string FillConstants(const Graph& graph, const std::string& data_dir,
                          Values* values);
// Fills inputs: the given ones, else seeded with seed * 256 + i.
std::string FillInputs(const Graph& graph, uint64_t seed, const Values* given,
                       Values* values);
// Runs all layers in order. `parameters`: value of each graph parameter.
std::string RunLayers(const Graph& graph, const std::vector<int32_t>& parameters,
                      Values* values);

// Runs one layer with the attributes of `layer`. In `values` only the layer's inputs
// must be known; `parameters` of the graph where the layer asks for one.
std::string RunLayer(const Graph& graph, const Layer& layer, Values* values,
                     const std::vector<int32_t>& parameters = {});

// The whole layer as one tile, its boxes without bytes where `values` is nullptr.
Tile WholeTile(const Graph& graph, const Layer& layer, Values* values);
// The same, inputs cropped to what windows reach, with its padding: as RunTile takes it.
Tile CroppedTile(const Graph& graph, const Layer& layer, Values* values);

}  // namespace sluice_sim

#endif  // SLUICE_FIRMWARE_SIM_REFERENCE_H_
