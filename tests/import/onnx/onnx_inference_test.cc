// SPDX-License-Identifier: Apache-2.0
// Shape inference on ONNX models of a few hundred bytes that ask for gigabytes, or for a
// division by zero.
#include "import/onnx/onnx_inference.h"

#include <doctest/doctest.h>
#include <onnx/defs/schema.h>

#include "import/error.h"
#include "import/onnx/import_onnx.h"
#include "tests/import/onnx/hostile.h"
#include "tests/import/onnx/imported.h"
#include "tests/import/onnx/tiny_onnx.h"

namespace sluice_test {
namespace {

constexpr int kInt64 = onnx::TensorProto::INT64;

TEST_CASE("onnx inference: a shape of many numbers gives no tensor of many axes") {
  const auto of_input = [](const char* op) {
    return [op](TinyOnnx* m) {
      m->Input("x", {1, 4});
      m->Input("s", {kHuge}, kInt64);
      if (std::string(op) == "Expand") {
        m->Node(op, {"x", "s"}, {"y"});
      } else {
        m->Node(op, {"s"}, {"y"});
      }
    };
  };
  const auto of_constant = [](TinyOnnx* m) {
    m->Integers("n", {kHuge});
    m->Node("ConstantOfShape", {"n"}, {"s"});
    m->Node("ConstantOfShape", {"s"}, {"y"});
  };
  const auto in_branch = [](TinyOnnx* m) {
    m->Input("c", {1}, onnx::TensorProto::BOOL);
    m->Input("s", {kHuge}, kInt64);
    onnx::NodeProto* branch = m->Node("If", {"c"}, {"y"});
    for (const char* name : {"then_branch", "else_branch"}) {
      TinyOnnx inner;
      inner.Node("ConstantOfShape", {"s"}, {"z"});
      inner.Output("z");
      onnx::AttributeProto* attribute = branch->add_attribute();
      attribute->set_name(name);
      attribute->set_type(onnx::AttributeProto::GRAPH);
      *attribute->mutable_g() = *inner.graph;
    }
  };
  CheckEach({{"Expand", of_input("Expand"), SLUICE_BAD_INPUT},
             {"ConstantOfShape", of_input("ConstantOfShape"), SLUICE_BAD_INPUT},
             {"of a constant", of_constant, SLUICE_BAD_INPUT},
             {"in a branch", in_branch, SLUICE_UNSUPPORTED}});
}

TEST_CASE("onnx inference: attributes that inference divides by are looked at first") {
  const auto pool = [](const char* attribute, std::vector<int64_t> values) {
    return [=](TinyOnnx* m) {
      m->Input("x", {1, 4, 8, 8});
      onnx::NodeProto* node = m->Node("MaxPool", {"x"}, {"y"});
      if (std::string(attribute) != "kernel_shape") {
        TinyOnnx::Ints(node, "kernel_shape", {2, 2});
      }
      TinyOnnx::Ints(node, attribute, values);
    };
  };
  const auto space = [](TinyOnnx* m) {
    m->Input("x", {1, 4, 8, 8});
    TinyOnnx::Int(m->Node("SpaceToDepth", {"x"}, {"y"}), "blocksize", 0);
  };
  CheckEach({{"strides", pool("strides", {0, 1}), SLUICE_BAD_INPUT},
             {"dilations", pool("dilations", {1, -1}), SLUICE_BAD_INPUT},
             {"kernel", pool("kernel_shape", {0, 2}), SLUICE_BAD_INPUT},
             {"pads", pool("pads", {INT64_MAX, 0, 0, 1}), SLUICE_BAD_INPUT},
             {"blocksize", space, SLUICE_BAD_INPUT}});
}

TEST_CASE("onnx inference: what is impossible is named by node and attribute") {
  TinyOnnx model;
  model.Input("x", {1, 4, 8, 8});
  TinyOnnx::Ints(model.Node("MaxPool", {"x"}, {"y"}), "kernel_shape", {0, 2});
  model.Output("y");
  const std::vector<uint8_t> bytes = model.Finish();
  sluice_diagnostic_t why = {};
  why.struct_size = sizeof why;
  sluice_bytes_t graph = {};
  CHECK(sluice_import_model(bytes.data(), bytes.size(), nullptr, &graph, nullptr,
                            &why) == SLUICE_BAD_INPUT);
  CHECK(std::string(why.message) == "node y has an impossible value of kernel_shape");
}

TEST_CASE("onnx inference: the extents of Einsum follow from its equation") {
  const auto equation = [](onnx::NodeProto* node, const char* text) {
    onnx::AttributeProto* attribute = node->add_attribute();
    attribute->set_name("equation");
    attribute->set_type(onnx::AttributeProto::STRING);
    attribute->set_s(text);
  };
  TinyOnnx model;
  model.Input("x", {1, 4, 6});
  model.Input("w", {1, 6, 3});
  equation(model.Node("Einsum", {"x", "w"}, {"e"}), "bij, bjk -> bki");
  model.Node("Relu", {"e"}, {"y"});
  model.Output("y");
  sluice::import::InferOnnxShapes(&model.proto);
  const auto& shape = model.proto.graph().output(0).type().tensor_type().shape();
  REQUIRE(shape.dim_size() == 3);
  CHECK(shape.dim(1).dim_value() == 3);
  CHECK(shape.dim(2).dim_value() == 4);
  for (const char* wrong :
       {"bij,bjk", "bij,bjk->bxi", "bij->b", "...ij,bjk->bik", "ij,"}) {
    TinyOnnx other;
    other.Input("x", {1, 4, 6});
    other.Input("w", {1, 6, 3});
    equation(other.Node("Einsum", {"x", "w"}, {"y"}), wrong);
    other.Output("y");
    const std::vector<uint8_t> bytes = other.Finish();
    CHECK_THROWS(sluice::import::ImportOnnx(bytes.data(), bytes.size(), {}));
  }
}

// A model whose file says something about its values that its operators contradict.
TinyOnnx Pooled() {
  TinyOnnx model;
  model.Input("x", {1, 1, 4, 4});
  model.Quantised("x", "xq", 1, 0);
  TinyOnnx::Ints(model.Node("MaxPool", {"xq"}, {"p"}), "kernel_shape", {4, 4});
  model.Quantised("p", "y", 1, 0);
  return model;
}

TEST_CASE("onnx inference: shapes that a file declares do not stop its operators") {
  Bytes pixels(16, 1);
  pixels[5] = 9;
  for (const int64_t extent : {-1, 1, 7}) {
    TinyOnnx model = Pooled();
    model.Output("y", {1, 1, extent, 1});
    onnx::ValueInfoProto* info = model.graph->add_value_info();
    *info = model.graph->output(0);
    info->set_name("p");
    info->mutable_type()
        ->mutable_tensor_type()
        ->mutable_shape()
        ->mutable_dim(2)
        ->set_dim_value(extent);
    CHECK(OutputFor(Import(model.Finish()), pixels) == Bytes{9});
  }
}

TEST_CASE("onnx inference: constants need not be inputs in old files") {
  TinyOnnx model = Pooled();
  model.proto.set_ir_version(3);
  model.Output("y");
  Bytes pixels(16, 1);
  pixels[5] = 9;
  CHECK(OutputFor(Import(model.Finish()), pixels) == Bytes{9});
}

TEST_CASE("onnx inference: the shape of a value without type is refused, not read") {
  TinyOnnx model;
  model.Input("x", {1, 4});
  model.Node("Nonesuch", {"x"}, {"u"})->set_domain("nowhere");
  model.Node("Shape", {"u"}, {"s"});
  model.Node("Reshape", {"x", "s"}, {"y"});
  model.Output("y");
  CHECK(Says(Complaint(model.Finish()), "nowhere.Nonesuch"));
}

// Shapes, or a refusal.
void InferOrRefuse(onnx::ModelProto* model) {
  try {
    sluice::import::InferOnnxShapes(model);
  } catch (const sluice::import::Error& error) {
    CHECK(error.what() != std::string());
  }
}

// Some of these ended the process: the inference of Scan reads attributes that are not there.
TEST_CASE(
    "onnx inference: no operator of the standard is read where parts are missing") {
  int operators = 0;
  for (const onnx::OpSchema& schema : onnx::OpSchemaRegistry::get_all_schemas()) {
    if (!schema.domain().empty()) continue;
    CAPTURE(schema.Name());
    ++operators;
    for (const size_t inputs : {0, 1, 2, 5}) {
      TinyOnnx model;
      model.Input("x", {1, 4, 8, 8});
      onnx::NodeProto* node = model.Node(schema.Name().c_str(),
                                         std::vector<std::string>(inputs, "x"), {"y"});
      model.Output("y");
      InferOrRefuse(&model.proto);
      // Now with every attribute that it must have, but numbers in place of their types.
      for (const auto& [name, attribute] : schema.attributes()) {
        if (!attribute.required) continue;
        onnx::AttributeProto* wrong = node->add_attribute();
        wrong->set_name(name);
        wrong->set_type(onnx::AttributeProto::FLOAT);
      }
      InferOrRefuse(&model.proto);
    }
  }
  CHECK(operators > 150);
}

TEST_CASE(
    "onnx inference: a model of onnxruntime's operators alone names no other version") {
  TinyOnnx model;
  model.proto.mutable_opset_import(0)->set_domain("com.microsoft");
  model.proto.mutable_opset_import(0)->set_version(1);
  model.Input("a", {3}, onnx::TensorProto::INT8);
  model.Reals("s", {}, {1});
  model.Int8s("z", {}, {0});
  model.Int8s("b", {3}, {1, 2, 3});
  model.Node("QLinearAdd", {"a", "s", "z", "b", "s", "z", "s", "z"}, {"y"})
      ->set_domain("com.microsoft");
  model.Output("y", {3}, onnx::TensorProto::INT8);
  CHECK(OutputFor(Import(model.Finish()), {10, 20, 30}) == Bytes{11, 22, 33});
}

}  // namespace
}  // namespace sluice_test
