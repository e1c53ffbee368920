// SPDX-License-Identifier: Apache-2.0
// ONNX's operators that move data, on tensors stored channels last.
#include "tests/import/onnx/imported.h"
#include "tests/import/onnx/tiny_onnx.h"

namespace sluice_test {
namespace {

// x [1,2,3,4], quantised; it is stored as [1,3,4,2].
TinyOnnx Image() {
  TinyOnnx model;
  model.Input("x", {1, 2, 3, 4});
  model.Quantised("x", "xq", 0.5f, 0);
  return model;
}

// The numbers 0 to 23 in ONNX's order, at the places where the importer stores them.
Bytes Counted() {
  Bytes bytes;
  for (int h = 0; h < 3; ++h) {
    for (int w = 0; w < 4; ++w) {
      for (int c = 0; c < 2; ++c)
        bytes.push_back(static_cast<uint8_t>(c * 12 + h * 4 + w));
    }
  }
  return bytes;
}

ImportAndGraph Closed(TinyOnnx* model) {
  model->Quantised("r", "y", 0.5f, 0);
  model->Output("y");
  const ImportAndGraph import = Import(model->Finish());
  CHECK(import.shapes_only.empty());
  return import;
}

TEST_CASE("onnx shapes: a slice begins where its axes lie") {
  TinyOnnx model = Image();
  model.Integers("from", {1, -2});
  model.Integers("to", {2, 100});
  model.Integers("axes", {1, 3});
  model.Node("Slice", {"xq", "from", "to", "axes"}, {"r"});
  const ImportAndGraph import = Closed(&model);
  CHECK(AttributesOf(import, SLUICE_OP_SLICE) == std::vector<int32_t>{0, 0, 2, 1});
  CHECK(OutputFor(import, Counted()) == Bytes{14, 15, 18, 19, 22, 23});
}

TEST_CASE("onnx shapes: a split cuts one part behind the other") {
  TinyOnnx model = Image();
  TinyOnnx::Int(model.Node("Split", {"xq"}, {"a", "r"}), "axis", 1);
  const ImportAndGraph import = Closed(&model);
  CHECK(OutputFor(import, Counted()) ==
        Bytes{12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23});
}

// Queries, keys and values of some heads, as exporters leave them.
TEST_CASE("onnx shapes: a split of five axes cuts one part behind the other") {
  TinyOnnx model;
  model.Input("x", {2, 12});
  model.Quantised("x", "xq", 0.5f, 0);
  model.Integers("five", {2, 3, 1, 2, 2});
  model.Integers("two", {2, 4});
  model.Node("Reshape", {"xq", "five"}, {"heads"});
  TinyOnnx::Int(model.Node("Split", {"heads"}, {"q", "k", "v"}), "axis", 1);
  model.Node("Reshape", {"k", "two"}, {"r"});
  const ImportAndGraph import = Closed(&model);
  Bytes input;
  for (int i = 0; i < 24; ++i) input.push_back(static_cast<uint8_t>(i));
  CHECK(OutputFor(import, input) == Bytes{4, 5, 6, 7, 16, 17, 18, 19});
}

TEST_CASE("onnx shapes: a constant index takes one slice, and its axis goes") {
  TinyOnnx model = Image();
  model.Integers("last", {-1});
  model.graph->mutable_initializer(model.graph->initializer_size() - 1)->clear_dims();
  TinyOnnx::Int(model.Node("Gather", {"xq", "last"}, {"r"}), "axis", 2);
  const ImportAndGraph import = Closed(&model);
  // Row 2 of both channels, channels last: 8 and 20, 9 and 21 ...
  CHECK(OutputFor(import, Counted()) == Bytes{8, 20, 9, 21, 10, 22, 11, 23});
}

TEST_CASE("onnx shapes: a concat's axis is where it lies") {
  TinyOnnx model = Image();
  TinyOnnx::Int(model.Node("Concat", {"xq", "xq"}, {"r"}), "axis", 1);
  const ImportAndGraph import = Closed(&model);
  CHECK(AttributesOf(import, SLUICE_OP_CONCAT) == std::vector<int32_t>{3});
  const Bytes twice = OutputFor(import, Counted());
  CHECK(Bytes(twice.begin(), twice.begin() + 8) == Bytes{0, 12, 0, 12, 1, 13, 1, 13});
}

TEST_CASE("onnx shapes: what splits an axis where it lies moves nothing") {
  TinyOnnx model = Image();
  model.Integers("shape", {1, 2, 12});
  model.Node("Reshape", {"xq", "shape"}, {"r"});  // rows and columns merge
  const ImportAndGraph merged = Closed(&model);
  CHECK(Count(merged, SLUICE_OP_TRANSPOSE) == 0);
  TinyOnnx flat = Image();
  flat.Integers("shape", {1, 24});
  flat.Node("Reshape", {"xq", "shape"}, {"r"});  // channels would have to come first
  const ImportAndGraph moved = Closed(&flat);
  CHECK(Count(moved, SLUICE_OP_TRANSPOSE) == 1);
  Bytes counted(24);
  for (size_t i = 0; i < 24; ++i) counted[i] = static_cast<uint8_t>(i);
  CHECK(OutputFor(moved, Counted()) == counted);
}

TEST_CASE("onnx shapes: positions of a resize are those of its opset") {
  const auto attributes = [](int64_t opset, const char* positions) {
    TinyOnnx model(opset);
    model.Input("x", {1, 2, 3, 4});
    model.Reals("none", {0}, {});
    model.Reals("scales", {4}, {1, 1, 2, 2});
    onnx::NodeProto* node = opset < 11
                                ? model.Node("Resize", {"x", "scales"}, {"y"})
                                : model.Node("Resize", {"x", "none", "scales"}, {"y"});
    const auto text = [&](const char* name, const char* value) {
      onnx::AttributeProto* attribute = node->add_attribute();
      attribute->set_name(name);
      attribute->set_type(onnx::AttributeProto::STRING);
      attribute->set_s(value);
    };
    text("mode", "linear");
    if (positions != nullptr) text("coordinate_transformation_mode", positions);
    model.Output("y");
    return AttributesOf(Import(model.Finish()), SLUICE_OP_RESIZE_BILINEAR);
  };
  // ALIGN_CORNERS, HALF_PIXEL_CENTERS
  CHECK(attributes(10, nullptr) == std::vector<int32_t>{0, 0});
  CHECK(attributes(13, nullptr) == std::vector<int32_t>{0, 1});
  CHECK(attributes(13, "align_corners") == std::vector<int32_t>{1, 0});
  CHECK(attributes(13, "asymmetric") == std::vector<int32_t>{0, 0});
}

TEST_CASE("onnx shapes: a slice by steps of floats alone is the host's") {
  TinyOnnx steps;
  steps.Input("x", {1, 2, 4, 4});
  steps.Integers("from", {0});
  steps.Integers("to", {4});
  steps.Integers("axes", {3});
  steps.Integers("steps", {2});
  steps.Node("Slice", {"x", "from", "to", "axes", "steps"}, {"y"});
  steps.Output("y");
  const ImportAndGraph import = Import(steps.Finish());
  REQUIRE(import.hosted.size() == 1);
  CHECK(import.hosted[0].name == "Slice");
  Bytes counted(32), want;
  for (size_t i = 0; i < 32; ++i) counted[i] = static_cast<uint8_t>(i);
  for (size_t i = 0; i < 32; i += 2) want.push_back(static_cast<uint8_t>(i));
  CHECK(OutputFor(import, counted) == want);
}

TEST_CASE("onnx shapes: parts of five axes are concatenated where they are quantised") {
  for (const int64_t axis : {1, 4}) {
    TinyOnnx model;
    model.Input("x", {2, 2, 1, 1, 1}, onnx::TensorProto::INT8);
    model.Reals("s", {}, {1});
    model.Reals("half", {}, {0.5f});
    model.Int8s("z", {}, {0});
    model.Int8s("c", {2, 2, 1, 1, 1}, {2, 4, 6, 8});
    onnx::NodeProto* node =
        model.Node("QLinearConcat", {"s", "z", "x", "s", "z", "c", "half", "z"}, {"y"});
    node->set_domain("com.microsoft");
    TinyOnnx::Int(node, "axis", axis);
    model.Output("y", {}, onnx::TensorProto::INT8);
    CHECK(OutputFor(Import(model.Finish()), {10, 20, 30, 40}) ==
          (axis == 1 ? Bytes{10, 20, 1, 2, 30, 40, 3, 4}
                     : Bytes{10, 1, 20, 2, 30, 3, 40, 4}));
  }
}

}  // namespace
}  // namespace sluice_test
