// SPDX-License-Identifier: Apache-2.0
// The untiled run: layers in order, their own states, attributes that are not there.
#include "firmware-sim/reference.h"

#include <doctest/doctest.h>

#include "firmware-sim/sim.h"
#include "support/wire_builder.h"

namespace sluice_test {
namespace {

std::string ErrorOf(const GraphSpec& spec) {
  const Bytes graph = GraphBytes(spec);
  sluice_sim::SimulateOptions options;
  options.graph = graph.data();
  options.graph_size = graph.size();
  options.parameters = {1};
  return RunReference(options).error;
}

TEST_CASE("reference: a tensor is written before it is read") {
  GraphSpec g;
  for (const uint8_t kind : {1, 0, 2}) g.tensors.push_back({{4}, kI8, kind, 0, 0});
  g.layers.push_back({SLUICE_OP_MAXIMUM, {0, 1}, {2}, {-128, 127}});
  g.layers.push_back({SLUICE_OP_MAXIMUM, {0, 0}, {1}, {-128, 127}});
  CHECK(ErrorOf(g) == "layer 0: tensor 1 is read before it is written");
  std::swap(g.layers[0], g.layers[1]);
  CHECK(ErrorOf(g) == "");
}

TEST_CASE("reference: rows are appended to their own state") {
  GraphSpec g;
  g.tensors.push_back({{1, 1, 8, 4}, kI8, 4, 0, 0});
  g.tensors.push_back({{1, 1, 2, 4}, kI8, 1, 0, 0});
  g.tensors.push_back({{1, 1, 8, 4}, kI8, 2, 0, 0});
  g.parameters.push_back({0, 6});
  g.layers.push_back({SLUICE_OP_STATE_APPEND, {0, 1}, {0}, {2, 0}});
  CHECK(ErrorOf(g) == "");
  g.layers[0].outputs = {2};
  CHECK(ErrorOf(g) == "layer 0: not to its own state");
}

TEST_CASE("reference: attributes behind a layer's own are zero") {
  const Bytes bytes = [] {
    GraphSpec g;
    g.tensors.push_back({{4}, kI8, 1, 0, 0});
    g.tensors.push_back({{2}, kI8, 2, 0, 0});
    g.layers.push_back({SLUICE_OP_SLICE, {0}, {1}, {0, 0, 0, 2}});
    return GraphBytes(g);
  }();
  sluice_sim::Graph graph;
  REQUIRE(ReadGraph(bytes.data(), bytes.size(), &graph) == "");
  sluice_sim::Values values = {{1, 2, 3, 4}, {}};
  CHECK(RunLayer(graph, graph.layers[0], &values) == "");
  CHECK(values[1] == sluice_sim::Bytes{3, 4});
  graph.layers[0].attributes.pop_back();
  CHECK(RunLayer(graph, graph.layers[0], &values) == "");
  CHECK(values[1] == sluice_sim::Bytes{1, 2});
}

}  // namespace
}  // namespace sluice_test
