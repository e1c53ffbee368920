// SPDX-License-Identifier: Apache-2.0
// Operators of several host functions, by hand.
#include <cstring>

#include "tests/import/onnx/imported.h"
#include "tests/import/onnx/tiny_onnx.h"

namespace sluice_test {
namespace {

std::vector<float> FloatsFor(const TinyOnnx& model, const Bytes& input) {
  const ImportAndGraph import = Import(model.Finish());
  CHECK(import.shapes_only.empty());
  const Bytes bytes = OutputFor(import, input);
  std::vector<float> floats(bytes.size() / 4);
  std::memcpy(floats.data(), bytes.data(), bytes.size());
  return floats;
}

TEST_CASE("onnx composed: sums and means of three operands") {
  for (const bool mean : {false, true}) {
    TinyOnnx model;
    model.Input("x", {1, 2});
    model.Quantised("x", "xq", 1, 0);
    model.Reals("a", {2}, {10, 20});
    model.Reals("b", {1}, {100});
    model.Node(mean ? "Mean" : "Sum", {"xq", "a", "b"}, {"y"});
    model.Output("y");
    CHECK(FloatsFor(model, {1, 3}) ==
          (mean ? std::vector<float>{37, 41} : std::vector<float>{111, 123}));
  }
}

TEST_CASE("onnx composed: products with vectors") {
  TinyOnnx model;
  model.Input("x", {2, 2});
  model.Quantised("x", "xq", 1, 0);
  model.Reals("v", {2}, {1, 10});
  model.Node("MatMul", {"xq", "v"}, {"y"});
  model.Output("y");
  CHECK(FloatsFor(model, {1, 2, 3, 4}) == std::vector<float>{21, 43});
}

}  // namespace
}  // namespace sluice_test
