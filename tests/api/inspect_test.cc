// SPDX-License-Identifier: Apache-2.0
// Objects tell a driver which tensors there are and where they lie.
#include <doctest/doctest.h>

#include <cstring>
#include <string>

#include "sluice/sluice.h"
#include "sluice/stream.h"
#include "support/stream_builder.h"

namespace {

using sluice_test::Bytes;

struct Planned {
  sluice_context_t* context = nullptr;
  sluice_graph_t* graph = nullptr;
  sluice_hardware_t* hardware = nullptr;
  sluice_plan_t* plan = nullptr;
  Bytes graph_bytes = sluice_test::ConvCase().Graph();
  Bytes hardware_bytes = sluice_test::ConvCase().Hardware();

  Planned() {
    REQUIRE(sluice_context_create(nullptr, &context, nullptr) == SLUICE_OK);
    REQUIRE(sluice_graph_create(context, graph_bytes.data(), graph_bytes.size(), &graph,
                                nullptr) == SLUICE_OK);
    REQUIRE(sluice_hardware_create(context, hardware_bytes.data(),
                                   hardware_bytes.size(), &hardware,
                                   nullptr) == SLUICE_OK);
    REQUIRE(sluice_schedule(context, graph, hardware, nullptr, &plan, nullptr) ==
            SLUICE_OK);
  }
  ~Planned() {
    sluice_plan_destroy(plan);
    sluice_hardware_destroy(hardware);
    sluice_graph_destroy(graph);
    sluice_context_destroy(context);
  }
  sluice_tensor_info_t Tensor(uint32_t index) const {
    sluice_tensor_info_t info = {};
    info.struct_size = sizeof info;
    REQUIRE(sluice_graph_tensor(graph, index, &info) == SLUICE_OK);
    return info;
  }
};

TEST_CASE("every tensor is told with its kind, bytes and source") {
  const Planned p;
  const auto* wire = sluice::wire::GetGraph(p.graph_bytes.data());
  sluice_graph_counts_t counts = {};
  counts.struct_size = sizeof counts;
  REQUIRE(sluice_graph_count(p.graph, &counts) == SLUICE_OK);
  REQUIRE(counts.tensors == wire->tensor_kind()->size());
  CHECK(counts.layers == wire->layer_op()->size());
  CHECK(counts.parameters == 0);
  uint32_t inline_constants = 0;
  for (uint32_t i = 0; i < counts.tensors; ++i) {
    const sluice_tensor_info_t t = p.Tensor(i);
    CHECK(t.kind == wire->tensor_kind()->Get(i));
    CHECK(t.dtype == wire->tensor_dtype()->Get(i));
    if (t.source != SLUICE_SOURCE_INLINE) continue;
    ++inline_constants;
    const uint8_t* expected =
        wire->data()->data() + wire->tensor_source_offset()->Get(i);
    REQUIRE(t.source_offset + t.bytes <= p.graph_bytes.size());
    CHECK(p.graph_bytes.data() + t.source_offset == expected);
  }
  CHECK(inline_constants > 0);
}

TEST_CASE("inputs, outputs and constants have a place in their region") {
  const Planned p;
  sluice_graph_counts_t counts = {};
  counts.struct_size = sizeof counts;
  REQUIRE(sluice_graph_count(p.graph, &counts) == SLUICE_OK);
  for (uint32_t i = 0; i < counts.tensors; ++i) {
    sluice_tensor_place_t place = {};
    place.struct_size = sizeof place;
    REQUIRE(sluice_plan_tensor(p.plan, i, &place) == SLUICE_OK);
    const uint32_t kind = p.Tensor(i).kind;
    if (kind == SLUICE_TENSOR_INPUT) CHECK(place.region == SLUICE_REGION_INPUT);
    if (kind == SLUICE_TENSOR_OUTPUT) CHECK(place.region == SLUICE_REGION_OUTPUT);
    if (kind == SLUICE_TENSOR_CONSTANT) CHECK(place.region == SLUICE_REGION_CONST);
  }
}

TEST_CASE("what is not there is a bad argument") {
  const Planned p;
  sluice_tensor_info_t tensor = {};
  CHECK(sluice_graph_tensor(p.graph, 0, &tensor) == SLUICE_BAD_ARGUMENT);  // no size
  tensor.struct_size = sizeof tensor;
  CHECK(sluice_graph_tensor(p.graph, 1000, &tensor) == SLUICE_BAD_ARGUMENT);
  CHECK(sluice_graph_tensor(nullptr, 0, &tensor) == SLUICE_BAD_ARGUMENT);
  CHECK(sluice_graph_tensor(p.graph, 0, nullptr) == SLUICE_BAD_ARGUMENT);
  sluice_parameter_info_t parameter = {};
  parameter.struct_size = sizeof parameter;
  CHECK(sluice_graph_parameter(p.graph, 0, &parameter) == SLUICE_BAD_ARGUMENT);
  sluice_tensor_place_t place = {};
  place.struct_size = sizeof place;
  CHECK(sluice_plan_tensor(p.plan, 1000, &place) == SLUICE_BAD_ARGUMENT);
  CHECK(sluice_plan_tensor(nullptr, 0, &place) == SLUICE_BAD_ARGUMENT);
}

}  // namespace
