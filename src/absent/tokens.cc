// SPDX-License-Identifier: Apache-2.0
// What a build without SLUICE_WITH_TOKENS has instead of waits as tokens.
#include "lower/tokens.h"

#include "base/components.h"

namespace sluice {

Status MakeTokens(const TokenCall&, Arena*, TokenLists*, Diagnostic* diagnostic) {
  return Absent(diagnostic, SLUICE_COMPONENT_TOKENS);
}

}  // namespace sluice
