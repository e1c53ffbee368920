// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/onnx_rewriter.h"

#include "tests/import/onnx/reals.h"

namespace sluice_test {
namespace {

using sluice::import::OnnxShapes;
using sluice::import::Rewriter;

TEST_CASE("onnx rewriter: short constants are read, however they are stored") {
  TinyOnnx model;
  model.Integers("a", {3, -4});
  model.Reals("f", {2}, {0.5f, 2});
  onnx::NodeProto* node = model.Node("Some", {"a", "", "f"}, {"y"});
  const OnnxShapes shapes = {{"a", {2}}};
  const Rewriter r(model.graph, *node, 13, shapes);
  CHECK(r.Has(0));
  CHECK(!r.Has(1));
  CHECK(!r.Has(3));
  std::vector<int64_t> integers;
  CHECK(r.Integers("a", &integers));
  CHECK(integers == std::vector<int64_t>{3, -4});
  CHECK(!r.Integers("f", &integers));
  std::vector<float> floats;
  CHECK(r.Floats("f", &floats));
  CHECK(floats == std::vector<float>{0.5f, 2});
  CHECK(!r.Floats("nothing", &floats));
  CHECK(r.Shape("a") == std::vector<int64_t>{2});
  CHECK(r.Shape("y").empty());
}

TEST_CASE("onnx rewriter: the last node takes the output's name everywhere") {
  TinyOnnx model;
  model.Reals("x", {1}, {1});
  onnx::NodeProto* node = model.Node("Some", {"x"}, {"y"});
  const OnnxShapes shapes;
  Rewriter r(model.graph, *node, 13, shapes);
  const std::string one = r.Op("Neg", {"x"});
  const std::string two = r.Op("Add", {one, one});
  CHECK(one != two);
  r.Finish(0, one);
  REQUIRE(r.nodes.size() == 2);
  CHECK(r.nodes[0].output(0) == "y");
  CHECK(r.nodes[1].input(0) == "y");
  CHECK(r.nodes[1].input(1) == "y");
}

}  // namespace
}  // namespace sluice_test
