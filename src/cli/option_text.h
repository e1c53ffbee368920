// SPDX-License-Identifier: Apache-2.0
// A command's options as plain text, read from CLI11, for the manual page and the
// completions.
#ifndef SLUICE_CLI_OPTION_TEXT_H_
#define SLUICE_CLI_OPTION_TEXT_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace sluice::cli {

struct OptionText {
  std::vector<std::string> names;     // "-o", "--output"; a positional's name
  std::string value;                  // "BYTES"; empty for a flag
  std::vector<std::string> choices;   // all allowed values, if listed
  std::string description, standard;  // standard: its default value
  bool positional = false, required = false;
};

struct CommandText {
  std::string name, description, footer;
  std::vector<OptionText> options;    // in the order of the help
  std::vector<CommandText> commands;  // its subcommands
};

CommandText TextOf(const CLI::App& app);

// Names that a positional or an option accepts besides files: presets for --hw,
// networks.
std::vector<std::string> KnownValues(const std::string& command,
                                     const OptionText& option);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_OPTION_TEXT_H_
