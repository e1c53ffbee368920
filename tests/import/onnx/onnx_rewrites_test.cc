// SPDX-License-Identifier: Apache-2.0
// Operators that are several of ONNX's.
#include "import/onnx/onnx_rewrites.h"

#include "tests/import/onnx/reals.h"

namespace sluice_test {
namespace {

TEST_CASE("onnx rewrites: products of onnxruntime with their scales") {
  for (const bool dynamic : {false, true}) {
    TinyOnnx model;
    model.Input("x", {1, 2});
    model.Int8s("w", {2, 2}, {1, 2, 3, 4});
    model.Int8s("wz", {}, {1});
    model.Reals("ws", {}, {0.5f});
    model.Reals("b", {2}, {100, 200});
    if (dynamic) {
      Contrib(&model, "DynamicQuantizeMatMul", {"x", "w", "ws", "wz", "b"}, "y");
    } else {
      model.Node("DynamicQuantizeLinear", {"x"}, {"q", "s", "z"});
      Contrib(&model, "MatMulIntegerToFloat", {"q", "w", "s", "ws", "z", "wz", "b"},
              "y");
    }
    model.Output("y");
    // x is -55, 200 in steps of 1; w is 0, 0.5, 1, 1.5.
    CHECK(RealsFor(model, BitsOfReals({-55, 200})) == Reals{300, 472.5f});
    CHECK(Count(Import(model.Finish()), SLUICE_OP_FULLY_CONNECTED) == 1);
  }
}

// 4-bit weights [2, 4] in blocks of two: 7 and 9 stand for -1 and 1.
TinyOnnx FourBits(bool zeros) {
  TinyOnnx model;
  model.Input("x", {1, 4});
  onnx::TensorProto* weight = model.graph->add_initializer();
  weight->set_name("w");
  weight->set_data_type(onnx::TensorProto::UINT8);
  for (const int64_t dim : {2, 2, 1}) weight->add_dims(dim);
  weight->set_raw_data(std::string("\x98\xa8\x87\x89", 4));
  model.Reals("s", {4}, {1, 2, 3, 4});
  std::vector<std::string> inputs = {"x", "w", "s"};
  if (zeros) {
    onnx::TensorProto* zero = model.graph->add_initializer();
    zero->set_name("z");
    zero->set_data_type(onnx::TensorProto::UINT8);
    zero->add_dims(2);
    zero->set_raw_data(std::string("\x88\x88", 2));
    inputs.push_back("z");
  }
  onnx::NodeProto* node = Contrib(&model, "MatMulNBits", inputs, "y");
  TinyOnnx::Int(node, "K", 4);
  TinyOnnx::Int(node, "N", 2);
  TinyOnnx::Int(node, "bits", 4);
  TinyOnnx::Int(node, "block_size", 2);
  model.Output("y");
  return model;
}

TEST_CASE("onnx rewrites: 4-bit blocks of a weight are its floats") {
  // Rows 0, 1, 0, 4 and -3, 0, 4, 0.
  for (const bool zeros : {false, true}) {
    CHECK(RealsFor(FourBits(zeros), BitsOfReals({1, 10, 100, 1000})) ==
          Reals{4010, 397});
  }
}

TEST_CASE("onnx rewrites: one of two quantised operands is chosen by real numbers") {
  TinyOnnx model;
  model.Input("x", {1, 4});
  model.Reals("s", {}, {1});
  model.Int8s("z", {}, {0});
  model.Node("QuantizeLinear", {"x", "s", "z"}, {"q"});
  model.Node("DequantizeLinear", {"q", "s", "z"}, {"real"});
  model.Reals("least", {}, {2.5f});
  model.Node("Greater", {"real", "least"}, {"c"});
  model.Reals("half", {}, {0.5f});
  model.Int8s("other", {1}, {100});
  Contrib(&model, "QLinearWhere",
          {"c", "q", "s", "z", "other", "half", "z", "half", "z"}, "chosen");
  model.Node("DequantizeLinear", {"chosen", "half", "z"}, {"y"});
  model.Output("y");
  // 100 steps of a half where x is not above 2.5, else x itself, in steps of a half.
  CHECK(OutputFor(Import(model.Finish()), {2, 3, 5, 0}) == Bytes{100, 6, 10, 100});
}

TEST_CASE("onnx rewrites: pads and sizes of some axes are those of all") {
  TinyOnnx pad(18);
  pad.Input("x", {1, 2});
  pad.Quantised("x", "xq", 1, 0);
  pad.Integers("p", {1, 2});
  pad.Integers("a", {-1});
  pad.Node("Pad", {"xq", "p", "", "a"}, {"t"});
  pad.Quantised("t", "y", 1, 0);
  pad.Output("y");
  CHECK(OutputFor(Import(pad.Finish()), {3, 4}) == Bytes{0, 3, 4, 0, 0});
  TinyOnnx resize(18);
  resize.Input("x", {1, 1, 1, 2});
  resize.Quantised("x", "xq", 1, 0);
  resize.Integers("sizes", {4});
  onnx::NodeProto* node = resize.Node("Resize", {"xq", "", "", "sizes"}, {"y"});
  TinyOnnx::Ints(node, "axes", {3});
  Text(node, "coordinate_transformation_mode", "asymmetric");
  Text(node, "nearest_mode", "floor");
  resize.Output("y");
  CHECK(RealsOf(OutputFor(Import(resize.Finish()), {3, 4})).size() == 1);
}

TEST_CASE("onnx rewrites: norms over axes") {
  TinyOnnx model;
  model.Input("x", {2, 2});
  model.Quantised("x", "xq", 1, 0);
  TinyOnnx::Int(model.Node("LpNormalization", {"xq"}, {"y"}), "axis", 1);
  model.Output("y");
  CHECK(RealsFor(model, {3, 4, 0, 2}) == Reals{0.6f, 0.8f, 0, 1});
}

TEST_CASE("onnx rewrites: what cannot be taken apart stays, and its parts are gone") {
  TinyOnnx model;
  model.Input("x", {2, 2});
  Contrib(&model, "MatMulNBits", {"x", "x", "x"}, "y");
  model.Output("y", {2, 2});
  onnx::ModelProto proto = model.proto;
  auto* opset = proto.add_opset_import();
  opset->set_domain("com.microsoft");
  opset->set_version(1);
  sluice::import::RewriteOnnx(&proto);
  CHECK(proto.graph().node_size() == 1);
  CHECK(proto.graph().node(0).op_type() == "MatMulNBits");
  CHECK(proto.graph().initializer_size() == 0);
}

TEST_CASE("onnx rewrites: a product of integers that stays a float, with a bias") {
  TinyOnnx model;
  model.Input("x", {1, 2});
  model.Quantised("x", "xq", 1, 0);
  model.Reals("s", {}, {0.5f});
  model.Int8s("z", {}, {1});
  model.Int8s("w", {2, 2}, {1, 2, 3, 4});
  Contrib(&model, "QGemm", {"xq.q", "s", "xq.z", "w", "s", "z"}, "y");
  TinyOnnx::Int(model.graph->mutable_node(model.graph->node_size() - 1), "transB", 1);
  model.Output("y");
  // (1 * 0 + 2 * 1) / 4 and (1 * 2 + 2 * 3) / 4.
  CHECK(RealsFor(model, {1, 2}) == Reals{0.5f, 2});
}

// Each product of scales is rounded, so their order is seen.
TEST_CASE("onnx rewrites: scales of a product of integers are multiplied in order") {
  TinyOnnx model;
  model.Input("x", {1, 1});
  model.Quantised("x", "xq", 1, 0);
  model.Reals("s", {}, {0.1f});
  model.Int8s("w", {1, 1}, {1});
  model.Reals("t", {}, {0.3f});
  model.Int8s("z", {}, {0});
  onnx::NodeProto* node =
      Contrib(&model, "QGemm", {"xq.q", "s", "xq.z", "w", "t", "z"}, "y");
  onnx::AttributeProto* alpha = node->add_attribute();
  alpha->set_name("alpha");
  alpha->set_type(onnx::AttributeProto::FLOAT);
  alpha->set_f(0.7f);
  model.Output("y");
  const volatile float first = 0.7f * 0.1f;
  CHECK(RealsFor(model, {1}) == Reals{first * 0.3f});
}

TEST_CASE("onnx rewrites: sums of integers, which lengths of a mask are") {
  TinyOnnx model;
  model.Input("x", {2, 2}, onnx::TensorProto::INT64);
  model.Stored("table", {4, 1}, {5, 6, 7, 8}, 1, 0);
  TinyOnnx::Int(model.Node("ReduceSum", {"x", "second"}, {"sum"}), "keepdims", 0);
  model.Integers("second", {1});
  model.Node("Gather", {"table", "sum"}, {"t"});
  model.Quantised("t", "y", 1, 0);
  model.Output("y");
  Bytes mask(16);
  mask[0] = mask[4] = mask[12] = 1;  // 1, 1 and 0, 1
  CHECK(OutputFor(Import(model.Finish()), mask) == Bytes{7, 6});
}

TEST_CASE("onnx rewrites: rows of a table are picked by a column of the indices") {
  TinyOnnx model;
  model.Input("x", {2, 2}, onnx::TensorProto::INT64);
  model.Stored("table", {3, 2}, {1, 2, 3, 4, 5, 6}, 1, 0);
  model.Integers("second", {1});
  TinyOnnx::Int(model.Node("Gather", {"x", "second"}, {"column"}), "axis", 1);
  model.Node("Gather", {"table", "column"}, {"t"});
  model.Quantised("t", "y", 1, 0);
  model.Output("y");
  Bytes ids(16);
  ids[4] = 2;   // row 0, column 1
  ids[12] = 1;  // row 1, column 1
  const ImportAndGraph import = Import(model.Finish());
  CHECK(OutputFor(import, ids) == Bytes{5, 6, 3, 4});
}

}  // namespace
}  // namespace sluice_test
