// SPDX-License-Identifier: Apache-2.0
// Which parts of the library this build has.
//
// A part that is left out (CMake: SLUICE_WITH_...) is replaced at link time by its file
// in src/absent, which has the same functions and answers each call with Absent().
//
// Input    a bit of SLUICE_COMPONENT_
// Output   the bits of this build; a diagnostic that names the absent part and its
//          CMake option
// Errors   Absent returns kUnsupported.
// Cost     constant
#ifndef SLUICE_BASE_COMPONENTS_H_
#define SLUICE_BASE_COMPONENTS_H_

#include "base/status.h"

namespace sluice {

uint32_t Components();
inline bool Has(uint32_t component) { return (Components() & component) != 0; }

// `component`: one bit of SLUICE_COMPONENT_.
Status Absent(Diagnostic* diagnostic, uint32_t component);

}  // namespace sluice

#endif  // SLUICE_BASE_COMPONENTS_H_
