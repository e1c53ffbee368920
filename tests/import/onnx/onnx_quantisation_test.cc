// SPDX-License-Identifier: Apache-2.0
// Which scale and zero point a value has.
#include "tests/import/onnx/imported.h"
#include "tests/import/onnx/tiny_onnx.h"

namespace sluice_test {
namespace {

// The graph of a model whose input two nodes quantise, as it describes its input.
std::string InputOfTwo(float one, float other, int32_t zero) {
  TinyOnnx model;
  model.Input("x", {1, 6});
  model.Quantised("x", "y", one, 3);
  model.Quantised("x", "z", other, zero);
  model.Output("y");
  model.Output("z");
  return Import(model.Finish()).interface.at(0);
}

TEST_CASE(
    "onnx quantisation: all who quantise a value must agree, or it stays floats") {
  CHECK(InputOfTwo(0.5f, 0.5f, 3) == "input x: int8 [1, 6], real = 0.5 * (stored - 3)");
  CHECK(InputOfTwo(0.5f, 0.25f, 3) == "input x: int32 [1, 6], bits of floats");
  CHECK(InputOfTwo(0.5f, 0.5f, 2) == "input x: int32 [1, 6], bits of floats");
}

TEST_CASE("onnx quantisation: what only moves elements is looked through") {
  TinyOnnx model;
  model.Input("x", {2, 3});
  model.Node("Transpose", {"x"}, {"t"});
  model.Node("Relu", {"t"}, {"r"});
  model.Quantised("r", "y", 0.25f, -128);
  model.Output("y");
  CHECK(Import(model.Finish()).interface.at(0) ==
        "input x: int8 [2, 3], real = 0.25 * (stored - -128)");
}

}  // namespace
}  // namespace sluice_test
