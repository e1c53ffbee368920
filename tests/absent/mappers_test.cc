// SPDX-License-Identifier: Apache-2.0
// Loop nests, in a library without mappers.
#include "bare.h"

namespace sluice_test {
namespace {

const char kAbsent[] =
    "this library was built without loop-nest mappers (CMake option "
    "SLUICE_WITH_MAPPERS)";

TEST_CASE("mappers: products, layers and directives are refused") {
  Bare bare;
  sluice_gemm_mapping_t gemm = {};
  gemm.struct_size = sizeof gemm;
  gemm.macs = 77;
  const sluice_gemm_t extents = {8, 8, 8};
  bare.CheckAbsent(sluice_map_gemm(bare.context(), bare.mapped.get(), &extents, nullptr,
                                   &gemm, bare.why()),
                   kAbsent);
  CHECK(gemm.macs == 77);
  sluice_layer_mapping_t layer = {};
  layer.struct_size = sizeof layer;
  const uint32_t first = 0;
  sluice_mapping_list_t list = {};
  list.struct_size = sizeof list;
  list.count = 1;
  list.layers = &first;
  list.mappings = &layer;
  bare.CheckAbsent(sluice_map_layers(bare.context(), bare.graph.get(),
                                     bare.mapped.get(), nullptr, &list, bare.why()),
                   kAbsent);
  sluice_directives_t directives = {};
  directives.struct_size = sizeof directives;
  bare.CheckAbsent(sluice_mapping_directives(bare.context(), bare.mapped.get(), &layer,
                                             &directives, bare.why()),
                   kAbsent);
}

TEST_CASE("mappers: tiles declare peak rates, and the report says what is missing") {
  Bare bare;
  const PlanPtr plain = bare.library.Schedule(bare.graph, bare.plain);
  REQUIRE(plain != nullptr);
  CHECK(ReportOf(plain).missing_components == 0);
  const PlanPtr mapped = bare.library.Schedule(bare.graph, bare.mapped);
  REQUIRE(mapped != nullptr);
  const sluice_report_t report = ReportOf(mapped);
  CHECK(report.missing_components == SLUICE_COMPONENT_MAPPERS);
  // 18,432 MACs on four processing elements take this long, whatever the tiles are.
  CHECK(report.latency_cycles >= 18432 / 4);
  CHECK(report.bound_energy_pj > 0);
  CHECK(report.bound_energy_pj <= report.energy_pj);
  CHECK(bare.library.Verify(bare.graph, bare.mapped, mapped) == SLUICE_OK);
}

}  // namespace
}  // namespace sluice_test
