// SPDX-License-Identifier: Apache-2.0
#include "base/components.h"

namespace sluice {
namespace {

// By bit, from the lowest on: what a component is, and its option without SLUICE_WITH_. One
// text, since a table of pointers would have to be relocated in each program.
constexpr char kComponents[] =
    "meshes of several nodes\0MESH\0"
    "loop-nest mappers\0MAPPERS\0"
    "operator granularity and replacement\0OPERATORS\0"
    "curves and several models together\0COSCHEDULE\0"
    "tokens in place of waits\0TOKENS\0"
    "the published searches over fused layers\0FUSION\0"
    "a judge that leaves loops rolled up\0REPEATS\0";
static_assert(SLUICE_COMPONENT_MESH == 1 && SLUICE_COMPONENT_MAPPERS == 2 &&
                  SLUICE_COMPONENT_OPERATORS == 4 && SLUICE_COMPONENT_COSCHEDULE == 8 &&
                  SLUICE_COMPONENT_TOKENS == 16 && SLUICE_COMPONENT_FUSION == 32 &&
                  SLUICE_COMPONENT_REPEATS == 64,
              "the texts are in the order of the bits");

// The text at *at, which goes on to the next one.
const char* Take(const char** at) {
  const char* text = *at;
  while (*(*at)++ != '\0') {
  }
  return text;
}

}  // namespace

// The build defines SLUICE_COMPONENTS for this file alone.
uint32_t Components() { return SLUICE_COMPONENTS; }

Status Absent(Diagnostic* diagnostic, uint32_t component) {
  Fail fail(diagnostic, Status::kUnsupported, "components");
  const char* at = kComponents;
  for (uint32_t bit = 1; *at != '\0'; bit <<= 1) {
    const char* what = Take(&at);
    const char* option = Take(&at);
    if (bit != component) continue;
    return fail.Text("this library was built without ")
        .Text(what)
        .Text(" (CMake option SLUICE_WITH_")
        .Text(option)
        .Text(")");
  }
  return fail.Text("this library was built without a part that the call needs");
}

}  // namespace sluice
