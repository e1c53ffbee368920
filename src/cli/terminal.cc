// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <unistd.h>

#include <cstdlib>

namespace sluice::cli {

std::string Coloured(const std::string& text, Colour colour, int descriptor) {
  const char* none = std::getenv("NO_COLOR");
  const char* kind = std::getenv("TERM");
  if ((none != nullptr && *none != '\0') || kind == nullptr ||
      std::string(kind) == "dumb" || isatty(descriptor) == 0) {
    return text;
  }
  return "\x1b[" + std::to_string(colour) + "m" + text + "\x1b[0m";
}

}  // namespace sluice::cli
