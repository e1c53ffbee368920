// SPDX-License-Identifier: Apache-2.0
// Plans for several nodes, in a library without them.
#include "bare.h"

namespace sluice_test {
namespace {

const char kAbsent[] =
    "this library was built without meshes of several nodes (CMake option "
    "SLUICE_WITH_MESH)";

TEST_CASE("mesh: scheduling on several nodes is refused, on one it works") {
  Bare bare;
  CHECK(bare.library.Schedule(bare.graph, bare.mesh) == nullptr);
  bare.CheckAbsent(bare.library.status, kAbsent);
  const PlanPtr plan = bare.library.Schedule(bare.graph, bare.plain);
  REQUIRE(plan != nullptr);
  CHECK(bare.library.Verify(bare.graph, bare.plain, plan) == SLUICE_OK);
}

TEST_CASE("mesh: segments are refused, and nothing is written") {
  Bare bare;
  sluice_segment_schedule_t schedule = {};
  schedule.struct_size = sizeof schedule;
  schedule.layer_count = 77;
  bare.CheckAbsent(sluice_segments(bare.context(), bare.graph.get(), bare.mesh.get(),
                                   nullptr, &schedule, bare.why()),
                   kAbsent);
  CHECK(schedule.layer_count == 77);
}

}  // namespace
}  // namespace sluice_test
