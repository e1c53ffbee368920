// SPDX-License-Identifier: Apache-2.0
// Graphs and machines: made from bytes, and what they say of themselves.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "objects.h"
#include "support/library.h"
#include "support/random_graph.h"

namespace sluice_test {
namespace {

sluice_tensor_info_t TensorOf(const Objects& o, uint32_t index) {
  sluice_tensor_info_t info = {};
  info.struct_size = sizeof info;
  REQUIRE(sluice_graph_tensor(o.graph, index, &info) == SLUICE_OK);
  return info;
}

TEST_CASE("graph: every tensor is told with its kind, bytes and source") {
  const Objects o;
  const auto* wire = sluice::wire::GetGraph(o.graph_bytes.data());
  sluice_graph_counts_t counts = {};
  counts.struct_size = sizeof counts;
  REQUIRE(sluice_graph_count(o.graph, &counts) == SLUICE_OK);
  REQUIRE(counts.tensors == wire->tensor_kind()->size());
  CHECK(counts.layers == wire->layer_op()->size());
  CHECK(counts.parameters == 0);
  uint32_t inline_constants = 0;
  for (uint32_t i = 0; i < counts.tensors; ++i) {
    const sluice_tensor_info_t t = TensorOf(o, i);
    CHECK(t.kind == wire->tensor_kind()->Get(i));
    CHECK(t.dtype == wire->tensor_dtype()->Get(i));
    if (t.source != SLUICE_SOURCE_INLINE) continue;
    ++inline_constants;
    const uint8_t* expected =
        wire->data()->data() + wire->tensor_source_offset()->Get(i);
    REQUIRE(t.source_offset + t.bytes <= o.graph_bytes.size());
    CHECK(o.graph_bytes.data() + t.source_offset == expected);
  }
  CHECK(inline_constants > 0);
}

TEST_CASE("graph: extents are told with four axes, ones in front") {
  const Objects o;
  const sluice_tensor_info_t parameters = TensorOf(o, 2);  // [8, 3] int32
  CHECK(parameters.rank == 2);
  CHECK(parameters.extent[0] == 1);
  CHECK(parameters.extent[1] == 1);
  CHECK(parameters.extent[2] == 8);
  CHECK(parameters.extent[3] == 3);
  CHECK(parameters.bytes == 8 * 3 * 4);
  CHECK(TensorOf(o, 0).bytes == 8 * 4 * 8);
}

TEST_CASE("graph: parameters are told with their range") {
  GraphSpec spec = ConvCase().graph;
  spec.parameters = {{1, 6}, {0, 9}};
  Library library;
  const GraphPtr graph = library.Graph(GraphBytes(spec));
  REQUIRE(graph != nullptr);
  sluice_parameter_info_t info = {};
  info.struct_size = sizeof info;
  REQUIRE(sluice_graph_parameter(graph.get(), 1, &info) == SLUICE_OK);
  CHECK(info.min == 0);
  CHECK(info.max == 9);
  CHECK(sluice_graph_parameter(graph.get(), 2, &info) == SLUICE_BAD_ARGUMENT);
}

TEST_CASE("graph: hashes leave out the values of inline constants, and nothing else") {
  const Objects o;
  CHECK(sluice_graph_hash(o.graph) == GraphHash(o.graph_bytes));
  CHECK(sluice_hardware_hash(o.hardware) ==
        Fnv1a64(o.hardware_bytes.data(), o.hardware_bytes.size()));
  GraphSpec spec = ConvCase().graph;
  spec.data[0] ^= 1;
  Library library;
  CHECK(sluice_graph_hash(library.Graph(GraphBytes(spec)).get()) ==
        sluice_graph_hash(o.graph));
  spec.layers[0].attributes[SLUICE_CONV_ACT_MAX] -= 1;
  CHECK(sluice_graph_hash(library.Graph(GraphBytes(spec)).get()) !=
        sluice_graph_hash(o.graph));
}

TEST_CASE("graph: what is not there is a bad argument") {
  const Objects o;
  sluice_tensor_info_t tensor = {};
  CHECK(sluice_graph_tensor(o.graph, 0, &tensor) == SLUICE_BAD_ARGUMENT);  // size 0
  tensor.struct_size = sizeof tensor;
  CHECK(sluice_graph_tensor(o.graph, 1000, &tensor) == SLUICE_BAD_ARGUMENT);
  CHECK(sluice_graph_tensor(nullptr, 0, &tensor) == SLUICE_BAD_ARGUMENT);
  CHECK(sluice_graph_tensor(o.graph, 0, nullptr) == SLUICE_BAD_ARGUMENT);
  sluice_parameter_info_t parameter = {};
  CHECK(sluice_graph_parameter(o.graph, 0, &parameter) == SLUICE_BAD_ARGUMENT);
  CHECK(sluice_graph_count(nullptr, nullptr) == SLUICE_BAD_ARGUMENT);
  Library library;
  sluice_graph_t* none = nullptr;
  CHECK(sluice_graph_create(library.context.get(), nullptr, 0, &none,
                            &library.diagnostic) == SLUICE_BAD_ARGUMENT);
  CHECK(std::string(library.diagnostic.message) ==
        "context, bytes and output pointer must not be null");
  CHECK(library.Graph(o.hardware_bytes) == nullptr);
  CHECK(library.status == SLUICE_BAD_INPUT);
}

TEST_CASE("sluice_graph_layer gives the layers as they were written") {
  Library library;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const GraphSpec spec = MakeRandomGraph(seed);
    const GraphPtr graph = library.Graph(GraphBytes(spec));
    REQUIRE(graph);
    sluice_graph_counts_t counts = {};
    counts.struct_size = sizeof counts;
    REQUIRE(sluice_graph_count(graph.get(), &counts) == SLUICE_OK);
    REQUIRE(counts.layers == spec.layers.size());
    for (uint32_t i = 0; i < counts.layers; ++i) {
      sluice_layer_info_t layer = {};
      layer.struct_size = sizeof layer;
      REQUIRE(sluice_graph_layer(graph.get(), i, &layer) == SLUICE_OK);
      const LayerSpec& want = spec.layers[i];
      CHECK(layer.op == want.op);
      CHECK(std::vector<uint32_t>(layer.inputs, layer.inputs + layer.input_count) ==
            want.inputs);
      CHECK(std::vector<uint32_t>(layer.outputs, layer.outputs + layer.output_count) ==
            want.outputs);
      CHECK(std::vector<int32_t>(layer.attributes,
                                 layer.attributes + layer.attribute_count) ==
            want.attributes);
      CHECK(layer.name == nullptr);
      CHECK(layer.name_size == 0);
    }
    sluice_layer_info_t none = {};
    none.struct_size = sizeof none;
    CHECK(sluice_graph_layer(graph.get(), counts.layers, &none) == SLUICE_BAD_ARGUMENT);
    CHECK(sluice_graph_layer(nullptr, 0, &none) == SLUICE_BAD_ARGUMENT);
    CHECK(sluice_graph_layer(graph.get(), 0, nullptr) == SLUICE_BAD_ARGUMENT);
  }
}

}  // namespace
}  // namespace sluice_test
