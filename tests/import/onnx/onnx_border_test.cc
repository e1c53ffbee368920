// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs of the graph: names, order, what is said of them.
#include "tests/import/onnx/imported.h"
#include "tests/import/onnx/tiny_onnx.h"

namespace sluice_test {
namespace {

TEST_CASE("onnx border: an output is a tensor of its own, an input is described") {
  TinyOnnx model;
  model.Input("x", {1, 2, 3, 4});
  model.Quantised("x", "y", 0.5f, 3);
  model.Output("y");
  const ImportAndGraph import = Import(model.Finish());
  CHECK(Count(import, SLUICE_OP_REQUANTIZE) == 1);  // only a copy writes y
  REQUIRE(import.interface.size() == 2);
  CHECK(import.interface[0] ==
        "input x: int8 [1, 3, 4, 2], axes in the order 0 2 3 1, real = 0.5 * (stored - "
        "3)");
  CHECK(
      import.interface[1] ==
      "output y: int8 [1, 3, 4, 2], axes in the order 0 2 3 1, real = 0.5 * (stored - "
      "3)");
  CHECK(OutputFor(import, Bytes(24, 7)) == Bytes(24, 7));
}

TEST_CASE(
    "onnx border: outputs have the model's order and names, whoever is computed "
    "first") {
  TinyOnnx model;
  model.Input("x", {1, 3});
  model.Quantised("x", "xq", 0.5f, 0);
  model.Node("Neg", {"xq"}, {"n"});
  model.Quantised("n", "first", 0.5f, 0);
  model.Node("Relu", {"n"}, {"r"});
  model.Quantised("r", "second", 0.25f, 0);
  model.Output("second");
  model.Output("first");
  const ImportAndGraph import = Import(model.Finish());
  const std::vector<Bytes> inputs = {{2, static_cast<uint8_t>(-3), 4}};
  sluice_sim::SimulateOptions options;
  options.graph = import.graph.data();
  options.graph_size = import.graph.size();
  options.inputs = &inputs;
  const sluice_sim::SimulateResult run = sluice_sim::RunReference(options);
  REQUIRE(run.ok);
  REQUIRE(run.outputs.size() == 2);
  CHECK(run.outputs[0] == Bytes{0, 6, 0});
  CHECK(run.outputs[1] == Bytes{static_cast<uint8_t>(-2), 3, static_cast<uint8_t>(-4)});
  CHECK(Says(import.interface[1], "output second"));
  const wire::Graph& graph = *wire::GetGraph(import.graph.data());
  std::vector<std::string> names;
  for (uint32_t t = 0; t < graph.tensor_kind()->size(); ++t) {
    if (graph.tensor_kind()->Get(t) != 2) continue;
    names.push_back(graph.names()->Get(graph.tensor_name()->Get(t))->str());
  }
  CHECK(names == std::vector<std::string>{"second", "first"});
}

}  // namespace
}  // namespace sluice_test
