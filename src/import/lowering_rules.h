// SPDX-License-Identifier: Apache-2.0
// Unsupported: one operator cannot be expressed as layers; the import of the rest goes
// on.
#ifndef SLUICE_IMPORT_LOWERING_RULES_H_
#define SLUICE_IMPORT_LOWERING_RULES_H_

#include <stdexcept>
#include <string>

namespace sluice::import {

struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void Require(bool condition, const char* otherwise) {
  if (!condition) throw Unsupported(otherwise);
}

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_LOWERING_RULES_H_
