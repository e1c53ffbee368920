// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "import/onnx/onnx_model.h"
#include "tests/import/onnx/imported.h"
#include "tests/import/onnx/tiny_onnx.h"

namespace sluice_test {
namespace {

// The floats that "y" has at import; empty when it is no constant there.
std::vector<float> Folded(TinyOnnx* model) {
  model->Input("x", {1});
  model->Node("Add", {"x", "y"}, {"out"});
  model->Output("out");
  const Bytes bytes = model->Finish();
  const auto read =
      sluice::import::ReadOnnxModel(bytes.data(), bytes.size(), {}, nullptr);
  for (const auto& value : read.values) {
    if (value.name != "y") continue;
    std::vector<float> floats(value.data.size() / 4);
    if (!floats.empty())
      std::memcpy(floats.data(), value.data.data(), value.data.size());
    return floats;
  }
  return {};
}

using Floats = std::vector<float>;

TEST_CASE(
    "onnx constants: what exporters compute from constants is computed at import") {
  TinyOnnx reshaped;
  reshaped.Reals("c", {2}, {1, 2});
  reshaped.Integers("shape", {1, 2, 1});
  reshaped.Node("Reshape", {"c", "shape"}, {"y"});
  CHECK(Folded(&reshaped) == Floats{1, 2});

  TinyOnnx transposed;
  transposed.Reals("c", {2, 3}, {1, 2, 3, 4, 5, 6});
  transposed.Node("Transpose", {"c"}, {"y"});
  CHECK(Folded(&transposed) == Floats{1, 4, 2, 5, 3, 6});

  TinyOnnx scaled;  // 1 / sqrt(16)
  scaled.Reals("c", {}, {16});
  scaled.Reals("one", {}, {1});
  scaled.Node("Sqrt", {"c"}, {"root"});
  scaled.Node("Div", {"one", "root"}, {"y"});
  CHECK(Folded(&scaled) == Floats{0.25f});

  TinyOnnx cast;
  cast.Integers("c", {3, 4});
  TinyOnnx::Int(cast.Node("Cast", {"c"}, {"f"}), "to", onnx::TensorProto::FLOAT);
  cast.Reals("two", {}, {2});
  cast.Node("Mul", {"f", "two"}, {"y"});
  CHECK(Folded(&cast) == Floats{6, 8});

  TinyOnnx number;
  onnx::AttributeProto* value = number.Node("Constant", {}, {"y"})->add_attribute();
  value->set_name("value_float");
  value->set_type(onnx::AttributeProto::FLOAT);
  value->set_f(1.5f);
  CHECK(Folded(&number) == Floats{1.5f});
}

TEST_CASE("onnx constants: operands broadcast, and numbers are repeated") {
  TinyOnnx broadcast;
  broadcast.Reals("a", {2, 1}, {1, 2});
  broadcast.Reals("b", {1, 2}, {1, 3});
  broadcast.Node("Mul", {"a", "b"}, {"y"});
  CHECK(Folded(&broadcast) == Floats{1, 3, 2, 6});

  TinyOnnx expanded;
  expanded.Reals("c", {2, 1}, {1, 2});
  expanded.Integers("shape", {1, 2, 2});
  expanded.Node("Expand", {"c", "shape"}, {"y"});
  CHECK(Folded(&expanded) == Floats{1, 1, 2, 2});

  TinyOnnx filled;
  filled.Integers("shape", {3});
  onnx::AttributeProto* fill =
      filled.Node("ConstantOfShape", {"shape"}, {"y"})->add_attribute();
  fill->set_name("value");
  fill->set_type(onnx::AttributeProto::TENSOR);
  fill->mutable_t()->set_data_type(onnx::TensorProto::FLOAT);
  fill->mutable_t()->add_dims(1);
  fill->mutable_t()->add_float_data(1.5f);
  CHECK(Folded(&filled) == Floats{1.5f, 1.5f, 1.5f});

  TinyOnnx zeros;
  zeros.Integers("shape", {2});
  zeros.Node("ConstantOfShape", {"shape"}, {"y"});
  CHECK(Folded(&zeros) == Floats{0, 0});
}

TEST_CASE("onnx constants: curves, comparisons, choices and parts are computed") {
  TinyOnnx curve;
  curve.Reals("c", {2}, {-2, 3});
  curve.Node("Abs", {"c"}, {"a"});
  curve.Node("Neg", {"a"}, {"y"});
  CHECK(Folded(&curve) == Floats{-2, -3});

  TinyOnnx masked;  // where a row is not the column: -100
  masked.Reals("rows", {2, 1}, {1.5f, 2});
  masked.Reals("columns", {1, 2}, {1.5f, 3});
  masked.Node("Equal", {"rows", "columns"}, {"same"});
  masked.Node("Not", {"same"}, {"differ"});
  masked.Reals("low", {}, {-100});
  masked.Reals("zero", {}, {0});
  masked.Node("Where", {"differ", "low", "zero"}, {"y"});
  CHECK(Folded(&masked) == Floats{0, -100, -100, -100});

  TinyOnnx ordered;
  ordered.Reals("a", {3}, {0.5f, 1, 2});
  ordered.Reals("b", {}, {1});
  ordered.Node("LessOrEqual", {"a", "b"}, {"few"});
  ordered.Node("Greater", {"a", "b"}, {"many"});
  ordered.Node("Or", {"few", "many"}, {"all"});
  ordered.Node("And", {"few", "all"}, {"both"});
  TinyOnnx::Int(ordered.Node("Cast", {"both"}, {"y"}), "to", onnx::TensorProto::FLOAT);
  CHECK(Folded(&ordered) == Floats{1, 1, 0});

  TinyOnnx parts;
  parts.Reals("c", {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  TinyOnnx::Int(parts.Node("Split", {"c"}, {"first", "y"}), "axis", -1);
  CHECK(Folded(&parts) == Floats{3, 4, 7, 8});

  TinyOnnx places;  // lists beside each other along their last axis
  places.Integers("c", {1, 2});
  places.Integers("to", {2, 1});
  places.Node("Reshape", {"c", "to"}, {"column"});
  TinyOnnx::Int(places.Node("Concat", {"column", "column"}, {"i"}), "axis", -1);
  TinyOnnx::Int(places.Node("Cast", {"i"}, {"y"}), "to", onnx::TensorProto::FLOAT);
  CHECK(Folded(&places) == Floats{1, 1, 2, 2});
}

// Rows and columns have as many numbers, and their extents are not known until the range's are.
TEST_CASE("onnx constants: a mask of a range's rows and columns is a square") {
  TinyOnnx model;
  model.Input("a", {3, 5});
  model.Node("Shape", {"a"}, {"shape"});
  for (const auto& [name, number] : {std::pair{"0", 0}, std::pair{"1", 1}}) {
    model.Integers(std::string("list") + name, {number});
    model.Node("Squeeze", {std::string("list") + name}, {std::string("at") + name});
  }
  model.Node("Gather", {"shape", "at0"}, {"rows"});
  model.Node("Range", {"at0", "rows", "at1"}, {"range"});
  model.Node("Unsqueeze", {"range", "list1"}, {"column"});
  model.Node("Unsqueeze", {"range", "list0"}, {"row"});
  model.Node("Less", {"column", "row"}, {"mask"});
  model.Reals("one", {}, {1});
  model.Reals("zero", {}, {0});
  model.Node("Where", {"mask", "one", "zero"}, {"y"});
  CHECK(Folded(&model) == Floats{0, 1, 1, 0, 0, 1, 0, 0, 0});
}

TEST_CASE("onnx constants: what import cannot compute, each run computes") {
  TinyOnnx model;
  model.Input("x", {1, 2});
  model.Quantised("x", "xq", 1, 0);
  model.Reals("a", {1, 2}, {1, 2});
  model.Reals("b", {2, 2}, {1, 2, 3, 4});
  model.Node("MatMul", {"a", "b"}, {"ab"});
  model.Node("Add", {"xq", "ab"}, {"sum"});
  model.Quantised("sum", "y", 1, 0);
  model.Output("y");
  CHECK(OutputFor(Import(model.Finish()), {1, 2}) == Bytes{8, 12});
}

// Half of an extent, as exporters write it: through floats and back.
TEST_CASE("onnx constants: integers behind floats behind integers are computed") {
  TinyOnnx model;
  model.Input("a", {1, 7});
  model.Node("Shape", {"a"}, {"shape"});
  TinyOnnx::Int(model.Node("Cast", {"shape"}, {"f"}), "to", onnx::TensorProto::FLOAT);
  model.Reals("half", {}, {0.5f});
  model.Node("Mul", {"f", "half"}, {"halves"});
  model.Node("Ceil", {"halves"}, {"whole"});
  TinyOnnx::Int(model.Node("Cast", {"whole"}, {"i"}), "to", onnx::TensorProto::INT64);
  TinyOnnx::Int(model.Node("Cast", {"i"}, {"y"}), "to", onnx::TensorProto::FLOAT);
  CHECK(Folded(&model) == Floats{1, 4});
}

TEST_CASE("onnx constants: what depends on an input is left") {
  TinyOnnx model;
  model.Input("a", {1});
  model.Reals("b", {1}, {1});
  model.Node("Mul", {"a", "b"}, {"y"});
  CHECK(Folded(&model).empty());
}

TEST_CASE(
    "onnx constants: floats that are quantised at run time are stored quantised") {
  for (const bool is_signed : {true, false}) {
    TinyOnnx model;
    model.Input("x", {1, 4});
    model.Quantised("x", "xq", 1, 0);
    model.Reals("c", {4}, {0.25f, 0.75f, -1.5f, 1000});
    model.Reals("s", {}, {0.5f});
    if (is_signed) model.Int8s("z", {}, {1});
    std::vector<std::string> operands = {"c", "s"};
    if (is_signed) operands.push_back("z");
    model.Node("QuantizeLinear", operands, {"cs"});
    operands[0] = "cs";
    model.Node("DequantizeLinear", operands, {"w"});
    model.Node("Mul", {"xq", "w"}, {"m"});
    model.Quantised("m", "y", 0.5f, 0);
    model.Output("y");
    // 0.5 and 1.5 steps are rounded to even; -3 is below what uint8 stores.
    const Bytes want = is_signed ? Bytes{0, 2, 253, 126} : Bytes{0, 2, 0, 127};
    CHECK(OutputFor(Import(model.Finish()), {1, 1, 1, 1}) == want);
  }
}

TEST_CASE("onnx constants: a zero point that a Cast makes of an int32 is its byte") {
  TinyOnnx model;
  model.Input("a", {1, 2}, onnx::TensorProto::UINT8);
  model.Integers("c", {3});
  TinyOnnx::Int(model.Node("Cast", {"c"}, {"za"}), "to", onnx::TensorProto::UINT8);
  model.Int8s("b", {2, 1}, {10, -20});
  model.Node("MatMulInteger", {"a", "b", "za"}, {"y"});
  model.Output("y", {}, onnx::TensorProto::INT32);
  // (5 - 3) x 10 + (7 - 3) x -20 = -60
  CHECK(OutputFor(Import(model.Finish()), {5, 7}) == Bytes{196, 255, 255, 255});
}

TEST_CASE("onnx constants: two 4-bit numbers lie in each byte, signed or not") {
  for (const bool is_signed : {true, false}) {
    TinyOnnx model(21);
    model.Input("x", {1, 3});
    model.Quantised("x", "xq", 1, 0);
    model.Reals("s", {}, {1});
    onnx::TensorProto* tensor = model.graph->add_initializer();
    tensor->set_name("q");
    tensor->set_data_type(is_signed ? 22 : 21);
    tensor->add_dims(3);
    tensor->set_raw_data(std::string("\x9f\x02", 2));  // 15 (-1), 9 (-7), 2
    model.Node("DequantizeLinear", {"q", "s"}, {"w"});
    model.Node("Mul", {"xq", "w"}, {"m"});
    model.Quantised("m", "y", 1, 0);
    model.Output("y");
    const Bytes want = is_signed ? Bytes{255, 249, 2} : Bytes{15, 9, 2};
    CHECK(OutputFor(Import(model.Finish()), {1, 1, 1}) == want);
    tensor->set_raw_data(std::string("\x9f\x02\x01", 3));
    CHECK(Says(Complaint(model.Finish()), "holds 3 bytes; its shape needs 2"));
  }
}

}  // namespace
}  // namespace sluice_test
