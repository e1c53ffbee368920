// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/stand_ins.h"

#include "import/onnx/onnx_model.h"
#include "tests/import/onnx/imported.h"
#include "tests/import/onnx/tiny_onnx.h"

namespace sluice_test {
namespace {

onnx::NodeProto* Microsoft(TinyOnnx* model, const std::string& op,
                           const std::vector<std::string>& inputs,
                           const std::string& output) {
  onnx::NodeProto* node = model->Node(op, inputs, {output});
  node->set_domain("com.microsoft");
  return node;
}

TinyOnnx Sums() {
  TinyOnnx model;
  model.Input("x", {2, 3}, onnx::TensorProto::INT8);
  model.Reals("s", {}, {1});
  model.Int8s("z", {}, {0});
  Microsoft(&model, "QLinearAdd", {"x", "s", "z", "x", "s", "z", "s", "z"}, "a");
  TinyOnnx::Int(
      Microsoft(&model, "QLinearConcat", {"s", "z", "a", "s", "z", "x", "s", "z"}, "c"),
      "axis", 1);
  Microsoft(&model, "QLinearSigmoid", {"c", "s", "z", "s", "z"}, "y");
  model.Output("y", {}, onnx::TensorProto::INT8);
  return model;
}

TEST_CASE("onnx stand-ins: operators of onnxruntime have the shapes of ONNX's") {
  const Bytes bytes = Sums().Finish();
  const auto model =
      sluice::import::ReadOnnxModel(bytes.data(), bytes.size(), {}, nullptr);
  int found = 0;
  for (const auto& value : model.values) {
    if (value.name != "a" && value.name != "c" && value.name != "y") continue;
    ++found;
    const std::vector<int64_t> want = {2, value.name == "a" ? 3 : 6};
    CHECK(value.dims == want);
  }
  CHECK(found == 3);
}

TEST_CASE("onnx stand-ins: the model is itself again afterwards") {
  TinyOnnx model = Sums();
  // A transposed operand would give another shape.
  TinyOnnx::Int(Microsoft(&model, "FusedMatMul", {"x", "x"}, "m"), "transA", 1);
  const std::string before = model.proto.SerializeAsString();
  {
    const sluice::import::StandIns stand_ins(&model.proto);
    CHECK(model.graph->node(0).op_type() == "Add");
    CHECK(model.graph->node(0).input_size() == 2);
    CHECK(model.graph->node(1).input(1) == "x");
    CHECK(model.graph->node(2).domain().empty());
    CHECK(model.graph->node(3).op_type() == "FusedMatMul");
  }
  CHECK(model.proto.SerializeAsString() == before);
}

}  // namespace
}  // namespace sluice_test
