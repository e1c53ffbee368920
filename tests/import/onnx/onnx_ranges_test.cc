// SPDX-License-Identifier: Apache-2.0
// ONNX models of floats that are quantised by ranges: as if QuantizeLinear stood in the model.
#include "tests/import/onnx/imported.h"
#include "tests/import/onnx/tiny_onnx.h"

namespace sluice_test {
namespace {

// relu(x w + b) with w = [127, 64], b = [1, -2].
Bytes Product(bool quantised) {
  TinyOnnx model;
  model.Input("x", {1, 1});
  model.Reals("b", {2}, {1, -2});
  if (quantised) {
    model.Quantised("x", "xq", 1, 0);
    model.Int8s("w", {1, 2}, {127, 64});
    model.Reals("ws", {}, {1});
    model.Node("DequantizeLinear", {"w", "ws"}, {"wr"});
    model.Node("Gemm", {"xq", "wr", "b"}, {"p"});
  } else {
    model.Reals("w", {1, 2}, {127, 64});
    model.Node("Gemm", {"x", "w", "b"}, {"p"});
  }
  model.Node("Relu", {"p"}, {"y"});
  if (quantised) {
    model.Quantised("y", "out", 0.5f, -128);
    model.Output("out");
  } else {
    model.Output("y");
  }
  return model.Finish();
}

OnnxImportOptions Ranged(const sluice::import::FloatRanges& ranges) {
  OnnxImportOptions options;
  options.ranges = ranges;
  return options;
}

TEST_CASE("onnx ranges: numbers are those of a model with QuantizeLinear in it") {
  const auto options = Ranged({{"x", {-128, 127}}, {"y", {0, 127.5f}}});
  const ImportAndGraph made = Import(Product(false), options);
  CHECK(made.quantised);
  CHECK(made.shapes_only.empty());
  CHECK(Count(made, SLUICE_OP_FULLY_CONNECTED) == 1);
  const ImportAndGraph theirs = Import(Product(true));
  for (const uint8_t x : {0, 1, 2, 255, 7}) {
    CHECK(OutputFor(made, {x}) == OutputFor(theirs, {x}));
  }
  CHECK(OutputFor(made, {1}) ==
        Bytes{127, 252});  // 128 is too large; 62 / 0.5 - 128 = -4
  CHECK(made.interface.at(1) == "output y: int8 [1, 2], real = 0.5 * (stored - -128)");
}

TEST_CASE("onnx ranges: tensors without a range are told, and unknown ones") {
  CHECK(Says(Complaint(Product(false), Ranged({{"x", {-1, 1}}})), "y (no range"));
  CHECK(Says(Complaint(Product(false), Ranged({{"q", {-1, 1}}})), "called q"));
  CHECK(Says(Complaint(Product(true), Ranged({{"x", {-1, 1}}})), "is quantised"));
}

TEST_CASE("onnx ranges: a constant of a sum is quantised, and moves keep the range") {
  TinyOnnx model;
  model.Input("x", {1, 4});
  model.Reals("c", {1, 4}, {127, 1, 0, -1});
  model.Integers("shape", {2, 2});
  model.Node("Add", {"x", "c"}, {"s"});
  model.Node("Reshape", {"s", "shape"}, {"r"});
  model.Node("Sigmoid", {"r"}, {"y"});
  model.Output("y");
  const ImportAndGraph import =
      Import(model.Finish(), Ranged({{"x", {-128, 127}}, {"s", {-128, 127}}}));
  CHECK(Count(import, SLUICE_OP_ADD) == 1);
  CHECK(Count(import, SLUICE_OP_LOOKUP) == 1);
  // 1 / (1 + e^-x) of 127, 1, 0 and -1 in steps of 1/255, which float32 rounds up.
  CHECK(OutputFor(import, {0, 0, 0, 0}) == Bytes{127, 58, 255, 197});
}

}  // namespace
}  // namespace sluice_test
