// SPDX-License-Identifier: Apache-2.0
// Example command lines. A test runs all of them in the order of the commands, in a
// folder with model.tflite.
#ifndef SLUICE_CLI_EXAMPLES_H_
#define SLUICE_CLI_EXAMPLES_H_

#include <string>

namespace sluice::cli {

// Indented lines; empty for a command without examples.
// What one does first, for the help of the whole tool.
std::string FirstSteps();
std::string ExamplesOf(const std::string& command);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_EXAMPLES_H_
