// SPDX-License-Identifier: Apache-2.0
#include "base/components.h"

namespace sluice {
namespace {

struct Component {
  uint32_t bit;
  const char* what;
  const char* option;
};

constexpr Component kComponents[] = {
    {SLUICE_COMPONENT_MESH, "meshes of several nodes", "SLUICE_WITH_MESH"},
    {SLUICE_COMPONENT_MAPPERS, "loop-nest mappers", "SLUICE_WITH_MAPPERS"},
    {SLUICE_COMPONENT_OPERATORS, "operator granularity and replacement",
     "SLUICE_WITH_OPERATORS"},
    {SLUICE_COMPONENT_COSCHEDULE, "curves and several models together",
     "SLUICE_WITH_COSCHEDULE"},
    {SLUICE_COMPONENT_TOKENS, "tokens in place of waits", "SLUICE_WITH_TOKENS"},
    {SLUICE_COMPONENT_FUSION, "the published searches over fused layers",
     "SLUICE_WITH_FUSION"},
};

}  // namespace

// The build defines SLUICE_COMPONENTS for this file alone.
uint32_t Components() { return SLUICE_COMPONENTS; }

Status Absent(Diagnostic* diagnostic, uint32_t component) {
  Fail fail(diagnostic, Status::kUnsupported, "components");
  for (const Component& c : kComponents) {
    if (c.bit != component) continue;
    return fail.Text("this library was built without ")
        .Text(c.what)
        .Text(" (CMake option ")
        .Text(c.option)
        .Text(")");
  }
  return fail.Text("this library was built without a part that the call needs");
}

}  // namespace sluice
