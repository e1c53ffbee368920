// SPDX-License-Identifier: Apache-2.0
#include "support/read_graph.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "support/library.h"
#include "tests/io/good_graph.h"

namespace sluice_test {
namespace {

struct BadGraph {
  const char* name;
  std::function<void(GraphSpec*)> spoil;
  sluice_status_t status;
  const char* message;
};

void CheckSaid(const std::vector<BadGraph>& cases) {
  for (const BadGraph& c : cases) {
    GraphSpec spec = GoodGraph();
    c.spoil(&spec);
    Library library;
    const GraphPtr graph = library.Graph(GraphBytes(spec));
    const std::string message = library.diagnostic.message;
    INFO(std::string(c.name) << ": " << message);
    CHECK(library.status == c.status);
    CHECK(library.diagnostic.status == c.status);
    CHECK(std::string(library.diagnostic.stage) == "graph");
    CHECK(message == c.message);
    CHECK(graph == nullptr);
  }
}

TEST_CASE("each kind of bad graph gets its own sentence") {
  const std::vector<BadGraph> cases = {
      {"a cycle", [](GraphSpec* g) { g->layers[0].inputs[0] = 4; }, SLUICE_BAD_INPUT,
       "layer 0 reads a tensor that no earlier layer produces: a cycle, a missing "
       "layer or wrong order"},
      {"a missing tensor", [](GraphSpec* g) { g->layers[1].inputs[0] = 99; },
       SLUICE_BAD_INPUT, "layer 1 reads a tensor that does not exist"},
      {"more inputs than a layer may have",
       [](GraphSpec* g) { g->layers[0].inputs.resize(1025, 0); }, SLUICE_BAD_INPUT,
       "layer 0 has more than 1024 inputs"},
      {"an output that does not exist",
       [](GraphSpec* g) { g->layers[1].outputs[0] = 5; }, SLUICE_BAD_INPUT,
       "layer 1 writes a tensor that does not exist"},
      {"two writers", [](GraphSpec* g) { g->layers[1].outputs[0] = 3; },
       SLUICE_BAD_INPUT, "layer 1 writes a tensor a second time"},
      {"an overflowing shape",
       [](GraphSpec* g) {
         g->tensors[0].dims = {1 << 30, 1 << 30, 1 << 30, 1 << 30};
       },
       SLUICE_BAD_INPUT, "the shape of tensor 0 overflows: more than 2^46 bytes"},
      {"an empty extent", [](GraphSpec* g) { g->tensors[0].dims[1] = 0; },
       SLUICE_BAD_INPUT, "tensor 0 has extent 0; every extent must be at least 1"},
      {"five axes",
       [](GraphSpec* g) {
         g->tensors[0].dims = {1, 1, 8, 4, 8};
       },
       SLUICE_UNSUPPORTED, "tensor 0 has 5 axes; this version takes up to 4"},
      {"an absurd stride", [](GraphSpec* g) { g->layers[0].attributes[0] = INT32_MAX; },
       SLUICE_BAD_INPUT,
       "layer 0 (conv): output extents do not follow from filter, stride, dilation and "
       "pads"},
      {"a negative stride", [](GraphSpec* g) { g->layers[0].attributes[1] = -1; },
       SLUICE_BAD_INPUT,
       "layer 0 (conv): output extents do not follow from filter, stride, dilation and "
       "pads"},
      {"an unknown op", [](GraphSpec* g) { g->layers[0].op = 999; }, SLUICE_BAD_INPUT,
       "layer 0 has unknown op 999"},
      {"an unknown dtype", [](GraphSpec* g) { g->tensors[3].dtype = 77; },
       SLUICE_BAD_INPUT, "tensor 3 has unknown dtype 77 or kind 0"},
      {"a constant without bytes", [](GraphSpec* g) { g->tensors[1].source = 0; },
       SLUICE_BAD_INPUT, "tensor 1 is constant but has no valid source"},
      {"inline bytes beyond the data",
       [](GraphSpec* g) { g->tensors[2].source_offset = 1; }, SLUICE_BAD_INPUT,
       "constant tensor 2 lies outside the inline data"},
      {"weights of another layer",
       [](GraphSpec* g) {
         g->tensors[1].dims = {8, 3, 3, 7};
       },
       SLUICE_BAD_INPUT, "layer 0 (conv): weight must be [K, R, S, C / groups]"},
      {"an encoded activation", [](GraphSpec* g) { g->tensors[0].encoded_bytes = 1; },
       SLUICE_BAD_INPUT,
       "tensor 0: tensor_encoded_bytes must be 0, or of a constant and at most its "
       "bytes "
       "and 2^31 - 1"},
      {"more encoded bytes than there are",
       [](GraphSpec* g) { g->tensors[1].encoded_bytes = uint64_t{1} << 40; },
       SLUICE_BAD_INPUT,
       "tensor 1: tensor_encoded_bytes must be 0, or of a constant and at most its "
       "bytes "
       "and 2^31 - 1"},
      {"encoded parameters", [](GraphSpec* g) { g->tensors[2].encoded_bytes = 1; },
       SLUICE_BAD_INPUT,
       "layer 0 reads an encoded tensor otherwise than as its weights"},
      {"no output", [](GraphSpec* g) { g->tensors[4].kind = 0; }, SLUICE_BAD_INPUT,
       "the graph has no output tensor"},
      {"an output nobody writes", [](GraphSpec* g) { g->layers.pop_back(); },
       SLUICE_BAD_INPUT, "graph output 4 is produced by no layer"},
      {"nothing at all", [](GraphSpec* g) { *g = GraphSpec(); }, SLUICE_BAD_INPUT,
       "the graph has no tensors"},
  };
  CheckSaid(cases);
  Library library;
  CHECK(library.Graph(GraphBytes(GoodGraph())) != nullptr);
}

TEST_CASE(
    "read graph: sources, states, parameters and strides have rules of their own") {
  CheckSaid({
      {"a source without a constant", [](GraphSpec* g) { g->tensors[0].source = 3; },
       SLUICE_BAD_INPUT, "tensor 0 is not constant but has a source"},
      {"a file without a name", [](GraphSpec* g) { g->tensors[1].source = 2; },
       SLUICE_BAD_INPUT, "external tensor 1 names no file"},
      {"a given tensor that is written",
       [](GraphSpec* g) { g->layers[1].outputs[0] = 0; }, SLUICE_BAD_INPUT,
       "layer 1 writes a constant or a graph input"},
      {"a state that is written whole", [](GraphSpec* g) { g->tensors[4].kind = 4; },
       SLUICE_BAD_INPUT, "layer 1 writes a state otherwise than by state_append"},
      {"a layer without output", [](GraphSpec* g) { g->layers[1].outputs.clear(); },
       SLUICE_BAD_INPUT, "layer 1 has no output"},
      {"no layers", [](GraphSpec* g) { g->layers.clear(); }, SLUICE_BAD_INPUT,
       "the graph has no layers"},
      {"a parameter below 0",
       [](GraphSpec* g) {
         g->parameters.push_back({-1, 3});
       },
       SLUICE_BAD_INPUT, "parameter 0 has an empty or negative range"},
      {"a parameter without values",
       [](GraphSpec* g) {
         g->parameters.push_back({3, 2});
       },
       SLUICE_BAD_INPUT, "parameter 0 has an empty or negative range"},
      {"a stride of 4 GiB",
       [](GraphSpec* g) {
         g->tensors[0].dims = {2, 1 << 16, 1 << 16, 1};
       },
       SLUICE_UNSUPPORTED, "tensor 0 has an outer stride above 4 GiB"},
  });
}

TEST_CASE("read graph: what was written is what is read") {
  GraphSpec spec = GoodGraph();
  spec.tensors[1].source_offset = 99;
  spec.parameters = {{0, 0}, {2, 7}};
  // A state may have initial contents.
  spec.tensors.push_back({{5}, SLUICE_DTYPE_INT64, 4, 3, 7});
  const Nouns n(spec);
  const sluice::Graph& g = n.graph;
  REQUIRE(g.tensors.size() == 6);
  CHECK(g.tensors[0].kind == sluice::TensorKind::kInput);
  CHECK(g.tensors[0].bytes == 256);
  CHECK(g.tensors[0].producer == sluice::kNone);
  CHECK(g.tensors[1].source == 3);
  CHECK(g.tensors[1].source_offset == 99);
  CHECK(g.tensors[1].file == sluice::kNone);
  CHECK(g.tensors[5].source == 3);
  CHECK(g.tensors[5].source_offset == 7);
  // With fewer than four axes the first extents are 1.
  CHECK(g.tensors[2].rank == 2);
  CHECK(g.tensors[2].extent[0] == 1);
  CHECK(g.tensors[2].extent[1] == 1);
  CHECK(g.tensors[2].extent[2] == 8);
  CHECK(g.tensors[2].extent[3] == 3);
  CHECK(g.tensors[2].element_bytes == 4);
  CHECK(g.tensors[2].bytes == 96);
  CHECK(g.tensors[3].producer == 0);
  CHECK(g.tensors[4].producer == 1);
  CHECK(g.tensors[5].kind == sluice::TensorKind::kState);
  CHECK(g.tensors[5].extent[3] == 5);
  CHECK(g.tensors[5].bytes == 40);
  REQUIRE(g.layers.size() == 2);
  CHECK(g.layers[0].op == SLUICE_OP_CONV);
  CHECK(g.layers[0].inputs.size() == 3);
  CHECK(g.layers[0].attribute(9) == 3);
  CHECK(g.layers[1].input(0) == 3);
  CHECK(g.layers[1].outputs[0] == 4);
  REQUIRE(g.parameters.size() == 2);
  CHECK(g.parameters[1].min == 2);
  CHECK(g.parameters[1].max == 7);
  CHECK(std::string(g.name.data, g.name.size) == "hand-made");
}

TEST_CASE("read graph: inline bytes are found, and are no part of the hash") {
  GraphSpec spec = GoodGraph();
  const Nouns n(spec);
  const Bytes bytes = GraphBytes(spec);
  REQUIRE(n.graph.data_begin + spec.data.size() <= bytes.size());
  CHECK(std::memcmp(bytes.data() + n.graph.data_begin, spec.data.data(),
                    spec.data.size()) == 0);
  CHECK(n.graph.hash == GraphHash(bytes));
  spec.data[5] ^= 1;
  CHECK(Nouns(spec).graph.hash == n.graph.hash);
  spec.layers[0].attributes[9] = 4;
  CHECK(Nouns(spec).graph.hash != n.graph.hash);
}

}  // namespace
}  // namespace sluice_test
