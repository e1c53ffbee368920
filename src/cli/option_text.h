// SPDX-License-Identifier: Apache-2.0
// What CLI11 knows of a command, as plain text: for the manual page and the completions.
#ifndef SLUICE_CLI_OPTION_TEXT_H_
#define SLUICE_CLI_OPTION_TEXT_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace sluice::cli {

struct OptionText {
  std::vector<std::string> names;     // "-o", "--output"; of a positional one its name
  std::string value;                  // "BYTES"; empty for a flag
  std::vector<std::string> choices;   // all values there are, where they are few
  std::string description, standard;  // the value that it has when it is not typed
  bool positional = false, required = false;
};

struct CommandText {
  std::string name, description, footer;
  std::vector<OptionText> options;    // in the order of the help
  std::vector<CommandText> commands;  // below it
};

CommandText TextOf(const CLI::App& app);

// Names that a positional or an option stands for, beside files: presets for --hw, networks.
std::vector<std::string> KnownValues(const std::string& command,
                                     const OptionText& option);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_OPTION_TEXT_H_
