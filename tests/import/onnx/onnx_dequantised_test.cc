// SPDX-License-Identifier: Apache-2.0
// Constants that models keep as integers and use behind further operators.
#include "import/onnx/onnx_dequantised.h"

#include "tests/import/onnx/imported.h"
#include "tests/import/onnx/tiny_onnx.h"

namespace sluice_test {
namespace {

// [10, 20, 30, 40] times w, whose operators `make` adds, and what the bytes are.
template <typename Make>
Bytes Products(const Make& make) {
  TinyOnnx model;
  model.Input("x", {2, 2});
  model.Quantised("x", "xq", 1, 0);
  make(&model);
  model.Node("Mul", {"xq", "w"}, {"m"});
  model.Quantised("m", "y", 1, 0);
  model.Output("y");
  const ImportAndGraph import = Import(model.Finish());
  CHECK(import.hosted.empty());  // a unit reads the bytes
  return OutputFor(import, {10, 20, 30, 40});
}

TEST_CASE("onnx dequantised: constants that exporters share through Identity") {
  CHECK(Products([](TinyOnnx* model) {
          model->Stored("c", {2, 2}, {1, 2, 3, 5}, 0.5f, 1);
          model->Node("Identity", {"c"}, {"w"});
        }) == Bytes{0, 10, 30, 80});
  CHECK(Products([](TinyOnnx* model) {
          model->Stored("c", {2, 2}, {1, 2, 3, 5}, 0.5f, 1);
          model->Node("Identity", {"c"}, {"same"});
          model->Quantised("same", "w", 0.25f, 3);
        }) == Bytes{0, 10, 30, 80});
}

TEST_CASE("onnx dequantised: constants that are turned, cut and picked stay integers") {
  CHECK(Products([](TinyOnnx* model) {
          model->Stored("c", {2, 2}, {1, 2, 3, 5}, 0.5f, 1);
          model->Node("Transpose", {"c"}, {"w"});
        }) == Bytes{0, 20, 15, 80});
  CHECK(Products([](TinyOnnx* model) {
          model->Stored("c", {3, 2}, {9, 9, 1, 2, 3, 5}, 0.5f, 1);
          model->Integers("rows", {2, 1});
          model->Node("Gather", {"c", "rows"}, {"w"});
        }) == Bytes{10, 40, 0, 20});
  CHECK(Products([](TinyOnnx* model) {
          model->Stored("c", {4}, {1, 2, 3, 5}, 0.5f, 1);
          model->Integers("shape", {2, 2});
          model->Node("Reshape", {"c", "shape"}, {"w"});
        }) == Bytes{0, 10, 30, 80});
}

TEST_CASE("onnx dequantised: rows are picked before they are dequantised") {
  CHECK(Products([](TinyOnnx* model) {
          model->Int8s("c", {3, 2}, {9, 9, 1, 2, 3, 5});
          model->Integers("rows", {2, 1});
          model->Reals("s", {}, {0.5f});
          model->Int8s("z", {}, {1});
          model->Node("Gather", {"c", "rows"}, {"picked"});
          model->Node("DequantizeLinear", {"picked", "s", "z"}, {"w"});
        }) == Bytes{10, 40, 0, 20});
}

TEST_CASE("onnx dequantised: scales of slices move along with the axis") {
  TinyOnnx model;
  model.Input("x", {1, 2});
  model.Quantised("x", "xq", 1, 0);
  model.Reals("s", {2}, {1, 2});
  model.Int8s("z", {2}, {0, 0});
  model.Int8s("q", {2, 2}, {1, 2, 3, 4});
  TinyOnnx::Int(model.Node("DequantizeLinear", {"q", "s", "z"}, {"c"}), "axis", 0);
  model.Node("Transpose", {"c"}, {"w"});  // 1 2, 6 8 -> 1 6, 2 8
  model.Node("MatMul", {"xq", "w"}, {"m"});
  model.Quantised("m", "y", 1, 0);
  model.Output("y");
  const ImportAndGraph import = Import(model.Finish());
  CHECK(import.hosted.empty());
  CHECK(OutputFor(import, {1, 10}) == Bytes{21, 86});
}

TEST_CASE("onnx dequantised: a pad value behind DequantizeLinear") {
  TinyOnnx model;
  model.Input("x", {1, 2});
  model.Quantised("x", "xq", 0.5f, 7);
  model.Integers("pads", {0, 1, 0, 0});
  model.Stored("value", {}, {4}, 0.25f, 0);
  model.Node("Pad", {"xq", "pads", "value"}, {"p"});
  model.Quantised("p", "y", 0.5f, 7);
  model.Output("y");
  CHECK(OutputFor(Import(model.Finish()), {1, 2}) == Bytes{9, 1, 2});
}

TEST_CASE("onnx dequantised: what is computed of several stored constants") {
  CHECK(Products([](TinyOnnx* model) {
          model->Stored("a", {2, 1}, {1, 2}, 1, 0);
          model->Stored("b", {1, 2}, {0, 1}, 0.5f, 0);
          model->Node("Add", {"a", "b"}, {"sum"});
          model->Quantised("sum", "w", 0.5f, 0);
        }) == Bytes{10, 30, 60, 100});
}

}  // namespace
}  // namespace sluice_test
