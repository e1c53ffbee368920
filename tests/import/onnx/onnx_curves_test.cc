// SPDX-License-Identifier: Apache-2.0
// Functions of one number: their values, and that tables and the host agree on them.
#include <cmath>

#include "import/onnx/onnx_lowering.h"
#include "tests/import/onnx/imported.h"
#include "tests/import/onnx/tiny_onnx.h"

namespace sluice_test {
namespace {

using sluice::import::OnnxCurve;
using sluice::import::OnnxNode;

OnnxNode NodeOf(const std::string& op) {
  OnnxNode node;
  node.op = op;
  return node;
}

TEST_CASE("onnx curves: values at points where they are known") {
  CHECK(OnnxCurve(NodeOf("Sign"))(-3) == -1);
  CHECK(OnnxCurve(NodeOf("Sign"))(0) == 0);
  CHECK(OnnxCurve(NodeOf("ThresholdedRelu"))(1) == 0);
  CHECK(OnnxCurve(NodeOf("ThresholdedRelu"))(1.5f) == 1.5f);
  CHECK(OnnxCurve(NodeOf("Shrink"))(0.75f) == 0.75f);
  CHECK(OnnxCurve(NodeOf("Shrink"))(0.25f) == 0);
  CHECK(OnnxCurve(NodeOf("Celu"))(-50) == doctest::Approx(-1));
  CHECK(OnnxCurve(NodeOf("com.microsoft.QuickGelu"))(1) == doctest::Approx(0.845796));
  CHECK(OnnxCurve(NodeOf("Swish"))(1) == doctest::Approx(0.731059));
  CHECK(OnnxCurve(NodeOf("com.microsoft.FastGelu"))(1) == doctest::Approx(0.841192));
  CHECK(OnnxCurve(NodeOf("Gelu"))(1) == doctest::Approx(0.841345));
  CHECK(std::isinf(OnnxCurve(NodeOf("Reciprocal"))(0)));
  CHECK(OnnxCurve(NodeOf("com.microsoft.QLinearSigmoid"))(0) == 0.5f);
  CHECK(OnnxCurve(NodeOf("Conv")) == nullptr);
}

TEST_CASE("onnx curves: what divides by 0 is the largest stored number") {
  TinyOnnx model;
  model.Input("x", {1, 4});
  model.Quantised("x", "xq", 0.5f, 0);
  model.Node("Reciprocal", {"xq"}, {"r"});
  model.Quantised("r", "y", 0.125f, 0);
  model.Output("y");
  const Bytes want = {127, 16, static_cast<uint8_t>(-16), 8};
  CHECK(OutputFor(Import(model.Finish()), {0, 1, static_cast<uint8_t>(-1), 2}) == want);
}

}  // namespace
}  // namespace sluice_test
