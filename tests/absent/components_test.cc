// SPDX-License-Identifier: Apache-2.0
// Which parts a build has, and the refusal that names one.
#include "base/components.h"

#include "bare.h"

namespace sluice_test {
namespace {

TEST_CASE("components: a library without any says so") {
  CHECK(sluice_components() == 0);
  CHECK(sluice::Components() == 0);
  CHECK(!sluice::Has(SLUICE_COMPONENT_MESH));
}

TEST_CASE("components: a refusal names the part and its CMake option") {
  const auto refusal = [](uint32_t component) {
    sluice::Diagnostic d = {};
    CHECK(sluice::Absent(&d, component) == sluice::Status::kUnsupported);
    return std::string(d.message);
  };
  const std::string without = "this library was built without ";
  CHECK(refusal(SLUICE_COMPONENT_MESH) ==
        without + "meshes of several nodes (CMake option SLUICE_WITH_MESH)");
  CHECK(refusal(SLUICE_COMPONENT_MAPPERS) ==
        without + "loop-nest mappers (CMake option SLUICE_WITH_MAPPERS)");
  CHECK(refusal(SLUICE_COMPONENT_OPERATORS) ==
        without +
            "operator granularity and replacement (CMake option "
            "SLUICE_WITH_OPERATORS)");
  CHECK(refusal(SLUICE_COMPONENT_COSCHEDULE) ==
        without +
            "curves and several models together (CMake option "
            "SLUICE_WITH_COSCHEDULE)");
  CHECK(refusal(1u << 20) == without + "a part that the call needs");
}

}  // namespace
}  // namespace sluice_test
