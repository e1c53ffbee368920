// SPDX-License-Identifier: Apache-2.0
// The builders in C make the same bytes as the builders in C++.
#include "sluice/build.h"

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "bindings/cpp/sluice.hpp"
#include "sluice/graph_generated.h"
#include "sluice/presets.h"
#include "support/recording_allocator.h"
#include "tests/import/builders.h"

namespace sluice_test {
namespace {

List SmallGraphInCpp() {
  sluice::GraphBuilder b("small");
  const uint32_t x = b.Input("x", {1, 16, 16, 4});
  const uint32_t w = b.Constant("w", {8, 3, 3, 4}, SLUICE_DTYPE_INT8, Weights());
  const uint32_t p = b.Constant("p", {8, 3}, SLUICE_DTYPE_INT32, Parameters());
  const uint32_t c = b.Intermediate("c", {1, 16, 16, 8});
  const uint32_t z = b.Input("z", {1, 16, 16, 8});
  const uint32_t y = b.Output("y", {1, 16, 16, 8});
  b.Layer("conv", SLUICE_OP_CONV, {x, w, p}, {c}, ConvAttributes());
  b.Layer("max", SLUICE_OP_MAXIMUM, {c, z}, {y});
  return b.Bytes();
}

List SmallMachineInCpp() {
  sluice::HardwareBuilder b;
  b.name = "small";
  b.macs_per_cycle = 64;
  b.vector_ops_per_cycle = 16;
  b.mac_pj = 0.5;
  b.levels.resize(2);
  b.levels[0].name = "sram";
  b.levels[0].capacity_bytes = 4096;
  b.levels[0].read_pj_per_bit = b.levels[0].write_pj_per_bit = 0.1;
  b.levels[0].alignment_bytes = 16;
  b.levels[1].name = "dram";
  b.levels[1].read_pj_per_bit = b.levels[1].write_pj_per_bit = 4;
  b.levels[1].bytes_per_cycle_numerator = 8;
  b.fanouts.resize(1);
  b.fanouts[0].name = "array";
  b.fanouts[0].extent = 64;
  b.array.k = b.array.c = 8;
  b.array.p = 4;
  b.array.crosses_rows = false;
  b.array.packs_filter = true;
  b.array.demands = 1;
  b.array.fill_cycles = 5;
  b.array.drain_cycles = 6;
  return b.Bytes();
}

template <typename Builder>
List Finished(Builder* builder,
              sluice_status_t (*finish)(const Builder*, const sluice_allocator_t*,
                                        sluice_bytes_t*, sluice_diagnostic_t*)) {
  RecordingAllocator memory;
  sluice_bytes_t bytes = {};
  sluice_diagnostic_t why = Sized<sluice_diagnostic_t>();
  const sluice_status_t status = finish(builder, memory.interface(), &bytes, &why);
  INFO(std::string(why.message));
  REQUIRE(status == SLUICE_OK);
  CHECK(memory.live_bytes() == bytes.size);
  const auto* first = static_cast<const uint8_t*>(bytes.data);
  const List copy(first, first + bytes.size);
  sluice_bytes_release(memory.interface(), &bytes);
  CHECK(memory.live_blocks() == 0);
  CHECK(memory.sound());
  return copy;
}

std::string AsJson(const List& hardware) {
  sluice_bytes_t text = {};
  REQUIRE(sluice_hardware_to_json(hardware.data(), hardware.size(), nullptr, &text,
                                  nullptr) == SLUICE_OK);
  const std::string json(static_cast<const char*>(text.data), text.size);
  sluice_bytes_release(nullptr, &text);
  return json;
}

template <typename Vector>
auto Items(const Vector* vector) {
  using Item = std::decay_t<decltype(vector->Get(0))>;
  return std::vector<Item>(vector->begin(), vector->end());
}

void CheckSameGraph(const List& a, const List& b) {
  const sluice::wire::Graph &x = *sluice::wire::GetGraph(a.data()),
                            &y = *sluice::wire::GetGraph(b.data());
  CHECK(Items(x.tensor_dtype()) == Items(y.tensor_dtype()));
  CHECK(Items(x.tensor_kind()) == Items(y.tensor_kind()));
  CHECK(Items(x.tensor_dim_begin()) == Items(y.tensor_dim_begin()));
  CHECK(Items(x.tensor_dims()) == Items(y.tensor_dims()));
  CHECK(Items(x.tensor_source()) == Items(y.tensor_source()));
  CHECK(Items(x.tensor_source_offset()) == Items(y.tensor_source_offset()));
  CHECK(Items(x.data()) == Items(y.data()));
  CHECK(Items(x.layer_op()) == Items(y.layer_op()));
  CHECK(Items(x.layer_inputs()) == Items(y.layer_inputs()));
  CHECK(Items(x.layer_outputs()) == Items(y.layer_outputs()));
  CHECK(Items(x.layer_attribute_begin()) == Items(y.layer_attribute_begin()));
  CHECK(Items(x.layer_attributes()) == Items(y.layer_attributes()));
}

TEST_CASE("builders: in C and in C++ they make graphs and machines of one plan") {
  sluice_graph_builder_t* graph = SmallGraph();
  sluice_hardware_builder_t* machine = SmallMachine();
  const List g = Finished(graph, sluice_graph_builder_finish);
  const List h = Finished(machine, sluice_hardware_builder_finish);
  CHECK(g == Finished(graph, sluice_graph_builder_finish));
  sluice_graph_builder_destroy(graph);
  sluice_hardware_builder_destroy(machine);
  CheckSameGraph(g, SmallGraphInCpp());
  CHECK(AsJson(h) == AsJson(SmallMachineInCpp()));
  auto context = sluice::Context::Create();
  const auto stream = [&](const List& graph_bytes, const List& hardware_bytes) {
    auto a = context->ReadGraph(graph_bytes);
    auto b = context->ReadHardware(hardware_bytes);
    REQUIRE(a);
    REQUIRE(b);
    auto plan = context->Schedule(*a, *b);
    REQUIRE(plan);
    const sluice_report_t report = plan->report();
    return std::make_tuple(report.latency_cycles, report.energy_pj,
                           report.dram_read_bytes, plan->stream().size());
  };
  CHECK(stream(g, h) == stream(SmallGraphInCpp(), SmallMachineInCpp()));
}

}  // namespace
}  // namespace sluice_test
