// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs of a graph as files: elements as they are stored, or floats.
//
// Input    paths, one for each input or output, in the graph's order; graph.fbs bytes.
//          "x.f32" holds 32-bit floats, any other name stored elements, both dense
// Output   stored bytes; written files
// Errors   Failure(kUsage): not one path for each; Failure(kBadInput): a file of another
//          size than the tensor, floats of a tensor without scale; Failure(kIo)
#ifndef SLUICE_CLI_TENSOR_FILES_H_
#define SLUICE_CLI_TENSOR_FILES_H_

#include <string>
#include <vector>

#include "cli/files.h"

namespace sluice::cli {

// Empty for no paths.
std::vector<Bytes> ReadInputs(const std::vector<std::string>& paths,
                              const Bytes& graph);
// Nothing for no paths.
void WriteOutputs(const std::vector<std::string>& paths, const Bytes& graph,
                  const std::vector<Bytes>& outputs);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_TENSOR_FILES_H_
