// SPDX-License-Identifier: Apache-2.0
// ONNX's elementwise operators, norms and reductions against numbers by hand.
#include "tests/import/onnx/imported.h"
#include "tests/import/onnx/tiny_onnx.h"

namespace sluice_test {
namespace {

Bytes Stored(const std::vector<int>& values) {
  Bytes bytes;
  for (const int value : values) bytes.push_back(static_cast<uint8_t>(value));
  return bytes;
}

// PRelu of x [1,2,1,4] in steps of 1/2; y is in steps of 1/4 with zero point 10. Both
// are stored channels last.
TinyOnnx Prelu(const std::vector<int64_t>& dims, const std::vector<int8_t>& slopes) {
  TinyOnnx model;
  model.Input("x", {1, 2, 1, 4});
  model.Quantised("x", "xq", 0.5f, 0);
  model.Stored("a", dims, slopes, 0.25f, 0);
  model.Node("PRelu", {"xq", "a"}, {"p"});
  model.Quantised("p", "y", 0.25f, 10);
  model.Output("y");
  return model;
}

TEST_CASE("onnx elementwise: PRelu by a slope for each channel") {
  // Slopes 2/4 and -4/4. For x >= 0, y = x is stored as 2 x + 10. Below 0, y = x / 2 is
  // stored as x + 10, and y = -x as -2 x + 10.
  const ImportAndGraph import = Import(Prelu({2, 1, 1}, {2, -4}).Finish());
  CHECK(import.shapes_only.empty());
  CHECK(Count(import, SLUICE_OP_PRELU) == 1);
  CHECK(OutputFor(import, Stored({0, 0, 5, 5, -5, -5, -60, -60})) ==
        Stored({10, 10, 20, 20, 5, 20, -50, 127}));
  CHECK(OutputFor(import, Stored({100, 100, -1, -1, 1, 1, -128, -128})) ==
        Stored({127, 127, 9, 12, 12, 12, -118, 127}));
}

TEST_CASE("onnx elementwise: PRelu by a slope for each element, which lies otherwise") {
  // Slopes by channel, then column: 1/4, 2/4, 3/4, 1 and 0, -1/4, -2/4, 2.
  const ImportAndGraph import =
      Import(Prelu({2, 1, 4}, {1, 2, 3, 4, 0, -1, -2, 8}).Finish());
  CHECK(import.shapes_only.empty());
  // The stored -8 is -4; -4 * slope is stored as -16 * slope + 10.
  CHECK(OutputFor(import, Stored(std::vector<int>(8, -8))) ==
        Stored({6, 10, 2, 14, -2, 18, -6, -22}));
  CHECK(OutputFor(import, Stored(std::vector<int>(8, 8))) ==
        Stored(std::vector<int>(8, 26)));
}

TEST_CASE(
    "onnx elementwise: PRelu by one slope is a table, unknown slopes are shapes") {
  const ImportAndGraph one = Import(Prelu({1}, {2}).Finish());
  CHECK(Count(one, SLUICE_OP_PRELU) == 0);
  CHECK(Count(one, SLUICE_OP_LOOKUP) == 1);
  CHECK(one.shapes_only.empty());
  CHECK(OutputFor(one, Stored({0, 5, -5, -60, 100, -128, 1, -1})) ==
        Stored({10, 20, 5, -50, 127, -118, 12, 9}));
  TinyOnnx model;
  model.Input("x", {1, 2, 1, 4});
  model.Floats("a", {2, 1, 1});
  model.Node("PRelu", {"x", "a"}, {"y"});
  model.Output("y");
  const ImportAndGraph real = Import(model.Finish());
  CHECK(Count(real, SLUICE_OP_PRELU) == 1);
  REQUIRE(real.shapes_only.size() == 1);
  CHECK(real.shapes_only[0].name == "PRelu");
}

TEST_CASE("onnx elementwise: a ReLU behind a PRelu is its clamp") {
  TinyOnnx model;
  model.Input("x", {1, 2, 1, 4});
  model.Quantised("x", "xq", 0.5f, 0);
  model.Stored("a", {2, 1, 1}, {2, -4}, 0.25f, 0);
  model.Node("PRelu", {"xq", "a"}, {"p"});
  model.Node("Relu", {"p"}, {"r"});
  model.Quantised("r", "y", 0.25f, 10);
  model.Output("y");
  const ImportAndGraph import = Import(model.Finish());
  CHECK(AttributesOf(import, SLUICE_OP_PRELU).at(SLUICE_PRELU_ACT_MIN) == 10);
  CHECK(OutputFor(import, Stored({0, 0, 5, 5, -5, -5, -60, -60})) ==
        Stored({10, 10, 20, 20, 10, 20, 10, 127}));
}

TEST_CASE("onnx elementwise: a sum of two scales, and one with a number") {
  TinyOnnx model;
  model.Input("x", {1, 4});
  model.Quantised("x", "xq", 0.5f, 0);
  model.Stored("b", {1, 4}, {4, 8, -4, 0}, 0.25f, 0);
  model.Node("Add", {"xq", "b"}, {"s"});
  model.Quantised("s", "y", 0.5f, 0);
  model.Output("y");
  // x / 2 + b / 4, stored in steps of 1/2, is x + b / 2.
  CHECK(OutputFor(Import(model.Finish()), Stored({10, 10, 10, 127})) ==
        Stored({12, 14, 8, 127}));
  TinyOnnx number;
  number.Input("x", {1, 4});
  number.Quantised("x", "xq", 0.5f, 0);
  number.Reals("c", {}, {3});
  number.Node("Sub", {"c", "xq"}, {"s"});
  number.Quantised("s", "y", 0.5f, 0);
  number.Output("y");
  const ImportAndGraph import = Import(number.Finish());
  CHECK(Count(import, SLUICE_OP_LOOKUP) == 1);
  CHECK(OutputFor(import, Stored({0, 1, 6, -20})) == Stored({6, 5, 0, 26}));
}

TEST_CASE("onnx elementwise: each operation with one number, from either side") {
  const auto by_three = [](const char* op, bool swapped) {
    TinyOnnx model;
    model.Input("x", {1, 4});
    model.Quantised("x", "xq", 0.5f, 0);
    model.Reals("c", {}, {3});
    if (swapped) {
      model.Node(op, {"c", "xq"}, {"r"});
    } else {
      model.Node(op, {"xq", "c"}, {"r"});
    }
    model.Quantised("r", "y", 0.25f, 0);
    model.Output("y");
    const ImportAndGraph import = Import(model.Finish());
    CHECK(Count(import, SLUICE_OP_LOOKUP) == 1);
    return OutputFor(import, Stored({2, 4, 0, -12}));  // reals 1, 2, 0 and -6
  };
  // Results are stored in steps of 1/4.
  for (const bool swapped : {false, true}) {
    CAPTURE(swapped);
    CHECK(by_three("Add", swapped) == Stored({16, 20, 12, -12}));
    CHECK(by_three("Mul", swapped) == Stored({12, 24, 0, -72}));
    CHECK(by_three("Min", swapped) == Stored({4, 8, 0, -24}));
    CHECK(by_three("Max", swapped) == Stored({12, 12, 12, 12}));
  }
  CHECK(by_three("Sub", false) == Stored({-8, -4, -12, -36}));
  CHECK(by_three("Sub", true) == Stored({8, 4, 12, 36}));
  CHECK(by_three("Div", false) == Stored({1, 3, 0, -8}));
  CHECK(by_three("Div", true) == Stored({12, 6, 0, -2}));
  CHECK(by_three("Pow", false) == Stored({4, 32, 0, -128}));
  CHECK(by_three("Pow", true) == Stored({12, 36, 4, 0}));
}

TEST_CASE("onnx elementwise: curves go through known points") {
  const auto curve = [](const char* op, const std::vector<int>& in) {
    TinyOnnx model(14);  // the first with HardSwish
    model.Input("x", {1, static_cast<int64_t>(in.size())});
    model.Quantised("x", "xq", 0.25f, 0);
    model.Node(op, {"xq"}, {"c"});
    model.Quantised("c", "y", 0.125f, 0);
    model.Output("y");
    return OutputFor(Import(model.Finish()), Stored(in));
  };
  // x is stored in steps of 1/4, y in steps of 1/8.
  CHECK(curve("Abs", {-12, 0, 5}) == Stored({24, 0, 10}));
  CHECK(curve("Floor", {-3, 3, 9}) == Stored({-8, 0, 16}));
  CHECK(curve("Ceil", {-3, 3, 9}) == Stored({0, 8, 24}));
  CHECK(curve("Sigmoid", {0, 127, -128}) == Stored({4, 8, 0}));
  CHECK(curve("HardSwish", {-12, 0, 12, 20}) == Stored({0, 0, 24, 40}));
  CHECK(curve("LeakyRelu", {-100, 8}) == Stored({-2, 16}));  // slope 1/100
  CHECK(curve("Reciprocal", {4, 8, 0, -2}) == Stored({8, 4, 127, -16}));
}

TEST_CASE(
    "onnx elementwise: a mean divides by its elements, a maximum keeps its scale") {
  const auto reduce = [](const char* op) {
    TinyOnnx model;
    model.Input("x", {2, 4});
    model.Quantised("x", "xq", 0.5f, 0);
    TinyOnnx::Ints(model.Node(op, {"xq"}, {"r"}), "axes", {1});
    model.Quantised("r", "y", 0.5f, 1);
    model.Output("y");
    return model.Finish();
  };
  CHECK(OutputFor(Import(reduce("ReduceMean")), Stored({1, 2, 3, 6, -4, -4, -4, 0})) ==
        Stored({4, -2}));
  // x and y are quantised differently, so the host computes in floats.
  CHECK(OutputFor(Import(reduce("ReduceMax")), Stored({1, 2, 3, 6, -4, -4, -4, 0})) ==
        Stored({7, 1}));
}

TEST_CASE("onnx elementwise: what no layer expresses of floats alone is the host's") {
  TinyOnnx model;
  model.Input("x", {1, 4});
  model.Input("z", {1, 4});
  model.Node("Pow", {"x", "z"}, {"y"});
  model.Output("y");
  const ImportAndGraph power = Import(model.Finish());
  REQUIRE(power.hosted.size() == 1);
  CHECK(power.hosted[0].name == "Pow");
  TinyOnnx norm;
  norm.Input("x", {1, 4, 8});
  norm.Floats("s", {4, 8});
  TinyOnnx::Int(norm.Node("LayerNormalization", {"x", "s"}, {"y"}), "axis", 1);
  norm.Output("y", {1, 4, 8});
  norm.proto.mutable_opset_import(0)->set_version(17);
  const ImportAndGraph normed = Import(norm.Finish());
  REQUIRE(normed.hosted.size() == 1);
  CHECK(normed.hosted[0].name == "LayerNormalization");
}

}  // namespace
}  // namespace sluice_test
