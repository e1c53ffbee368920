// SPDX-License-Identifier: Apache-2.0
// Colours on terminals: never in files, pipes, on dumb terminals, or where NO_COLOR is
// set (no-color.org).
#ifndef SLUICE_CLI_TERMINAL_H_
#define SLUICE_CLI_TERMINAL_H_

#include <string>

namespace sluice::cli {

enum Colour { kBold = 1, kRed = 31, kGreen = 32, kYellow = 33 };

// The text, coloured if the descriptor is such a terminal.
std::string Coloured(const std::string& text, Colour colour, int descriptor);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_TERMINAL_H_
